// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_ENVIRONMENT_HPP
#define KASTOR_APPS_CLI_OPTIONS_ENVIRONMENT_HPP

#include <cstddef>

namespace kastor::cli {

/// Checks the variables KOKKOS_NUM_THREADS, KOKKOS_DEVICE_ID and KOKKOS_VISIBLE_DEVICES before
/// Kokkos reads them, since a wrong value makes Kokkos abort or overrun a table.
/// \param devices  the number of devices; 0 if none will be started, and then any number is allowed
/// \throws Error  with the variable, its value and what was expected
void check_kokkos_environment(std::size_t devices);

}  // namespace kastor::cli

#endif
