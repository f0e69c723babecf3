// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_DEVICE_PROBE_HPP
#define KASTOR_APPS_DEVICE_PROBE_HPP

#include <string>
#include <vector>

namespace kastor::device {

/// What is known about the devices before Kokkos starts, or if it cannot start.
struct Probe {
  std::vector<std::string> names;  ///< the usable devices
  std::string trouble;             ///< why there is none; empty if there is a usable device
};

/// Probes the device backend of this build. Without one, there is no device and no trouble.
[[nodiscard]] const Probe& probe();

/// The memory of the current device; zeros without a device.
struct Memory {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};
[[nodiscard]] Memory memory();

}  // namespace kastor::device

#endif
