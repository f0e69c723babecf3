// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_MARKS_HPP
#define KASTOR_SRC_IO_PICTURE_MARKS_HPP

#include <cstdint>
#include <kastor/catalogue.hpp>
#include <kastor/io/picture_ellipse.hpp>
#include <kastor/io/picture_params.hpp>
#include <vector>

#include "io/picture/geometry.hpp"
#include "io/picture/outline.hpp"
#include "io/picture/text.hpp"

namespace kastor::io::picture {

/// The line around a source, in the drawn image of `geometry`; `least` is the smallest half width
/// [picture pixel].
[[nodiscard]] Outline outline_of(const Source& source, MarkShape shape, const Geometry& geometry,
                                 double least);

/// The same around an ellipse.
[[nodiscard]] Outline outline_of(const PictureEllipse& ellipse, const Geometry& geometry,
                                 double least);

/// A line with its id.
struct Mark {
  std::int64_t id;
  Outline outline;  ///< in the drawn image
};

/// The style of marks.
struct MarkStyle {
  MarkColours colours{};
  double line = 1.5;             ///< width [picture pixel]
  const Font* labels = nullptr;  ///< font of the ids; null: no ids
};

/// Draws marks over the image, whose upper left corner is that of `area`. Ids are drawn where they
/// are within the area and do not overlap lines and other ids; otherwise they are left out. Marks
/// are handled in order.
void draw_marks(Canvas& canvas, const Rectangle& area, std::vector<Mark> marks,
                const MarkStyle& style);

}  // namespace kastor::io::picture

#endif
