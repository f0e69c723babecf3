// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

extern "C" const char* kastor_whole_version();

int main(int argc, char** argv) {
  const char* const version = kastor_whole_version();
  std::printf("version %s\n", version);
  return argc == 2 && std::strcmp(version, argv[1]) == 0 ? 0 : 1;
}
