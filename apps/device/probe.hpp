// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_DEVICE_PROBE_HPP
#define KASTOR_APPS_DEVICE_PROBE_HPP

#include <string>
#include <vector>

namespace kastor::device {

/// What can be learnt about devices before Kokkos starts, and also where it could not start.
struct Probe {
  std::vector<std::string> names;  ///< the usable devices
  std::string trouble;             ///< why there is none; empty if there is one
};

/// Of the device backend that this build has; without one: no device and no trouble.
[[nodiscard]] const Probe& probe();

/// Free and total bytes of the current device; zeros without one.
struct Memory {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};
[[nodiscard]] Memory memory();

}  // namespace kastor::device

#endif
