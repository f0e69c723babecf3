// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_HELP_OVERVIEW_HPP
#define KASTOR_APPS_CLI_HELP_OVERVIEW_HPP

#include "cli/help/description.hpp"

namespace kastor::cli {

/// Prints the help of a command that has only parts and no options. Within describe(), keeps
/// `about` instead.
void show_overview(const CommandDescription& about);

}  // namespace kastor::cli

#endif
