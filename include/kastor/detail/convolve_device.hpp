// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CONVOLVE_DEVICE_HPP
#define KASTOR_DETAIL_CONVOLVE_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/image.hpp>

/// Convolution on a device. Taps are mirrored: the pixel above and left of the others meets the
/// first. Every sum adds its products in the order of the image's pixels, as on a host; a pixel
/// beyond the image may be left out or added as 0, which is the same, as no sum is ever -0.
namespace kastor::detail {

/// Of a sum that is no number, the one NaN that every backend gives.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T with_one_nan(T sum) {
  return sum == sum ? sum : Kokkos::Experimental::quiet_NaN_v<T>;
}

/// A writable image as kernels see it.
template <class T>
struct Target {
  T* data;
  std::int64_t ny;
  std::int64_t nx;
  std::int64_t pitch;
};

/// Where the first tap lies in the image for the result's pixel (0, 0).
struct TapOrigin {
  std::int64_t y;
  std::int64_t x;
};

/// Any kernel. A thread makes `rows` x `columns` pixels of the result, so that a pixel loaded
/// serves several rows and a tap several columns; its columns lie a warp's width apart, so that
/// neighbours load neighbours.
template <class T>
struct ConvolveDirect {
  static constexpr int rows = 3;
  static constexpr int columns = 4;
  static constexpr std::int64_t lanes = 32;
  Rows<T> image;
  Target<T> result;
  TapOrigin origin;
  const T* taps;
  int taps_y, taps_x;
  bool onto;  ///< the products are added to what is there

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t threads_per_row() const {
    return (result.nx + columns * lanes - 1) / (columns * lanes) * lanes;
  }
  [[nodiscard]] std::int64_t threads() const {
    return (result.ny + rows - 1) / rows * threads_per_row();
  }

  [[nodiscard]] KOKKOS_FUNCTION bool meets(int t, int r) const { return t >= r && t - r < taps_y; }

  /// The pixels of one row meet the taps of some of the thread's rows.
  KOKKOS_FUNCTION void add_to_some_rows(const T* pixels, int t, T (&sums)[rows][columns]) const {
    KASTOR_UNROLL
    for (int r = 0; r < rows; ++r) {
      if (!meets(t, r)) continue;
      const T* row_taps = taps + (t - r) * taps_x;
      KASTOR_UNROLL_BY_4
      for (int j = 0; j < taps_x; ++j) {
        KASTOR_UNROLL
        for (int c = 0; c < columns; ++c) sums[r][c] += row_taps[j] * pixels[j + c * lanes];
      }
    }
  }

  /// The same where some of the pixels lie beyond the image.
  KOKKOS_FUNCTION void add_near_an_edge(const T* pixels, std::int64_t first_x, int t,
                                        T (&sums)[rows][columns]) const {
    KASTOR_UNROLL
    for (int c = 0; c < columns; ++c) {
      const std::int64_t first = first_x + c * lanes;
      const int begin = first < 0 ? static_cast<int>(-first) : 0;
      const int end = first + taps_x > image.nx ? static_cast<int>(image.nx - first) : taps_x;
      for (int j = begin; j < end; ++j) {
        const T pixel = pixels[j + c * lanes];
        KASTOR_UNROLL
        for (int r = 0; r < rows; ++r)
          if (meets(t, r)) sums[r][c] += taps[(t - r) * taps_x + j] * pixel;
      }
    }
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / threads_per_row() * rows;
    const std::int64_t lane = i % threads_per_row();
    const std::int64_t x = lane / lanes * (columns * lanes) + lane % lanes;
    const std::int64_t first_x = x + origin.x;
    const bool inner = first_x >= 0 && first_x + (columns - 1) * lanes + taps_x <= image.nx;
    T sums[rows][columns];
    KASTOR_UNROLL
    for (int r = 0; r < rows; ++r) {
      KASTOR_UNROLL
      for (int c = 0; c < columns; ++c) {
        const bool kept = onto && y + r < result.ny && x + c * lanes < result.nx;
        sums[r][c] = kept ? result.data[(y + r) * result.pitch + x + c * lanes] : T{0};
      }
    }
    for (int t = 0; t < taps_y + rows - 1; ++t) {
      const std::int64_t row = y + origin.y + t;
      if (row < 0 || row >= image.ny) continue;
      const T* pixels = image.data + row * image.pitch + first_x;
      if (inner && t >= rows - 1 && t < taps_y) {
        const T* row_taps[rows];
        KASTOR_UNROLL
        for (int r = 0; r < rows; ++r) row_taps[r] = taps + (t - r) * taps_x;
        KASTOR_UNROLL_BY_4
        for (int j = 0; j < taps_x; ++j) {
          T pixel[columns];
          KASTOR_UNROLL
          for (int c = 0; c < columns; ++c) pixel[c] = pixels[j + c * lanes];
          KASTOR_UNROLL
          for (int r = 0; r < rows; ++r) {
            const T tap = row_taps[r][j];
            KASTOR_UNROLL
            for (int c = 0; c < columns; ++c) sums[r][c] += tap * pixel[c];
          }
        }
      } else if (inner) {
        add_to_some_rows(pixels, t, sums);
      } else {
        add_near_an_edge(pixels, first_x, t, sums);
      }
    }
    KASTOR_UNROLL
    for (int r = 0; r < rows; ++r) {
      KASTOR_UNROLL
      for (int c = 0; c < columns; ++c)
        if (y + r < result.ny && x + c * lanes < result.nx)
          result.data[(y + r) * result.pitch + x + c * lanes] = with_one_nan(sums[r][c]);
    }
  }
};

/// The sums along x of one separable part of any length, for every row of the image.
template <class T>
struct ConvolveAlongX {
  static constexpr int rows = 4;
  Rows<T> image;
  Target<T> result;  ///< image.ny rows
  std::int64_t origin_x;
  const T* taps;
  int taps_x;

  [[nodiscard]] std::int64_t threads() const { return (result.ny + rows - 1) / rows * result.nx; }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t x = i % result.nx;
    const std::int64_t y = i / result.nx * rows;
    const std::int64_t first = x + origin_x;
    const int begin = first < 0 ? static_cast<int>(-first) : 0;
    const int end = first + taps_x > image.nx ? static_cast<int>(image.nx - first) : taps_x;
    T sums[rows] = {};
    for (int j = begin; j < end; ++j) {
      const T tap = taps[j];
      KASTOR_UNROLL
      for (int r = 0; r < rows; ++r)
        if (y + r < image.ny) sums[r] += tap * image.data[(y + r) * image.pitch + first + j];
    }
    KASTOR_UNROLL
    for (int r = 0; r < rows; ++r)
      if (y + r < image.ny) result.data[(y + r) * result.pitch + x] = sums[r];
  }
};

/// The tile of the result that a team makes, small enough for several teams to share a
/// multiprocessor's scratch memory and tall enough to repeat little work at its upper end.
inline constexpr int tile_width = 32;
inline constexpr int tile_height = 64;
inline constexpr int tile_threads = 128;

/// One separable part of Size x Size taps, in one read and one write. A team sums the rows of its
/// tile and of Size - 1 rows above it along x, four pixels a thread, into scratch memory; then
/// along y, eight pixels a thread.
template <class Exec, class T, int Size>
struct ConvolveSquare {
  static constexpr int sums_along_x = 4;
  static constexpr int sums_along_y = 8;
  static constexpr int rows = tile_height + Size - 1;
  static constexpr int packs =
      (sums_along_x + Size - 1 + PixelPack<T>::size - 1) / PixelPack<T>::size;
  static constexpr int window = packs * PixelPack<T>::size;
  static constexpr int scratch_bytes = rows * tile_width * static_cast<int>(sizeof(T));
  using Member = TeamMember<Exec>;

  Rows<T> image;
  Target<T> result;
  TapOrigin origin;
  std::int64_t shift;  ///< the first tiles begin so many pixels left of the result
  int tiles_x;         ///< tiles side by side
  bool aligned;        ///< the rows of the image allow loads of 16 bytes
  bool onto;           ///< the products are added to what is there
  T along_x[Size];
  T along_y[Size];

  KOKKOS_FUNCTION void load(std::int64_t row, std::int64_t first, T (&pixels)[window]) const {
    const T* line = image.data + row * image.pitch + first;
    if (row < 0 || row >= image.ny) {
      KASTOR_UNROLL
      for (int k = 0; k < window; ++k) pixels[k] = T{0};
    } else if (aligned && first >= 0 && first + window <= image.nx) {
      KASTOR_UNROLL
      for (int p = 0; p < packs; ++p) {
        const auto pack = reinterpret_cast<const PixelPack<T>*>(line)[p];
        KASTOR_UNROLL
        for (int c = 0; c < PixelPack<T>::size; ++c)
          pixels[p * PixelPack<T>::size + c] = pack.pixel[c];
      }
    } else {
      KASTOR_UNROLL
      for (int k = 0; k < sums_along_x + Size - 1; ++k)
        pixels[k] = first + k >= 0 && first + k < image.nx ? line[k] : T{0};
    }
  }

  KOKKOS_FUNCTION void sum_rows(const Member& team, std::int64_t x, std::int64_t y,
                                T* scratch) const {
    constexpr int groups = tile_width / sums_along_x;
    for (int i = team.team_rank(); i < rows * groups; i += team.team_size()) {
      const int row = i / groups;
      const int column = i % groups * sums_along_x;
      T pixels[window];
      load(y + row + origin.y, x + column + origin.x, pixels);
      T sums[sums_along_x] = {};
      KASTOR_UNROLL
      for (int j = 0; j < Size; ++j) {
        KASTOR_UNROLL
        for (int c = 0; c < sums_along_x; ++c) sums[c] += along_x[j] * pixels[j + c];
      }
      KASTOR_UNROLL
      for (int c = 0; c < sums_along_x; ++c) scratch[row * tile_width + column + c] = sums[c];
    }
  }

  KOKKOS_FUNCTION void sum_columns(const Member& team, std::int64_t x, std::int64_t y,
                                   const T* scratch) const {
    for (int i = team.team_rank(); i < tile_width * (tile_height / sums_along_y);
         i += team.team_size()) {
      const int column = i % tile_width;
      const int row = i / tile_width * sums_along_y;
      const std::int64_t result_x = x + column;
      if (result_x < 0 || result_x >= result.nx) continue;
      T* target = result.data + (y + row) * result.pitch + result_x;
      T sums[sums_along_y] = {};
      if (onto) {
        KASTOR_UNROLL
        for (int r = 0; r < sums_along_y; ++r)
          if (y + row + r < result.ny) sums[r] = target[r * result.pitch];
      }
      KASTOR_UNROLL
      for (int t = 0; t < sums_along_y + Size - 1; ++t) {
        const T along = scratch[(row + t) * tile_width + column];
        KASTOR_UNROLL
        for (int r = 0; r < sums_along_y; ++r)
          if (t >= r && t - r < Size) sums[r] += along_y[t - r] * along;
      }
      KASTOR_UNROLL
      for (int r = 0; r < sums_along_y; ++r)
        if (y + row + r < result.ny) target[r * result.pitch] = with_one_nan(sums[r]);
    }
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int tile = team.league_rank();
    const std::int64_t x = std::int64_t{tile % tiles_x} * tile_width - shift;
    const std::int64_t y = std::int64_t{tile / tiles_x} * tile_height;
    auto* const scratch = scratch_of<T>(team, rows * tile_width);
    sum_rows(team, x, y, scratch);
    team.team_barrier();
    sum_columns(team, x, y, scratch);
  }
};

/// 1-D: a thread makes a few values, a warp's width apart, so that a tap loaded serves them all and
/// neighbours load neighbours.
template <class T>
struct ConvolveSignal {
  static constexpr int values = 4;
  static constexpr std::int64_t lanes = 32;
  const T* signal;
  std::int64_t length;
  const T* taps;  ///< not mirrored
  std::int64_t taps_length;
  T* result;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t result_length() const {
    return length + taps_length - 1;
  }
  [[nodiscard]] std::int64_t threads() const {
    return (result_length() + values * lanes - 1) / (values * lanes) * lanes;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t first = i / lanes * (values * lanes) + i % lanes;
    const std::int64_t last = first + (values - 1) * lanes;
    T sums[values] = {};
    if (first >= taps_length - 1 && last < length) {
      for (std::int64_t j = taps_length - 1; j >= 0; --j) {
        const T tap = taps[j];
        KASTOR_UNROLL
        for (int v = 0; v < values; ++v) sums[v] += tap * signal[first + v * lanes - j];
      }
    } else {
      for (std::int64_t j = taps_length - 1; j >= 0; --j) {
        const T tap = taps[j];
        KASTOR_UNROLL
        for (int v = 0; v < values; ++v) {
          const std::int64_t at = first + v * lanes - j;
          if (at >= 0 && at < length) sums[v] += tap * signal[at];
        }
      }
    }
    KASTOR_UNROLL
    for (int v = 0; v < values; ++v)
      if (first + v * lanes < result_length()) result[first + v * lanes] = with_one_nan(sums[v]);
  }
};

}  // namespace kastor::detail

#endif
