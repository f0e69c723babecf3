// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_BLANK_PIXELS_HPP
#define KASTOR_APPS_CLI_RUN_BLANK_PIXELS_HPP

#include <cstdint>
#include <kastor/io/fits_image.hpp>
#include <string>

#include "cli/options/options.hpp"

namespace kastor::cli {

/// Makes the pixels that equal `--blank-value` NaN, as the reader does with those of BLANK. Returns
/// how many they are; 0 without the option.
std::int64_t blank_out(const InputOptions& options, io::FitsImage& image);

/// A sentence on the pixels that `blank_out` found; empty if no value was given.
[[nodiscard]] std::string blank_note(const InputOptions& options, std::int64_t pixels);

}  // namespace kastor::cli

#endif
