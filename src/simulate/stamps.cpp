// SPDX-License-Identifier: Apache-2.0
#include "simulate/stamps.hpp"

#include <algorithm>
#include <cmath>

#include "simulate/sky_params.hpp"

namespace kastor::detail {
namespace {

/// Appends the values of a Gaussian at pixels first to last; returns the index of the first one.
std::int64_t append_profile(std::vector<double>& profiles, double centre, std::int64_t first,
                            std::int64_t last, double sigma, double height) {
  const auto at = static_cast<std::int64_t>(profiles.size());
  for (std::int64_t i = first; i <= last; ++i) {
    const double d = (static_cast<double>(i) - centre) / sigma;
    profiles.push_back(height * std::exp(-0.5 * d * d));
  }
  return at;
}

Stamp make_stamp(const SkyParams& params, const TrueSource& source, std::vector<double>& profiles) {
  const double sigma = source.fwhm / fwhm_per_sigma;
  const auto reach = static_cast<std::int64_t>(std::ceil(6 * sigma));
  const auto x = static_cast<std::int64_t>(std::floor(source.x));
  const auto y = static_cast<std::int64_t>(std::floor(source.y));
  Stamp s{};
  s.x_min = std::max<std::int64_t>(0, x - reach);
  s.x_max = std::min(params.nx - 1, x + reach);
  s.y_min = std::max<std::int64_t>(0, y - reach);
  s.y_max = std::min(params.ny - 1, y + reach);
  s.x_profile = append_profile(profiles, source.x, s.x_min, s.x_max, sigma, 1.0);
  s.y_profile = append_profile(profiles, source.y, s.y_min, s.y_max, sigma, source.flux_peak);
  return s;
}

}  // namespace

Stamps make_stamps(const SkyParams& params, const std::vector<TrueSource>& truth) {
  Stamps all;
  for (const TrueSource& source : truth)
    all.stamps.push_back(make_stamp(params, source, all.profiles));

  // A counting sort by row.
  const auto place = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  all.first_of_row.assign(place(params.ny) + 1, 0);
  for (const Stamp& s : all.stamps)
    for (std::int64_t row = s.y_min; row <= s.y_max; ++row) ++all.first_of_row[place(row) + 1];
  for (std::size_t row = 1; row < all.first_of_row.size(); ++row)
    all.first_of_row[row] += all.first_of_row[row - 1];
  all.sources_of_row.resize(place(all.first_of_row.back()));
  std::vector<std::int64_t> next = all.first_of_row;
  for (std::size_t i = 0; i < all.stamps.size(); ++i)
    for (std::int64_t row = all.stamps[i].y_min; row <= all.stamps[i].y_max; ++row)
      all.sources_of_row[place(next[place(row)]++)] = static_cast<std::int64_t>(i);
  return all;
}

}  // namespace kastor::detail
