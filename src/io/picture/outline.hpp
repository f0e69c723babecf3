// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_OUTLINE_HPP
#define KASTOR_SRC_IO_PICTURE_OUTLINE_HPP

#include <functional>

#include "io/picture/canvas.hpp"

namespace kastor::io::picture {

/// A closed line around a point [picture pixel; pixel (0,0) extends from 0 to 1].
struct Outline {
  MarkShape shape = MarkShape::ellipse;
  double x = 0;
  double y = 0;
  double half_width = 0;
  double half_height = 0;
  /// Of an ellipse, -1 to 1 exclusive: the correlation of x and y, whose variances are the squares
  /// of the half widths; 0: its axes are along x and y
  double tilt = 0;

  /// Distance of a point from the line; for an ellipse to first order.
  [[nodiscard]] double distance(double px, double py) const;
};

/// Calls `visit(x, y, distance)` for the pixels of `area` that may lie within `reach` of the line.
void for_each_pixel_near(const Rectangle& area, const Outline& outline, double reach,
                         const std::function<void(int, int, double)>& visit);

/// Draws a smooth line of the given width with a rim on both sides, within `area` only.
void draw_outline(Canvas& canvas, const Rectangle& area, const Outline& outline, double width,
                  const MarkColours& colours);

}  // namespace kastor::io::picture

#endif
