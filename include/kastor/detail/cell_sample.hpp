// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CELL_SAMPLE_HPP
#define KASTOR_DETAIL_CELL_SAMPLE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/pixel_pack.hpp>

namespace kastor::detail {

/// A thread's share of some pixels of a cell of fewer than 2^18: rows in turn, columns by the
/// golden section. All are asked for before one is looked at.
template <class Crew, class T>
class CellSample {
 public:
  static constexpr int size = 128;

  KOKKOS_FUNCTION CellSample(const Crew& crew, const CellImage<T>& image, const Cell& cell) {
    const auto height = static_cast<int>(cell.height);
    const auto width = static_cast<std::uint64_t>(cell.width);
    KASTOR_UNROLL
    for (int k = 0; k < each; ++k) {
      const int i = crew.rank() + k * crew.size();
      if (i >= size) continue;
      const std::uint64_t across = static_cast<std::uint32_t>(i) * 2654435769U >> 16;
      const std::int64_t y = cell.y + i * height / size;
      const std::int64_t x = cell.x + static_cast<std::int64_t>(across * width >> 16);
      m_mine[k] = image.pixel(image.rows.row(y), y, x);
    }
  }

  /// Calls visit(i, pixel) for this thread's of the sample; NaN if it is not good.
  template <class Visit>
  KOKKOS_FUNCTION void for_mine(const Crew& crew, const Visit& visit) const {
    KASTOR_UNROLL
    for (int k = 0; k < each; ++k) {
      const int i = crew.rank() + k * crew.size();
      if (i < size) visit(i, m_mine[k]);
    }
  }

 private:
  [[nodiscard]] static constexpr int most_of_a_thread() {
    if constexpr (requires { Crew::least_size; }) return (size - 1) / Crew::least_size + 1;
    return size;
  }
  static constexpr int each = most_of_a_thread();

  T m_mine[each];
};

}  // namespace kastor::detail

#endif
