// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_DEVICES_HPP
#define KASTOR_APPS_CLI_RUN_DEVICES_HPP

namespace kastor::cli {

/// Makes Kokkos start its host backends only, which it cannot be told otherwise: without a device,
/// or its driver, `Kokkos::initialize` of a build with a device backend fails, and a login node
/// could not even run `--on serial`.
void leave_devices_out();

}  // namespace kastor::cli

#endif
