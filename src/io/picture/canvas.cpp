// SPDX-License-Identifier: Apache-2.0
#include "io/picture/canvas.hpp"

#include <algorithm>
#include <cmath>

namespace kastor::io::picture {

void Rectangle::include(const Rectangle& other) {
  x0 = std::min(x0, other.x0);
  y0 = std::min(y0, other.y0);
  x1 = std::max(x1, other.x1);
  y1 = std::max(y1, other.y1);
}

bool Rectangle::holds(const Rectangle& other) const {
  return x0 <= other.x0 && y0 <= other.y0 && other.x1 <= x1 && other.y1 <= y1;
}

Canvas::Canvas(int width, int height, Colour background)
    : m_width(width),
      m_height(height),
      m_rgb(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {
  fill({0, 0, width, height}, background);
}

Colour Canvas::at(int x, int y) const {
  const std::uint8_t* rgb = m_rgb.data() + index(x, y);
  return {rgb[0], rgb[1], rgb[2]};
}

void Canvas::set(int x, int y, Colour colour) {
  if (!inside(x, y)) return;
  std::uint8_t* rgb = m_rgb.data() + index(x, y);
  rgb[0] = colour.red;
  rgb[1] = colour.green;
  rgb[2] = colour.blue;
}

void Canvas::blend(int x, int y, Colour colour, double opacity) {
  if (!inside(x, y) || !(opacity > 0.0)) return;
  const double share = std::min(opacity, 1.0);
  const auto mixed = [share](std::uint8_t below, std::uint8_t above) {
    return static_cast<std::uint8_t>(std::lround(below + share * (above - below)));
  };
  const Colour below = at(x, y);
  set(x, y,
      {mixed(below.red, colour.red), mixed(below.green, colour.green),
       mixed(below.blue, colour.blue)});
}

void Canvas::fill(const Rectangle& area, Colour colour) {
  for (int y = std::max(0, area.y0); y < std::min(m_height, area.y1); ++y) {
    for (int x = std::max(0, area.x0); x < std::min(m_width, area.x1); ++x) set(x, y, colour);
  }
}

void Canvas::frame(const Rectangle& area, int width, Colour colour) {
  const Rectangle outer{area.x0 - width, area.y0 - width, area.x1 + width, area.y1 + width};
  fill({outer.x0, outer.y0, outer.x1, area.y0}, colour);
  fill({outer.x0, area.y1, outer.x1, outer.y1}, colour);
  fill({outer.x0, area.y0, area.x0, area.y1}, colour);
  fill({area.x1, area.y0, outer.x1, area.y1}, colour);
}

}  // namespace kastor::io::picture
