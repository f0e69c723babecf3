// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_TILES_H_TRANSFORM_HPP
#define KASTOR_SRC_IO_FITS_TILES_H_TRANSFORM_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kastor::io::detail {

/// Undoes the H-transform of an image: means of 2 x 2 values and three differences, then the same
/// of the means, and so on. In `coefficients` the means of each level are followed by its
/// differences, as in HCOMPRESS_1. Sums that do not fit wrap around.
///
/// \tparam Int  std::int32_t or std::int64_t
/// \param coefficients  width height coefficients, multiplied by `scale`; afterwards the image
/// \param width, height  from 1 to 2^29
/// \param smooth        whether to interpolate differences that the scale has set to zero
/// \param scale         by which the coefficients were divided; used for `smooth` only
template <class Int>
void undo_h_transform(std::vector<Int>& coefficients, std::size_t width, std::size_t height,
                      bool smooth, std::int32_t scale);

extern template void undo_h_transform(std::vector<std::int32_t>&, std::size_t, std::size_t, bool,
                                      std::int32_t);
extern template void undo_h_transform(std::vector<std::int64_t>&, std::size_t, std::size_t, bool,
                                      std::int32_t);

}  // namespace kastor::io::detail

#endif
