// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_PICTURE_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_PICTURE_OPTIONS_HPP

#include <kastor/io/picture_params.hpp>
#include <string>

#include "cli/options/command_line.hpp"

namespace kastor::cli {

/// How a picture is drawn: all options of `view` other than its files.
struct PictureOptions {
  io::PictureParams params;
  bool percentiles_given = false;
};
void add_picture_options(CommandLine& line, PictureOptions& options);
/// Checks that the options fit together. \throws UsageError
void check_picture_options(const PictureOptions& options);
/// The options as typed, defaults included.
[[nodiscard]] std::string picture_options_as_typed(const io::PictureParams& params);

/// The font in the environment variable KASTOR_FONT; empty: the default of the library.
[[nodiscard]] std::string font_of_environment();

/// \throws UsageError unless `path` ends in .png.
void require_png_ending(const std::string& option, const std::string& path);

}  // namespace kastor::cli

#endif
