// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_NOISE_OPTION_HPP
#define KASTOR_APPS_CLI_OPTIONS_NOISE_OPTION_HPP

#include "cli/options/command_line.hpp"

namespace kastor::cli {

/// The autocorrelation of the noise, on which the errors of fluxes and positions depend.
enum class AssumedNoise {
  measured,  ///< `auto`: from the image
  beam,      ///< that of a synthesis image: the beam
  condon,    ///< white noise convolved with the beam (Condon 1997): the beam convolved with itself
  white
};
[[nodiscard]] const char* name_of(AssumedNoise kind);

/// `--noise`
void add_noise_option(CommandLine& line, AssumedNoise& kind);

}  // namespace kastor::cli

#endif
