// SPDX-License-Identifier: Apache-2.0
#include <kastor/version.hpp>

#include "cli/help/manual.hpp"
#include "cli/report/words.hpp"

namespace kastor::cli {
namespace {

std::string quoted(const std::string& text) {
  std::string fish = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') fish += '\\';
    fish += c;
  }
  return fish + "'";
}

/// The test that the line contains the words of the command: "simulate", "sky".
std::string condition(const CommandDescription& command) {
  std::string text;
  for (std::size_t space = command.name.find(' '); space != std::string::npos;) {
    const auto next = command.name.find(' ', space + 1);
    text += (text.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") +
            command.name.substr(space + 1, next - space - 1);
    space = next;
  }
  return text;
}

std::string names_of(const std::vector<PartDescription>& parts) {
  std::string text;
  for (const auto& part : parts) text += " " + part.name;
  return text;
}

std::string of_value(const std::string& label) {
  if (label.empty()) return {};
  const std::string words = joined(words_of_label(label), " ");
  const std::string listed = words.empty() ? "" : " -a " + quoted(words);
  return (label_names_a_file(label) ? " -r -F" : " -x") + listed;
}

std::string of_command(const CommandDescription& command) {
  const bool is_top = command.name.find(' ') == std::string::npos;
  const std::string here = condition(command);
  std::string text;
  for (const auto& part : command.parts) {
    const std::string none_yet = "not __fish_seen_subcommand_from" + names_of(command.parts);
    text += "complete -c kastor -n " + quoted(is_top ? none_yet : here + "; and " + none_yet) +
            " -a " + part.name + " -d " + quoted(part.summary) + "\n";
  }
  for (const auto& option : command.options) {
    text += "complete -c kastor -n " + quoted(here);
    if (!option.short_name.empty()) text += " -s " + option.short_name.substr(1);
    text += " -l " + option.key() + of_value(option.label) + " -d " + quoted(in_short(option));
    text += "\n";
  }
  for (const auto& positional : command.positionals) {
    if (!label_names_a_file(positional.label)) continue;
    text += "complete -c kastor -n " + quoted(here) + " -F\n";
    break;
  }
  return text;
}

}  // namespace

std::string fish_completion(const std::vector<CommandDescription>& commands) {
  std::string text = std::string("# Completion in fish, written by the build of kastor ") +
                     version() +
                     ".\ncomplete -c kastor -f\n"
                     "complete -c kastor -s h -l help -d 'print the help'\n"
                     "complete -c kastor -n __fish_use_subcommand -l version -d "
                     "'print the version'\n";
  for (const auto& command : commands) text += of_command(command);
  return text;
}

}  // namespace kastor::cli
