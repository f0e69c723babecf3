// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_CELL_IMAGE_HPP
#define KASTOR_BACKGROUND_CELL_IMAGE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>

#include "core/image_rows.hpp"

/// An image divided into cells, whose rows are in one or in many bands.
namespace kastor::detail {

/// The mask of the excluded pixels.
struct ExcludedPixels {
  const std::uint64_t* words = nullptr;  ///< null: no pixel is excluded
  std::int64_t words_per_row = 0;

  /// Bits of n <= 64 pixels of a row from x on; all of them are in the image.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t bits(std::int64_t y, std::int64_t x,
                                                   std::int64_t n) const {
    const std::uint64_t* const word = words + y * words_per_row + x / 64;
    const std::int64_t shift = x % 64;
    std::uint64_t found = word[0] >> shift;
    if (shift + n > 64) found |= word[1] << (64 - shift);
    return found;
  }
};

struct Cell {
  std::int64_t y, x, height, width;
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pixels() const { return height * width; }
};

template <class T>
struct CellImage {
  core::ImageRows<T> rows;
  ExcludedPixels excluded;
  Shape image;
  Shape cell;  ///< shape of a full cell, not cut by the border of the image
  Shape mesh;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t cells() const { return mesh.ny * mesh.nx; }
  [[nodiscard]] KOKKOS_FUNCTION Cell operator[](std::int64_t i) const {
    const std::int64_t row = i / mesh.nx;
    const std::int64_t y = row * cell.ny, x = (i - row * mesh.nx) * cell.nx;
    return {y, x, image.ny - y < cell.ny ? image.ny - y : cell.ny,
            image.nx - x < cell.nx ? image.nx - x : cell.nx};
  }
};

}  // namespace kastor::detail

#endif
