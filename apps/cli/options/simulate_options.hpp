// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_SIMULATE_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_SIMULATE_OPTIONS_HPP

#include <cstdint>
#include <kastor/simulate.hpp>
#include <string>
#include <vector>

#include "cli/options/command_line.hpp"
#include "cli/options/memory_options.hpp"
#include "cli/options/options.hpp"

namespace kastor::cli {

/// [pixel]
struct Size {
  std::int64_t width = 2048;
  std::int64_t height = 2048;
};

struct SimulateOptions {
  SkyParams sky;
  std::vector<std::string> added;  ///< as typed
  std::vector<Population> populations;
  Size size;
  std::int64_t spacing = 16;
  PixelType type = PixelType::float32;
  std::string output;
  bool overwrite = false;
  MemoryOptions memory;
  RunOptions run;
};

/// Parses the options of the two kinds; false if help was asked for and printed. \throws UsageError
[[nodiscard]] bool parse_sky(Arguments arguments, SimulateOptions& options);
[[nodiscard]] bool parse_diracs(Arguments arguments, SimulateOptions& options);

/// The description of `simulate` without a kind.
[[nodiscard]] CommandDescription simulate_overview();

/// The options that determine the image, as typed, defaults included.
[[nodiscard]] std::string sky_as_typed(const SimulateOptions& options);
[[nodiscard]] std::string diracs_as_typed(const SimulateOptions& options);

}  // namespace kastor::cli

#endif
