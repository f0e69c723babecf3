// SPDX-License-Identifier: Apache-2.0
#include "find/noise_used.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kastor::cli {
namespace {

// Between these bounds noise is white [pixel], as the beam or as Condon's [beam area].
constexpr double widest_white = 1.5;
constexpr double narrowest_of_beam = 0.7;
constexpr double widest_condon = 2.6;

std::string odd_area(const NoiseUsed& noise) {
  if (std::isnan(noise.beams) || noise.pixels < widest_white) return "";
  if (noise.beams > narrowest_of_beam && noise.beams < widest_condon) return "";
  return fmt::format(
      "the noise is correlated over {:.3g} beam areas, as measured; 1 is usual, or 2 for white "
      "noise smoothed with the beam. Errors take it as it is, see --noise",
      noise.beams);
}

}  // namespace

NoiseUsed noise_used(AssumedNoise kind, const OnTheSky& sky,
                     const std::optional<NoiseCorrelation>& measured) {
  const double beam = beam_pixels_of(sky);
  NoiseUsed noise{kind, 1, 0, false, ""};
  if (kind == AssumedNoise::beam || kind == AssumedNoise::condon) {
    noise.is_in_beams = true;
    noise.pixels = beam * (kind == AssumedNoise::condon ? 2 : 1);
  } else if (kind == AssumedNoise::measured) {
    noise.pixels = measured ? measured->area : std::nan("");
    if (std::isnan(noise.pixels)) {
      noise.is_in_beams = beam > 0;
      noise.pixels = beam > 0 ? beam : 1;
      noise.note = fmt::format(
          "the correlation of the noise could not be measured: too few usable pixels; errors are "
          "those of noise {}",
          beam > 0 ? "with the shape of the beam" : "that is white");
    }
  }
  noise.beams = noise.pixels / beam;
  if (noise.note.empty() && kind == AssumedNoise::measured) noise.note = odd_area(noise);
  return noise;
}

}  // namespace kastor::cli
