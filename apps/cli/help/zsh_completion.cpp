// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <kastor/version.hpp>

#include "cli/help/manual.hpp"
#include "cli/report/words.hpp"

namespace kastor::cli {
namespace {

/// Escapes text within single quotes, where _arguments interprets brackets and colons.
std::string zsh_quoted(const std::string& text) {
  std::string zsh;
  for (const char c : text) {
    if (c == '\'') {
      zsh += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') zsh += '\\';
    zsh += c;
  }
  return zsh;
}

std::string function_name(const CommandDescription& command) {
  std::string name = "_" + command.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string zsh_action(const std::string& label) {
  const std::string words = joined(words_of_label(label), " ");
  if (label_names_a_file(label)) {
    return words.empty()
               ? "_files"
               : "{_alternative \"words\\:word\\:(" + words + ")\" files\\:file\\:_files}";
  }
  return words.empty() ? " " : "(" + words + ")";
}

std::string spec(const OptionDescription& option) {
  const std::string value =
      option.label.empty() ? "" : ":" + zsh_quoted(option.label) + ":" + zsh_action(option.label);
  const std::string text =
      (option.label.empty() ? "[" : "=[") + zsh_quoted(in_short(option)) + "]" + value + "'";
  const std::string many = option.repeatable ? "*" : "";
  if (option.short_name.empty()) return "'" + many + option.name + text;
  const std::string either =
      option.repeatable ? "'*'" : "'(" + option.short_name + " " + option.name + ")'";
  // A short option takes its value as the next word.
  return either + "{" + option.short_name + "," + option.name + "}'" +
         (option.label.empty() ? text : text.substr(1));
}

std::string of_options(const CommandDescription& command) {
  std::string text = function_name(command) + "() {\n  _arguments -s -S";
  text += " \\\n    '(- *)'{-h,--help}'[print the help]'";
  for (const auto& option : command.options) text += " \\\n    " + spec(option);
  for (const auto& positional : command.positionals) {
    text += " \\\n    ':" + zsh_quoted(positional.label) + ":" + zsh_action(positional.label) + "'";
  }
  return text + "\n}\n";
}

std::string of_parts(const CommandDescription& command) {
  const std::string heading = zsh_quoted(command.parts_heading);
  std::string text = function_name(command) +
                     "() {\n  local curcontext=$curcontext state state_descr line\n"
                     "  local -a context parts\n  parts=(\n";
  for (const auto& part : command.parts)
    text += "    '" + zsh_quoted(part.name) + ":" + zsh_quoted(part.summary) + "'\n";
  text += "  )\n  _arguments -C '(- *)'{-h,--help}'[print the help]'";
  if (command.name == "kastor") text += " '(- *)--version[print the version]'";
  text += " \\\n    '1:" + heading + ":->part' '*::argument:->rest'\n  case $state in\n";
  text += "    part) _describe '" + heading + "' parts ;;\n    rest)\n      case $line[1] in\n";
  for (const auto& part : command.parts) {
    CommandDescription whole;
    whole.name = command.name + " " + part.name;
    text += "        " + part.name + ") " + function_name(whole) + " ;;\n";
  }
  return text + "      esac\n      ;;\n  esac\n}\n";
}

}  // namespace

std::string zsh_completion(const std::vector<CommandDescription>& commands) {
  std::string text =
      std::string("#compdef kastor\n# Written by the build of kastor ") + version() + ".\n";
  for (const auto& command : commands)
    text += "\n" + (command.parts.empty() ? of_options(command) : of_parts(command));
  return text + "\n_kastor \"$@\"\n";
}

}  // namespace kastor::cli
