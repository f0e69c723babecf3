// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/auto_columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "io/catalogue/island_errors.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

constexpr double k_no_magnitude = std::numeric_limits<double>::quiet_NaN();
// 2.5 / ln 10: the error of a magnitude over the relative error of the flux.
constexpr double k_magnitudes = 1.0857362047581296;
// The radius of an aperture rises and falls with the noise in it; measured on simulated stars
// (docs/catalogue.md).
constexpr double k_aperture_excess = 1.22;

/// Variance of the sum of n pixels over that of white noise, for an autocorrelation of area c. It
/// is c for n >> c; at the border a part of the correlated pixels is outside (see `IslandErrors`).
double pixels_as_one(double n, double c) {
  if (!(c > 1)) return 1;
  const double z = 2 * n / c;
  return z < 1e12 ? std::max(c * (1 - scaled_bessel(0, z) - scaled_bessel(1, z)), 1.0) : c;
}

/// Flux and error of one row, in the unit of the column.
struct AutoFlux {
  double flux, error;

  AutoFlux(const KronFlux& kron, const IslandRow& row, const IslandTableParams& params)
      : flux(kron.flux * row.flux_scale) {
    const double noise_pixels =
        params.noise_pixels > 0 ? params.noise_pixels : params.noise_beams * row.beam_area;
    const double photons = row.gain > 0 ? std::max(kron.flux, 0.0) / row.gain : 0.0;
    const double pixels = kron.variance / (row.island.rms * row.island.rms);
    const double variance = kron.variance * pixels_as_one(pixels, noise_pixels) + photons;
    error = k_aperture_excess * std::sqrt(variance) * row.flux_scale;
  }
};

}  // namespace

std::vector<TableColumn> auto_columns(const std::vector<IslandRow>& rows,
                                      const IslandTableParams& params, const FluxUnit& unit,
                                      const std::string& band) {
  std::vector<TableColumn> columns;
  if (params.kron.empty()) return columns;
  const auto add = [&](const char* name, const std::string& of_values, const std::string& ucd,
                       const std::string& description, const auto& field) {
    std::vector<double> values;
    values.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      values.push_back(field(AutoFlux(params.kron[i], rows[i], params), params.kron[i]));
    }
    columns.push_back({name, of_values, ucd, description, std::move(values)});
  };
  add("flux_auto", unit.integrated, "phot.flux" + band, "Flux within the aperture after Kron",
      [](const AutoFlux& value, const KronFlux&) { return value.flux; });
  add("flux_auto_err", unit.integrated, "stat.error;phot.flux" + band, "Error of flux_auto",
      [](const AutoFlux& value, const KronFlux&) { return value.error; });
  add("kron_radius", "", "phys.size.radius",
      "Radius of the aperture, in standard deviations of the light (maj_axis_pix / 2.3548)",
      [](const AutoFlux&, const KronFlux& kron) { return kron.radius; });
  if (!params.zero_point) return columns;
  add("mag_auto", "mag", "phot.mag;em.opt", "Magnitude of flux_auto",
      [zero = *params.zero_point](const AutoFlux& value, const KronFlux&) {
        return value.flux > 0 ? zero - 2.5 * std::log10(value.flux) : k_no_magnitude;
      });
  add("mag_err", "mag", "stat.error;phot.mag;em.opt", "Error of mag_auto",
      [](const AutoFlux& value, const KronFlux&) {
        return value.flux > 0 ? k_magnitudes * value.error / value.flux : k_no_magnitude;
      });
  return columns;
}

void set_auto_flags(std::vector<IslandRow>& rows, const IslandTableParams& params) {
  for (std::size_t i = 0; i < params.kron.size(); ++i) {
    const std::uint32_t flags = params.kron[i].flags;
    if ((flags & kron_crowded) != 0) rows[i].flags |= island_auto_crowded;
    if ((flags & kron_at_edge) != 0) rows[i].flags |= island_auto_at_edge;
  }
}

FluxUnit unit_of_sums(const FluxUnit& unit) {
  const bool is_per_beam = upper_case(unit.pixel).find("BEAM") != std::string::npos;
  if (unit.per != FluxUnit::Per::unknown || is_per_beam) return unit;
  FluxUnit sums = unit;
  sums.per = FluxUnit::Per::pixel;
  sums.integrated = unit.pixel;
  return sums;
}

}  // namespace kastor::io::detail
