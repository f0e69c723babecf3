// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CELL_PIXELS_HPP
#define KASTOR_DETAIL_CELL_PIXELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/pixel_pack.hpp>
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
    const std::int64_t y = i / mesh.nx * cell.ny, x = i % mesh.nx * cell.nx;
    return {y, x, image.ny - y < cell.ny ? image.ny - y : cell.ny,
            image.nx - x < cell.nx ? image.nx - x : cell.nx};
  }
  /// NaN where the pixel is not good. `row` is that of y.
  [[nodiscard]] KOKKOS_FUNCTION T pixel(const T* row, std::int64_t y, std::int64_t x) const {
    const T value = row[x];
    bool good = Interval<T>{}.contains(value);
    if (excluded.words != nullptr)
      good &= (excluded.words[y * excluded.per_row + x / 64] >> (x % 64) & 1) == 0;
    return good ? value : Kokkos::Experimental::quiet_NaN_v<T>;
  }
};

/// How the threads of a crew share the pixels of a cell: neighbours take neighbours of a row.
struct CellShare {
  std::int64_t x, y, columns, rows;

  /// `size` is a power of two.
  KOKKOS_FUNCTION CellShare(int rank, int size, std::int64_t width) : x(0), y(0) {
    int across = 1;
    while (across < size && across < width) across *= 2;
    columns = across;
    rows = size / across;
    x = rank % across;
    y = rank / across;
  }
};

/// A cell that is read from memory whenever it is asked.
template <class Crew, class T>
class StreamedCell {
 public:
  static constexpr bool is_small = false;

  KOKKOS_FUNCTION StreamedCell(const Crew& crew, const CellImage<T>& image, const Cell& cell)
      : m_image(image), m_cell(cell), m_share(crew.rank(), crew.size(), cell.width) {}

  /// Calls visit(pixel) for this thread's pixels; NaN for those that are not good.
  template <class Visit>
  KOKKOS_FUNCTION void for_mine(const Visit& visit) const {
    for (std::int64_t dy = m_share.y; dy < m_cell.height; dy += m_share.rows) {
      const T* row = m_image.rows.row(m_cell.y + dy);
      for (std::int64_t dx = m_share.x; dx < m_cell.width; dx += m_share.columns)
        visit(m_image.pixel(row, m_cell.y + dy, m_cell.x + dx));
    }
  }

 private:
  const CellImage<T>& m_image;
  Cell m_cell;
  CellShare m_share;
};

/// A cell that the threads hold in registers.
template <class Crew, class T>
class HeldCell {
 public:
  static constexpr bool is_small = true;  ///< fewer than 2^18 pixels

  static constexpr int each = 16;

  /// So do cells that are smaller.
  [[nodiscard]] KOKKOS_FUNCTION static bool fits(int crew_size, const Shape& cell) {
    const CellShare share(0, crew_size, cell.nx);
    return cell.nx <= share.columns && cell.ny <= each * share.rows;
  }
  KOKKOS_FUNCTION HeldCell(const Crew& crew, const CellImage<T>& image, const Cell& cell) {
    const CellShare share(crew.rank(), crew.size(), cell.width);
    KASTOR_UNROLL
    for (int k = 0; k < each; ++k) {
      const std::int64_t dy = share.y + k * share.rows;
      m_mine[k] = Kokkos::Experimental::quiet_NaN_v<T>;
      if (dy < cell.height && share.x < cell.width)
        m_mine[k] = image.pixel(image.rows.row(cell.y + dy), cell.y + dy, cell.x + share.x);
    }
  }
  template <class Visit>
  KOKKOS_FUNCTION void for_mine(const Visit& visit) const {
    KASTOR_UNROLL
    for (int k = 0; k < each; ++k) visit(m_mine[k]);
  }

 private:
  T m_mine[each];
};

}  // namespace kastor::detail

#endif
