// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_PICTURE_PARAMS_HPP
#define KASTOR_IO_PICTURE_PARAMS_HPP

#include <optional>
#include <string>

namespace kastor::io {

/// How pixel values between the limits are mapped to positions t from 0 to 1 in the colour map.
enum class IntensityScale {
  linear,
  log,    ///< ln(v/min) / ln(max/min); the limits must be positive
  asinh,  ///< asinh(u/s) / asinh(1/s), u the linear position: linear below s, logarithmic above
};

enum class ColourMap {
  grey,           ///< black to white
  inverted_grey,  ///< white to black
  viridis,        ///< perceptually uniform, dark blue to yellow
  cubehelix,      ///< Green 2011: monotonic in perceived brightness, black to white
};

enum class PictureAxes {
  none,   ///< only the image: no frame, no colour bar, no text except labels
  pixel,  ///< pixels, counted from 0
  sky,    ///< coordinates where their grid lines cross the lower and the left edge
};

enum class MarkShape {
  ellipse,  ///< ellipse about the centre that reaches the sides of the bounding box
  box,      ///< the bounding box
};

/// `lesson` is the look of the figure in the course: logarithmic, grey, from max/100 (black) to
/// max/10 (white), where max is the largest finite pixel.
enum class PictureLook { free, lesson };

/// What a picture looks like.
struct PictureParams {
  PictureLook look = PictureLook::free;             ///< `lesson` sets scale, colour map and limits
  IntensityScale scale = IntensityScale::asinh;     ///< from pixel values to shades
  ColourMap colour_map = ColourMap::inverted_grey;  ///< from shades to colours
  std::optional<double> minimum;          ///< lower limit [image unit]; instead of the percentile
  std::optional<double> maximum;          ///< upper limit [image unit]; instead of the percentile
  double lower_percentile = 0.5;          ///< of the finite pixels [0..100]
  double upper_percentile = 99.99;        ///< of the finite pixels [0..100], above the lower one
  PictureAxes axes = PictureAxes::pixel;  ///< what the edges show
  bool flip = false;                      ///< mirror left and right, including axes and marks
  int size = 1024;  ///< longest side of the drawn image without axes [pixel, 1..16384]
  MarkShape marks = MarkShape::ellipse;  ///< shape of the marks around sources
  bool labels = false;  ///< draw the sources' ids beside their marks, where there is room
  std::string font;     ///< TrueType or OpenType file; empty: `default_font()`
};

/// The default font of pictures, DejaVu Sans, as it was found when Kastor was built.
[[nodiscard]] std::string default_font();

/// Checks the font before long work. \throws kastor::Error that names the font and what to install,
/// if `params` needs a font and it cannot be used.
void require_font(const PictureParams& params);

}  // namespace kastor::io

#endif
