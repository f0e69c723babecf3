// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_CANVAS_HPP
#define KASTOR_SRC_IO_PICTURE_CANVAS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/picture/colour_map.hpp"

namespace kastor::io::picture {

/// Pixels [x0, x1) x [y0, y1), y downwards.
struct Rectangle {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;

  [[nodiscard]] int width() const { return x1 - x0; }
  [[nodiscard]] int height() const { return y1 - y0; }
  /// Enlarges the rectangle to contain `other`.
  void include(const Rectangle& other);
  [[nodiscard]] bool holds(const Rectangle& other) const;
};

/// 8-bit RGB pixels, row by row from the top; drawing outside has no effect.
class Canvas {
 public:
  Canvas(int width, int height, Colour background);

  [[nodiscard]] int width() const { return m_width; }
  [[nodiscard]] int height() const { return m_height; }
  [[nodiscard]] const std::uint8_t* row(int y) const { return m_rgb.data() + index(0, y); }
  [[nodiscard]] Colour at(int x, int y) const;

  void set(int x, int y, Colour colour);
  /// Covers the pixel with `opacity` (0..1) of the colour.
  void blend(int x, int y, Colour colour, double opacity);
  void fill(const Rectangle& area, Colour colour);
  /// Draws the border of the area, `width` pixels wide, outside the area.
  void frame(const Rectangle& area, int width, Colour colour);

 private:
  [[nodiscard]] std::size_t index(int x, int y) const {
    return 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(m_width) +
                static_cast<std::size_t>(x));
  }
  [[nodiscard]] bool inside(int x, int y) const {
    return x >= 0 && y >= 0 && x < m_width && y < m_height;
  }

  int m_width;
  int m_height;
  std::vector<std::uint8_t> m_rgb;
};

}  // namespace kastor::io::picture

#endif
