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
  std::string help = {};        ///< in the lines of the help
  std::string heading = {};
  std::string standard = {};  ///< the default, as typed; empty: none, or no fixed one
  std::string expected = {};  ///< the range of a number: "an integer from 1 to 512"
  ValueKind kind = ValueKind::flag;
  bool required = false;
  bool repeatable = false;
  bool configurable = true;  ///< allowed in a configuration file

  /// The name in a configuration file: "kappa".
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

/// What a command takes: the single source of its man page, its shell completions and its
/// configuration files. The help is made by the same calls of `CommandLine`.
struct CommandDescription {
  std::string name;                    ///< as typed, "kastor find"
  std::string purpose;                 ///< lines of 80 columns
  std::vector<std::string> usage;      ///< as typed, without "Usage:"
  std::string parts_heading = {};      ///< the heading of `parts` in the help
  std::vector<PartDescription> parts;  ///< the commands that begin with the words of this one
  std::vector<PositionalDescription> positionals;
  std::vector<OptionDescription> options;
  std::string closing;  ///< paragraphs; a heading ends in ':', and indented lines are kept as typed
};

/// The words among the alternatives of a label: both of "zero|median", and "lesson" of
/// "FILE.fits|lesson".
[[nodiscard]] std::vector<std::string> words_of_label(const std::string& label);
/// Whether a file is among the alternatives.
[[nodiscard]] bool label_names_a_file(const std::string& label);

/// Runs `job` and returns the descriptions of its commands, which then neither parse nor print.
[[nodiscard]] std::vector<CommandDescription> describe(const std::function<void()>& job);
/// Within `describe()`: keeps what `make` returns, and returns true.
[[nodiscard]] bool take_description(const std::function<CommandDescription()>& make);

}  // namespace kastor::cli

#endif
