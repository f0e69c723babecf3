// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONVOLVE_DIRECT_HPP
#define KASTOR_CONVOLVE_DIRECT_HPP

#include "convolve/tiling.hpp"

namespace kastor::detail {

/// Convolves tap by tap, with some rows of taps. A group stages its tile of the image with a margin
/// for the taps, and the sums so far. Then each thread computes sums of neighbours in one row, and
/// neighbouring threads work on neighbouring rows.
template <class Exec, class T>
struct ConvolveDirect {
  using Tile = Tiles<Exec, T>;
  using Sums = core::ProductSums<Exec, T>;
  static constexpr int sums_pitch = core::scratch_pitch<Exec, T>(Tile::width);

  Convolution<T> c;
  const T* taps;
  int taps_y, taps_x;
  Tile tiles;

  ConvolveDirect(const Convolution<T>& convolution, const T* list, int ny, int nx)
      : c(convolution),
        taps(list),
        taps_y(ny),
        taps_x(nx),
        tiles(c.result, room_for(ny, nx).height) {}

  /// The height of a tile, and the number of rows of taps that fit into one launch.
  struct Room {
    int height;
    int tap_rows;
  };
  [[nodiscard]] static Room room_for(int taps_y, int taps_x) {
    const int elements = core::scratch_bytes_v<Exec> / static_cast<int>(sizeof(T));
    for (int height = 32;; height /= 2) {
      const int rows = (elements - height * sums_pitch) / pitch_for(taps_x);
      const int tap_rows = rows - (height - 1);
      if (tap_rows >= taps_y) return {height, taps_y};
      if (tap_rows >= 8 || height == 8) return {height, tap_rows};
    }
  }
  [[nodiscard]] KOKKOS_FUNCTION static constexpr int pitch_for(int taps_x) {
    return core::scratch_pitch<Exec, T>(Tile::width + taps_x - 1);
  }
  [[nodiscard]] KOKKOS_FUNCTION int rows() const { return tiles.height + taps_y - 1; }
  [[nodiscard]] core::GroupShape shape() const {
    const int elements = rows() * pitch_for(taps_x) + tiles.height * sums_pitch;
    return {tiles.count(c.result), elements * static_cast<int>(sizeof(T)) + 16};
  }

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    const std::int64_t y = tiles.y_of(group.index());
    const std::int64_t x = tiles.x_of(group.index());
    const int pitch = pitch_for(taps_x);
    T* pixels = group.template scratch<T>(rows() * pitch);
    T* results = group.template scratch<T>(tiles.height * sums_pitch);
    stage(group, c.image, y + c.origin.y, x + c.origin.x,
          ScratchTile<T>{pixels, rows(), Tile::width + taps_x - 1, pitch});
    if (c.onto) {
      const Rows<T> before{c.result.data, c.result.ny, c.result.nx, c.result.pitch};
      stage(group, before, y, x, ScratchTile<T>{results, tiles.height, Tile::width, sums_pitch});
    }
    group.barrier();
    group.for_each(tiles.height * (Tile::width / Sums::size), [&](int i) {
      const int row = i % tiles.height;
      const int column = i / tiles.height * Sums::size;
      sum_strip(pixels + row * pitch + column, pitch, results + row * sums_pitch + column);
    });
    group.barrier();
    const std::int64_t ny = c.result.ny - y;
    const std::int64_t nx = c.result.nx - x;
    group.for_each_2d(ny < tiles.height ? static_cast<int>(ny) : tiles.height,
                      nx < Tile::width ? static_cast<int>(nx) : Tile::width, [&](int j, int i) {
                        c.result.data[(y + j) * c.result.pitch + x + i] =
                            with_one_nan(results[j * sums_pitch + i]);
                      });
  }

 private:
  KOKKOS_FUNCTION void sum_strip(const T* pixels, int pitch, T* result) const {
    Sums sums;
    if (c.onto)
      for (int r = 0; r < Sums::run; ++r)
        for (int k = 0; k < Sums::lanes; ++k) sums.sum[r][k] = result[r + k];
    for (int t = 0; t < taps_y; ++t) sums.add(pixels + t * pitch, 1, taps + t * taps_x, taps_x);
    for (int r = 0; r < Sums::run; ++r)
      for (int k = 0; k < Sums::lanes; ++k) result[r + k] = sums.sum[r][k];
  }
};

}  // namespace kastor::detail

#endif
