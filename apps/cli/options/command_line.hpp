// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_COMMAND_LINE_HPP
#define KASTOR_APPS_CLI_OPTIONS_COMMAND_LINE_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/help/description.hpp"
#include "cli/options/numbers.hpp"

namespace kastor::cli {

/// The arguments that follow the name of the subcommand.
using Arguments = std::span<char* const>;

/// The options of one subcommand. Numbers are parsed strictly, and every error is a `UsageError`.
/// The class hides CLI11, whose number parsing, exit codes and repeated flags do not follow the
/// contract (docs/command.md).
class CommandLine {
 public:
  /// \param name     as typed, "kastor find"
  /// \param purpose  one or more lines of 80 columns
  CommandLine(const std::string& name, const std::string& purpose);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Sets the heading in the help of the options that follow.
  void heading(const std::string& heading);

  void positional(const std::string& label, std::string& target, const std::string& help);
  /// One or more.
  void positionals(const std::string& label, std::vector<std::string>& target,
                   const std::string& help);
  /// Any number, after those that are required.
  void optional_positionals(const std::string& label, std::vector<std::string>& target,
                            const std::string& help);
  void optional_positional(const std::string& label, std::optional<std::string>& target,
                           const std::string& help);
  void flag(const std::string& name, bool& target, const std::string& help);
  /// An option of one value, which `take` receives as typed. Names are "--long" or "-s,--long". The
  /// label shows what the option takes: words in lower case, and files and numbers in upper case,
  /// as in "FILE.fits|lesson". `standard` is the default, as typed; empty if there is no fixed one.
  void value(const std::string& name, const std::string& label,
             const std::function<void(const std::string&)>& take, const std::string& help,
             const std::string& standard = {});
  /// The only kind of option that may be repeated.
  void values(const std::string& name, const std::string& label, std::vector<std::string>& target,
              const std::string& help);

  void real(const std::string& name, const std::string& label, const RealRange& range,
            const std::function<void(double)>& take, const std::string& help,
            const std::string& standard = {});
  void integer(const std::string& name, const std::string& label, const IntegerRange& range,
               const std::function<void(std::int64_t)>& take, const std::string& help,
               const std::string& standard = {});
  /// One of the given words.
  void choice(const std::string& name, const std::vector<std::string>& words,
              const std::function<void(const std::string&)>& take, const std::string& help,
              const std::string& standard = {});

  void requires_option(const std::string& name);
  /// The default of this option depends on other options, so it has no `standard`.
  void standard_depends(const std::string& name);
  /// At most one of the two may be given.
  void excludes(const std::string& name, const std::string& other);
  /// Sets the text that the help prints below the options.
  void closing(const std::string& text);

  /// Adds a check that `parse()` runs when it has taken all options. If the option that its
  /// `UsageError` names comes from the configuration file, the message names the line there.
  void check(std::function<void()> check);

  /// Adds `--config` and `--dump-config`, and takes the options in the arguments, and those in the
  /// configuration file that the arguments do not have.
  /// False if the user asked for help or for the configuration, which is then printed.
  /// \throws UsageError; Error if the configuration file cannot be read
  [[nodiscard]] bool parse(Arguments arguments);
  /// After parsing: whether the arguments or the configuration file have the option.
  [[nodiscard]] bool given(const std::string& name) const;

 private:
  void add(const OptionDescription& option, const std::function<void(const std::string&)>& take);
  void add_config_options(bool& dump);

  struct Parser;
  std::unique_ptr<Parser> m_parser;
};

/// The version of CLI11.
[[nodiscard]] std::string command_line_library_version();

/// Whether `--help` or `-h` is among the arguments before any `--`. Help is answered whatever else
/// is given.
[[nodiscard]] bool asks_for_help(Arguments arguments);

}  // namespace kastor::cli

#endif
