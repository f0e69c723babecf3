// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLAND_HPP
#define KASTOR_ISLAND_HPP

#include <cstdint>
#include <vector>

namespace kastor {

/// Warnings about the measurements of an island; bits of `Island::flags`.
enum IslandFlag : std::uint32_t {
  island_at_edge = 1,     ///< touches the border of the image: part of it may be missing
  island_near_blank = 2,  ///< touches a blank or masked pixel (8-connected)
  island_negative = 4,    ///< lies below the background
  /// The sum of deviations is not > 0, or they balance outside of the island's box, which happens
  /// only with a detection image: no centre, no shape
  island_no_centre = 8,
  /// The second moments do not define an ellipse (one row, one column, one pixel, a line)
  island_no_shape = 16,
  island_overflow = 32,  ///< a sum is not finite
};

/// One connected island of pixels that deviate from the background, measured. Pixels are counted
/// from 0, x along a row; the centre of pixel (0,0) is at (0,0). The deviation of a pixel is
/// value - background, or background - value for a negative island. Fluxes are in the unit of the
/// image; those of a negative island are negative.
struct Island {
  std::int64_t id;  ///< 1..N in raster order of each island's first pixel; negative islands follow
  std::int64_t n_pix;  ///< number of pixels
  std::int32_t x_min;  ///< bounding box, both ends included
  std::int32_t x_max;
  std::int32_t y_min;
  std::int32_t y_max;
  /// Pixel of the largest deviation; among equal ones the first in raster order.
  std::int32_t x_peak;
  std::int32_t y_peak;
  double flux_peak;  ///< value - background at the peak
  double flux_sum;   ///< sum of value - background
  double raw_sum;    ///< sum of the pixel values
  double snr_peak;   ///< largest deviation / rms of all pixels of the detection image, > 0
  double x_cen;      ///< centre weighted by the deviations [pixel]; NaN with island_no_centre
  double y_cen;
  double var_xx;       ///< second central moment along x, weighted by the deviations [pixel^2]
  double var_xy;       ///< mixed second central moment; all three are NaN with island_no_centre
  double var_yy;       ///< second central moment along y
  double background;   ///< mean of the background map over the pixels
  double rms;          ///< root mean square of the rms map over the pixels
  double rms_at_peak;  ///< rms map at (y_peak, x_peak)
  double background_at_peak;
  std::uint32_t flags;  ///< bits of `IslandFlag`
};

/// A list of islands, in ascending order of id.
using Islands = std::vector<Island>;

}  // namespace kastor

#endif
