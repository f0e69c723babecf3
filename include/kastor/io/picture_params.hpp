// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_PICTURE_PARAMS_HPP
#define KASTOR_IO_PICTURE_PARAMS_HPP

#include <optional>
#include <string>

namespace kastor::io {

/// How pixel values between the limits become positions t from 0 to 1 in the colour map.
enum class IntensityScale {
  linear,
  log,    ///< ln(v/min) / ln(max/min); the limits have to be positive
  asinh,  ///< asinh(u/s) / asinh(1/s), u the linear position: linear below s, then logarithmic
};

enum class ColourMap {
  grey,           ///< black to white
  inverted_grey,  ///< white to black
  viridis,        ///< perceptually uniform, dark blue to yellow
  cubehelix,      ///< Green 2011: monotonic in perceived brightness, black to white
};

enum class PictureAxes {
  none,   ///< the image alone: no frame, no colour bar, no text but labels
  pixel,  ///< pixels from 0
  sky,    ///< where lines of constant coordinates cross the lower and the left edge
};

enum class MarkShape {
  ellipse,  ///< about the centre, the bounding box inside
  box,      ///< the bounding box
};

/// The limits and the scale of the reference course's figure, where max is the largest finite
/// pixel: logarithmic, grey, from max/100 (and below: black) to max/10 (and above: white).
enum class PictureLook { free, lesson };

/// What a picture looks like.
struct PictureParams {
  PictureLook look = PictureLook::free;          ///< `lesson` decides scale, colour map and limits
  IntensityScale scale = IntensityScale::asinh;  ///< from pixel values to shades
  ColourMap colour_map = ColourMap::inverted_grey;  ///< from shades to colours
  std::optional<double> minimum;          ///< [image unit]; instead of the lower percentile
  std::optional<double> maximum;          ///< [image unit]; instead of the upper percentile
  double lower_percentile = 0.5;          ///< of the finite pixels [0..100]
  double upper_percentile = 99.99;        ///< [0..100], above the lower one
  PictureAxes axes = PictureAxes::pixel;  ///< what stands at the edges
  bool flip = false;                      ///< mirror left and right, with axes and marks
  int size = 1024;  ///< longest side of the drawn image, without axes [pixel, 1..16384]
  MarkShape marks = MarkShape::ellipse;  ///< of the sources
  bool labels = false;  ///< the sources' ids beside their marks, where there is room
  std::string font;     ///< TrueType or OpenType file; empty: `default_font()`
};

/// The font of the text in pictures, DejaVu Sans, as it was found when Kastor was built.
[[nodiscard]] std::string default_font();

/// \throws kastor::Error naming the font and what to install, if `params` needs a font and it
/// cannot be used: to be asked before long work.
void require_font(const PictureParams& params);

}  // namespace kastor::io

#endif
