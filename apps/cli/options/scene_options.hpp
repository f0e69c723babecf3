// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_SCENE_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_SCENE_OPTIONS_HPP

#include <string>

#include "cli/options/simulate_options.hpp"

namespace kastor::cli {

/// The options of `simulate sky` on populations, noise, level, beam, detector and missing pixels.
void add_scene_options(CommandLine& line, SimulateOptions& options);

/// Those that are not the default, as typed, each after a blank.
[[nodiscard]] std::string scene_as_typed(const SimulateOptions& options);

/// Parses "disk:count=3,size=100..200,snr=5". \throws UsageError naming --add
[[nodiscard]] Population parse_population(const std::string& text);

}  // namespace kastor::cli

#endif
