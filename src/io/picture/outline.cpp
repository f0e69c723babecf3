// SPDX-License-Identifier: Apache-2.0
#include "io/picture/outline.hpp"

#include <algorithm>
#include <cmath>

namespace kastor::io::picture {
namespace {

constexpr double k_rim_opacity = 0.7;

/// The fraction of a pixel that is covered by a line whose middle is `distance` from the pixel's
/// centre.
double coverage(double distance, double width) {
  return std::clamp(width / 2.0 + 0.5 - distance, 0.0, 1.0);
}

double distance_to_box(const Outline& box, double dx, double dy) {
  const double x = std::abs(dx) - box.half_width;
  const double y = std::abs(dy) - box.half_height;
  if (x <= 0.0 && y <= 0.0) return -std::max(x, y);
  return std::hypot(std::max(x, 0.0), std::max(y, 0.0));
}

/// To first order: the value of f = |(x/a, y/b)| - 1 divided by the length of its gradient.
double distance_to_ellipse(const Outline& ellipse, double dx, double dy) {
  const double u = dx / ellipse.half_width;
  const double v = dy / ellipse.half_height;
  const double tilt = ellipse.tilt;
  const double rest = 1.0 - tilt * tilt;
  const double radius = std::hypot(u, (v - tilt * u) / std::sqrt(rest));
  if (radius == 0.0) return std::min(ellipse.half_width, ellipse.half_height);
  const double slope =
      std::hypot((u - tilt * v) / ellipse.half_width, (v - tilt * u) / ellipse.half_height) /
      (radius * rest);
  return std::abs(radius - 1.0) / slope;
}

}  // namespace

double Outline::distance(double px, double py) const {
  return shape == MarkShape::box ? distance_to_box(*this, px - x, py - y)
                                 : distance_to_ellipse(*this, px - x, py - y);
}

void for_each_pixel_near(const Rectangle& area, const Outline& outline, double reach,
                         const std::function<void(int, int, double)>& visit) {
  // In double until it is known to be within the area: a mark can be anywhere.
  const double left = std::max<double>(area.x0, outline.x - outline.half_width - reach);
  const double right = std::min<double>(area.x1, outline.x + outline.half_width + reach);
  const double top = std::max<double>(area.y0, outline.y - outline.half_height - reach);
  const double bottom = std::min<double>(area.y1, outline.y + outline.half_height + reach);
  if (!(left < right && top < bottom)) return;
  for (int y = static_cast<int>(top); y < static_cast<int>(std::ceil(bottom)); ++y) {
    for (int x = static_cast<int>(left); x < static_cast<int>(std::ceil(right)); ++x) {
      visit(x, y, outline.distance(x + 0.5, y + 0.5));
    }
  }
}

void draw_outline(Canvas& canvas, const Rectangle& area, const Outline& outline, double width,
                  const MarkColours& colours) {
  for_each_pixel_near(area, outline, 1.2 * width + 1.0, [&](int x, int y, double distance) {
    canvas.blend(x, y, colours.rim, k_rim_opacity * coverage(distance, 2.4 * width));
    canvas.blend(x, y, colours.line, coverage(distance, width));
  });
}

}  // namespace kastor::io::picture
