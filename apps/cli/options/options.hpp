// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_OPTIONS_HPP

#include <kastor/io/fits_image.hpp>
#include <kastor/source_finder.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/command_line.hpp"

namespace kastor::cli {

/// The options of every subcommand that computes.
struct RunOptions {
  std::optional<std::string> on;
  std::optional<int> threads;
  bool quiet = false;
  bool timings = false;
};
void add_run_options(CommandLine& line, RunOptions& options);
/// The same for work on several backends in turn: --on may be repeated. Call `choose_backends()`
/// after parsing.
void add_run_options(CommandLine& line, RunOptions& options, std::vector<std::string>& on);
/// The given backends, in the order of `compiled_backends()`. Sets `options.on` to the fastest of
/// them, since only that one may lack a device. \throws UsageError
[[nodiscard]] std::vector<std::string> choose_backends(RunOptions& options,
                                                       const std::vector<std::string>& on);

void add_json_flag(CommandLine& line, bool& json);

/// `--blank-value`: finite pixels of this value [image unit] are blank; none: all count.
struct BlankValue {
  std::optional<double> value;
};

struct InputOptions {
  std::string path;
  io::ReadOptions read;
  std::optional<BlankValue> blank;  ///< as typed, of the subcommands that have the option
};
void add_input_options(CommandLine& line, InputOptions& options);
/// The options that select the image within a file.
void add_part_options(CommandLine& line, io::ReadOptions& options);
/// \param otherwise  what holds if the option is not given, as a sentence of the help
void add_blank_option(CommandLine& line, InputOptions& options, const std::string& otherwise);
/// `--max-unpacked` alone.
void add_unpacked_option(CommandLine& line, std::int64_t& max_unpacked);
/// Checks "N" or "NAME[,EXTVER]", and returns it; whether there is such an HDU depends on the file.
/// \throws UsageError
[[nodiscard]] std::string checked_hdu(const std::string& option, const std::string& text);

/// The option that gives the unit of the pixels in place of the header's.
void add_unit_option(CommandLine& line, std::optional<std::string>& unit);

void add_clip_options(CommandLine& line, SigmaClipParams& params);

/// The options that `find` and `label` share, those of the clipping included.
void add_find_options(CommandLine& line, FindParams& params);
/// The options as typed, defaults included, for the provenance of an output.
[[nodiscard]] std::string find_options_as_typed(const FindParams& params);
[[nodiscard]] std::string input_options_as_typed(const InputOptions& options);

enum class PixelType { float32, float64 };
void add_type_option(CommandLine& line, PixelType& type);

void add_overwrite_flag(CommandLine& line, bool& overwrite);

}  // namespace kastor::cli

#endif
