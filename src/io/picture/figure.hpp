// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_FIGURE_HPP
#define KASTOR_SRC_IO_PICTURE_FIGURE_HPP

#include <kastor/catalogue.hpp>
#include <kastor/io/picture_ellipse.hpp>
#include <kastor/io/picture_params.hpp>
#include <kastor/io/wcs.hpp>
#include <span>
#include <string>

#include "io/picture/canvas.hpp"
#include "io/picture/intensity.hpp"
#include "io/picture/pixel_grid.hpp"

namespace kastor::io::picture {

/// What a figure shows.
struct FigureContent {
  PixelGrid pixels;
  const Catalogue& sources;
  std::span<const PictureEllipse> ellipses;
  const Wcs* wcs = nullptr;  ///< needed for sky axes only
  std::string unit;          ///< unit of the pixels; may be empty
};

/// Draws the figure, just large enough for all of its parts. \throws kastor::Error
[[nodiscard]] Canvas draw_figure(const FigureContent& content, const PictureParams& params);

}  // namespace kastor::io::picture

#endif
