// SPDX-License-Identifier: Apache-2.0
#include "io/picture/marks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace kastor::io::picture {
namespace {

// Gap between a bounding box and the line around it [picture pixel].
constexpr double k_gap = 2.0;
// The smallest half width of an ellipse across [picture pixel].
constexpr double k_thinnest_mark = 1.0;

/// Positions for an id beside the corners of a mark, the best first.
std::array<Rectangle, 4> places_beside(const Outline& outline, int width, int height) {
  // An ellipse leaves the corners of its box free.
  const double inset = outline.shape == MarkShape::ellipse ? 0.7 : 1.0;
  const double left = outline.x - inset * outline.half_width - k_gap - width;
  const double right = outline.x + inset * outline.half_width + k_gap;
  const double top = outline.y - inset * outline.half_height - height;
  const double bottom = outline.y + inset * outline.half_height;
  const auto at = [&](double x, double y) {
    const int x0 = static_cast<int>(std::lround(x));
    const int y0 = static_cast<int>(std::lround(y));
    return Rectangle{x0, y0, x0 + width, y0 + height};
  };
  return {at(right, top), at(left, top), at(right, bottom), at(left, bottom)};
}

/// The pixels of an area that already hold a line or an id.
class TakenPixels {
 public:
  explicit TakenPixels(const Rectangle& area)
      : m_area(area),
        m_taken(static_cast<std::size_t>(area.width()) * static_cast<std::size_t>(area.height())) {}

  /// \param part  within the area
  void take(const Rectangle& part) {
    for (int y = part.y0; y < part.y1; ++y) {
      for (int x = part.x0; x < part.x1; ++x) m_taken[index(x, y)] = true;
    }
  }
  [[nodiscard]] bool is_free(const Rectangle& part) const {
    if (!m_area.holds(part)) return false;
    for (int y = part.y0; y < part.y1; ++y) {
      for (int x = part.x0; x < part.x1; ++x) {
        if (m_taken[index(x, y)]) return false;
      }
    }
    return true;
  }

 private:
  [[nodiscard]] std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y - m_area.y0) * static_cast<std::size_t>(m_area.width()) +
           static_cast<std::size_t>(x - m_area.x0);
  }

  Rectangle m_area;
  std::vector<bool> m_taken;
};

}  // namespace

Outline outline_of(const Source& source, MarkShape shape, const Geometry& geometry, double least) {
  const double x_low = static_cast<double>(source.x_min) - 0.5;
  const double x_high = static_cast<double>(source.x_max) + 0.5;
  const double y_low = static_cast<double>(source.y_min) - 0.5;
  const double y_high = static_cast<double>(source.y_max) + 0.5;
  // A sum of 0 has no centre.
  const bool boxed =
      shape == MarkShape::box || !std::isfinite(source.x_cen) || !std::isfinite(source.y_cen);
  const double x = boxed ? (x_low + x_high) / 2.0 : source.x_cen;
  const double y = boxed ? (y_low + y_high) / 2.0 : source.y_cen;
  const double half_width = geometry.scale_x() * std::max(x_high - x, x - x_low) + k_gap;
  const double half_height = geometry.scale_y() * std::max(y_high - y, y - y_low) + k_gap;
  return {shape,
          geometry.x_of(x),
          geometry.y_of(y),
          std::max(least, half_width),
          std::max(least, half_height),
          0};
}

Outline outline_of(const PictureEllipse& ellipse, const Geometry& geometry, double least) {
  const double a = ellipse.major / 2;
  const double b = ellipse.minor / 2;
  const double angle = ellipse.angle * std::numbers::pi / 180;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  double half_width = std::hypot(a * c, b * s);
  double half_height = std::hypot(a * s, b * c);
  double tilt = (a * a - b * b) * s * c / (half_width * half_height);
  if (geometry.x_of(0) < geometry.x_of(1)) tilt = -tilt;  // y runs downwards
  half_width *= geometry.scale_x();
  half_height *= geometry.scale_y();
  const double size = std::max(half_width, half_height);
  if (!(size > 0) || !std::isfinite(tilt)) {  // has no shape
    half_width = half_height = least;
    tilt = 0;
  } else if (size < least) {
    half_width *= least / size;
    half_height *= least / size;
  }
  return {MarkShape::ellipse,
          geometry.x_of(ellipse.x),
          geometry.y_of(ellipse.y),
          std::max(k_thinnest_mark, half_width),
          std::max(k_thinnest_mark, half_height),
          std::clamp(tilt, -0.999, 0.999)};
}

void draw_marks(Canvas& canvas, const Rectangle& area, std::vector<Mark> marks,
                const MarkStyle& style) {
  for (auto& [id, outline] : marks) {
    outline.x += area.x0;
    outline.y += area.y0;
    draw_outline(canvas, area, outline, style.line, style.colours);
  }
  if (style.labels == nullptr) return;

  TakenPixels taken(area);
  for (const auto& [id, outline] : marks) {
    for_each_pixel_near(area, outline, style.line, [&](int x, int y, double distance) {
      if (distance <= style.line) taken.take({x, y, x + 1, y + 1});
    });
  }
  for (const auto& [id, outline] : marks) {
    // No label could be drawn far outside, and lround() would overflow.
    if (!(outline.x >= area.x0 && outline.x < area.x1 && outline.y >= area.y0 &&
          outline.y < area.y1)) {
      continue;
    }
    const TextImage text = style.labels->render(std::to_string(id));
    const auto places = places_beside(outline, text.width, text.height);
    const auto free = std::find_if(places.begin(), places.end(),
                                   [&](const Rectangle& place) { return taken.is_free(place); });
    if (free == places.end()) continue;
    draw_text_with_rim(canvas, text, free->x0, free->y0, style.colours);
    taken.take(*free);
  }
}

}  // namespace kastor::io::picture
