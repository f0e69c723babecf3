// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_ENVIRONMENT_HPP
#define KASTOR_APPS_CLI_OPTIONS_ENVIRONMENT_HPP

#include <cstddef>

namespace kastor::cli {

/// Looks at Kokkos' own variables before Kokkos does, which would end the process with SIGABRT, or
/// overrun a table: KOKKOS_NUM_THREADS, KOKKOS_DEVICE_ID, KOKKOS_VISIBLE_DEVICES.
/// \param devices  how many there are; 0 where none will be started, so that any number will do
/// \throws Error  that names the variable, what it holds and what was expected
void check_kokkos_environment(std::size_t devices);

}  // namespace kastor::cli

#endif
