// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CONVOLVE_DEVICE_HPP
#define KASTOR_DETAIL_CONVOLVE_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>

#if defined(__CUDACC__) || defined(__clang__)
#define KASTOR_UNROLL _Pragma("unroll")
#else
#define KASTOR_UNROLL _Pragma("GCC unroll 32")
#endif

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

/// Any kernel. A thread makes a few pixels of one column, so that a pixel loaded serves several
/// sums.
template <class T>
struct ConvolveDirect {
  static constexpr int rows = 8;
  Rows<T> image;
  Target<T> result;
  TapOrigin origin;
  const T* taps;
  int taps_y, taps_x;
  bool onto;  ///< the products are added to what is there

  [[nodiscard]] std::int64_t threads() const { return (result.ny + rows - 1) / rows * result.nx; }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t x = i % result.nx;
    const std::int64_t y = i / result.nx * rows;
    const std::int64_t first_x = x + origin.x;
    const std::int64_t first_y = y + origin.y;
    const int begin = first_x < 0 ? static_cast<int>(-first_x) : 0;
    const int end = first_x + taps_x > image.nx ? static_cast<int>(image.nx - first_x) : taps_x;
    T sums[rows];
    KASTOR_UNROLL
    for (int r = 0; r < rows; ++r)
      sums[r] = onto && y + r < result.ny ? result.data[(y + r) * result.pitch + x] : T{0};
    for (int t = 0; t < taps_y + rows - 1; ++t) {
      const std::int64_t row = first_y + t;
      if (row < 0 || row >= image.ny) continue;
      const T* pixels = image.data + row * image.pitch + first_x;
      if (t >= rows - 1 && t < taps_y) {
        const T* row_taps = taps + t * taps_x;
        for (int j = begin; j < end; ++j) {
          const T pixel = pixels[j];
          KASTOR_UNROLL
          for (int r = 0; r < rows; ++r) sums[r] += row_taps[j - r * taps_x] * pixel;
        }
      } else {  // only some of the rows have a tap here
        for (int j = begin; j < end; ++j) {
          const T pixel = pixels[j];
          KASTOR_UNROLL
          for (int r = 0; r < rows; ++r) {
            if (t >= r && t - r < taps_y) sums[r] += taps[(t - r) * taps_x + j] * pixel;
          }
        }
      }
    }
    KASTOR_UNROLL
    for (int r = 0; r < rows; ++r)
      if (y + r < result.ny) result.data[(y + r) * result.pitch + x] = with_one_nan(sums[r]);
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

/// 16 bytes of pixels, loaded or stored at once.
template <class T>
struct alignas(16) PixelPack {
  static constexpr int size = 16 / sizeof(T);
  T pixel[size];
};

/// Rows of the result that one thread of `ConvolveSquare` makes, going down.
struct SquareStrips {
  std::int64_t columns;  ///< of threads
  std::int64_t rows;     ///< of the result, per thread
  std::int64_t shift;    ///< the first column of threads begins so many pixels left of the result
  bool aligned_in;       ///< the rows of the image allow loads of 16 bytes
  bool aligned_out;
};

/// One separable part of Size x Size taps, in one read and one write. A thread goes down a strip of
/// one pack's width: it sums a row along x and adds that to the Size - 1 rows of the result that
/// are under way, all of them in registers.
template <class T, int Size>
struct ConvolveSquare {
  static constexpr int width = PixelPack<T>::size;
  static constexpr int reach = width + Size - 1;
  static constexpr int packs = (reach + width - 1) / width;

  Rows<T> image;
  Target<T> result;
  TapOrigin origin;
  SquareStrips strips;
  bool onto;
  T along_x[Size];
  T along_y[Size];

  KOKKOS_FUNCTION void load(std::int64_t row, std::int64_t first,
                            T (&pixels)[packs * width]) const {
    const T* line = image.data + row * image.pitch + first;
    if (first >= 0 && first + packs * width <= image.nx) {
      if (strips.aligned_in) {
        KASTOR_UNROLL
        for (int p = 0; p < packs; ++p) {
          const auto pack = reinterpret_cast<const PixelPack<T>*>(line)[p];
          KASTOR_UNROLL
          for (int c = 0; c < width; ++c) pixels[p * width + c] = pack.pixel[c];
        }
      } else {
        KASTOR_UNROLL
        for (int k = 0; k < reach; ++k) pixels[k] = line[k];
      }
    } else {
      KASTOR_UNROLL
      for (int k = 0; k < reach; ++k)
        pixels[k] = first + k >= 0 && first + k < image.nx ? line[k] : T{0};
    }
  }

  KOKKOS_FUNCTION void store(std::int64_t y, std::int64_t x, const T (&values)[width]) const {
    T* line = result.data + y * result.pitch + x;
    if (strips.aligned_out && x >= 0 && x + width <= result.nx) {
      PixelPack<T> pack;
      KASTOR_UNROLL
      for (int c = 0; c < width; ++c) pack.pixel[c] = with_one_nan(values[c]);
      *reinterpret_cast<PixelPack<T>*>(line) = pack;
    } else {
      KASTOR_UNROLL
      for (int c = 0; c < width; ++c)
        if (x + c >= 0 && x + c < result.nx) line[c] = with_one_nan(values[c]);
    }
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t x = i % strips.columns * width - strips.shift;
    const std::int64_t y_begin = i / strips.columns * strips.rows;
    const std::int64_t y_end =
        y_begin + strips.rows < result.ny ? y_begin + strips.rows : result.ny;
    const std::int64_t first = x + origin.x;
    // sums[s] is the row of the result that meets its last tap s rows from now.
    T sums[Size > 1 ? Size - 1 : 1][width] = {};
    for (std::int64_t y = y_begin - (Size - 1); y < y_end; ++y) {
      const std::int64_t row = y + Size - 1 + origin.y;
      T along[width] = {};
      if (row >= 0 && row < image.ny) {
        T pixels[packs * width];
        load(row, first, pixels);
        KASTOR_UNROLL
        for (int j = 0; j < Size; ++j) {
          KASTOR_UNROLL
          for (int c = 0; c < width; ++c) along[c] += along_x[j] * pixels[j + c];
        }
      }
      T done[width];
      T fresh[width];
      begin(y + Size - 1, y_end, x, fresh);
      KASTOR_UNROLL
      for (int c = 0; c < width; ++c) {
        if constexpr (Size == 1) {
          done[c] = fresh[c] + along_y[0] * along[c];
        } else {
          done[c] = sums[0][c] + along_y[Size - 1] * along[c];
          KASTOR_UNROLL
          for (int s = 1; s < Size - 1; ++s)
            sums[s - 1][c] = sums[s][c] + along_y[Size - 1 - s] * along[c];
          sums[Size - 2][c] = fresh[c] + along_y[0] * along[c];
        }
      }
      if (y >= y_begin) store(y, x, done);
    }
  }

 private:
  /// What the sums of a row of the result start from.
  KOKKOS_FUNCTION void begin(std::int64_t y, std::int64_t y_end, std::int64_t x,
                             T (&values)[width]) const {
    KASTOR_UNROLL
    for (int c = 0; c < width; ++c) {
      const bool kept = onto && y < y_end && x + c >= 0 && x + c < result.nx;
      values[c] = kept ? result.data[y * result.pitch + x + c] : T{0};
    }
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
