// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONVOLVE_TILING_HPP
#define KASTOR_CONVOLVE_TILING_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>

#include "core/group.hpp"
#include "core/product_sums.hpp"
#include "core/tile.hpp"
#include "core/writable_rows.hpp"

/// Convolution by groups, each of which computes a tile of the result in its scratch memory. Taps
/// are mirrored: the first tap belongs to the pixel of lowest y and x. Every sum adds its products
/// in the raster order of the image's pixels, so the bits depend neither on tiles nor on vectors.
/// Pixels beyond the image are zeros; they change no sum, because a sum is never -0.
namespace kastor::detail {

/// The position of the first tap in the image, for pixel (0, 0) of the result.
struct TapOrigin {
  std::int64_t y;
  std::int64_t x;
};

/// The operands of a convolution.
template <class T>
struct Convolution {
  Rows<T> image;
  core::WritableRows<T> result;
  TapOrigin origin;
  bool onto;  ///< add the products to the existing result
};

inline constexpr int tile_threads = 128;

/// The tiles that cover the result, row by row.
template <class Exec, class T>
struct Tiles {
  static constexpr int width = core::lanes_v<Exec, T> == 1 ? 16 : 4 * core::lanes_v<Exec, T>;
  int height;
  std::int64_t per_row;

  Tiles(const core::WritableRows<T>& result, int tile_height)
      : height(tile_height), per_row((result.nx + width - 1) / width) {}

  [[nodiscard]] std::int64_t count(const core::WritableRows<T>& result) const {
    return (result.ny + height - 1) / height * per_row;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t y_of(std::int64_t tile) const {
    return tile / per_row * height;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t x_of(std::int64_t tile) const {
    return tile % per_row * width;
  }
};

/// A rectangle in scratch memory.
template <class T>
struct ScratchTile {
  T* data;
  int ny, nx, pitch;
};

/// Fills a tile with the pixels of the image from (y, x) on, and with zeros beyond the image. Does
/// not end with a barrier.
template <class Exec, class T>
KOKKOS_FUNCTION void stage(const core::Group<Exec>& group, const Rows<T>& image, std::int64_t y,
                           std::int64_t x, const ScratchTile<T>& tile) {
  const auto clamped = [](std::int64_t n, int most) {
    return n < 0 ? 0 : (n < most ? static_cast<int>(n) : most);
  };
  // The part of the tile that the image covers.
  const int begin_y = clamped(-y, tile.ny);
  const int end_y = clamped(image.ny - y, tile.ny);
  const int begin_x = clamped(-x, tile.nx);
  const int end_x = clamped(image.nx - x, tile.nx);
  if (begin_y > 0 || end_y < tile.ny || begin_x > 0 || end_x < tile.nx) {
    group.for_each_2d(tile.ny, tile.nx, [&](int j, int i) {
      if (j < begin_y || j >= end_y || i < begin_x || i >= end_x)
        tile.data[j * tile.pitch + i] = T{0};
    });
  }
  if (begin_y >= end_y || begin_x >= end_x) return;
  core::copy_rows(group, end_y - begin_y, end_x - begin_x,
                  image.data + (y + begin_y) * image.pitch + x + begin_x, image.pitch,
                  tile.data + begin_y * tile.pitch + begin_x, tile.pitch);
}

/// `visit(k)` for the first `count` of n lanes.
template <int n, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void for_first_lanes(std::int64_t count, const Visit& visit) {
  if (count >= n) {
    for (int k = 0; k < n; ++k) visit(k);
  } else {
    for (int k = 0; k < n; ++k)
      if (k < count) visit(k);
  }
}

/// Replaces any NaN by the same NaN on every backend: the sign of a computed NaN depends on the
/// machine.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T with_one_nan(T sum) {
  return sum == sum ? sum : Kokkos::Experimental::quiet_NaN_v<T>;
}

}  // namespace kastor::detail

#endif
