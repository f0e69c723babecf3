// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_HOST_CELL_HPP
#define KASTOR_DETAIL_HOST_CELL_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/cell_clip.hpp>
#include <kastor/detail/cell_host.hpp>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/host_lists.hpp>
#include <kastor/detail/listed_ranks.hpp>
#include <limits>

/// The pixels of a cell as a host's thread sees them: side by side in a buffer of its own.
namespace kastor::detail {

/// Room for a cell, in a thread's part of the plan's memory.
template <class T>
struct HostCellRoom {
  T* pixels;  ///< whole blocks, NaN after the last
  T* tails;   ///< as many and a block
  T* window;  ///< as many and a block

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

/// What a cell is expected to be like: as the one before, for it may be near by.
struct CellOutlook {
  double median = 0, std = 0;
  bool known = false;
};

/// Answers as a StreamedCell does, with two looks at all pixels, as a DeviceCell: the first sets
/// aside those of a window around the medians and the tails, which a clip may cut, the second adds
/// up. All later questions are about the lists; where a guess failed, the lists are made anew.
template <class T>
class HostCell {
 public:
  using List = SmallList<T>;
  using Ranks = ListedRanks<T, HostCell>;
  static constexpr int ranks_aside = 12;
  static constexpr int ranks_ahead = ranks_aside;
  /// A cell of more pixels is streamed.
  static constexpr std::int64_t most_pixels = 1 << 16;
  static_assert(most_pixels <= max_grid_terms);

  HostCell(const CellImage<T>& image, const Cell& cell, const HostCellRoom<T>& room, List& list,
           double kappa, const CellOutlook& before)
      : m_level(best_host_level()), m_room(room), m_list(list), m_kappa(kappa) {
    m_count = whole_blocks(cell.pixels());
    m_pixels = cell.pixels();
    copy(image, cell, before);
    fill_block(m_room.pixels, m_pixels);
    if (image.excluded.words != nullptr) {
      exclude(image.excluded, cell);
      const HostExtent<T> left = extent_of({}, m_room.pixels, m_count);
      m_extent = {left.count, left.min, left.max};
    }
    if (before.known && std::isfinite(m_level_guess)) {
      guess(before);
      if (window_holds_median()) return;
    }
    guess_from_sample();
  }
  /// What the next cell is like, if the clip of this one gave that.
  [[nodiscard]] CellOutlook outlook(const CellStatistics& of_this) const {
    const double off = std::abs(m_level_guess - of_this.median);
    return {of_this.median, of_this.std, of_this.std > 0 && off < window_half_width * of_this.std};
  }

  [[nodiscard]] Extent<T> extent() const { return m_extent; }
  [[nodiscard]] const RankBracket<T>& window() const { return m_window; }

  [[nodiscard]] Extremes<T> extremes(const Interval<T>& interval) const {
    if (has_core_of(interval)) {
      const HostExtent<T> some = extent_of(interval, m_lists.tails, m_lists.in_tails);
      if (some.min <= m_core.low && some.max >= m_core.high) return {some.min, some.max};
    }
    const HostExtent<T> some = extent_of(interval, m_room.pixels, m_count);
    return {some.min, some.max};
  }

  [[nodiscard]] IntervalSums sums(const Interval<T>& interval, const Grid& grid) const {
    if (!grid.single_step()) return plain_sums(interval, grid);
    HostIntervalSums<T> found{interval.low, interval.high, grid.centre, grid.scale};
    const bool all = m_extent.count == m_pixels && is_everything(interval);
    const std::int64_t certain = all ? m_pixels / cell_block * cell_block : 0;
    add_all_on_host(m_level, m_room.pixels, certain, found);
    add_interval_on_host(m_level, m_room.pixels + certain, m_count - certain, found);
    IntervalSums sums;
    sums.count = found.count;
    sums.below = found.below;
    sums.sum.add(unbias(found.sum, m_count));
    sums.squares.add(unbias(found.squares, m_count));
    return sums;
  }

  /// Those of `to`, which lies within `from`, whose sums are `all`. What leaves is few: sums of
  /// integers lose nothing when it is taken off.
  [[nodiscard]] IntervalSums narrowed(const IntervalSums& all, const Interval<T>& from,
                                      const Interval<T>& to, const Grid& grid) {
    if (!has_core_of(to)) {
      split_within(to);
      return sums(to, grid);
    }
    if (!grid.single_step()) return plain_sums(to, grid);
    HostLeaving<T> gone{from.low, to.low, to.high, from.high, grid.centre, grid.scale};
    add_leaving_on_host(m_level, m_lists.tails, m_lists.in_tails, gone);
    IntervalSums left = all;
    left.count -= gone.count;
    left.below += gone.below;
    left.sum.add(-unbias(gone.sum, gone.count));
    left.squares.add(-unbias(gone.squares, gone.count));
    return left;
  }

  /// The smallest pixel that is not below the bound.
  [[nodiscard]] T smallest_from(T bound) const {
    const Interval<T> from{next_below(bound), std::numeric_limits<T>::infinity()};
    if (bound >= m_window.low) {
      const T smallest = extent_of(from, m_lists.window, m_lists.in_window).min;
      if (smallest < std::numeric_limits<T>::infinity()) return smallest;
    }
    return extent_of(from, m_room.pixels, m_count).min;
  }

  struct Taken {
    std::int64_t below, below_middle;  ///< pixels below these bounds
    std::int64_t count;                ///< from `low` on and below `high`
    const T* sorted;                   ///< these; null: they do not fit the list
  };
  /// As DeviceCell::take.
  [[nodiscard]] Taken take(T low, T high, T middle, bool) const {
    const bool listed = low >= m_window.low && high <= m_window.high;
    HostTaking<T> taking{low, middle, high};
    if (listed) {
      take_on_host(m_level, m_lists.window, m_lists.in_window, taking, m_list.found, List::room);
    } else {
      take_on_host(m_level, m_room.pixels, m_count, taking, m_list.found, List::room);
    }
    const std::int64_t before = listed ? m_window.below_low : 0;
    Taken taken{taking.below + before, taking.below_middle + before, taking.count, nullptr};
    if (taking.count > List::room) return taken;
    sort_on_host(m_level, m_list.found, static_cast<int>(taking.count), m_list.sorted);
    taken.sorted = m_list.sorted;
    return taken;
  }

 private:
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN();

  void copy(const CellImage<T>& image, const Cell& cell, const CellOutlook& before) {
    HostCopied<T> copied{static_cast<T>(before.median - 2 * before.std),
                         static_cast<T>(before.median + 2 * before.std)};
    for_rows(image, cell,
             [&](const HostRows<T>& rows, T* to) { copy_rows_on_host(m_level, rows, to, copied); });
    m_level_guess = static_cast<double>(copied.clamped) / static_cast<double>(m_pixels);
    if (std::isfinite(copied.sum)) {
      m_extent = {m_pixels, copied.min, copied.max};
      return;
    }
    for_rows(image, cell, [&](const HostRows<T>& rows, T* to) {
      const HostExtent<T> some = copy_finite_on_host(m_level, rows, to);
      m_extent += Extent<T>{some.count, some.min, some.max};
    });
  }
  /// Calls visit(rows, to), once as a rule: rows of several bands may lie apart.
  template <class Visit>
  void for_rows(const CellImage<T>& image, const Cell& cell, const Visit& visit) {
    const std::int64_t at_once = image.rows.bands == nullptr ? cell.height : 1;
    const std::int64_t following =
        std::min(cell.width, image.image.nx - cell.x - cell.width);  // the next cell's
    for (std::int64_t dy = 0; dy < cell.height; dy += at_once)
      visit({image.rows.row(cell.y + dy) + cell.x, at_once, cell.width, image.rows.one.pitch,
             following},
            m_room.pixels + dy * cell.width);
  }
  void exclude(const ExcludedPixels& excluded, const Cell& cell) {
    for (std::int64_t dy = 0; dy < cell.height; ++dy) {
      const std::uint64_t* words = excluded.words + (cell.y + dy) * excluded.per_row;
      T* const pixels = m_room.pixels + dy * cell.width;
      for (std::int64_t dx = 0; dx < cell.width; ++dx) {
        const std::int64_t x = cell.x + dx;
        if ((words[x / 64] >> (x % 64) & 1) != 0) pixels[dx] = nan;
      }
    }
  }
  /// n: whole blocks.
  [[nodiscard]] HostExtent<T> extent_of(const Interval<T>& interval, const T* pixels,
                                        std::int64_t n) const {
    return extent_on_host(m_level, interval.low, interval.high, pixels, n);
  }

  // ------------------------------------------------------------------------------------ guesses

  /// Of the window around the mean of the pixels that are not far from the last cell's median.
  static constexpr double window_half_width = 0.07;  // standard deviations

  void guess(const CellOutlook& before) {
    split({static_cast<T>(m_level_guess), static_cast<T>(window_half_width * before.std),
           static_cast<T>(0.87 * m_kappa * before.std)});
  }

  /// With some room for the medians to come.
  [[nodiscard]] bool window_holds_median() const {
    const std::int64_t rank = (m_extent.count - 1) / 2;
    const std::int64_t aside = std::min<std::int64_t>(m_window.count() / 4, ranks_aside);
    return rank - aside >= m_window.below_low && rank + aside < m_window.below_high;
  }

  void guess_from_sample() {
    int n = 0;
    for (int i = 0; i < List::sample; ++i) {
      const T x = m_room.pixels[m_pixels * (2 * i + 1) / (2 * List::sample)];
      m_list.found[n] = x;
      n += x == x ? 1 : 0;
    }
    if (n < 16) return split({0, -1, -1});  // all are tails
    sort_on_host(m_level, m_list.found, n, m_list.sorted);
    const auto sample = [&](int i) { return static_cast<double>(m_list.sorted[i]); };
    const double std = (sample(n - 1 - n / 4) - sample(n / 4)) / 1.349;  // of a Gaussian
    // 2 standard errors of the sample's median.
    const int aside = static_cast<int>(std::sqrt(static_cast<double>(n)));
    const double low = sample(n / 2 - aside), high = sample(n / 2 + aside);
    split({static_cast<T>(low / 2 + high / 2), static_cast<T>(high / 2 - low / 2),
           static_cast<T>(std::min(0.74 * m_kappa, 2.2) * std)});
  }

  /// The tails anew, so that they leave a core within the limits.
  void split_within(const Interval<T>& limits) {
    HostSplit<T> at = m_split;
    at.far = static_cast<T>(0.75) * std::min(at.centre - limits.low, limits.high - at.centre);
    split(at.far > 0 ? at : HostSplit<T>{0, -1, -1});
  }

  /// Fills the lists.
  void split(const HostSplit<T>& at) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    m_split = at;
    m_lists = {m_room.tails, m_room.window};
    split_on_host(m_level, at, m_room.pixels, m_count, m_lists);
    m_lists.in_tails = filled_up(m_lists.tails, m_lists.in_tails);

    const std::int64_t in_window = m_lists.in_window;
    m_lists.in_window = filled_up(m_lists.window, in_window);
    m_window = {infinity, infinity, m_extent.count, m_extent.count};
    if (in_window > 0) {
      const HostExtent<T> found = extent_of({}, m_lists.window, m_lists.in_window);
      m_window = {found.min, next_above(found.max), m_lists.below_window,
                  m_lists.below_window + in_window};
    } else if (at.near >= 0) {
      m_window = {at.centre, at.centre, m_lists.below_window, m_lists.below_window};
    }
    // A little wider than what is certainly in no list.
    m_core = {infinity, -infinity};
    if (at.far >= 0) {
      const double far = 1.000001 * static_cast<double>(at.far);
      m_core = {next_below(finite(static_cast<double>(at.centre) - far)),
                next_above(finite(static_cast<double>(at.centre) + far))};
    }
  }
  [[nodiscard]] static T finite(double x) {
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    return static_cast<T>(std::clamp(x, -most, most));
  }
  /// Whole blocks.
  [[nodiscard]] static std::int64_t filled_up(T* list, std::int64_t n) {
    fill_block(list, n);
    return whole_blocks(n);
  }

  [[nodiscard]] static bool is_everything(const Interval<T>& interval) {
    return interval.low == -std::numeric_limits<T>::infinity() &&
           interval.high == std::numeric_limits<T>::infinity();
  }
  /// Whether no pixel of the core is beyond the interval.
  [[nodiscard]] bool has_core_of(const Interval<T>& interval) const {
    return interval.low <= m_core.low && interval.high >= m_core.high;
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

  HostLevel m_level;
  HostCellRoom<T> m_room;
  List& m_list;
  double m_kappa;
  std::int64_t m_count;   ///< in the buffer
  std::int64_t m_pixels;  ///< of the cell
  Extent<T> m_extent;
  double m_level_guess = 0;
  RankBracket<T> m_window;
  HostSplit<T> m_split;
  Interval<T> m_core;
  HostCellLists<T> m_lists;  ///< filled up with NaN to whole blocks
};

}  // namespace kastor::detail

#endif
