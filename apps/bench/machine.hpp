// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_MACHINE_HPP
#define KASTOR_APPS_BENCH_MACHINE_HPP

#include <string>
#include <vector>

#include "cli/run/backends.hpp"

namespace kastor::bench {

/// The machine on which the times were measured.
struct Machine {
  struct BackendInfo {
    std::string name;
    bool usable = false;
    bool measured = false;
    std::string trouble;  ///< why it is not usable; empty if it was not started
    int threads = 0;      ///< concurrent threads; 0 if not usable
    bool device = false;
  };
  std::string kastor;             ///< version
  std::string kokkos;             ///< version
  std::string cpu;                ///< model; empty if unknown
  unsigned hardware_threads = 0;  ///< 0 if unknown
  std::vector<std::string> devices;
  std::vector<BackendInfo> backends;
};

/// \param measured  names of the backends that are measured
[[nodiscard]] Machine this_machine(const cli::KokkosSession& kokkos,
                                   const std::vector<std::string>& measured);

}  // namespace kastor::bench

#endif
