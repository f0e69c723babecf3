// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_MARKS_HPP
#define KASTOR_SRC_IO_PICTURE_MARKS_HPP

#include <kastor/catalogue.hpp>

#include "io/picture/geometry.hpp"
#include "io/picture/outline.hpp"
#include "io/picture/text.hpp"

namespace kastor::io::picture {

/// The line around a source, in the drawn image of `geometry`; `least` is its least half width
/// [picture pixel].
[[nodiscard]] Outline outline_of(const Source& source, MarkShape shape, const Geometry& geometry,
                                 double least);

/// How marks are drawn.
struct MarkStyle {
  MarkShape shape = MarkShape::ellipse;
  MarkColours colours{};
  double line = 1.5;             ///< width [picture pixel]
  double least = 6.0;            ///< half width of the smallest one [picture pixel]
  const Font* labels = nullptr;  ///< for the ids; null: without
};

/// Draws the sources over the image, which has its upper left corner at that of `area`. Ids go
/// where they are within the area and free of lines and other ids, else they are left out; first
/// come, first served.
void draw_marks(Canvas& canvas, const Rectangle& area, const Geometry& geometry,
                const Catalogue& sources, const MarkStyle& style);

}  // namespace kastor::io::picture

#endif
