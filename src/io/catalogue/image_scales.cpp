// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/image_scales.hpp"

#include <cmath>
#include <numbers>
#include <span>

#include "io/sky/iau_name.hpp"

namespace kastor::io::detail {
namespace {

Jacobian jacobian_at_reference(const Wcs& wcs) {
  const PixelPosition at = wcs.reference_pixel();
  return local_sky(wcs, std::span(&at, 1))[0].jacobian;
}

}  // namespace

double reference_pixel_area(const Wcs& wcs) { return jacobian_at_reference(wcs).area(); }

BeamPixels::BeamPixels(const TableParams& params) {
  if (!params.beam.beam || params.wcs == nullptr) return;
  m_solid_angle = beam_solid_angle(*params.beam.beam);
  m_on_sky = moments_on_sky(*params.beam.beam);
  if (params.wcs->projection() != "SIN") return;
  m_reference = jacobian_at_reference(*params.wcs);
  m_is_fixed = !std::isnan(m_reference.area());
}

std::vector<LocalSky> sky_around(const Wcs& wcs, std::vector<PixelPosition> places) {
  for (PixelPosition& each : places)
    if (!std::isfinite(each.x) || !std::isfinite(each.y)) each = wcs.reference_pixel();
  return local_sky(wcs, places);
}

Symmetric moments_on_sky(const Beam& beam) {
  // A degree, and the standard deviation of a Gaussian for its full width at half maximum.
  const double sigma = 3600.0 / std::sqrt(8.0 * std::numbers::ln2);
  const double along = std::pow(beam.major_deg * sigma, 2);
  const double across = std::pow(beam.minor_deg * sigma, 2);
  const double angle = std::isfinite(beam.position_angle_deg) ? beam.position_angle_deg : 0.0;
  const double c = std::cos(angle * std::numbers::pi / 180.0);
  const double s = std::sin(angle * std::numbers::pi / 180.0);
  return {along * c * c + across * s * s, (along - across) * c * s, along * s * s + across * c * c};
}

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
  return std::numeric_limits<double>::quiet_NaN();
}

std::string designation(const Wcs& wcs, const LocalSky& sky, const std::string& prefix) {
  std::string name;
  if (wcs.system() == SkySystem::galactic) name = galactic_name(sky.native);
  if (wcs.system() == SkySystem::equatorial) {
    name = equatorial_name(wcs.frame().starts_with("FK4") ? 'B' : 'J', sky.equatorial);
  }
  return name.empty() || prefix.empty() ? name : prefix + " " + name;
}

}  // namespace kastor::io::detail
