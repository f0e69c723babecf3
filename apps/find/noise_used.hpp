// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_NOISE_USED_HPP
#define KASTOR_APPS_FIND_NOISE_USED_HPP

#include <kastor/noise_correlation.hpp>
#include <optional>
#include <string>

#include "cli/options/noise_option.hpp"
#include "find/on_the_sky.hpp"

namespace kastor::cli {

/// The area of the noise's autocorrelation that the errors of one image are computed with.
struct NoiseUsed {
  AssumedNoise kind = AssumedNoise::measured;
  double pixels = 1;         ///< at the reference pixel [pixel]
  double beams = 0;          ///< [beam area]; NaN without a beam
  bool is_in_beams = false;  ///< whether it follows the beam's area from place to place
  std::string note;          ///< what is odd about it; mostly empty
};

/// `measured`: with `AssumedNoise::measured` only.
[[nodiscard]] NoiseUsed noise_used(AssumedNoise kind, const OnTheSky& sky,
                                   const std::optional<NoiseCorrelation>& measured);

}  // namespace kastor::cli

#endif
