// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/island_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "io/catalogue/photon_noise.hpp"
#include "io/sky/iau_name.hpp"

namespace kastor::io::detail {
namespace {

constexpr double k_no_value = std::numeric_limits<double>::quiet_NaN();

bool has_centre(const Island& island) {
  return std::isfinite(island.x_cen) && std::isfinite(island.y_cen);
}

PixelPosition peak_of(const Island& island) {
  return {static_cast<double>(island.x_peak), static_cast<double>(island.y_peak)};
}

std::string name_of(const Wcs& wcs, const LocalSky& sky, const std::string& prefix) {
  std::string name;
  if (wcs.system() == SkySystem::galactic) name = galactic_name(sky.native);
  if (wcs.system() == SkySystem::equatorial) {
    name = equatorial_name(wcs.frame().starts_with("FK4") ? 'B' : 'J', sky.equatorial);
  }
  return name.empty() || prefix.empty() ? name : prefix + " " + name;
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
  row.name = name_of(*params.wcs, row.sky, params.name_prefix);
  row.centre_cov = row.sky.jacobian.to_sky(row.errors.centre_cov);
  row.on_sky = ellipse_fwhm(row.sky.jacobian.to_sky(moments_of(row.island)));
}

/// The area of the beam in pixels, for the conversion of fluxes.
class BeamPixels {
 public:
  explicit BeamPixels(const IslandTableParams& params) {
    if (!params.beam.beam || params.wcs == nullptr) return;
    m_solid_angle = beam_solid_angle(*params.beam.beam);
    // The beam of a synthesis image is the same function of the direction cosines everywhere.
    if (params.wcs->projection() == "SIN") m_pixel_area = reference_pixel_area(*params.wcs);
  }

  [[nodiscard]] double operator()(double local_pixel_area) const {
    return m_solid_angle / (std::isnan(m_pixel_area) ? local_pixel_area : m_pixel_area);
  }

 private:
  double m_solid_angle = k_no_value;
  double m_pixel_area = k_no_value;
};

double flux_scale(const FluxUnit& unit, double beam_pixels, double pixel_area) {
  using Per = FluxUnit::Per;
  switch (unit.per) {
    case Per::beam:
      return unit.factor / beam_pixels;
    case Per::pixel:
      return unit.factor;
    case Per::arcsec2:
      return unit.factor * pixel_area;
    case Per::unknown:
      break;
  }
  return k_no_value;
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

double reference_pixel_area(const Wcs& wcs) {
  const PixelPosition at = wcs.reference_pixel();
  return local_sky(wcs, std::span(&at, 1))[0].jacobian.area();
}

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
    row.beam_area = beam_pixels(row.pixel_area);
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
