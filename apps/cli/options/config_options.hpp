// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_CONFIG_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_CONFIG_OPTIONS_HPP

#include <functional>
#include <string>
#include <vector>

#include "cli/help/description.hpp"
#include "cli/options/config_file.hpp"

namespace kastor::cli {

/// An option in a configuration file, its values as they would be typed. None: a flag that is off.
struct ConfiguredOption {
  const OptionDescription* option;
  std::vector<std::string> values;
  int line;
};

/// What the entries of `path` say of the options of `command`. Ranges are left to those who take
/// the values. \throws UsageError for a key that is no option, and a value of another type
[[nodiscard]] std::vector<ConfiguredOption> configured_options(
    const std::string& path, const std::vector<ConfigEntry>& entries,
    const CommandDescription& command);

/// All options of `command` as such a file: those that were given, and as comments the others with
/// their defaults. `given(option)` has the values as typed, any one for a flag.
[[nodiscard]] std::string config_text(
    const CommandDescription& command,
    const std::function<std::vector<std::string>(const OptionDescription&)>& given);

}  // namespace kastor::cli

#endif
