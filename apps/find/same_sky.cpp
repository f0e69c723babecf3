// SPDX-License-Identifier: Apache-2.0
#include "find/same_sky.hpp"

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/cross_match.hpp>
#include <kastor/io/wcs.hpp>
#include <limits>
#include <vector>

#include "cli/report/format.hpp"
#include "cli/run/outputs.hpp"
#include "find/find_outputs.hpp"
#include "io/sky/sky_geometry.hpp"

namespace kastor::cli {
namespace {

constexpr double k_worth_a_note = 0.1;  // [pixel]
constexpr double k_another_sky = 0.5;
constexpr double k_infinite = std::numeric_limits<double>::infinity();
constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

using Places = std::vector<io::PixelPosition>;

/// The centre and the corners.
Places places_of(const io::FitsImage& image) {
  const auto right = static_cast<double>(image.nx - 1);
  const auto top = static_cast<double>(image.ny - 1);
  return {{0.5 * right, 0.5 * top}, {0, 0}, {right, 0}, {0, top}, {right, top}};
}

/// How far the same pixel of the other shows something else [pixel]: NaN where these coordinates
/// show no sky, infinite where the others have no pixel for it.
std::vector<double> in_pixels(const io::Wcs& here, const io::Wcs& there, const Places& places) {
  const auto sky = here.to_sky(places);
  const auto pixels = there.to_pixels(sky);
  std::vector<double> apart;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double distance = std::hypot(pixels[i].x - places[i].x, pixels[i].y - places[i].y);
    const bool is_sky = std::isfinite(sky[i].longitude) && std::isfinite(sky[i].latitude);
    apart.push_back(std::isfinite(distance) ? distance : is_sky ? k_infinite : k_nan);
  }
  return apart;
}

/// Whether positions can be converted to ICRS. FK5 of 2000 is that to a tenth of an arcsec.
bool is_near_icrs(const io::Wcs& wcs) {
  if (wcs.system() == io::SkySystem::galactic) return true;
  if (wcs.system() != io::SkySystem::equatorial) return false;
  return wcs.frame() == "ICRS" || (wcs.frame() == "FK5" && wcs.equinox() == 2000);
}

/// On a great circle [arcsec]; NaN if one is no position.
double separation(const io::SkyPosition& a, const io::SkyPosition& b) {
  const auto from = io::unit_vector(a.longitude, a.latitude);
  const auto to = io::unit_vector(b.longitude, b.latitude);
  const double chord = std::hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
  return std::isnan(chord) ? k_nan : io::arcsec_of_chord(chord);
}

/// As `in_pixels()`, from the angle between them in ICRS.
std::vector<double> through_icrs(const io::Wcs& here, const io::Wcs& there, const Places& places) {
  const auto ours = io::detail::local_sky(here, places);
  const auto theirs = io::detail::local_sky(there, places);
  std::vector<double> apart;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double side = std::sqrt(ours[i].jacobian.area());
    const double distance = separation(ours[i].equatorial, theirs[i].equatorial) / side;
    const bool is_sky = std::isfinite(ours[i].equatorial.latitude);
    apart.push_back(std::isfinite(distance) ? distance : is_sky ? k_infinite : k_nan);
  }
  return apart;
}

std::string system_of(const io::Wcs& wcs) {
  switch (wcs.system()) {
    case io::SkySystem::equatorial:
      return "equatorial (" + wcs.frame() + ")";
    case io::SkySystem::galactic:
      return "galactic";
    case io::SkySystem::ecliptic:
      return "ecliptic";
    case io::SkySystem::other:
      break;
  }
  return "other";
}

}  // namespace

std::string check_same_sky(const io::FitsImage& detection, const io::FitsImage& image) {
  std::string why;
  const auto here = wcs_of(image, why), there = wcs_of(detection, why);
  if (!here || !there) return "";
  const bool is_same_system = here->system() == there->system();
  if (!is_same_system && !(is_near_icrs(*here) && is_near_icrs(*there))) {
    throw Error(fmt::format(
        "{}: found {} coordinates, which cannot be compared with the {} ones of {}; expected the "
        "same system in both, or galactic and ICRS ones (read for --detect-image)",
        name_of(detection), system_of(*there), system_of(*here), name_of(image)));
  }
  const auto places = places_of(image);
  const auto apart =
      is_same_system ? in_pixels(*here, *there, places) : through_icrs(*here, *there, places);
  double most = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (std::isinf(apart[i])) {
      throw Error(fmt::format(
          "{}: found no pixel that shows the sky of the pixel at x = {:g}, y = {:g} of {}; "
          "expected the same pixels of the sky (read for --detect-image)",
          name_of(detection), places[i].x, places[i].y, name_of(image)));
    }
    if (apart[i] > most) most = apart[i];
  }
  if (most > k_another_sky) {
    throw Error(
        fmt::format("{}: found coordinates {:.3g} pixels away from those of {}; expected the same "
                    "pixels of the sky (read for --detect-image)",
                    name_of(detection), most, name_of(image)));
  }
  if (!(most > k_worth_a_note)) return "";
  return fmt::format(
      "the coordinates of --detect-image {} are up to {:.2f} pixels away from those of the image",
      name_of(detection), most);
}

}  // namespace kastor::cli
