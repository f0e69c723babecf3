// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_HOST_CELL_HPP
#define KASTOR_DETAIL_HOST_CELL_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/cell_host.hpp>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/rank_window.hpp>
#include <kastor/detail/scan_host.hpp>
#include <limits>

/// The pixels of a cell as a host's thread sees them: side by side in a buffer of its own.
namespace kastor::detail {

/// Room for a cell, in a thread's part of the plan's memory.
template <class T>
struct HostCellRoom {
  T* pixels;  ///< whole blocks, NaN after the last
  T* tails;   ///< as many and a block
  T* window;  ///< as many and a block

  [[nodiscard]] static std::int64_t whole_blocks(std::int64_t pixels) {
    return (pixels + cell_block - 1) / cell_block * cell_block;
  }
  [[nodiscard]] static std::size_t bytes(std::int64_t pixels) {
    const auto n = static_cast<std::size_t>(whole_blocks(pixels));
    return (3 * n + 2 * cell_block) * sizeof(T);
  }
  /// `memory`: aligned for any of them.
  HostCellRoom(std::byte* memory, std::int64_t count) {
    const std::int64_t n = whole_blocks(count);
    pixels = reinterpret_cast<T*>(memory);
    tails = pixels + n;
    window = tails + n + cell_block;
  }
};

/// Answers as a StreamedCell does. Keeps the sums of a core of pixels in the middle and a list of
/// the others, the tails: limits that cut only into the tails cost no look at the core.
template <class T>
class HostCell {
 public:
  using List = SmallList<T>;
  using Ranks = RankWindow<T, HostCell>;
  /// A cell of more pixels is streamed.
  static constexpr std::int64_t most_pixels = 1 << 16;
  static_assert(most_pixels <= max_grid_terms);

  HostCell(const CellImage<T>& image, const Cell& cell, const HostCellRoom<T>& room, List& list)
      : m_level(best_host_level()), m_room(room), m_list(list) {
    m_count = HostCellRoom<T>::whole_blocks(cell.pixels());
    m_pixels = cell.pixels();
    copy(image, cell);
    std::fill(m_room.pixels + m_pixels, m_room.pixels + m_count,
              std::numeric_limits<T>::quiet_NaN());
    if (image.excluded.words == nullptr) return;
    exclude(image.excluded, cell);
    const HostExtent<T> left = extent_of({});
    m_extent = {left.count, left.min, left.max};
  }

  [[nodiscard]] Extent<T> extent() const { return m_extent; }
  [[nodiscard]] Extremes<T> extremes(const Interval<T>& interval) const {
    const HostExtent<T> some = extent_of(interval);
    return {some.min, some.max};
  }

  /// The sums of a core need no taking off.
  [[nodiscard]] IntervalSums narrowed(const IntervalSums&, const Interval<T>&,
                                      const Interval<T>& to, const Grid& grid) {
    return sums(to, grid);
  }
  [[nodiscard]] IntervalSums sums(const Interval<T>& interval, const Grid& grid) {
    if (m_core_grid != grid.exponent || grid.centre != m_core_centre ||
        !(interval.low <= m_core.low && m_core.high <= interval.high)) {
      if (!take_core(interval, grid)) return plain_sums(interval, grid);
    }
    IntervalSums sums = m_core_sums;
    HostIntervalSums<T> found{interval.low, interval.high, grid.centre, grid.scale};
    add_interval_on_host(m_level, m_room.tails, m_in_tails, found);
    sums.count += found.count;
    sums.below += found.below;
    sums.sum.add(unbias(found.sum, m_in_tails));
    sums.squares.add(unbias(found.squares, m_in_tails));
    return sums;
  }

  [[nodiscard]] CountsBelow count_below(const T (&threshold)[CountsBelow::thresholds]) const {
    CountsBelow below;
    count_below_on_host(m_level, threshold, m_room.pixels, m_count, below.of);
    return below;
  }

  [[nodiscard]] T smallest_from(T bound) const {
    return extremes({next_below(bound), std::numeric_limits<T>::infinity()}).min;
  }

  [[nodiscard]] const T* sorted_between(T low, T high) {
    const int n = take_between_on_host(m_level, next_below(low), high, m_room.pixels, m_count,
                                       m_list.found, List::room);
    sort_on_host(m_level, m_list.found, n, m_list.sorted);
    return m_list.sorted;
  }

  [[nodiscard]] const T* sorted_sample(int& count) {
    count = 0;
    for (int i = 0; i < List::sample; i += 2) {
      const T x = m_room.pixels[m_pixels * (2 * i + 1) / (2 * List::sample)];
      m_list.found[count] = x;
      count += x == x ? 1 : 0;
    }
    sort_on_host(m_level, m_list.found, count, m_list.sorted);
    if (count >= 16) {
      // Where half of the pixels are, and 1.15 times as far on each side: 2.2 std of a Gaussian.
      const T low = m_list.sorted[count / 4], high = m_list.sorted[count - 1 - count / 4];
      m_guess = {low - T(1.15) * (high - low), high + T(1.15) * (high - low)};
    }
    return m_list.sorted;
  }

 private:
  void copy(const CellImage<T>& image, const Cell& cell) {
    // Rows of several bands may lie apart: one at a time.
    const std::int64_t at_once = image.rows.bands == nullptr ? cell.height : 1;
    const std::int64_t following =
        std::min(cell.width, image.image.nx - cell.x - cell.width);  // the next cell's
    for (std::int64_t dy = 0; dy < cell.height; dy += at_once) {
      const HostRows<T> rows{image.rows.row(cell.y + dy) + cell.x, at_once, cell.width,
                             image.rows.one.pitch, following};
      const HostExtent<T> some =
          copy_finite_on_host(m_level, rows, m_room.pixels + dy * cell.width);
      m_extent += Extent<T>{some.count, some.min, some.max};
    }
  }
  void exclude(const ExcludedPixels& excluded, const Cell& cell) {
    for (std::int64_t dy = 0; dy < cell.height; ++dy) {
      const std::uint64_t* words = excluded.words + (cell.y + dy) * excluded.per_row;
      T* const pixels = m_room.pixels + dy * cell.width;
      for (std::int64_t dx = 0; dx < cell.width; ++dx) {
        const std::int64_t x = cell.x + dx;
        if ((words[x / 64] >> (x % 64) & 1) != 0) pixels[dx] = std::numeric_limits<T>::quiet_NaN();
      }
    }
  }
  [[nodiscard]] HostExtent<T> extent_of(const Interval<T>& interval) const {
    return extent_on_host(m_level, interval.low, interval.high, m_room.pixels, m_count);
  }

  /// The sums of a core inside the interval; false if there is none.
  bool take_core(const Interval<T>& interval, const Grid& grid) {
    const auto centre = static_cast<T>(grid.centre);
    if (!grid.single_step() || !interval.contains(centre)) return false;
    Interval<T> core = interval;
    if (m_guess.low > interval.low && m_guess.high < interval.high && m_guess.contains(centre)) {
      core = m_guess;
    } else if (interval.low > -std::numeric_limits<T>::infinity()) {
      // The limits will close in a little.
      core = {interval.low + (centre - interval.low) / 4,
              interval.high - (interval.high - centre) / 4};
    }
    if (!core.contains(centre)) core = interval;
    HostScanSums found;
    HostLists<T> lists{m_room.tails, m_room.window};
    scan_on_host(m_level,
                 HostScan<T>{core.low, core.high, centre, centre, centre, grid.centre, grid.scale,
                             std::numeric_limits<T>::infinity()},
                 m_room.pixels, m_count, found, lists, nullptr);
    m_in_tails = lists.in_tails;
    m_core = core;
    m_core_grid = grid.exponent;
    m_core_centre = grid.centre;
    m_core_sums = {};
    m_core_sums.count = found.inside;
    m_core_sums.sum.add(unbias(found.sum, m_count));
    m_core_sums.squares.add(unbias(found.squares, m_count));
    return true;
  }

  [[nodiscard]] IntervalSums plain_sums(const Interval<T>& interval, const Grid& grid) const {
    IntervalSums sums;
    std::int64_t sum = 0, squares = 0;
    for (std::int64_t i = 0; i < m_count; ++i) {
      const T x = m_room.pixels[i];
      sums.below += x <= interval.low ? 1 : 0;
      if (!interval.contains(x)) continue;
      const double u = grid.map(static_cast<double>(x));
      sum += unbias(to_grid_biased(u), 1);
      squares += unbias(to_grid_biased(u * u), 1);
      ++sums.count;
    }
    sums.sum.add(sum);
    sums.squares.add(squares);
    return sums;
  }

  static constexpr int no_grid = -10000;

  HostLevel m_level;
  HostCellRoom<T> m_room;
  List& m_list;
  std::int64_t m_count;   ///< in the buffer
  std::int64_t m_pixels;  ///< of the cell
  Extent<T> m_extent;
  Interval<T> m_guess{0, 0};
  Interval<T> m_core;
  int m_core_grid = no_grid;
  double m_core_centre = 0;
  IntervalSums m_core_sums;
  std::int64_t m_in_tails = 0;
};

}  // namespace kastor::detail

#endif
