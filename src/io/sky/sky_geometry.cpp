// SPDX-License-Identifier: Apache-2.0
#include "io/sky/sky_geometry.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace kastor::io::detail {
namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double k_radian = std::numbers::pi / 180.0;
constexpr double k_arcsec = k_radian / 3600.0;

using Vector = std::array<double, 3>;

Vector unit_vector(const SkyPosition& at) {
  const double lon = at.longitude * k_radian;
  const double lat = at.latitude * k_radian;
  return {std::cos(lat) * std::cos(lon), std::cos(lat) * std::sin(lon), std::sin(lat)};
}

double along(const Vector& direction, const Vector& to, const Vector& from) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) sum += direction[i] * (to[i] - from[i]);
  return sum / k_arcsec;
}

SkyPosition equatorial_of(const Wcs& wcs, const SkyPosition& native) {
  return wcs.system() == SkySystem::galactic ? galactic_to_icrs(native) : native;
}

}  // namespace

EllipseFwhm ellipse_fwhm(const Symmetric& m) {
  const double mean = 0.5 * (m.xx + m.yy);
  const double half = 0.5 * (m.xx - m.yy);
  const double spread = std::hypot(half, m.xy);
  const double least = mean - spread;
  if (!(least > 0)) return {k_nan, k_nan, k_nan};
  const double width = std::sqrt(8.0 * std::numbers::ln2);
  // Half the angle of the vector (half, m.xy): this treats all directions alike, and a circle has
  // angle 0.
  double angle = 0.5 * std::atan2(m.xy, half) / k_radian;
  if (angle < 0) angle += 180.0;
  if (angle >= 180.0) angle = 0.0;
  return {width * std::sqrt(mean + spread), width * std::sqrt(least), angle};
}

double Jacobian::area() const { return std::abs(east_x * north_y - east_y * north_x); }

Symmetric Jacobian::to_sky(const Symmetric& p) const {
  const double n_x = north_x * p.xx + north_y * p.xy;
  const double n_y = north_x * p.xy + north_y * p.yy;
  const double e_x = east_x * p.xx + east_y * p.xy;
  const double e_y = east_x * p.xy + east_y * p.yy;
  return {n_x * north_x + n_y * north_y, n_x * east_x + n_y * east_y, e_x * east_x + e_y * east_y};
}

Symmetric Jacobian::to_pixels(const Symmetric& sky) const {
  const double det = north_x * east_y - north_y * east_x;
  // From steps (north, east) to steps in x ("north") and in y ("east").
  const Jacobian inverse{-east_x / det, north_x / det, east_y / det, -north_y / det};
  return inverse.to_sky(sky);
}

std::vector<LocalSky> local_sky(const Wcs& wcs, std::span<const PixelPosition> at) {
  std::vector<PixelPosition> pixels;
  pixels.reserve(5 * at.size());
  for (const auto& p : at) {
    pixels.insert(pixels.end(),
                  {p, {p.x + 0.5, p.y}, {p.x - 0.5, p.y}, {p.x, p.y + 0.5}, {p.x, p.y - 0.5}});
  }
  const auto sky = wcs.to_sky(pixels);
  std::vector<LocalSky> result;
  result.reserve(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const SkyPosition* native = sky.data() + 5 * i;
    LocalSky local{native[0], equatorial_of(wcs, native[0]), {}};
    std::array<Vector, 5> to{};
    for (std::size_t k = 0; k < 5; ++k) to[k] = unit_vector(equatorial_of(wcs, native[k]));
    const double lon = local.equatorial.longitude * k_radian;
    const double lat = local.equatorial.latitude * k_radian;
    const Vector east{-std::sin(lon), std::cos(lon), 0.0};
    const Vector north{-std::sin(lat) * std::cos(lon), -std::sin(lat) * std::sin(lon),
                       std::cos(lat)};
    local.jacobian = {along(east, to[1], to[2]), along(east, to[3], to[4]),
                      along(north, to[1], to[2]), along(north, to[3], to[4])};
    result.push_back(local);
  }
  return result;
}

SkyPosition galactic_to_icrs(const SkyPosition& galactic) {
  constexpr double pole_ra = 192.85948 * k_radian;
  constexpr double pole_dec = 27.12825 * k_radian;
  constexpr double node = 32.93192;  // longitude of the ascending node of the galactic plane [deg]
  const double l = (galactic.longitude - node) * k_radian;
  const double b = galactic.latitude * k_radian;
  const double out = std::cos(b) * std::cos(l);
  const double side =
      std::cos(pole_dec) * std::sin(b) - std::sin(pole_dec) * std::cos(b) * std::sin(l);
  const double up =
      std::sin(pole_dec) * std::sin(b) + std::cos(pole_dec) * std::cos(b) * std::sin(l);
  const double ra = (std::atan2(out, side) + pole_ra) / k_radian;
  const double turned = std::fmod(ra, 360.0);
  return {turned < 0 ? turned + 360.0 : turned, std::atan2(up, std::hypot(out, side)) / k_radian};
}

}  // namespace kastor::io::detail
