// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_STREAMED_CELL_HPP
#define KASTOR_DETAIL_STREAMED_CELL_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/rank_window.hpp>

namespace kastor::detail {

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

/// The pixels of a cell as a crew sees them that reads them again for every question: cells of any
/// size. All threads ask the same and get the same answer.
template <class Crew, class T>
class StreamedCell {
 public:
  using List = SmallList<T>;
  using Ranks = RankWindow<T, StreamedCell>;

  KOKKOS_FUNCTION StreamedCell(const Crew& crew, const CellImage<T>& image, const Cell& cell,
                               List& list)
      : m_crew(crew),
        m_image(image),
        m_cell(cell),
        m_share(crew.rank(), crew.size(), cell.width),
        m_list(list) {}

  /// Of all good pixels.
  [[nodiscard]] KOKKOS_FUNCTION Extent<T> extent() const { return extent(Interval<T>{}); }
  [[nodiscard]] KOKKOS_FUNCTION Extremes<T> extremes(const Interval<T>& interval) const {
    const Extent<T> all = extent(interval);
    return {all.min, all.max};
  }
  [[nodiscard]] KOKKOS_FUNCTION Extent<T> extent(const Interval<T>& interval) const {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    Extent<T> mine{0, infinity, -infinity};
    for_mine([&](T x) {
      const bool in = interval.contains(x);
      mine.count += in ? 1 : 0;
      mine.min = (in & (x < mine.min)) ? x : mine.min;
      mine.max = (in & (x > mine.max)) ? x : mine.max;
    });
    return m_crew.sum(mine);
  }

  [[nodiscard]] KOKKOS_FUNCTION IntervalSums sums(const Interval<T>& interval,
                                                  const Grid& grid) const {
    IntervalSums mine;
    std::uint64_t sum = 0, squares = 0;
    std::int64_t terms = 0;
    const auto flush = [&] {
      mine.sum.add(unbias(sum, terms));
      mine.squares.add(unbias(squares, terms));
      mine.count += terms;
      sum = squares = 0;
      terms = 0;
    };
    for_mine([&](T x) {
      mine.below += x <= interval.low ? 1 : 0;
      if (!interval.contains(x)) return;
      const double u = grid.map(static_cast<double>(x));
      sum += to_grid_biased(u);
      squares += to_grid_biased(u * u);
      if (++terms == max_grid_terms) flush();
    });
    flush();
    return m_crew.sum(mine);
  }

  /// Those of `to`.
  [[nodiscard]] KOKKOS_FUNCTION IntervalSums narrowed(const IntervalSums&, const Interval<T>&,
                                                      const Interval<T>& to,
                                                      const Grid& grid) const {
    return sums(to, grid);
  }

  [[nodiscard]] KOKKOS_FUNCTION CountsBelow
  count_below(const T (&threshold)[CountsBelow::thresholds]) const {
    CountsBelow mine;
    for_mine([&](T x) {
      for (int i = 0; i < CountsBelow::thresholds; ++i) mine.of[i] += x < threshold[i] ? 1 : 0;
    });
    return m_crew.sum(mine);
  }

  /// The smallest pixel that is not below the bound.
  [[nodiscard]] KOKKOS_FUNCTION T smallest_from(T bound) const {
    T mine = Kokkos::Experimental::infinity_v<T>;
    for_mine([&](T x) { mine = ((x >= bound) & (x < mine)) ? x : mine; });
    return m_crew.smallest(mine);
  }

  /// The pixels from `low` on and below `high` in order: they must fit the list.
  [[nodiscard]] KOKKOS_FUNCTION const T* sorted_between(T low, T high) const {
    begin_list();
    for_mine([&](T x) {
      if ((x >= low) & (x < high)) append(x);
    });
    return sorted_list();
  }

  /// Some pixels of the cell in order; `count` of them may be 0.
  [[nodiscard]] KOKKOS_FUNCTION const T* sorted_sample(int& count) const {
    begin_list();
    for (int i = m_crew.rank(); i < List::sample; i += m_crew.size()) {
      const std::int64_t at = m_cell.pixels() * (2 * i + 1) / (2 * List::sample);
      const std::int64_t y = m_cell.y + at / m_cell.width, x = m_cell.x + at % m_cell.width;
      const T value = m_image.pixel(m_image.rows.row(y), y, x);
      if (value == value) append(value);
    }
    const T* sorted = sorted_list();
    count = m_list.count;
    return sorted;
  }

 private:
  /// Calls visit(pixel) for this thread's pixels; NaN for those that are not good.
  template <class Visit>
  KOKKOS_FUNCTION void for_mine(const Visit& visit) const {
    for (std::int64_t dy = m_share.y; dy < m_cell.height; dy += m_share.rows) {
      const T* row = m_image.rows.row(m_cell.y + dy);
      for (std::int64_t dx = m_share.x; dx < m_cell.width; dx += m_share.columns)
        visit(m_image.pixel(row, m_cell.y + dy, m_cell.x + dx));
    }
  }

  KOKKOS_FUNCTION void begin_list() const {
    m_crew.barrier();  // the last list has been read
    if (m_crew.rank() == 0) m_list.count = 0;
    m_crew.barrier();
  }
  KOKKOS_FUNCTION void append(T x) const {
    m_list.found[Kokkos::atomic_fetch_add(&m_list.count, 1)] = x;
  }
  /// Everyone finds the place of a few.
  [[nodiscard]] KOKKOS_FUNCTION const T* sorted_list() const {
    m_crew.barrier();
    const int n = m_list.count;
    for (int i = m_crew.rank(); i < n; i += m_crew.size())
      m_list.sorted[count_before(m_list.found, i, 0, n)] = m_list.found[i];
    m_crew.barrier();
    return m_list.sorted;
  }

  const Crew& m_crew;
  const CellImage<T>& m_image;
  const Cell& m_cell;
  CellShare m_share;
  List& m_list;
};

}  // namespace kastor::detail

#endif
