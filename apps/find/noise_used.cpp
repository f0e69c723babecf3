// SPDX-License-Identifier: Apache-2.0
#include "find/noise_used.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kastor::cli {
namespace {

// Hardly correlated noise [pixel].
constexpr double nearly_white = 3;
// It is as the beam or as Condon's between these [beam area].
constexpr double narrowest_of_beam = 0.7;
constexpr double condon = 2;
constexpr double widest_condon = 2.6;
// Where no beam is known, what is wider than a stellar image is structure [pixel].
constexpr double widest_without_beam = 100;
// A header with a smaller beam does not tell how wide the noise is [pixel].
constexpr double smallest_beam = 4;

/// What is odd about the area, as measured; mostly empty.
std::string odd_area(double pixels, double beams) {
  if (pixels < nearly_white) return "";
  if (std::isnan(beams)) {
    if (pixels < widest_without_beam) return "";
    return fmt::format(
        "pixels are correlated over {:.3g} pixels: structure of the sky more than noise; errors of "
        "fluxes are computed with that, and those of positions may be too small",
        pixels);
  }
  if (beams > widest_condon) {
    return fmt::format(
        "pixels are correlated over {:.3g} beam areas: structure of the sky more than noise; "
        "errors are computed with {:g} beam areas",
        beams, condon);
  }
  if (beams > narrowest_of_beam) return "";
  return fmt::format(
      "the noise is correlated over {:.3g} beam areas, less than the beam and more than white "
      "noise; errors are computed with that",
      beams);
}

/// The autocorrelation of noise covers at least one; NaN stays.
double not_below_a_pixel(double area) { return area < 1 ? 1 : area; }

}  // namespace

NoiseUsed noise_used(AssumedNoise kind, const OnTheSky& sky,
                     const std::optional<NoiseCorrelation>& measured) {
  const double beam = beam_pixels_of(sky);
  NoiseUsed noise{kind, 1, 0, false, ""};
  if (kind == AssumedNoise::beam || kind == AssumedNoise::condon) {
    noise.is_in_beams = true;
    noise.pixels = not_below_a_pixel(beam * (kind == AssumedNoise::condon ? 2 : 1));
  } else if (kind == AssumedNoise::measured) {
    noise.pixels = measured ? measured->area : std::nan("");
    if (std::isnan(noise.pixels)) {
      noise.is_in_beams = beam > 0;
      noise.pixels = beam > 0 ? not_below_a_pixel(beam) : 1;
      noise.note = fmt::format(
          "the correlation of the noise could not be measured: too few pairs of usable "
          "pixels within 3.5 times the noise; errors are those of noise {}",
          beam > 0 ? "with the shape of the beam" : "that is white");
    }
  }
  noise.beams = noise.pixels / beam;
  if (kind != AssumedNoise::measured || !noise.note.empty()) return noise;
  const bool has_beam = beam >= smallest_beam;
  noise.note = odd_area(noise.pixels, has_beam ? noise.beams : std::nan(""));
  if (has_beam && noise.beams > condon) {  // no noise of an image is wider
    noise.pixels = condon * beam;
    noise.beams = noise.pixels / beam;
  }
  return noise;
}

}  // namespace kastor::cli
