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
  std::int64_t x = 0, y = 0;
  std::int64_t columns, rows;

  /// `size` is a power of two.
  KOKKOS_FUNCTION CellShare(int rank, int size, std::int64_t width) {
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

  KOKKOS_FUNCTION StreamedCell(const Crew& crew, const CellImage<T>& image, const Cell& cell, T*)
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

/// A cell that a crew holds in memory of its own, a device's scratch memory. A thread looks only at
/// what it put there itself, so nobody waits for anybody.
template <class Crew, class T>
class HeldCell {
 public:
  static constexpr bool is_small = true;  ///< fewer than 2^18 pixels
  static constexpr std::int64_t most_pixels = (std::int64_t{1} << 18) - 1;

  /// `room`: for all pixels of the cell.
  KOKKOS_FUNCTION HeldCell(const Crew& crew, const CellImage<T>& image, const Cell& cell, T* room)
      : m_mine(room + crew.rank()), m_step(crew.size()) {
    const int pixels = static_cast<int>(cell.pixels());
    const int width = static_cast<int>(cell.width);
    int y = crew.rank() / width;
    int x = crew.rank() % width;
    m_count = (pixels - crew.rank() + m_step - 1) / m_step;
    for (int first = 0; first < m_count; first += ahead) {
      T loaded[ahead]{};
      KASTOR_UNROLL
      for (int k = 0; k < ahead; ++k) {
        if (first + k < m_count) {
          const std::int64_t at = cell.y + y;
          loaded[k] = image.pixel(image.rows.row(at), at, cell.x + x);
        }
        for (x += m_step; x >= width; x -= width) ++y;
      }
      KASTOR_UNROLL
      for (int k = 0; k < ahead; ++k) {
        if (first + k >= m_count) break;
        pixel(first + k) = loaded[k];
        const bool good = loaded[k] == loaded[k];
        m_extent.count += good ? 1 : 0;
        m_extent.min = (good & (loaded[k] < m_extent.min)) ? loaded[k] : m_extent.min;
        m_extent.max = (good & (loaded[k] > m_extent.max)) ? loaded[k] : m_extent.max;
      }
    }
  }

  /// Of this thread's good pixels.
  [[nodiscard]] KOKKOS_FUNCTION const Extent<T>& extent() const { return m_extent; }

  template <class Visit>
  KOKKOS_FUNCTION void for_mine(const Visit& visit) const {
    for_first(m_count, visit);
  }
  /// Those of this thread that are outside of the core.
  template <class Visit>
  KOKKOS_FUNCTION void for_my_tails(const Visit& visit) const {
    for_first(m_tails, visit);
  }
  /// Puts the pixels outside of a core before the others. The order of pixels means nothing.
  KOKKOS_FUNCTION void set_core(const Interval<T>& core) {
    m_tails = 0;
    for (int i = 0; i < m_count; ++i) {
      const T x = pixel(i);
      if (core.contains(x) || !(x == x)) continue;
      pixel(i) = pixel(m_tails);
      pixel(m_tails++) = x;
    }
  }

 private:
  static constexpr int ahead = 8;

  [[nodiscard]] KOKKOS_FUNCTION T& pixel(int i) const { return m_mine[i * m_step]; }

  template <class Visit>
  KOKKOS_FUNCTION void for_first(int count, const Visit& visit) const {
    int i = 0;
    for (; i + ahead <= count; i += ahead) {
      KASTOR_UNROLL
      for (int k = 0; k < ahead; ++k) visit(pixel(i + k));
    }
    for (; i < count; ++i) visit(pixel(i));
  }

  T* m_mine;
  int m_step;
  int m_count = 0;
  int m_tails = 0;
  Extent<T> m_extent{0, Kokkos::Experimental::infinity_v<T>, -Kokkos::Experimental::infinity_v<T>};
};

}  // namespace kastor::detail

#endif
