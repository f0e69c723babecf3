// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLAND_HPP
#define KASTOR_ISLAND_HPP

#include <cstdint>
#include <vector>

namespace kastor {

/// What to know of an island before its figures are used; bits of `Island::flags`.
enum IslandFlag : std::uint32_t {
  island_at_edge = 1,     ///< touches the border of the image: part of it may be missing
  island_near_blank = 2,  ///< touches a blank or masked pixel (8-connected)
  island_negative = 4,    ///< a deviation below the background
  island_no_centre = 8,   ///< the sum of deviations is not > 0: no centre, no shape
  island_no_shape = 16,   ///< the second moments are no ellipse (one row, one column, one pixel)
  island_overflow = 32,   ///< a sum is not finite
};

/// One connected island of pixels that deviate from the background, measured. Pixels are 0-based,
/// x along a row; the centre of pixel (0,0) is at (0,0). A pixel's deviation is its distance from
/// the background, positive away from it: value - background, or for a negative island background -
/// value. Fluxes are in the unit of the image; those of a negative island are negative.
struct Island {
  std::int64_t id;  ///< 1..N in raster order of each island's first pixel, then the negative ones
  std::int64_t n_pix;  ///< number of pixels
  std::int32_t x_min;  ///< bounding box, both ends inside
  std::int32_t x_max;
  std::int32_t y_min;
  std::int32_t y_max;
  std::int32_t x_peak;  ///< pixel of the largest deviation; the first of equal ones in raster order
  std::int32_t y_peak;
  double flux_peak;  ///< value - background there
  double flux_sum;   ///< sum of value - background
  double raw_sum;    ///< sum of the pixels' values
  double snr_peak;   ///< largest deviation / rms of its pixels, > 0
  double x_cen;      ///< centre, weighted by the deviations [pixel]; NaN with island_no_centre
  double y_cen;
  double var_xx;  ///< second central moments, weighted by the deviations [pixel^2]; NaN with
  double var_xy;  ///< island_no_centre
  double var_yy;
  double background;   ///< mean of the background map over the pixels
  double rms;          ///< root of the mean of the squared rms map over the pixels
  double rms_at_peak;  ///< rms map at (y_peak, x_peak)
  double background_at_peak;
  std::uint32_t flags;  ///< `IslandFlag`s
};

/// The rows of a list of islands, in the order of their ids.
using Islands = std::vector<Island>;

}  // namespace kastor

#endif
