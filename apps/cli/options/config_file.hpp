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
  std::string text;  ///< a string without quotes and escapes; all else as written, without '_'
};

/// "key = value", or "key = [value, ...]".
struct ConfigEntry {
  std::string key;
  int line;  ///< from 1
  bool is_array;
  std::vector<ConfigValue> values;
};

/// The entries of a text in TOML 1.0, as far as options need it: bare or quoted keys; strings on
/// one line, numbers, booleans, and arrays of them; comments. CLI11 has a reader too, but it knows
/// neither lines nor types, takes a '#' in a string for a comment and skips what it cannot read.
/// \throws UsageError naming `path` and the line for all else, and for a key given twice
[[nodiscard]] std::vector<ConfigEntry> parse_config(const std::string& path, std::string_view text);

/// The same of a regular file of that name, of up to 1 MiB. \throws Error if it cannot be read,
/// UsageError if `path` is empty
[[nodiscard]] std::vector<ConfigEntry> read_config(const std::string& path);

/// `text` as a basic string of TOML, with its quotes.
[[nodiscard]] std::string config_string(const std::string& text);

/// "FILE:LINE: "
[[nodiscard]] std::string place_in_config(const std::string& path, int line);

}  // namespace kastor::cli

#endif
