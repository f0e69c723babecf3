// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_GEOMETRY_HPP
#define KASTOR_SRC_IO_PICTURE_GEOMETRY_HPP

#include <kastor/io/wcs.hpp>

#include "io/picture/pixel_grid.hpp"

namespace kastor::io::picture {

/// Converts between image pixels and the drawn image: picture pixels from its upper left corner, y
/// downwards.
class Geometry {
 public:
  Geometry(const Sampling& sampling, bool flip) : m_sampling(sampling), m_flip(flip) {}

  [[nodiscard]] int width() const { return m_sampling.width; }
  [[nodiscard]] int height() const { return m_sampling.height; }
  /// Picture pixels per image pixel.
  [[nodiscard]] double scale_x() const {
    return m_sampling.zoom_x / static_cast<double>(m_sampling.block_x);
  }
  [[nodiscard]] double scale_y() const {
    return m_sampling.zoom_y / static_cast<double>(m_sampling.block_y);
  }

  [[nodiscard]] double x_of(double image_x) const {
    const double x = (image_x + 0.5) * scale_x();
    return m_flip ? width() - x : x;
  }
  [[nodiscard]] double y_of(double image_y) const { return height() - (image_y + 0.5) * scale_y(); }
  /// The inverse of both.
  [[nodiscard]] PixelPosition image_position(double x, double y) const {
    return {(m_flip ? width() - x : x) / scale_x() - 0.5, (height() - y) / scale_y() - 0.5};
  }

 private:
  Sampling m_sampling;
  bool m_flip;
};

}  // namespace kastor::io::picture

#endif
