// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CEILINGS_OF_CELLS_HPP
#define KASTOR_DETAIL_CEILINGS_OF_CELLS_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/pixel_ceilings.hpp>

/// The order of PixelCeilings, which is that in which a warp reads a cell of floats.
///
/// A cell is 64 columns wide, a word of a mask. It is read four rows at a time: 16 columns of the
/// first and third of them, side by side, have one ceiling, and so have those of the second and
/// fourth. The eight ceilings lie behind one another, then those of the next cell of the row, then
/// those of the next four rows.
namespace kastor::detail {

inline constexpr int ceiling_cell_width = 64;
inline constexpr int ceiling_rows = 4;  ///< that are read at a time
inline constexpr int ceiling_columns = 16;
inline constexpr int ceilings_of_rows = 8;
/// So many times four rows are written at once.
inline constexpr int ceiling_groups = 8;

/// Whether cells of this shape have ceilings.
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool shape_has_ceilings(std::int64_t height,
                                                             std::int64_t width) {
  return width == ceiling_cell_width && height % (ceiling_rows * ceiling_groups) == 0;
}
/// Among those of four rows, that of ceiling_columns of a row.
[[nodiscard]] KOKKOS_INLINE_FUNCTION int place_of_ceiling(int row, int columns) {
  return row % 2 * (ceilings_of_rows / 2) + columns;
}

/// Where a cell's are to be written.
template <class T>
struct CeilingRoom {
  T* values = nullptr;      ///< of the cell's first four rows
  std::int64_t stride = 0;  ///< to the next ones

  /// All of the cell's at least, of an image from this room on.
  [[nodiscard]] KOKKOS_FUNCTION CeilingRoom of_cell(std::int64_t y, std::int64_t x) const {
    if (values == nullptr) return {};
    return {values + y / ceiling_rows * stride + x / ceiling_cell_width * ceilings_of_rows, stride};
  }
};
/// From four rows of an image to the next.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t ceiling_stride(std::int64_t nx) {
  return (nx + ceiling_cell_width - 1) / ceiling_cell_width * ceilings_of_rows;
}
/// Of an image.
[[nodiscard]] inline std::int64_t count_of_ceilings(const Shape& image) {
  return (image.ny + ceiling_rows - 1) / ceiling_rows * ceiling_stride(image.nx);
}

/// Those of an image.
template <class T>
struct CeilingsOfCells {
  const T* values = nullptr;
  std::int64_t stride = 0;  ///< from four rows to the next

  CeilingsOfCells() = default;
  template <class Exec>
  explicit CeilingsOfCells(const PixelCeilings<Exec, T>& of)
      : values(of.values.data()), stride(ceiling_stride(of.nx)) {}

  /// Of the cell in column `cell`, the ceilings_of_rows from row `y` on, a multiple of
  /// ceiling_rows.
  [[nodiscard]] KOKKOS_FUNCTION const T* rows_from(std::int64_t y, std::int64_t cell) const {
    return values + y / ceiling_rows * stride + cell * ceilings_of_rows;
  }
  /// Where that of a pixel is.
  [[nodiscard]] KOKKOS_FUNCTION const T* of(std::int64_t y, std::int64_t x) const {
    const std::int64_t columns = x % ceiling_cell_width / ceiling_columns;
    return rows_from(y, x / ceiling_cell_width) +
           place_of_ceiling(static_cast<int>(y % ceiling_rows), static_cast<int>(columns));
  }
};

}  // namespace kastor::detail

#endif
