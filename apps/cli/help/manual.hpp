// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_HELP_MANUAL_HPP
#define KASTOR_APPS_CLI_HELP_MANUAL_HPP

#include <string>
#include <vector>

#include "cli/help/description.hpp"

namespace kastor::cli {

/// Writes the files that are installed with the command into `folder`, which is created if it is
/// missing: man1/kastor.1 and a page for every other command, and the completions kastor.bash,
/// _kastor (zsh) and kastor.fish. `commands` begins with "kastor", and a command precedes its
/// parts. \throws Error
void write_manual(const std::vector<CommandDescription>& commands, const std::string& folder);

/// The page of `commands[which]` in the macros of man(7).
[[nodiscard]] std::string man_page(const std::vector<CommandDescription>& commands,
                                   std::size_t which);

/// The name of the man page: "kastor-find".
[[nodiscard]] std::string page_name(const CommandDescription& command);
/// Its line in the list of commands.
[[nodiscard]] std::string summary_of(const std::vector<CommandDescription>& commands,
                                     std::size_t which);
/// The first clause of an option's help.
[[nodiscard]] std::string in_short(const OptionDescription& option);

[[nodiscard]] std::string bash_completion(const std::vector<CommandDescription>& commands);
[[nodiscard]] std::string zsh_completion(const std::vector<CommandDescription>& commands);
[[nodiscard]] std::string fish_completion(const std::vector<CommandDescription>& commands);

}  // namespace kastor::cli

#endif
