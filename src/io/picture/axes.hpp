// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_AXES_HPP
#define KASTOR_SRC_IO_PICTURE_AXES_HPP

#include <kastor/io/wcs.hpp>
#include <string>
#include <vector>

#include "io/picture/geometry.hpp"
#include "io/picture/text.hpp"
#include "io/picture/ticks.hpp"

namespace kastor::io::picture {

/// One axis. `at` of its ticks is the distance from the left or the upper end [picture pixel].
struct Axis {
  std::string title;
  std::vector<Tick> ticks;
};

struct Axes {
  Axis bottom;
  Axis left;
};

/// Axes in pixels counted from 0, with as many ticks as there is room for labels.
[[nodiscard]] Axes pixel_axes(const Geometry& geometry, const Font& font);

/// The lower edge shows the coordinate that changes most along it, the left edge the other one.
/// \throws kastor::Error if an edge has no sky coordinates
[[nodiscard]] Axes sky_axes(const Geometry& geometry, const Font& font, const Wcs& wcs);

}  // namespace kastor::io::picture

#endif
