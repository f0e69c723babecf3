// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_HELP_DESCRIPTION_HPP
#define KASTOR_APPS_CLI_HELP_DESCRIPTION_HPP

#include <functional>
#include <string>
#include <vector>

namespace kastor::cli {

enum class ValueKind { flag, integer, real, text };

struct OptionDescription {
  std::string name;             ///< "--kappa"
  std::string short_name = {};  ///< "-o"; empty: none
  std::string label = {};       ///< of its value; empty: a flag
  std::string help = {};        ///< lines as the help breaks them
  std::string heading = {};
  std::string standard = {};  ///< the value if none is given, as typed; empty: none or it depends
  std::string expected = {};  ///< of a number: "an integer from 1 to 512"
  ValueKind kind = ValueKind::flag;
  bool required = false;
  bool repeatable = false;
  bool configurable = true;  ///< may stand in a configuration file

  /// Its name in a configuration file: "kappa".
  [[nodiscard]] std::string key() const { return name.substr(2); }
};

struct PositionalDescription {
  std::string label;
  std::string help;
};

struct PartDescription {
  std::string name;
  std::string summary;
};

/// What a command takes: the one source of its manual page, of the completion in shells and of its
/// configuration files. Its help is made from the same calls of `CommandLine`.
struct CommandDescription {
  std::string name;                    ///< as typed, "kastor find"
  std::string purpose;                 ///< lines of 80 columns
  std::vector<std::string> usage;      ///< as typed, without "Usage:"
  std::string parts_heading = {};      ///< of the help
  std::vector<PartDescription> parts;  ///< commands of which it is the first words
  std::vector<PositionalDescription> positionals;
  std::vector<OptionDescription> options;
  std::string closing;  ///< paragraphs; headings end in ':', lines of two spaces are as typed
};

/// The words among the alternatives of a label: "zero|median", the "lesson" of "FILE.fits|lesson".
[[nodiscard]] std::vector<std::string> words_of_label(const std::string& label);
/// Whether a file is among them.
[[nodiscard]] bool label_names_a_file(const std::string& label);

/// Runs `job`, in which every command describes itself where it would parse or print its help.
[[nodiscard]] std::vector<CommandDescription> describe(const std::function<void()>& job);
/// Whether one is wanted now; if so it is kept.
[[nodiscard]] bool take_description(const std::function<CommandDescription()>& make);

}  // namespace kastor::cli

#endif
