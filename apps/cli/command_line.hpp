// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_COMMAND_LINE_HPP
#define KASTOR_APPS_CLI_COMMAND_LINE_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/numbers.hpp"

namespace kastor::cli {

/// What follows the subcommand's name.
using Arguments = std::span<char* const>;

/// The options of one subcommand. Numbers are parsed strictly; everything wrong is a `UsageError`.
/// Hides CLI11, whose own number parsing, exit codes and repeated flags are not those of the
/// contract.
class CommandLine {
 public:
  /// \param name     as typed, "kastor find"
  /// \param purpose  one or more lines of 80 columns
  CommandLine(const std::string& name, const std::string& purpose);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// A heading of the help for the options that follow.
  void heading(const std::string& heading);

  void positional(const std::string& label, std::string& target, const std::string& help);
  void optional_positional(const std::string& label, std::optional<std::string>& target,
                           const std::string& help);
  void flag(const std::string& name, bool& target, const std::string& help);
  /// An option of one value, handed to `take` as typed.
  void value(const std::string& name, const std::string& label,
             std::function<void(const std::string&)> take, const std::string& help);
  /// The only kind of option that may be given several times.
  void values(const std::string& name, const std::string& label, std::vector<std::string>& target,
              const std::string& help);

  void real(const std::string& name, const std::string& label, const RealRange& range,
            std::function<void(double)> take, const std::string& help);
  void integer(const std::string& name, const std::string& label, const IntegerRange& range,
               std::function<void(std::int64_t)> take, const std::string& help);
  /// One of the given words.
  void choice(const std::string& name, std::vector<std::string> words,
              std::function<void(const std::string&)> take, const std::string& help);

  void requires_option(const std::string& name);
  /// At most one of the two may be given.
  void excludes(const std::string& name, const std::string& other);
  /// Printed under the options.
  void closing(const std::string& text);

  /// False if help was asked for, which has then been printed. \throws UsageError
  [[nodiscard]] bool parse(Arguments arguments);
  /// After parsing: whether an option stood among the arguments.
  [[nodiscard]] bool given(const std::string& name) const;

 private:
  struct Parser;
  std::unique_ptr<Parser> m_parser;
};

/// Of the library behind this.
[[nodiscard]] std::string command_line_library_version();

/// Whether `--help` or `-h` stands anywhere before a `--`: it is answered whatever else is given.
[[nodiscard]] bool asks_for_help(Arguments arguments);

}  // namespace kastor::cli

#endif
