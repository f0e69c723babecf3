// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONVOLVE_SEPARABLE_HPP
#define KASTOR_CONVOLVE_SEPARABLE_HPP

#include <algorithm>

#include "convolve/tiling.hpp"

namespace kastor::detail {

/// Sums along x, then along y. A group stages its tile of the image with a margin for the taps,
/// replaces the pixels of each row by the sums along x, and adds these up along y.
template <class Exec, class T>
struct ConvolveSeparable {
  using Tile = Tiles<Exec, T>;
  using Sums = core::ProductSums<Exec, T>;
  static constexpr int run = Sums::run;
  static constexpr int lanes = Sums::lanes;

  Convolution<T> c;
  const T* along_x;
  int taps_x;
  const T* along_y;
  int taps_y;
  Tile tiles;

  ConvolveSeparable(const Convolution<T>& convolution, const T* x, int nx, const T* y, int ny)
      : c(convolution),
        along_x(x),
        taps_x(nx),
        along_y(y),
        taps_y(ny),
        tiles(c.result, height_for(ny, nx)) {}

  /// Height of a tile of the result, a multiple of 8; 0 if the taps reach so far that most of the
  /// work would be in the margin.
  [[nodiscard]] static int height_for(int taps_y, int taps_x) {
    const int margin = taps_y - 1;
    const int row_bytes = pitch_for(taps_x) * static_cast<int>(sizeof(T));
    // On a device a row for each thread of a team, unless the margin is large.
    const int wanted = margin <= 32 ? tile_threads : 64 + 4 * margin;
    const int rows = std::min(core::scratch_bytes_v<Exec> / row_bytes, wanted);
    const int height = (rows - margin) / 8 * 8;
    return height < margin ? 0 : height;
  }
  [[nodiscard]] KOKKOS_FUNCTION static constexpr int pitch_for(int taps_x) {
    return core::scratch_pitch<Exec, T>(Tile::width + taps_x - 1);
  }
  [[nodiscard]] KOKKOS_FUNCTION int rows() const { return tiles.height + taps_y - 1; }
  [[nodiscard]] core::GroupShape shape() const {
    return {tiles.count(c.result), rows() * pitch_for(taps_x) * static_cast<int>(sizeof(T))};
  }

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    const std::int64_t y = tiles.y_of(group.index());
    const std::int64_t x = tiles.x_of(group.index());
    const int pitch = pitch_for(taps_x);
    T* pixels = group.template scratch<T>(rows() * pitch);
    stage(group, c.image, y + c.origin.y, x + c.origin.x,
          ScratchTile<T>{pixels, rows(), Tile::width + taps_x - 1, pitch});
    group.barrier();
    group.for_each(rows(), [&](int row) { sum_along_x(pixels + row * pitch); });
    group.barrier();
    constexpr int strips = Tile::width / lanes;
    group.for_each(tiles.height / run * strips, [&](int i) {
      const int row = i / strips * run;
      const int column = i % strips * lanes;
      sum_along_y(pixels + row * pitch + column, pitch, y + row, x + column);
    });
  }

 private:
  /// Replaces the pixels of a row by the sums that begin there; these need only pixels to the
  /// right.
  KOKKOS_FUNCTION void sum_along_x(T* row) const {
    for (int column = 0; column < Tile::width; column += Sums::size) {
      Sums sums;
      sums.add(row + column, 1, along_x, taps_x);
      for (int r = 0; r < run; ++r)
        for (int k = 0; k < lanes; ++k) row[column + r + k] = sums.sum[r][k];
    }
  }

  KOKKOS_FUNCTION void sum_along_y(const T* pixels, int pitch, std::int64_t y,
                                   std::int64_t x) const {
    const std::int64_t rows_left = c.result.ny - y;
    const std::int64_t columns_left = c.result.nx - x;
    if (rows_left <= 0 || columns_left <= 0) return;
    T* target = c.result.data + y * c.result.pitch + x;
    Sums sums;
    if (c.onto) {
      for_first_lanes<run>(rows_left, [&](int r) {
        for_first_lanes<lanes>(columns_left,
                               [&](int k) { sums.sum[r][k] = target[r * c.result.pitch + k]; });
      });
    }
    sums.add(pixels, pitch, along_y, taps_y);
    for_first_lanes<run>(rows_left, [&](int r) {
      for_first_lanes<lanes>(columns_left, [&](int k) {
        target[r * c.result.pitch + k] = with_one_nan(sums.sum[r][k]);
      });
    });
  }
};

}  // namespace kastor::detail

#endif
