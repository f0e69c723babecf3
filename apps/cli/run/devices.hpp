// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_DEVICES_HPP
#define KASTOR_APPS_CLI_RUN_DEVICES_HPP

namespace kastor::cli {

/// Makes Kokkos start its CPU backends only; Kokkos has no public way to do so. If a build has a
/// device backend and the machine has no device or no driver, `Kokkos::initialize` fails, and a
/// login node could not even run `--on serial`. Starting a device also takes a third of a second.
void leave_devices_out();

}  // namespace kastor::cli

#endif
