// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CELL_PIXELS_HPP
#define KASTOR_DETAIL_CELL_PIXELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/moments.hpp>
#include <kastor/image.hpp>

/// The pixels of a cell, wherever its rows are.
namespace kastor::detail {

template <class T>
struct BandRows {
  const T* data;
  std::int64_t pitch;
  std::int64_t first_row;  ///< of the image
};

/// The rows of an image in one band or in many.
template <class T>
struct ImageRows {
  BandRows<T> one{};
  const BandRows<T>* bands = nullptr;  ///< null: `one` is all
  std::int64_t count = 1;

  [[nodiscard]] KOKKOS_FUNCTION const T* row(std::int64_t y) const {
    if (bands == nullptr) return one.data + y * one.pitch;
    std::int64_t in = 0, past = count;
    while (past - in > 1) {
      const std::int64_t middle = in + (past - in) / 2;
      if (bands[middle].first_row <= y) {
        in = middle;
      } else {
        past = middle;
      }
    }
    return bands[in].data + (y - bands[in].first_row) * bands[in].pitch;
  }
};

/// Bits of pixels that are not used.
struct ExcludedPixels {
  const std::uint64_t* words = nullptr;  ///< null: none
  std::int64_t per_row = 0;
};

struct Cell {
  std::int64_t y, x, height, width;
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pixels() const { return height * width; }
};

/// An image divided into cells.
template <class T>
struct CellImage {
  ImageRows<T> rows;
  ExcludedPixels excluded;
  Shape image;
  Shape cell;
  Shape mesh;

  [[nodiscard]] KOKKOS_FUNCTION Cell operator[](std::int64_t i) const {
    std::int64_t y = 0, x = 0;
    if (i >> 32 == 0 && mesh.nx >> 32 == 0) {
      // In far fewer instructions on a device.
      const auto at = static_cast<std::uint32_t>(i), nx = static_cast<std::uint32_t>(mesh.nx);
      y = at / nx * cell.ny;
      x = at % nx * cell.nx;
    } else {
      y = i / mesh.nx * cell.ny;
      x = i % mesh.nx * cell.nx;
    }
    return {y, x, image.ny - y < cell.ny ? image.ny - y : cell.ny,
            image.nx - x < cell.nx ? image.nx - x : cell.nx};
  }
  /// NaN where the pixel is not good. `row` is that of y.
  [[nodiscard]] KOKKOS_FUNCTION T pixel(const T* row, std::int64_t y, std::int64_t x) const {
    return good_or_nan(row[x], y, x);
  }
  [[nodiscard]] KOKKOS_FUNCTION T good_or_nan(T value, std::int64_t y, std::int64_t x) const {
    bool good = Interval<T>{}.contains(value);
    if (excluded.words != nullptr)
      good &= (excluded.words[y * excluded.per_row + x / 64] >> (x % 64) & 1) == 0;
    return good ? value : Kokkos::Experimental::quiet_NaN_v<T>;
  }
};

}  // namespace kastor::detail

#endif
