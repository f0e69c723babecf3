// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <kastor/version.hpp>
#include <map>
#include <optional>
#include <set>

#include "cli/help/manual.hpp"
#include "cli/report/words.hpp"

namespace kastor::cli {
namespace {

constexpr const char* head = R"(
_kastor()
{
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command=kastor words='' files='' i
  COMPREPLY=()

  # '--about=zero' arrives as three words.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = && COMP_CWORD -gt 1 ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi

  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${COMP_WORDS[i]}" in
)";

constexpr const char* tail = R"(
  [[ -z $words ]] || COMPREPLY=($(IFS=' ' compgen -W "$words" -- "$current"))
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r i; do COMPREPLY+=("$i"); done < <(compgen -f -- "$current")
  fi
}
complete -F _kastor kastor
)";

/// The shell code that completes the value of an option with this label.
std::string action(const std::string& label) {
  const auto words = words_of_label(label);
  std::string text;
  if (!words.empty()) text += "words='" + joined(words, " ") + "' ";
  if (label_names_a_file(label)) text += "files=yes ";
  return text;
}

/// The shell code that completes the option of that name in every command that has it; none if the
/// commands differ.
std::optional<std::string> common_action(const std::vector<CommandDescription>& commands,
                                         const std::string& name) {
  std::optional<std::string> common;
  for (const auto& command : commands) {
    for (const auto& option : command.options) {
      if (option.name != name) continue;
      const std::string own = option.label.empty() ? "flag" : action(option.label);
      if (common && *common != own) return std::nullopt;
      common = own;
    }
  }
  return common;
}

/// The cases of the options that take a value, grouped by the kind of value.
std::string values(const std::vector<CommandDescription>& commands) {
  std::map<std::string, std::set<std::string>> patterns;
  for (const auto& command : commands) {
    for (const auto& option : command.options) {
      if (option.label.empty()) continue;
      const std::string where = common_action(commands, option.name) ? "* " : command.name + " ";
      for (const auto& name : {option.name, option.short_name}) {
        if (!name.empty()) patterns[action(option.label)].insert("'" + where + name + "'");
      }
    }
  }
  std::string text;
  for (const auto& [what, list] : patterns) {
    std::string joined_list;
    for (auto pattern : list) {
      if (pattern.starts_with("'* ")) pattern = "*'" + pattern.substr(2);
      joined_list += (joined_list.empty() ? "    " : " | \\\n      ") + pattern;
    }
    text += joined_list + ") " + what + ";;\n";
  }
  return text;
}

std::string option_names(const CommandDescription& command) {
  std::string names =
      command.parts.empty() || command.name != "kastor" ? "--help" : "--help --version";
  for (const auto& option : command.options) names += " " + option.name;
  return names;
}

/// The shell code that completes the arguments of a command.
std::string inputs(const CommandDescription& command) {
  std::string words;
  for (const auto& part : command.parts) words += (words.empty() ? "" : " ") + part.name;
  const bool files =
      std::any_of(command.positionals.begin(), command.positionals.end(),
                  [](const auto& positional) { return label_names_a_file(positional.label); });
  return (words.empty() ? "" : "words='" + words + "' ") + (files ? "files=yes " : "");
}

}  // namespace

std::string bash_completion(const std::vector<CommandDescription>& commands) {
  std::string text = std::string("# Completion in bash, written by the build of kastor ") +
                     version() + ".\n" + (head + 1);
  std::string names;
  for (const auto& command : commands) {
    if (command.name == "kastor") continue;
    names += (names.empty() ? "      '" : " | \\\n      '") + command.name + "'";
  }
  text += names + ") command+=\" ${COMP_WORDS[i]}\" ;;\n      *) break ;;\n    esac\n  done\n\n";
  text += "  case \"$command $previous\" in\n" + values(commands);
  text += "    *)\n      case \"$command $current\" in\n";
  for (const auto& command : commands) {
    text += "        '" + command.name + " -'*) words='" + option_names(command) + "' ;;\n";
  }
  // In reverse order, since "kastor " matches the beginning of every command.
  for (auto command = commands.rbegin(); command != commands.rend(); ++command) {
    text += "        '" + command->name + " '*) " + inputs(*command) + ";;\n";
  }
  return text + "      esac\n      ;;\n  esac\n" + tail;
}

}  // namespace kastor::cli
