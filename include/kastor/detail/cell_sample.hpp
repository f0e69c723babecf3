// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CELL_SAMPLE_HPP
#define KASTOR_DETAIL_CELL_SAMPLE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/cell_reader.hpp>
#include <kastor/detail/pixel_pack.hpp>

namespace kastor::detail {

/// A thread's share of some pixels of a cell of fewer than 2^18: rows in turn, columns by the
/// golden section. All are asked for before one is looked at.
template <class Crew, class T>
class CellSample {
 public:
  static constexpr int size = 128;

  KOKKOS_FUNCTION CellSample(const Crew& crew, const CellReader<T>& reader,
                             const CellImage<T>& image, const Cell& cell) {
    const auto height = static_cast<std::uint32_t>(cell.height);
    const auto width = static_cast<std::uint32_t>(cell.width);
    KASTOR_UNROLL
    for (int k = 0; k < each; ++k) {
      const int i = crew.rank() + k * crew.size();
      const auto place = static_cast<std::uint32_t>(i < size ? i : size - 1);
      const std::uint32_t across = place * 2654435769U & 0xffff0000U;
      m_y[k] = static_cast<int>(place * height / size);
      m_x[k] = static_cast<int>(std::uint64_t{across} * width >> 32);
    }
    // Without a branch between them, a device asks for all of them at once.
    if (reader.is_near()) {
      KASTOR_UNROLL
      for (int k = 0; k < each; ++k) m_mine[k] = *reader.at_near(m_y[k], m_x[k]);
    } else {
      KASTOR_UNROLL
      for (int k = 0; k < each; ++k) m_mine[k] = image.rows.row(cell.y + m_y[k])[cell.x + m_x[k]];
    }
  }

  /// Calls visit(i, pixel) for this thread's of the sample; NaN if it is not good.
  template <class Visit>
  KOKKOS_FUNCTION void for_mine(const Crew& crew, const CellImage<T>& image, const Cell& cell,
                                const Visit& visit) const {
    KASTOR_UNROLL
    for (int k = 0; k < each; ++k) {
      const int i = crew.rank() + k * crew.size();
      if (i < size) visit(i, image.good_or_nan(m_mine[k], cell.y + m_y[k], cell.x + m_x[k]));
    }
  }

 private:
  [[nodiscard]] static constexpr int most_of_a_thread() {
    if constexpr (requires { Crew::least_size; }) return (size - 1) / Crew::least_size + 1;
    return size;
  }
  static constexpr int each = most_of_a_thread();

  T m_mine[each];
  int m_y[each], m_x[each];
};

}  // namespace kastor::detail

#endif
