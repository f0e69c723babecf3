// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/island_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "io/catalogue/photon_noise.hpp"

namespace kastor::io::detail {
namespace {

constexpr double k_no_value = std::numeric_limits<double>::quiet_NaN();

bool has_centre(const Island& island) {
  return std::isfinite(island.x_cen) && std::isfinite(island.y_cen);
}

PixelPosition peak_of(const Island& island) {
  return {static_cast<double>(island.x_peak), static_cast<double>(island.y_peak)};
}

Symmetric moments_of(const Island& island) {
  if ((island.flags & island_no_shape) != 0) return {k_no_value, k_no_value, k_no_value};
  return {island.var_xx, island.var_xy, island.var_yy};
}

/// The centres; for islands without a centre the peaks.
std::vector<PixelPosition> places_of(const Islands& islands) {
  std::vector<PixelPosition> places;
  places.reserve(islands.size());
  for (const Island& island : islands) {
    places.push_back(has_centre(island) ? PixelPosition{island.x_cen, island.y_cen}
                                        : peak_of(island));
  }
  return places;
}

std::vector<SkyPosition> peaks_on_sky(const Islands& islands, const Wcs& wcs) {
  std::vector<PixelPosition> peaks;
  peaks.reserve(islands.size());
  for (const Island& island : islands) peaks.push_back(peak_of(island));
  auto sky = wcs.to_sky(peaks);
  if (wcs.system() == SkySystem::galactic) {
    for (SkyPosition& each : sky) each = galactic_to_icrs(each);
  }
  return sky;
}

/// Fills what follows from `row.sky`.
void fill_sky(IslandRow& row, const IslandTableParams& params) {
  if (!(row.pixel_area > 0)) row.flags |= island_no_sky;
  if (!has_centre(row.island)) {
    row.sky.native = row.sky.equatorial = {k_no_value, k_no_value};
    row.centre_cov = {k_no_value, k_no_value, k_no_value};
    row.on_sky = {k_no_value, k_no_value, k_no_value};
    return;
  }
  row.name = designation(*params.wcs, row.sky, params.name_prefix);
  row.centre_cov = row.sky.jacobian.to_sky(row.errors.centre_cov);
  row.on_sky = ellipse_fwhm(row.sky.jacobian.to_sky(moments_of(row.island)));
}

NoiseModel noise_of(double beam_pixels, const IslandTableParams& params) {
  NoiseModel noise;
  if (beam_pixels > 0) noise = {params.noise_beams * beam_pixels, beam_pixels};
  if (params.noise_pixels > 0) noise.noise_pixels = params.noise_pixels;
  // The autocorrelation of noise covers at least one pixel.
  noise.noise_pixels = std::max(noise.noise_pixels, 1.0);
  noise.filtered = params.filtered_noise;
  return noise;
}

double flood_of(const Island& island, const IslandTableParams& params) {
  return params.flood_level > 0 ? params.flood_level : params.flood_snr * island.rms;
}

}  // namespace

std::vector<IslandRow> island_rows(const Islands& islands, const IslandTableParams& params,
                                   const FluxUnit& unit) {
  const BeamPixels beam_pixels(params);
  std::vector<LocalSky> sky;
  std::vector<SkyPosition> peaks;
  if (params.wcs != nullptr) {
    sky = local_sky(*params.wcs, places_of(islands));
    peaks = peaks_on_sky(islands, *params.wcs);
  }
  std::vector<IslandRow> rows;
  rows.reserve(islands.size());
  for (std::size_t i = 0; i < islands.size(); ++i) {
    const Island& island = islands[i];
    IslandRow row{};
    row.island = island;
    row.flags = island.flags;
    row.pixel_area = params.wcs == nullptr ? k_no_value : sky[i].jacobian.area();
    row.beam_area = beam_pixels.area(row.pixel_area);
    row.errors = island_errors(island, flood_of(island, params), noise_of(row.beam_area, params));
    row.gain = params.weights.empty() ? params.gain : params.gain * params.weights[i];
    add_photon_noise(row.errors, island, flood_of(island, params), row.beam_area, row.gain);
    row.in_pixels = ellipse_fwhm(moments_of(island));
    row.flux_scale = flux_scale(unit, row.beam_area, row.pixel_area);
    if (std::isnan(row.flux_scale)) row.flags |= island_no_flux;
    if (std::isnan(row.errors.total)) row.flags |= island_no_total;
    if (params.wcs != nullptr) {
      row.sky = sky[i];
      row.peak = peaks[i];
      fill_sky(row, params);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kastor::io::detail
