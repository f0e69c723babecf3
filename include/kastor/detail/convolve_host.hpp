// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CONVOLVE_HOST_HPP
#define KASTOR_DETAIL_CONVOLVE_HOST_HPP

#include <cstddef>
#include <cstdint>
#include <kastor/detail/host_level.hpp>

/// Convolution on a host, one tile of the result at a time. Knows nothing of Kokkos, so that it is
/// always compiled as plain C++.
namespace kastor::detail {

/// One convolution as the host's tiles see it. Taps are mirrored: the pixel of the image above and
/// left of the others meets the first. Element types: T.
template <class T>
struct HostConvolution {
  const T* image = nullptr;
  std::int64_t ny = 0, nx = 0, pitch = 0;
  T* result = nullptr;
  std::int64_t result_ny = 0, result_nx = 0, result_pitch = 0;
  /// Where the first tap lies in the image for the result's pixel (0, 0).
  std::int64_t first_y = 0, first_x = 0;
  std::int64_t taps_y = 0, taps_x = 0;
  /// 0 for the direct form: `taps` is then (taps_y, taps_x). Else `taps` holds, one part after the
  /// other, taps_x taps along x and taps_y taps along y.
  std::int64_t parts = 0;
  const T* taps = nullptr;
  HostLevel level = best_host_level();
};

/// Rows [y_begin, y_end) and columns [x_begin, x_end) of the result.
struct HostTile {
  std::int64_t y_begin, y_end, x_begin, x_end;
};

/// The widest tile that `convolve_tile` takes.
inline constexpr std::int64_t host_tile_width = 1024;

/// Elements of work space that one call needs.
[[nodiscard]] std::size_t host_tile_scratch(std::int64_t taps_y, std::int64_t taps_x,
                                            std::int64_t parts);

/// Fills one tile. Every pixel of the result is the sum of its products in the order of the image's
/// pixels (parts one after the other), each product rounded and then added, so the bits depend on
/// neither the tiling nor the instruction set.
template <class T>
void convolve_tile(const HostConvolution<T>& convolution, const HostTile& tile, T* scratch);

/// One 1-D convolution, mode full.
template <class T>
struct HostSignalConvolution {
  const T* signal = nullptr;
  std::int64_t length = 0;
  const T* taps = nullptr;  ///< not mirrored, no more than `length`
  std::int64_t taps_length = 0;
  T* result = nullptr;
  HostLevel level = best_host_level();

  [[nodiscard]] std::int64_t result_length() const { return length + taps_length - 1; }
};

/// Fills [begin, end) of the result.
template <class T>
void convolve_signal_piece(const HostSignalConvolution<T>& convolution, std::int64_t begin,
                           std::int64_t end);

}  // namespace kastor::detail

#endif
