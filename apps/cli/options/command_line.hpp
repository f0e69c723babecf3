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
  /// One or more.
  void positionals(const std::string& label, std::vector<std::string>& target,
                   const std::string& help);
  void optional_positional(const std::string& label, std::optional<std::string>& target,
                           const std::string& help);
  void flag(const std::string& name, bool& target, const std::string& help);
  /// An option of one value, handed to `take` as typed. Names are "--long" or "-s,--long". The
  /// label says what it takes, words in lower case, else a FILE or a number: "FILE.fits|lesson".
  /// `standard` is the value if none is given, as typed; empty if there is none, or it depends.
  void value(const std::string& name, const std::string& label,
             const std::function<void(const std::string&)>& take, const std::string& help,
             const std::string& standard = {});
  /// The only kind of option that may be given several times.
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
  /// What is used without this option depends on others: no `standard` tells it.
  void standard_depends(const std::string& name);
  /// At most one of the two may be given.
  void excludes(const std::string& name, const std::string& other);
  /// Printed under the options.
  void closing(const std::string& text);

  /// Run by `parse()` after all options were taken; what it throws as `UsageError` is told with the
  /// place in the configuration file, if the option it is about stands there.
  void check(std::function<void()> check);

  /// Adds `--config` and `--dump-config`, and takes what the arguments say, then what the file says
  /// of options that are not among them.
  /// False if something else than the work was asked for, help or a configuration, which has then
  /// been printed. \throws UsageError; Error if the configuration file cannot be read
  [[nodiscard]] bool parse(Arguments arguments);
  /// After parsing: whether an option stood among the arguments or in the configuration file.
  [[nodiscard]] bool given(const std::string& name) const;

 private:
  void add(const OptionDescription& option, const std::function<void(const std::string&)>& take);
  void add_config_options(bool& dump);

  struct Parser;
  std::unique_ptr<Parser> m_parser;
};

/// Of the library behind this.
[[nodiscard]] std::string command_line_library_version();

/// Whether `--help` or `-h` stands anywhere before a `--`: it is answered whatever else is given.
[[nodiscard]] bool asks_for_help(Arguments arguments);

}  // namespace kastor::cli

#endif
