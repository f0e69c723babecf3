// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_FIND_ISLANDS_HPP
#define KASTOR_APPS_CLI_FIND_ISLANDS_HPP

#include "cli/find_options.hpp"

namespace kastor::cli {

/// `kastor find` with a preset other than the lesson's.
void find_islands(FindOptions options);

}  // namespace kastor::cli

#endif
