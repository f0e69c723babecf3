// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_CONFIG_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_CONFIG_OPTIONS_HPP

#include <functional>
#include <string>
#include <vector>

#include "cli/help/description.hpp"
#include "cli/options/config_file.hpp"

namespace kastor::cli {

/// An option in a configuration file, with its values as typed on the command line. A flag that is
/// off has no values.
struct ConfiguredOption {
  const OptionDescription* option;
  std::vector<std::string> values;
  int line;
};

/// The options of `command` that the entries of `path` set. Ranges are checked later, when the
/// values are taken. \throws UsageError for a key that is not an option, or a value of another type
[[nodiscard]] std::vector<ConfiguredOption> configured_options(
    const std::string& path, const std::vector<ConfigEntry>& entries,
    const CommandDescription& command);

/// A configuration file with all options of `command`: those that were given, and the others as
/// comments with their defaults. `given(option)` returns the values as typed, and any value for a
/// flag.
[[nodiscard]] std::string config_text(
    const CommandDescription& command,
    const std::function<std::vector<std::string>(const OptionDescription&)>& given);

}  // namespace kastor::cli

#endif
