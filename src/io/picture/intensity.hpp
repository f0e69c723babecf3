// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_INTENSITY_HPP
#define KASTOR_SRC_IO_PICTURE_INTENSITY_HPP

#include <kastor/io/picture_params.hpp>

#include "io/picture/pixel_grid.hpp"

namespace kastor::io::picture {

struct Limits {
  double low;
  double high;
  double softening = 0.1;  ///< where asinh becomes logarithmic, as a fraction of the range
};

/// Converts pixel values to positions in the colour map.
class Intensity {
 public:
  /// \param limits  finite, low < high, both positive on the logarithmic scale
  Intensity(IntensityScale scale, const Limits& limits);

  [[nodiscard]] const Limits& limits() const { return m_limits; }
  /// 0 at the lower limit, 1 at the upper one; outside the limits < 0 or > 1. Not NaN for a finite
  /// value.
  [[nodiscard]] double position(double value) const;

 private:
  IntensityScale m_scale;
  Limits m_limits;
  double m_asinh_range;
};

/// The limits according to `params`: see `write_picture()`. \throws kastor::Error
[[nodiscard]] Limits limits_of(const PixelGrid& pixels, const PictureParams& params);

}  // namespace kastor::io::picture

#endif
