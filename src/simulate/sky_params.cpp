// SPDX-License-Identifier: Apache-2.0
#include "simulate/sky_params.hpp"

#include <cmath>
#include <string>

#include "simulate/scene.hpp"

namespace kastor::detail {
namespace {

void check_range(const char* function, const char* what, double value, double low, double high,
                 const char* expected) {
  KASTOR_EXPECTS(function, value >= low && value <= high,
                 std::string(what) + " is " + std::to_string(value) + "; expected " + expected);
}

void check_finite(const char* function, const char* what, double value) {
  KASTOR_EXPECTS(function, std::isfinite(value),
                 std::string(what) + " is " + std::to_string(value) + "; expected a finite number");
}

constexpr double largest = std::numeric_limits<double>::max();

void check_scene(const char* f, const SkyParams& p) {
  KASTOR_EXPECTS(f, p.noise_gradient >= 0 && p.noise_gradient < 1,
                 "the gradient of the noise is " + std::to_string(p.noise_gradient) +
                     "; expected 0 to below 1");
  check_finite(f, "the level", p.level);
  check_finite(f, "the gradient of the level in x", p.level_gradient_x);
  check_finite(f, "the gradient of the level in y", p.level_gradient_y);
  if (p.primary_beam.fwhm != 0)
    check_range(f, "the FWHM of the primary beam", p.primary_beam.fwhm, 2, largest,
                "0 for none, or 2 pixels or more");
  check_range(f, "the fraction of flux in bowls", p.bowl_fraction, 0, 1, "0 to 1");
  check_range(f, "the FWHM of bowls", p.bowl_fwhm, 2, 1e5, "2 to 10^5 pixels");
  check_range(f, "the gain", p.detector.gain, 0, largest, "a finite number, 0 or more");
  check_range(f, "the read noise", p.detector.read_noise, 0, largest, "a finite number, 0 or more");
  const Scene scene{p};
  if (p.detector.gain > 0) {
    KASTOR_EXPECTS(f, scene.lowest_level() >= 0,
                   "the level goes down to " + std::to_string(scene.lowest_level()) +
                       "; expected 0 or more everywhere, which a detector can count");
  }
  if (p.primary_beam.corrected) {
    KASTOR_EXPECTS(f, scene.lowest_sensitivity() >= 1e-6,
                   "the primary beam is narrow, so that the noise at the corners is more than 10^6 "
                   "times that of the middle; expected a wider one, or one that is not corrected");
  }
}

}  // namespace

void check(const char* name, const SkyParams& p) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  KASTOR_EXPECTS(name, p.ny >= 1 && p.ny <= most && p.nx >= 1 && p.nx <= most,
                 "the shape is " + std::to_string(p.ny) + " x " + std::to_string(p.nx) +
                     "; expected 1 to 2147483647 rows and columns");
  check_range(name, "the noise", p.noise, 0, largest, "a finite number, 0 or more");
  KASTOR_EXPECTS(name, p.beam_fwhm >= 1 && p.beam_fwhm <= 32,
                 "the beam is " + std::to_string(p.beam_fwhm) + " pixels wide; expected 1 to 32");
  KASTOR_EXPECTS(name, p.sources_per_mpx >= 0 && p.sources_per_mpx <= 1e6,
                 "there are " + std::to_string(p.sources_per_mpx) +
                     " sources per 10^6 pixels; expected 0 to 10^6");
  check_range(name, "the fraction of extended sources", p.extended_fraction, 0, 1, "0 to 1");
  check_scene(name, p);
}

}  // namespace kastor::detail
