// SPDX-License-Identifier: Apache-2.0
#include "cli/options/config_options.hpp"

#include <algorithm>
#include <limits>

#include "cli/options/numbers.hpp"
#include "cli/report/format.hpp"
#include "cli/report/words.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

std::string in_words(const ConfigEntry& entry) {
  if (entry.is_array) return "a list";
  const auto& value = entry.values.front();
  return value.type == ConfigType::string ? "the string '" + value.text + "'" : value.text;
}

std::string expected_by(const OptionDescription& option) {
  switch (option.kind) {
    case ValueKind::flag:
      return "true or false";
    case ValueKind::integer:
    case ValueKind::real:
      return option.expected + ", without quotes";
    case ValueKind::text:
      break;
  }
  const auto words = words_of_label(option.label);
  const std::string one =
      "one quoted string (" + (words.empty() ? option.label : alternatives(words)) + ")";
  return option.repeatable ? one + ", or a list of them" : one;
}

bool has_its_type(const OptionDescription& option, const ConfigEntry& entry) {
  if (entry.is_array && !option.repeatable) return false;
  return std::all_of(entry.values.begin(), entry.values.end(), [&](const auto& value) {
    switch (option.kind) {
      case ValueKind::flag:
        return value.type == ConfigType::boolean;
      case ValueKind::integer:
      case ValueKind::real:
        return value.type == ConfigType::integer || value.type == ConfigType::real;
      case ValueKind::text:
        break;
    }
    return value.type != ConfigType::boolean;  // a number needs no quotes: hdu = 1
  });
}

const OptionDescription* find_option(const CommandDescription& command, const std::string& key) {
  for (const auto& option : command.options) {
    if (option.configurable && option.key() == key) return &option;
  }
  return nullptr;
}

/// The value in TOML. A text that is an integer needs no quotes, as in hdu = 1.
std::string config_value(const OptionDescription& option, const std::string& typed) {
  switch (option.kind) {
    case ValueKind::flag:
      return "true";
    case ValueKind::integer:
      return std::to_string(
          parse_integer(option.name, typed,
                        {std::numeric_limits<std::int64_t>::min(),
                         std::numeric_limits<std::int64_t>::max(), option.expected.c_str()}));
    case ValueKind::real:
      return fmt::format("{}", parse_real(option.name, typed, finite_range()));
    case ValueKind::text:
      break;
  }
  const bool is_integer = !typed.empty() && typed.size() < 19 &&
                          typed.find_first_not_of("0123456789") == std::string::npos &&
                          (typed.size() == 1 || typed.front() != '0');
  return is_integer ? typed : config_string(typed);
}

std::string config_values(const OptionDescription& option, const std::vector<std::string>& typed) {
  if (!option.repeatable) return config_value(option, typed.front());
  std::vector<std::string> values;
  for (const auto& value : typed) values.push_back(config_value(option, value));
  return "[" + joined(values, ", ") + "]";
}

/// The value shown for an option that was not given.
std::string standard_value(const OptionDescription& option) {
  if (option.kind == ValueKind::flag) return "false";
  if (!option.standard.empty()) return config_values(option, {option.standard});
  const bool is_text = option.kind == ValueKind::text;
  return (is_text ? config_values(option, {option.label}) : option.label) + "  # no fixed default";
}

/// The words of `text`, wrapped into lines of 80 columns that begin with "# ".
std::string as_comment(const std::string& text) {
  std::string comment = "#";
  std::size_t column = 1;
  for (std::size_t at = 0; (at = text.find_first_not_of(" \n", at)) != std::string::npos;) {
    const auto end = std::min(text.find_first_of(" \n", at), text.size());
    if (column + 1 + end - at > 80) {
      comment += "\n#";
      column = 1;
    }
    comment += " " + text.substr(at, end - at);
    column += 1 + end - at;
    at = end;
  }
  return comment + "\n";
}

}  // namespace

std::vector<ConfiguredOption> configured_options(const std::string& path,
                                                 const std::vector<ConfigEntry>& entries,
                                                 const CommandDescription& command) {
  std::vector<ConfiguredOption> options;
  for (const auto& entry : entries) {
    const auto fail = [&](const std::string& what) {
      throw UsageError(place_in_config(path, entry.line) + entry.key + ": found " + what);
    };
    const auto* option = find_option(command, entry.key);
    if (option == nullptr) {
      fail("a key that is not an option of '" + command.name + "'; expected one that '" +
           command.name + " --dump-config' prints");
    }
    if (!has_its_type(*option, entry)) fail(in_words(entry) + "; expected " + expected_by(*option));
    ConfiguredOption configured{option, {}, entry.line};
    for (const auto& value : entry.values) {
      if (option->kind != ValueKind::flag || value.text == "true")
        configured.values.push_back(value.text);
    }
    options.push_back(std::move(configured));
  }
  return options;
}

std::string config_text(
    const CommandDescription& command,
    const std::function<std::vector<std::string>(const OptionDescription&)>& given) {
  std::string text =
      as_comment("Options of '" + command.name +
                 "' as a TOML file for --config. A line '#key = value' is an option that was not "
                 "given, with its default, or with the kind of its value if it has no fixed "
                 "default.");
  std::string heading;
  for (const auto& option : command.options) {
    if (!option.configurable) continue;
    if (option.heading != heading) text += "\n## " + option.heading + "\n";
    heading = option.heading;
    text += "\n" + as_comment(option.help);
    const auto values = given(option);
    text += (values.empty() ? "#" : "") + option.key() + " = " +
            (values.empty() ? standard_value(option) : config_values(option, values)) + "\n";
  }
  return text;
}

}  // namespace kastor::cli
