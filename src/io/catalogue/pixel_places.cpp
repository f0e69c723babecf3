// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/pixel_places.hpp"

#include <fmt/format.h>

#include <cmath>
#include <kastor/error.hpp>
#include <numbers>

#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

/// The inverse of `galactic_to_icrs()`, whose constants it shares.
SkyPosition galactic_of(const SkyPosition& icrs) {
  constexpr double degree = std::numbers::pi / 180;
  constexpr double pole_dec = 27.12825 * degree;
  constexpr double node = 32.93192;  // [deg]
  const double ra = (icrs.longitude - 192.85948) * degree;
  const double dec = icrs.latitude * degree;
  const double out = std::cos(dec) * std::sin(ra);
  const double side =
      std::sin(dec) * std::cos(pole_dec) - std::cos(dec) * std::sin(pole_dec) * std::cos(ra);
  const double up =
      std::sin(dec) * std::sin(pole_dec) + std::cos(dec) * std::cos(pole_dec) * std::cos(ra);
  const double longitude = std::fmod(std::atan2(side, out) / degree + node + 360.0, 360.0);
  return {longitude, std::atan2(up, std::hypot(out, side)) / degree};
}

void require_frame_of_image(const SourceList& list, const Wcs& wcs) {
  const auto system = wcs.system();
  const std::string frame = wcs.frame();
  const bool is_old = system == SkySystem::equatorial && frame.starts_with("FK4");
  const bool good = system == SkySystem::galactic || system == SkySystem::equatorial;
  if (good && is_old == (list.frame == SkyFrame::fk4)) return;
  throw Error(fmt::format(
      "{}: the positions {} and {} are {}, the image is {}; expected one frame, or positions in "
      "pixels",
      one_line(list.path), one_line(list.column(SourceQuantity::ra)),
      one_line(list.column(SourceQuantity::dec)),
      list.frame == SkyFrame::fk4 ? "of B1950 (FK4)" : "of ICRS or J2000",
      good ? "in " + one_line(frame.empty() ? "another frame" : frame)
           : std::string("neither equatorial nor galactic")));
}

}  // namespace

std::vector<PixelPosition> pixel_places(const SourceList& list, const Wcs* wcs) {
  if (list.has_sky() && wcs != nullptr) {
    require_frame_of_image(list, *wcs);
    std::vector<SkyPosition> sky;
    sky.reserve(list.sources.size());
    for (const auto& source : list.sources) {
      const SkyPosition at{source.ra, source.dec};
      sky.push_back(wcs->system() == SkySystem::galactic ? galactic_of(at) : at);
    }
    return wcs->to_pixels(sky);
  }
  if (!list.has_pixels()) {
    throw Error(one_line(list.path) +
                ": the positions are on the sky, and the image has no celestial coordinates; "
                "expected positions in pixels, such as x and y");
  }
  std::vector<PixelPosition> places;
  places.reserve(list.sources.size());
  for (const auto& source : list.sources) places.push_back({source.x, source.y});
  return places;
}

}  // namespace kastor::io::detail
