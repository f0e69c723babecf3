// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "cli/errors.hpp"
#include "cli/streams.hpp"

namespace kastor::cli {
namespace {

constexpr std::size_t help_column = 26;
constexpr const char* input_heading = "Input";

std::string join(const std::vector<std::string>& words, const char* separator) {
  std::string joined;
  for (const auto& word : words) joined += (joined.empty() ? "" : separator) + word;
  return joined;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
  }
}

/// The first of them that looks like an option, else the first: an option that is not known leaves
/// its value behind too.
std::string unexpected_word(const std::vector<std::string>& remaining) {
  const auto option = std::find_if(remaining.begin(), remaining.end(),
                                   [](const auto& word) { return word.starts_with('-'); });
  return option != remaining.end() ? *option : (remaining.empty() ? "" : remaining.front());
}

/// CLI11's words for an option that is given twice, or without its value, are about its own
/// counting.
std::string count_message(const std::string& what) {
  const auto colon = what.find(": ");
  if (colon == std::string::npos) return what;
  const bool repeated = what.find("received", colon) != std::string::npos;
  return what.substr(0, colon) + (repeated ? ": given more than once; expected at most once"
                                           : ": found no value; expected one");
}

}  // namespace

struct CommandLine::Parser {
  Parser(const std::string& name, const std::string& purpose) : app(purpose, name) {}

  CLI::Option* add(const std::string& name, const std::string& label,
                   std::function<void(const std::string&)> take, const std::string& help) {
    return app.add_option_function<std::string>(name, std::move(take), help)
        ->option_text(label)
        ->group(group);
  }

  template <class Target>
  CLI::Option* positional(const std::string& label, Target& target, const std::string& help) {
    return app
        .add_option_function<std::string>(
            label, [&target](const std::string& text) { target = text; }, help)
        ->option_text(" ");
  }

  /// CLI11's help, without its spare blank lines, the second heading of the input, and with what
  /// the usage must name.
  [[nodiscard]] std::string help() const {
    std::string text = app.help();
    const auto usage_end = text.find('\n', text.find("Usage:"));
    text.insert(usage_end, required);
    replace_all(text, "\n\n\n", "\n\n");
    const std::string heading = std::string("\n\n") + input_heading + ":\n";
    const auto first = text.find(heading);
    const auto second = first == std::string::npos ? first : text.find(heading, first + 1);
    if (second != std::string::npos) text.replace(second, heading.size(), "\n");
    return text;
  }

  CLI::App app;
  std::string required;  // options, as the usage shows them
  std::string group = "Options";
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

void CommandLine::optional_positional(const std::string& label, std::optional<std::string>& target,
                                      const std::string& help) {
  m_parser->positional(label, target, help);
}

void CommandLine::flag(const std::string& name, bool& target, const std::string& help) {
  m_parser->app.add_flag(name, target, help)
      ->disable_flag_override()
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
      ->group(m_parser->group);
}

void CommandLine::value(const std::string& name, const std::string& label,
                        std::function<void(const std::string&)> take, const std::string& help) {
  m_parser->add(name, label, std::move(take), help);
}

void CommandLine::values(const std::string& name, const std::string& label,
                         std::vector<std::string>& target, const std::string& help) {
  // One value each time: without this CLI11 goes on eating what follows.
  m_parser->app.add_option(name, target, help)
      ->allow_extra_args(false)
      ->option_text(label)
      ->group(m_parser->group);
}

void CommandLine::real(const std::string& name, const std::string& label, const RealRange& range,
                       std::function<void(double)> take, const std::string& help) {
  value(
      name, label, [=](const std::string& text) { take(parse_real(name, text, range)); }, help);
}

void CommandLine::integer(const std::string& name, const std::string& label,
                          const IntegerRange& range, std::function<void(std::int64_t)> take,
                          const std::string& help) {
  value(
      name, label, [=](const std::string& text) { take(parse_integer(name, text, range)); }, help);
}

void CommandLine::choice(const std::string& name, std::vector<std::string> words,
                         std::function<void(const std::string&)> take, const std::string& help) {
  const std::string label = join(words, "|");
  value(
      name, label,
      [=](const std::string& text) {
        if (std::find(words.begin(), words.end(), text) == words.end()) {
          throw UsageError(name + ": found '" + text + "'; expected " + join(words, " or "));
        }
        take(text);
      },
      help);
}

void CommandLine::requires_option(const std::string& name) {
  const auto* option = m_parser->app.get_option(name)->required();
  m_parser->required += " " + name + " " + option->get_option_text();
}

void CommandLine::excludes(const std::string& name, const std::string& other) {
  m_parser->app.get_option(name)->excludes(m_parser->app.get_option(other));
}

void CommandLine::closing(const std::string& text) { m_parser->app.footer(text); }

bool CommandLine::parse(Arguments arguments) {
  if (asks_for_help(arguments)) {
    print_result(m_parser->help());
    return false;
  }
  // CLI11 takes the words last first.
  std::vector<std::string> words(arguments.begin(), arguments.end());
  std::reverse(words.begin(), words.end());
  const std::string hint = " (see '" + m_parser->app.get_name() + " --help')";
  try {
    m_parser->app.parse(std::move(words));
  } catch (const UsageError& error) {
    throw UsageError(error.what() + hint);
  } catch (const CLI::ExtrasError&) {
    throw UsageError("found '" + unexpected_word(m_parser->app.remaining()) +
                     "', which is not expected here" + hint);
  } catch (const CLI::ArgumentMismatch& error) {
    throw UsageError(count_message(error.what()) + hint);
  } catch (const CLI::Error& error) {
    throw UsageError(error.what() + hint);
  }
  return true;
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
