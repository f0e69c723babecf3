// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_HELP_MANUAL_HPP
#define KASTOR_APPS_CLI_HELP_MANUAL_HPP

#include <string>
#include <vector>

#include "cli/help/description.hpp"

namespace kastor::cli {

/// Writes into `folder`, made if need be, what is installed beside the command: man1/kastor.1 and
/// a page for every other command, and the completions kastor.bash, _kastor (zsh) and kastor.fish.
/// `commands` begins with "kastor"; those with parts stand before these. \throws Error
void write_manual(const std::vector<CommandDescription>& commands, const std::string& folder);

/// The page of `commands[which]` in the macros of man(7).
[[nodiscard]] std::string man_page(const std::vector<CommandDescription>& commands,
                                   std::size_t which);

/// "kastor-find", the name of its page.
[[nodiscard]] std::string page_name(const CommandDescription& command);
/// What the list of commands says of it.
[[nodiscard]] std::string summary_of(const std::vector<CommandDescription>& commands,
                                     std::size_t which);
/// The first clause of an option's help.
[[nodiscard]] std::string in_short(const OptionDescription& option);

[[nodiscard]] std::string bash_completion(const std::vector<CommandDescription>& commands);
[[nodiscard]] std::string zsh_completion(const std::vector<CommandDescription>& commands);
[[nodiscard]] std::string fish_completion(const std::vector<CommandDescription>& commands);

}  // namespace kastor::cli

#endif
