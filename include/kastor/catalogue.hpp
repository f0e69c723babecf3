// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CATALOGUE_HPP
#define KASTOR_CATALOGUE_HPP

#include <cstdint>
#include <vector>

namespace kastor {

/// One connected component, measured. Pixels are counted from 0, x along a row; the centre of pixel
/// (0,0) is at (0,0).
struct Source {
  std::int64_t id;      ///< 1..N in raster order of each component's first pixel
  double x_cen;         ///< flux-weighted centre [pixel]; NaN if flux_sum is 0
  double y_cen;         ///< flux-weighted centre [pixel]; NaN if flux_sum is 0
  double flux_sum;      ///< sum of the component's pixels [image unit]
  double flux_peak;     ///< largest pixel [image unit]
  std::int32_t x_peak;  ///< pixel of the peak; among equal peaks the first in raster order
  std::int32_t y_peak;
  std::int64_t n_pix;  ///< number of pixels of the component
  std::int32_t x_min;  ///< bounding box, both ends included
  std::int32_t x_max;
  std::int32_t y_min;
  std::int32_t y_max;
};

/// The rows of a catalogue, in ascending order of id.
using Catalogue = std::vector<Source>;

}  // namespace kastor

#endif
