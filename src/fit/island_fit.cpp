// SPDX-License-Identifier: Apache-2.0
#include "fit/island_fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "core/elementary.hpp"

namespace kastor::detail {
namespace {

/// log(1 / q) of the level q at which an island ends, as a fraction of its peak. Within bounds: the
/// threshold is known only roughly.
double log_of_depth(double peak, double rms, double flood_snr) {
  const double q = std::clamp(flood_snr * rms / peak, 0.01, 0.9);
  return -core::log(q);
}

/// The moments of a Gaussian of which only what is above the fraction q = exp(-depth) was seen:
/// they are 1 - q depth / (1 - q) of its own.
SecondMoments untruncated(const Island& island, double depth) {
  const double q = core::exp(-depth);
  const double seen = 1 - q * depth / (1 - q);
  return {island.var_xx / seen, island.var_xy / seen, island.var_yy / seen};
}

bool has_moments(const Island& island) {
  return (island.flags & island_no_centre) == 0 && std::isfinite(island.x_cen) &&
         std::isfinite(island.y_cen) && std::isfinite(island.var_xx) &&
         std::isfinite(island.var_xy) && std::isfinite(island.var_yy);
}

/// Without a beam: a circle that is as large as the pixels of the peak are, at the level where the
/// island ends.
Gaussian shape_of_peak(const IslandPeak& peak, const FitRules& rules) {
  if (rules.has_beam) return rules.beam;
  const double depth = log_of_depth(peak.deviation, peak.rms, rules.params.flood_snr);
  const double pixels = static_cast<double>(std::max<std::int64_t>(peak.n_pix, 1));
  const double variance = pixels / (2 * std::numbers::pi * depth);
  return circle_of(std::fmax(std::sqrt(fwhm_squared_of_sigma * variance), 1));
}

/// The highest pixel of an island, as `Deblender` would report it.
IslandPeak peak_of(const Island& island) {
  const double sign = (island.flags & island_negative) != 0 ? -1 : 1;
  return {island.id,
          island.x_peak,
          island.y_peak,
          island.n_pix,
          sign * island.flux_peak,
          island.rms_at_peak,
          -std::numeric_limits<double>::infinity(),
          false};
}

bool is_of_use(const IslandPeak& peak) {
  return std::isfinite(peak.deviation) && peak.deviation > 0 && std::isfinite(peak.rms) &&
         peak.rms > 0;
}

/// The height above the saddle, in units of the noise.
double prominence_of(const IslandPeak& peak) { return (peak.deviation - peak.saddle) / peak.rms; }

/// An extended source has as many peaks of the noise on it as beams. So of an island with many
/// peaks, only so many take part that are hardly above their saddles, the most prominent ones.
double least_prominence(std::span<const IslandPeak> peaks) {
  std::vector<double> prominences;
  for (const IslandPeak& peak : peaks) {
    if (is_of_use(peak)) prominences.push_back(prominence_of(peak));
  }
  const auto few = static_cast<std::size_t>(FitRules::few_peaks);
  if (prominences.size() <= few) return 0;
  std::nth_element(prominences.begin(), prominences.begin() + FitRules::few_peaks - 1,
                   prominences.end(), std::greater<>());
  return std::fmin(prominences[few - 1], FitRules::sure_prominence);
}

void add_peak(const IslandPeak& peak, const FitRules& rules, IslandFit& fit) {
  fit.parts.push_back(
      part_at(shape_of_peak(peak, rules), peak.x, peak.y, peak.deviation, peak.rms));
}

}  // namespace

FitRules::FitRules(const FitParams& p)
    : has_beam(p.beam.has_value()),
      is_shape_free(p.free == FreeParameters::shape),
      beam(p.beam ? gaussian_of(*p.beam) : circle_of(1)),
      params(p) {}

double FitSet::significance(const std::vector<FitPart>& of_island, int i) const {
  const std::size_t size = 6 * static_cast<std::size_t>(count);
  const std::size_t row = 6 * static_cast<std::size_t>(i);
  const double variance = covariance.empty() ? 0 : covariance[row * size + row];
  const auto part = static_cast<std::size_t>(members[static_cast<std::size_t>(i)]);
  return variance > 0 ? of_island[part].now.peak / std::sqrt(variance) : 0;
}

int IslandFit::count() const {
  int result = 0;
  for (const FitPart& part : parts) result += part.is_dropped ? 0 : 1;
  return result;
}

bool IslandFit::is_estimate(const FitSet& set) const {
  return set.count > 0 && part(set.members[0]).mode == FitMode::estimate;
}

bool IslandFit::has_split() const {
  return std::any_of(sets.begin(), sets.end(),
                     [](const FitSet& set) { return set.count > 0 && set.is_split; });
}

FitPart part_at(const Gaussian& shape, double x, double y, double deviation, double rms) {
  FitPart part{};
  part.at_peak = part.now = placed(shape, deviation, x, y);
  part.rms = rms;
  return part;
}

void begin_island(const Island& island, std::uint32_t label, std::span<const IslandPeak> peaks,
                  const FitRules& rules, IslandFit& fit) {
  fit.island = island;
  fit.label = label;
  fit.parts.clear();
  fit.sets.clear();
  fit.flags = (island.flags & island_negative) != 0 ? component_negative : 0U;
  if ((island.flags & island_at_edge) != 0) fit.flags |= component_at_edge;
  if ((island.flags & island_near_blank) != 0) fit.flags |= component_near_blank;
  const double least = least_prominence(peaks);
  for (const IslandPeak& peak : peaks) {
    if (!is_of_use(peak)) continue;
    // Its error is about the noise: it would be dropped.
    const bool is_faint = peak.deviation < rules.params.min_significance * peak.rms;
    if (is_faint && !fit.parts.empty()) continue;
    const bool has_room = static_cast<std::int64_t>(fit.parts.size()) < rules.params.max_components;
    if (!has_room || prominence_of(peak) < least) {
      fit.flags |= component_capped;
      continue;
    }
    add_peak(peak, rules, fit);
  }
  if (fit.parts.empty()) {
    const IslandPeak peak = peak_of(island);
    add_peak(peak, rules, fit);
    if (!is_of_use(peak)) {
      fit.parts[0].at_peak = fit.parts[0].now = placed(rules.beam, peak.deviation, peak.x, peak.y);
      fit.parts[0].mode = FitMode::estimate;
    }
  }
  const FitPart& first = fit.parts[0];
  fit.peak = first.at_peak.peak;
  fit.alone = first.at_peak;
  if (has_moments(island) && first.mode != FitMode::estimate) {
    const double depth = log_of_depth(fit.peak, first.rms, rules.params.flood_snr);
    fit.alone = placed(gaussian_of_moments(untruncated(island, depth), rules.beam), fit.peak,
                       island.x_cen, island.y_cen);
  }
}

Gaussian point_shape_of(const IslandFit& fit, const FitRules& rules) {
  if (rules.has_beam) return rules.beam;
  Gaussian narrowest = fit.alone;
  for (const FitPart& part : fit.parts) {
    if (!part.is_dropped && part.now.u * part.now.t > narrowest.u * narrowest.t)
      narrowest = part.now;
  }
  return narrowest;
}

Gaussian guess_of(const IslandFit& fit, const FitPart& part, const FitRules& rules) {
  if (part.mode == FitMode::beam_shape || !rules.is_shape_free || fit.count() > 1)
    return part.at_peak;
  return placed(fit.alone, part.at_peak.peak, fit.alone.x, fit.alone.y);
}

std::int32_t free_parameters_of(const FitPart& part, const FitRules& rules) {
  return rules.is_shape_free && part.mode == FitMode::as_asked ? 6 : 3;
}

void begin_part(const IslandFit& fit, const FitRules& rules, FitPart& part) {
  const Gaussian guess = guess_of(fit, part, rules);
  part.now = guess;
  const ShapeAxes axes = axes_of(guess);
  const ShapeAxes beam = axes_of(rules.beam);
  const double width = fit.island.x_max - fit.island.x_min + 1;
  const double height = fit.island.y_max - fit.island.y_min + 1;
  // A few pixels of a faint source say little of its size.
  const double diagonal = std::fmax(std::sqrt(width * width + height * height), 2 * beam.major);
  const double least = rules.has_beam ? 0.3 * beam.minor : 0.5;
  part.fit.start = guess;
  part.fit.free = free_parameters_of(part, rules);
  part.fit.max_shift = std::fmax(beam.mean(), axes.mean() / 2);
  part.fit.min_fwhm = std::fmin(least, axes.minor * (1 - 1e-9));
  part.fit.max_fwhm = std::fmax(1.5 * diagonal, axes.major * (1 + 1e-9));
  part.fit.min_peak = 0.2 * guess.peak;
  part.fit.max_peak = 2.5 * guess.peak;
}

}  // namespace kastor::detail
