// SPDX-License-Identifier: Apache-2.0
#include "cli/options/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "cli/options/config_options.hpp"
#include "cli/report/streams.hpp"
#include "cli/report/words.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

constexpr std::size_t help_column = 26;
constexpr const char* input_heading = "Input";
constexpr const char* config_heading = "Configuration file";
constexpr const char* config_name = "--config";
constexpr const char* dump_name = "--dump-config";

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
  }
}

/// The first word that looks like an option, else the first word: an unknown option leaves its
/// value among the words too.
std::string unexpected_word(const std::vector<std::string>& remaining) {
  const auto option = std::find_if(remaining.begin(), remaining.end(),
                                   [](const auto& word) { return word.starts_with('-'); });
  return option != remaining.end() ? *option : (remaining.empty() ? "" : remaining.front());
}

/// Puts CLI11's message into the form of Kastor's, if it is one that is known here.
std::string message_of(const std::string& what) {
  constexpr std::string_view required = " is required";
  constexpr std::string_view excludes = " excludes ";
  constexpr std::string_view overridden = " was given a disallowed flag override";
  const auto before = [&what](std::string_view end) {
    return what.substr(0, what.size() - end.size());
  };
  if (what.ends_with(required)) return "found no " + before(required) + "; expected one";
  if (what.ends_with(overridden)) {
    const std::string flag = before(overridden);
    return (flag.starts_with('-') ? "" : "--") + flag + ": found a value; expected none";
  }
  if (const auto at = what.find(excludes); at != std::string::npos) {
    return what.substr(0, at) + ": found with " + what.substr(at + excludes.size()) +
           "; expected at most one of them";
  }
  return what;
}

/// Replaces CLI11's message for an option that is repeated or lacks its value, which is in terms of
/// its internal counts.
std::string count_message(const std::string& what) {
  const auto colon = what.find(": ");
  if (colon == std::string::npos) return message_of(what);
  const bool repeated = what.find("received", colon) != std::string::npos;
  return what.substr(0, colon) + (repeated ? ": given more than once; expected at most once"
                                           : ": found no value; expected one");
}

/// Splits "-o,--output" or "--output".
void set_names(OptionDescription& option, const std::string& names) {
  const auto comma = names.find(',');
  option.name = comma == std::string::npos ? names : names.substr(comma + 1);
  option.short_name = comma == std::string::npos ? "" : names.substr(0, comma);
}

std::string names_of(const OptionDescription& option) {
  return option.short_name.empty() ? option.name : option.short_name + "," + option.name;
}

/// The position of `name` in a message, where it is not a part of a longer name.
std::size_t find_name(const std::string& message, const std::string& name) {
  constexpr const char* of_names = "abcdefghijklmnopqrstuvwxyz0123456789-";
  for (std::size_t at = message.find(name); at != std::string::npos;
       at = message.find(name, at + 1)) {
    const auto is_of_names = [&](std::size_t i) {
      return i < message.size() && std::string_view(of_names).find(message[i]) != std::string::npos;
    };
    if ((at == 0 || !is_of_names(at - 1)) && !is_of_names(at + name.size())) return at;
  }
  return std::string::npos;
}

struct GivenOption {
  const OptionDescription* option;
  std::string value;
};

/// The options among the words, as CLI11 will parse them: each has one value or none.
std::vector<GivenOption> given_options(const std::vector<std::string>& words,
                                       const CommandDescription& command) {
  std::vector<GivenOption> given;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    const bool is_long = word.starts_with("--");
    const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    std::string value = word.substr(std::min(name.size() + (is_long ? 1 : 0), word.size()));
    for (const auto& option : command.options) {
      if (option.name != name && (option.short_name.empty() || option.short_name != name)) continue;
      if (option.kind != ValueKind::flag && value.empty() && ++i < words.size()) value = words[i];
      given.push_back({&option, value});
      break;
    }
  }
  return given;
}

}  // namespace

struct CommandLine::Parser {
  Parser(const std::string& name, const std::string& purpose) : app(purpose, name) {
    about.name = name;
    about.purpose = purpose;
  }

  template <class Target>
  CLI::Option* positional(const std::string& label, Target& target, const std::string& help) {
    about.positionals.push_back({label, help});
    return app
        .add_option_function<std::string>(
            label, [&target](const std::string& text) { target = text; }, help)
        ->option_text(" ");
  }

  [[nodiscard]] OptionDescription option(const std::string& names, const std::string& label,
                                         const std::string& help) const {
    OptionDescription option;
    set_names(option, names);
    option.label = label;
    option.help = help;
    option.heading = group;
    option.kind = label.empty() ? ValueKind::flag : ValueKind::text;
    return option;
  }

  /// CLI11's help without surplus blank lines and the second input heading, and with the required
  /// options in the usage.
  [[nodiscard]] std::string help() const {
    std::string text = app.help();
    const auto usage_end = text.find('\n', text.find("Usage:"));
    text.insert(usage_end, (more != nullptr ? "..." : "") + required);
    replace_all(text, "\n\n\n", "\n\n");
    const std::string heading = std::string("\n\n") + input_heading + ":\n";
    const auto first = text.find(heading);
    const auto second = first == std::string::npos ? first : text.find(heading, first + 1);
    if (second != std::string::npos) text.replace(second, heading.size(), "\n");
    return text;
  }

  [[nodiscard]] CommandDescription description() const {
    CommandDescription description = about;
    const std::string text = help();
    const auto usage = text.find("Usage: ") + std::string_view("Usage: ").size();
    description.usage = {text.substr(usage, text.find('\n', usage) - usage)};
    return description;
  }

  /// The options of the configuration file that are not in `typed`, followed by `typed`. CLI11
  /// itself reads such a file only after it has taken the values of the words.
  [[nodiscard]] std::vector<std::string> with_configuration(std::vector<std::string> typed) {
    const auto given = given_options(typed, about);
    const auto is_config = [](const auto& g) { return g.option->name == config_name; };
    const auto config = std::find_if(given.begin(), given.end(), is_config);
    // If it is repeated or lacks its value, CLI11 will report that.
    if (config == given.end() || std::count_if(given.begin(), given.end(), is_config) > 1 ||
        (config->value.empty() && typed.back() == config_name)) {
      return typed;
    }
    config_path = config->value;
    std::vector<std::string> words;
    for (auto& option : configured_options(config_path, read_config(config_path), about)) {
      if (std::any_of(given.begin(), given.end(),
                      [&](const auto& g) { return g.option == option.option; }))
        continue;
      for (const auto& value : option.values) {
        words.push_back(option.option->name);
        if (option.option->kind != ValueKind::flag) words.push_back(value);
      }
      from_file.push_back(std::move(option));
    }
    words.insert(words.end(), typed.begin(), typed.end());
    return words;
  }

  /// Prefixes the message with the line of the first option it names that is in the configuration
  /// file. If the message begins with that option, it is named by its key.
  [[nodiscard]] std::string placed(const std::string& message) const {
    std::string text = message;
    std::size_t first = std::string::npos;
    for (const auto& [option, values, line] : from_file) {
      for (const auto& name : {option->name, option->short_name}) {
        const auto at = name.empty() ? std::string::npos : find_name(message, name);
        if (at >= first) continue;
        first = at;
        text = place_in_config(config_path, line) +
               (at == 0 && message.substr(name.size()).starts_with(':')
                    ? option->key() + message.substr(name.size())
                    : message);
      }
    }
    return text;
  }

  /// Whether the user asked for --dump-config.
  [[nodiscard]] bool dumps(const std::vector<std::string>& typed) const {
    const auto given = given_options(typed, about);
    return std::any_of(given.begin(), given.end(),
                       [](const auto& g) { return g.option->name == dump_name; });
  }

  [[nodiscard]] std::vector<std::string> typed_values(const OptionDescription& option) const {
    return app.get_option(option.name)->results();
  }

  CLI::App app;
  CommandDescription about;
  std::string required;  // the required options, as the usage shows them
  std::string group = "Options";
  std::vector<std::function<void()>> checks;
  std::string config_path;
  std::vector<ConfiguredOption> from_file;   // the options that took effect
  std::vector<std::string>* more = nullptr;  // receives the words beyond the positionals

  /// Appends the remaining words to `more`. \throws UsageError for an option among them
  void take_more() const {
    if (more == nullptr) return;
    bool literal = false;
    for (const auto& word : app.remaining()) {
      if (!literal && word == "--") {
        literal = true;
      } else if (!literal && word.size() > 1 && word.starts_with('-')) {
        throw UsageError("found the unexpected argument '" + word + "'");
      } else {
        more->push_back(word);
      }
    }
  }
};

CommandLine::CommandLine(const std::string& name, const std::string& purpose)
    : m_parser(std::make_unique<Parser>(name, purpose)) {
  m_parser->app.get_formatter()->column_width(help_column);
  m_parser->app.get_formatter()->label("Positionals", input_heading);
  m_parser->app.get_formatter()->label("OPTIONS", "OPTIONS...");
  m_parser->app.set_help_flag();  // answered before parsing
}

CommandLine::~CommandLine() = default;

void CommandLine::heading(const std::string& heading) { m_parser->group = heading; }

void CommandLine::positional(const std::string& label, std::string& target,
                             const std::string& help) {
  m_parser->positional(label, target, help)->required();
}

void CommandLine::positionals(const std::string& label, std::vector<std::string>& target,
                              const std::string& help) {
  m_parser->about.positionals.push_back({label, help});
  // In a vector, CLI11 would parse "[a]" as a list. So it gets the first word only, and the others
  // remain.
  m_parser->app
      .add_option_function<std::string>(
          label, [&target](const std::string& text) { target.push_back(text); }, help)
      ->option_text(" ")
      ->required();
  m_parser->app.allow_extras();
  m_parser->more = &target;
}

void CommandLine::optional_positionals(const std::string& label, std::vector<std::string>& target,
                                       const std::string& help) {
  m_parser->about.positionals.push_back({label, help});
  m_parser->app
      .add_option_function<std::string>(
          label, [&target](const std::string& text) { target.push_back(text); }, help)
      ->option_text(" ");
  m_parser->app.allow_extras();
  m_parser->more = &target;
}

void CommandLine::optional_positional(const std::string& label, std::optional<std::string>& target,
                                      const std::string& help) {
  m_parser->positional(label, target, help);
}

void CommandLine::flag(const std::string& name, bool& target, const std::string& help) {
  m_parser->about.options.push_back(m_parser->option(name, "", help));
  m_parser->app.add_flag(name, target, help)
      ->disable_flag_override()
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
      ->group(m_parser->group);
}

void CommandLine::add(const OptionDescription& option,
                      const std::function<void(const std::string&)>& take) {
  m_parser->about.options.push_back(option);
  m_parser->app.add_option_function<std::string>(names_of(option), take, option.help)
      ->option_text(option.label)
      ->group(option.heading);
}

void CommandLine::value(const std::string& name, const std::string& label,
                        const std::function<void(const std::string&)>& take,
                        const std::string& help, const std::string& standard) {
  auto option = m_parser->option(name, label, help);
  option.standard = standard;
  add(option, take);
}

void CommandLine::values(const std::string& name, const std::string& label,
                         std::vector<std::string>& target, const std::string& help) {
  auto option = m_parser->option(name, label, help);
  option.repeatable = true;
  m_parser->about.options.push_back(option);
  // One value each time. Otherwise CLI11 would consume the words that follow.
  m_parser->app.add_option(name, target, help)
      ->allow_extra_args(false)
      ->option_text(label)
      ->group(m_parser->group);
}

void CommandLine::real(const std::string& name, const std::string& label, const RealRange& range,
                       const std::function<void(double)>& take, const std::string& help,
                       const std::string& standard) {
  auto option = m_parser->option(name, label, help);
  option.kind = ValueKind::real;
  option.expected = range.words;
  option.standard = standard;
  add(option, [=](const std::string& text) { take(parse_real(name, text, range)); });
}

void CommandLine::integer(const std::string& name, const std::string& label,
                          const IntegerRange& range, const std::function<void(std::int64_t)>& take,
                          const std::string& help, const std::string& standard) {
  auto option = m_parser->option(name, label, help);
  option.kind = ValueKind::integer;
  option.expected = range.words;
  option.standard = standard;
  add(option, [=](const std::string& text) { take(parse_integer(name, text, range)); });
}

void CommandLine::choice(const std::string& name, const std::vector<std::string>& words,
                         const std::function<void(const std::string&)>& take,
                         const std::string& help, const std::string& standard) {
  const std::string label = joined(words, "|");
  value(
      name, label,
      [=](const std::string& text) {
        if (std::find(words.begin(), words.end(), text) == words.end()) {
          throw UsageError(name + ": found '" + text + "'; expected " + alternatives(words));
        }
        take(text);
      },
      help, standard);
}

void CommandLine::requires_option(const std::string& name) {
  const auto* option = m_parser->app.get_option(name)->required();
  m_parser->required += " " + name + " " + option->get_option_text();
  for (auto& about : m_parser->about.options) {
    if (about.name == name || about.short_name == name) about.required = true;
  }
}

void CommandLine::standard_depends(const std::string& name) {
  for (auto& about : m_parser->about.options) {
    if (about.name == name) about.standard.clear();
  }
}

void CommandLine::excludes(const std::string& name, const std::string& other) {
  m_parser->app.get_option(name)->excludes(m_parser->app.get_option(other));
}

void CommandLine::closing(const std::string& text) {
  m_parser->app.footer(text);
  m_parser->about.closing = text;
}

void CommandLine::check(std::function<void()> check) {
  m_parser->checks.push_back(std::move(check));
}

bool CommandLine::parse(Arguments arguments) {
  bool dump = false;
  add_config_options(dump);
  if (take_description([&] { return m_parser->description(); })) return false;
  if (asks_for_help(arguments)) {
    print_result(m_parser->help());
    return false;
  }
  const std::string hint = " (see '" + m_parser->app.get_name() + " --help')";
  const auto usage_error = [&](const std::string& what) {
    return UsageError(m_parser->placed(what) + hint);
  };
  try {
    std::vector<std::string> words =
        m_parser->with_configuration({arguments.begin(), arguments.end()});
    if (m_parser->dumps({arguments.begin(), arguments.end()})) {
      for (auto* option : m_parser->app.get_options()) option->required(false);
    }
    std::reverse(words.begin(), words.end());  // CLI11 takes the words last first
    m_parser->app.parse(std::move(words));
    m_parser->take_more();
  } catch (const UsageError& error) {
    throw usage_error(error.what());
  } catch (const CLI::ExtrasError&) {
    throw usage_error("found the unexpected argument '" +
                      unexpected_word(m_parser->app.remaining()) + "'");
  } catch (const CLI::ArgumentMismatch& error) {
    throw usage_error(count_message(error.what()));
  } catch (const CLI::Error& error) {
    throw usage_error(message_of(error.what()));
  }
  try {
    for (const auto& check : m_parser->checks) check();
  } catch (const UsageError& error) {
    throw UsageError(m_parser->placed(error.what()));
  }
  if (!dump) return true;
  print_result(config_text(m_parser->about,
                           [&](const auto& option) { return m_parser->typed_values(option); }));
  return false;
}

void CommandLine::add_config_options(bool& dump) {
  heading(config_heading);
  value(
      config_name, "FILE", [](const std::string&) {},
      "Read options from a TOML file: 'kappa = 3' stands for\n"
      "--kappa 3, and 'json = true' for --json. Options on\nthe command line take precedence.");
  flag(dump_name, dump,
       "Print such a file and exit: the options given, and all\n"
       "others as comments with their defaults.");
  for (auto& option : m_parser->about.options) {
    if (option.heading == config_heading) option.configurable = false;
  }
}

bool CommandLine::given(const std::string& name) const {
  return m_parser->app.get_option(name)->count() > 0;
}

std::string command_line_library_version() { return CLI11_VERSION; }

bool asks_for_help(Arguments arguments) {
  for (const std::string_view word : arguments) {
    if (word == "--") return false;
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

}  // namespace kastor::cli
