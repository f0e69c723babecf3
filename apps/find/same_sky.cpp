// SPDX-License-Identifier: Apache-2.0
#include "find/same_sky.hpp"

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/wcs.hpp>
#include <vector>

#include "cli/report/format.hpp"
#include "cli/run/outputs.hpp"
#include "find/find_outputs.hpp"

namespace kastor::cli {
namespace {

constexpr double k_worth_a_note = 0.1;  // [pixel]
constexpr double k_another_sky = 0.5;

/// The largest distance of what a pixel of one shows from the same pixel of the other [pixel], at
/// the centre and the corners; 0 where it is not known.
double farthest(const io::Wcs& from, const io::Wcs& to, const io::FitsImage& image) {
  const auto right = static_cast<double>(image.nx - 1);
  const auto top = static_cast<double>(image.ny - 1);
  const std::vector<io::PixelPosition> places = {
      {0.5 * right, 0.5 * top}, {0, 0}, {right, 0}, {0, top}, {right, top}};
  const auto there = to.to_pixels(from.to_sky(places));
  double most = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double apart = std::hypot(there[i].x - places[i].x, there[i].y - places[i].y);
    if (std::isfinite(apart)) most = std::max(most, apart);
  }
  return most;
}

}  // namespace

std::string check_same_sky(const io::FitsImage& detection, const io::FitsImage& image) {
  std::string why;
  const auto here = wcs_of(image, why), there = wcs_of(detection, why);
  if (!here || !there || here->system() != there->system()) return "";
  const double apart = farthest(*here, *there, image);
  if (apart > k_another_sky) {
    throw Error(
        fmt::format("{}: found coordinates {:.3g} pixels away from those of {}; expected the same "
                    "pixels of the "
                    "sky (read for --detect-image)",
                    name_of(detection), apart, name_of(image)));
  }
  if (!(apart > k_worth_a_note)) return "";
  return fmt::format(
      "the coordinates of --detect-image {} are up to {:.2f} pixels away from those "
      "of the image",
      name_of(detection), apart);
}

}  // namespace kastor::cli
