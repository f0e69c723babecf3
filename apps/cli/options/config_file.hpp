// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_CONFIG_FILE_HPP
#define KASTOR_APPS_CLI_OPTIONS_CONFIG_FILE_HPP

#include <string>
#include <string_view>
#include <vector>

namespace kastor::cli {

enum class ConfigType { string, integer, real, boolean };

struct ConfigValue {
  ConfigType type;
  std::string text;  ///< a string without quotes and escapes; a number in decimal
};

/// "key = value", or "key = [value, ...]".
struct ConfigEntry {
  std::string key;
  int line;  ///< from 1
  bool is_array;
  std::vector<ConfigValue> values;
};

/// Parses TOML, and takes from it what options need: keys with strings, numbers, booleans, and
/// arrays of them. CLI11 has a reader too, but it keeps neither lines nor types, takes a '#' in a
/// string as a comment, and skips what it cannot parse.
/// \throws UsageError naming `path` and the line for anything else, and for a repeated key
[[nodiscard]] std::vector<ConfigEntry> parse_config(const std::string& path, std::string_view text);

/// Parses a regular file of up to 1 MiB. \throws Error if it cannot be read, UsageError if `path`
/// is empty
[[nodiscard]] std::vector<ConfigEntry> read_config(const std::string& path);

/// `text` as a basic string of TOML, quotes included.
[[nodiscard]] std::string config_string(const std::string& text);

/// "FILE:LINE: "
[[nodiscard]] std::string place_in_config(const std::string& path, int line);

}  // namespace kastor::cli

#endif
