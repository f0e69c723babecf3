// SPDX-License-Identifier: Apache-2.0
#include "cli/help/manual.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <kastor/error.hpp>

namespace kastor::cli {
namespace {

void write_text(const std::filesystem::path& path, const std::string& text) {
  errno = 0;
  std::ofstream stream(path, std::ios::binary);
  stream << text << std::flush;
  if (!stream) {
    throw Error(path.string() + ": cannot be written (" + std::strerror(errno != 0 ? errno : EIO) +
                "); expected a folder with room for it");
  }
}

}  // namespace

std::string page_name(const CommandDescription& command) {
  std::string name = command.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string summary_of(const std::vector<CommandDescription>& commands, std::size_t which) {
  const std::string& name = commands[which].name;
  const auto space = name.rfind(' ');
  for (const auto& parent : commands) {
    if (space == std::string::npos || parent.name != name.substr(0, space)) continue;
    for (const auto& part : parent.parts) {
      if (part.name == name.substr(space + 1)) return part.summary;
    }
  }
  return "find and measure the sources in astronomical images";
}

std::string in_short(const OptionDescription& option) {
  std::string text;
  for (const char c : option.help) text += c == '\n' ? ' ' : c;
  text = text.substr(0, std::min({text.find("; "), text.find(". "), text.find(": ")}));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void write_manual(const std::vector<CommandDescription>& commands, const std::string& folder) {
  const std::filesystem::path top(folder);
  std::error_code error;
  std::filesystem::create_directories(top / "man1", error);
  if (error) throw Error(folder + ": found " + error.message() + "; expected a folder to write to");
  for (std::size_t i = 0; i < commands.size(); ++i) {
    write_text(top / "man1" / (page_name(commands[i]) + ".1"), man_page(commands, i));
  }
  write_text(top / "kastor.bash", bash_completion(commands));
  write_text(top / "_kastor", zsh_completion(commands));
  write_text(top / "kastor.fish", fish_completion(commands));
}

}  // namespace kastor::cli
