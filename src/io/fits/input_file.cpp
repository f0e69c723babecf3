// SPDX-License-Identifier: Apache-2.0
#include "io/fits/input_file.hpp"

#include <sys/stat.h>

#include <kastor/error.hpp>

#include "io/text.hpp"

namespace kastor::io::detail {

std::ifstream open_regular_file(const std::string& path, const char* what) {
  const auto fail = [&](const char* found) {
    throw Error(one_line(path) + ": " + found + "; expected " + what);
  };
  // Check first: to open a FIFO would block.
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) fail("no such file");
  if (!S_ISREG(info.st_mode)) fail("is not a regular file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail("cannot be read");
  return stream;
}

}  // namespace kastor::io::detail
