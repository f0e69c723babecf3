// SPDX-License-Identifier: Apache-2.0
#include "fit/fit_input.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kastor::detail {
namespace {

constexpr const char* fitter = "kastor::ComponentFitter";

void expect_above_0(const char* what, double value) {
  KASTOR_EXPECTS(
      fitter, std::isfinite(value) && value > 0,
      std::string(what) + " is " + std::to_string(value) + "; expected a finite number above 0");
}

void expect_not_below(const char* what, double value, double least) {
  KASTOR_EXPECTS(fitter, std::isfinite(value) && value >= least,
                 std::string(what) + " is " + std::to_string(value) +
                     "; expected a finite number, " + std::to_string(least) + " or more");
}

bool is_below_sky(const Island& island) { return (island.flags & island_negative) != 0; }

}  // namespace

void expect_fit_params(const FitParams& params) {
  KASTOR_EXPECTS(fitter, params.free != FreeParameters::flux,
                 "free is flux; expected shape or position: with both held, nothing but the flux "
                 "is left, which ForcedPhotometer measures");
  KASTOR_EXPECTS(fitter, params.free == FreeParameters::shape || params.beam,
                 "free is position and there is no beam; expected the beam, whose shape is held");
  if (params.beam) {
    expect_above_0("the major axis of the beam", params.beam->major);
    expect_above_0("the minor axis of the beam", params.beam->minor);
    KASTOR_EXPECTS(fitter, params.beam->minor <= params.beam->major,
                   "the minor axis of the beam is " + std::to_string(params.beam->minor) +
                       " pixels; expected at most " + std::to_string(params.beam->major) +
                       ", the major axis");
    KASTOR_EXPECTS(fitter, std::isfinite(params.beam->angle),
                   "the angle of the beam is " + std::to_string(params.beam->angle) +
                       "; expected a finite number");
  }
  expect_not_below("noise_area", params.noise_area, 1);
  expect_not_below("flood_snr", params.flood_snr, 0);
  expect_above_0("min_significance", params.min_significance);
  expect_above_0("residual_snr", params.residual_snr);
  expect_not_below("residual_fraction", params.residual_fraction, 0);
  expect_not_below("near_residual_fraction", params.near_residual_fraction, 0);
  KASTOR_EXPECTS(
      fitter, params.max_components >= 1,
      "max_components is " + std::to_string(params.max_components) + "; expected 1 or more");
}

void expect_fit_islands(std::span<const Island> islands, std::int64_t labels,
                        std::span<const IslandPeak> peaks) {
  KASTOR_EXPECTS(fitter, static_cast<std::int64_t>(islands.size()) == labels,
                 "there are " + std::to_string(islands.size()) + " islands and " +
                     std::to_string(labels) + " labels; expected an island for each label");
  std::size_t i = 0;
  for (const Island& island : islands) {
    KASTOR_EXPECTS(fitter, is_below_sky(island) == is_below_sky(islands[0]),
                   "island " + std::to_string(island.id) + " lies on the other side of the " +
                       "background than island " + std::to_string(islands[0].id) +
                       "; expected those of one side");
    while (i < peaks.size() && peaks[i].island_id == island.id) ++i;
  }
  KASTOR_EXPECTS(fitter, i == peaks.size(),
                 "peak " + std::to_string(i) + " is of island " +
                     std::to_string(i < peaks.size() ? peaks[i].island_id : 0) +
                     "; expected peaks of the islands, in their order");
}

FitNoise noise_of(const std::optional<PixelEllipse>& beam, double area) {
  FitNoise noise{};
  noise.has_beam = beam.has_value();
  noise.is_white = area <= 1 + 1e-9;
  const Gaussian round = circle_of(std::sqrt(fwhm_squared_of_sigma / (2 * std::numbers::pi)));
  noise.beam = beam ? gaussian_of(*beam) : round;
  noise.correlation = stretched(noise.beam, std::sqrt(area / volume_of(noise.beam)));
  return noise;
}

Side side_of_islands(std::span<const Island> islands) {
  return !islands.empty() && is_below_sky(islands[0]) ? Side::below : Side::above;
}

void begin_islands(std::span<const Island> islands, std::span<const IslandPeak> peaks,
                   const FitRules& rules, std::vector<IslandFit>& fits) {
  fits.resize(islands.size());
  std::size_t first = 0;
  for (std::size_t i = 0; i < islands.size(); ++i) {
    std::size_t past = first;
    while (past < peaks.size() && peaks[past].island_id == islands[i].id) ++past;
    begin_island(islands[i], static_cast<std::uint32_t>(i + 1), peaks.subspan(first, past - first),
                 rules, fits[i]);
    first = past;
  }
}

AskedPixel pixel_of(const Gaussian& gaussian, const Shape& image) {
  const auto nearest = [](double at, std::int64_t count) {
    const auto last = static_cast<double>(count - 1);
    // Not a number is the first pixel.
    return static_cast<std::int64_t>(std::fmin(std::fmax(std::floor(at + 0.5), 0), last));
  };
  return {nearest(gaussian.y, image.ny), nearest(gaussian.x, image.nx)};
}

}  // namespace kastor::detail
