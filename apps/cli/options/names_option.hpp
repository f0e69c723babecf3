// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_NAMES_OPTION_HPP
#define KASTOR_APPS_CLI_OPTIONS_NAMES_OPTION_HPP

#include <kastor/io/table_names.hpp>
#include <string>

#include "cli/options/command_line.hpp"

namespace kastor::cli {

/// `--names`
void add_names_option(CommandLine& line, io::TableNames& names);

/// The option as typed, with a blank before it; empty for the names of Kastor.
[[nodiscard]] std::string names_as_typed(io::TableNames names);

}  // namespace kastor::cli

#endif
