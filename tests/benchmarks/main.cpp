// SPDX-License-Identifier: Apache-2.0

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <kastor/version.hpp>
#include <sstream>
#include <string>

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;

  benchmark::AddCustomContext("kastor", kastor::version());
  std::ostringstream configuration;
  Kokkos::print_configuration(configuration, true);
  std::string line;
  for (std::istringstream lines(configuration.str()); std::getline(lines, line);) {
    const auto colon = line.find(": ");
    const auto first = line.find_first_not_of(' ');
    if (colon == std::string::npos || first >= colon) continue;
    const auto value = line.find_first_not_of(' ', colon + 1);
    if (value == std::string::npos) continue;  // a heading
    benchmark::AddCustomContext("kokkos: " + line.substr(first, colon - first), line.substr(value));
  }
  for (const char* name : {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES"}) {
    const char* value = std::getenv(name);
    benchmark::AddCustomContext(name, value != nullptr ? value : "unset");
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
