// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_DEVICE_CELL_HPP
#define KASTOR_DETAIL_DEVICE_CELL_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/cell_reader.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/listed_ranks.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/warp_crew.hpp>

/// The pixels of a cell as a device's team sees them.
namespace kastor::detail {

inline constexpr std::int64_t most_pixels_of_a_team = (std::int64_t{1} << 18) - 1;

/// What the first read of a cell finds.
template <class T>
struct CellRead {
  T min, max;
  std::uint32_t good = 0;
  std::uint32_t below = 0, inside = 0;  ///< of the window
  std::uint32_t lost = 0;               ///< not 0: the window did not fit
  std::uint32_t blank = 0;              ///< not 0: pixels that are not finite

  KOKKOS_FUNCTION CellRead& operator+=(const CellRead& other) {
    min = other.min < min ? other.min : min;
    max = other.max > max ? other.max : max;
    good += other.good;
    below += other.below;
    inside += other.inside;
    lost += other.lost;
    blank += other.blank;
    return *this;
  }
};

/// IntervalSums of fewer than 2^18 pixels.
struct CellSums {
  std::int64_t sum = 0, squares = 0;
  std::uint32_t inside = 0, below = 0;
  std::uint32_t lost = 0;  ///< not 0: the tails did not fit

  KOKKOS_FUNCTION CellSums& operator+=(const CellSums& other) {
    sum += other.sum;
    squares += other.squares;
    inside += other.inside;
    below += other.below;
    lost += other.lost;
    return *this;
  }
  [[nodiscard]] KOKKOS_FUNCTION IntervalSums wide() const {
    IntervalSums sums;
    sums.count = inside;
    sums.below = below;
    sums.sum.add(sum);
    sums.squares.add(squares);
    return sums;
  }
};

}  // namespace kastor::detail

template <class T>
struct Kokkos::reduction_identity<kastor::detail::CellRead<T>> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::CellRead<T> sum() {
    return {Kokkos::Experimental::infinity_v<T>, -Kokkos::Experimental::infinity_v<T>};
  }
};
template <>
struct Kokkos::reduction_identity<kastor::detail::CellSums> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::CellSums sum() { return {}; }
};

namespace kastor::detail {

/// Adds pixels up on a grid as to_grid_biased does, with fewer instructions: the magic number is
/// added for every other pixel and taken off for the next, and doubles hold the few multiples of
/// the grid's step exactly.
template <class T>
struct GridTerms {
  struct Sums {
    double sum = 0, squares = 0;
  };
  Grid grid;

  KOKKOS_FUNCTION explicit GridTerms(const Grid& g) : grid(g) {}

  /// Adds pixel i of a chunk.
  KOKKOS_FUNCTION void add(T x, int i, Sums& sums) const {
    const double u = map(static_cast<double>(x));
    if (i % 2 == 0) {
      sums.sum += grid_magic + u;
      sums.squares += grid_magic + u * u;
    } else {
      sums.sum -= grid_magic - u;
      sums.squares -= grid_magic - u * u;
    }
  }
  /// Adds the sums of a chunk of n < 100 pixels, in steps of the grid.
  KOKKOS_FUNCTION static void flush(const Sums& sums, int n, std::int64_t& sum,
                                    std::int64_t& squares) {
    const double magic = n % 2 == 0 ? grid_magic : 0.0;
    sum += unbias(to_bits(magic + sums.sum), 1);
    squares += unbias(to_bits(magic + sums.squares), 1);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t to_bits(double x) {
    return Kokkos::bit_cast<std::uint64_t>(x);
  }
  [[nodiscard]] KOKKOS_FUNCTION double map(double x) const {
    // Scaling a float rounds nothing, so that one rounding is as good as two.
    if constexpr (sizeof(T) == 4) return Kokkos::fma(x, grid.scale, -grid.centre_scaled);
    return grid.map(x);
  }
};

/// Answers as a StreamedCell does, of a cell of fewer than 2^18 pixels, with two reads of it. A
/// sample says where the medians will be, and beyond which limits a clip will cut: the first read
/// sets aside the pixels of a window around the medians, the second, which adds up, those of the
/// tails. Both are lists in the scratch memory, each thread with its own, so that nobody waits. All
/// later questions are about the lists; if a guess failed, the cell is read again.
template <class Crew, class T>
class DeviceCell {
 public:
  /// Pixels to be put in order.
  struct List {
    static constexpr int room = 128;
    T found[room];
    T sorted[room];
  };
  using Ranks = ListedRanks<T, DeviceCell>;

  /// `columns`: `rows` for each thread.
  KOKKOS_FUNCTION DeviceCell(const Crew& crew, const CellImage<T>& image, const Cell& cell,
                             double kappa, List& list, T* columns, int rows)
      : m_crew(crew),
        m_image(image),
        m_cell(cell),
        m_reader(image, cell, crew.rank(), crew.size()),
        m_list(list),
        m_column(columns + crew.rank()),
        m_rows(rows) {
    m_reader.announce(crew.rank(), crew.size());
    guess(kappa);
  }

  /// Of all good pixels.
  [[nodiscard]] KOKKOS_FUNCTION Extent<T> extent() {
    m_clean = m_reader.may_be_clean();
    CellRead<T> all;
    if (m_clean) all = first_read<true>();
    m_clean = m_clean && all.blank == 0;
    if (!m_clean) all = first_read<false>();
    m_good = m_clean ? m_cell.pixels() : all.good;
    m_window.below_low = all.below;
    m_window.below_high = all.below + all.inside;
    m_has_window = all.lost == 0;
    if (!m_has_window) m_in_window = 0;
    return {m_good, all.min, all.max};
  }
  /// Where the first median, and most likely the later ones, are.
  [[nodiscard]] KOKKOS_FUNCTION const RankBracket<T>& window() const { return m_window; }

  [[nodiscard]] KOKKOS_FUNCTION Extremes<T> extremes(const Interval<T>& interval) const {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    Extremes<T> mine{infinity, -infinity};
    const auto look = [&](T x) {
      const bool in = interval.contains(x);
      mine.min = (in & (x < mine.min)) ? x : mine.min;
      mine.max = (in & (x > mine.max)) ? x : mine.max;
    };
    if (has_core_of(interval)) {
      for_my_tails(look);
      const Extremes<T> all = m_crew.sum(mine);
      if (all.min <= m_core.low && all.max >= m_core.high) return all;
      mine = {infinity, -infinity};
    }
    m_reader.for_each_of_mine(look);
    return m_crew.sum(mine);
  }

  [[nodiscard]] KOKKOS_FUNCTION IntervalSums sums(const Interval<T>& interval, const Grid& grid) {
    if (m_tried_tails) return sums_of<false, false>(interval, grid).wide();
    m_tried_tails = true;
    const CellSums sums =
        m_clean ? sums_of<true, true>(interval, grid) : sums_of<false, true>(interval, grid);
    m_has_tails = sums.lost == 0;
    return sums.wide();
  }

  /// Those of `to`, which lies within `from`, whose sums are `all`. What leaves is few: sums of
  /// integers lose nothing when it is taken off.
  [[nodiscard]] KOKKOS_FUNCTION IntervalSums narrowed(const IntervalSums& all,
                                                      const Interval<T>& from,
                                                      const Interval<T>& to, const Grid& grid) {
    CellSums gone;
    const auto look = [&](T x) {
      const bool below = (x > from.low) & (x <= to.low);
      const bool above = (x < from.high) & (x >= to.high);
      if (!(below | above)) return;
      const double u = grid.map(static_cast<double>(x));
      gone.sum += unbias(to_grid_biased(u), 1);
      gone.squares += unbias(to_grid_biased(u * u), 1);
      gone.inside += 1;
      gone.below += below ? 1 : 0;
    };
    const bool listed = has_core_of(to);
    if (listed) {
      for_my_tails(look);
    } else {
      // The tails anew: what `to` leaves out is gone for good.
      if (!(to.low <= m_core.low && to.high >= m_core.high)) m_core = middle_half_of(to);
      const Interval<T> core = m_core;
      int first_tail = m_rows;
      m_reader.for_each_of_mine([&](T x) {
        look(x);
        if (!to.contains(x) || core.contains(x)) return;
        if (first_tail == m_in_window) {
          gone.lost += static_cast<std::uint32_t>(m_rows - first_tail);
          first_tail = m_rows;
        }
        m_column[--first_tail * m_crew.size()] = x;
      });
      m_first_tail = first_tail;
    }
    const CellSums out = m_crew.sum(gone);
    if (!listed) m_has_tails = out.lost == 0;
    const IntervalSums taken = out.wide();
    IntervalSums left = all;
    left.sum -= taken.sum;
    left.squares -= taken.squares;
    left.count -= taken.count;
    left.below += taken.below;
    return left;
  }

  /// The smallest pixel that is not below the bound.
  [[nodiscard]] KOKKOS_FUNCTION T smallest_from(T bound) const {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    T mine = infinity;
    const auto look = [&](T x) { mine = ((x >= bound) & (x < mine)) ? x : mine; };
    if (m_has_window && bound >= m_window.low) {
      for_my_window(look);
      const T smallest = m_crew.smallest(mine);
      if (smallest < infinity) return smallest;
    }
    m_reader.for_each_of_mine(look);
    return m_crew.smallest(mine);
  }

  struct Taken {
    std::int64_t below, below_middle;  ///< pixels below these bounds
    std::int64_t count;                ///< from `low` on and below `high`
    const T* sorted;                   ///< these; null: they do not fit the list
  };
  /// The pixels from `low` on and below `high` in order. `low`, `middle` and `high` are all within
  /// the window, or all beyond one side of it.
  [[nodiscard]] KOKKOS_FUNCTION Taken take(T low, T high, T middle) const {
    std::uint32_t below = 0, below_middle = 0;
    int mine = 0;
    const bool listed = m_has_window && low >= m_window.low && high <= m_window.high;
    look_for_ranks(listed, [&](T x) {
      below += x < low ? 1 : 0;
      below_middle += x < middle ? 1 : 0;
      mine += ((x >= low) & (x < high)) ? 1 : 0;
    });
    const std::uint64_t both = m_crew.sum(below | std::uint64_t{below_middle} << 32);
    const std::int64_t before = listed ? m_window.below_low : 0;
    int count = 0;
    int at = m_crew.sum_before(mine, count);
    Taken taken{static_cast<std::int64_t>(both & 0xffffffffU) + before,
                static_cast<std::int64_t>(both >> 32) + before, count, nullptr};
    if (count > List::room) return taken;
    m_crew.barrier();  // the last list has been read
    look_for_ranks(listed, [&](T x) {
      if ((x >= low) & (x < high)) m_list.found[at++] = x;
    });
    m_crew.barrier();
    sort_few<List::room>(m_crew, m_list.found, count, m_list.sorted);
    m_crew.barrier();
    taken.sorted = m_list.sorted;
    return taken;
  }

 private:
  static constexpr int group = 4;  ///< pixels from one look at the room that is left to the next

  // ------------------------------------------------------------------------------------ guesses

  /// From a sample: the window of the medians, and a core that no clip will cut.
  KOKKOS_FUNCTION void guess(double kappa) {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    m_window = {-infinity, infinity, 0, 0};
    m_core = {infinity, -infinity};
    if (m_cell.pixels() <= List::room) return;
    std::uint32_t good = 0;
    for (int i = m_crew.rank(); i < List::room; i += m_crew.size()) {
      // Rows in turn, columns by the golden section.
      const auto across = static_cast<std::uint32_t>(i) * 2654435769U >> 16;
      const std::int64_t y = m_cell.y + i * m_cell.height / List::room;
      const std::int64_t x = m_cell.x + (across * m_cell.width >> 16);
      const T value = m_image.pixel(m_image.rows.row(y), y, x);
      m_list.found[i] = value == value ? value : infinity;
      good += value == value ? 1 : 0;
    }
    const int n = static_cast<int>(m_crew.sum(good));
    m_crew.barrier();
    sort_few<List::room>(m_crew, m_list.found, List::room, m_list.sorted);
    m_crew.barrier();
    if (n < 16) {
      m_window = {infinity, infinity, 0, 0};
      return;
    }
    const T* const sample = m_list.sorted;
    const double q1 = sample[n / 4], q3 = sample[n - 1 - n / 4];
    const double std = (q3 - q1) / 1.349;  // of a Gaussian
    const double middle = 0.5 * q1 + 0.5 * q3;
    const double near = 0.74 * kappa < 2.2 ? 0.74 * kappa : 2.2;
    m_core = {static_cast<T>(middle - near * std), static_cast<T>(middle + near * std)};
    if (!(std > 0)) m_core = {next_below(sample[n / 4]), next_above(sample[n / 4])};

    int cut_low = 0, cut_high = 0;
    while (cut_low < n / 4 && sample[cut_low] < middle - kappa * std) ++cut_low;
    while (cut_high < n / 4 && sample[n - 1 - cut_high] > middle + kappa * std) ++cut_high;
    const int shift = (cut_low - cut_high) / 2;
    // 2.2 standard errors of the sample, if there is room.
    const double share = 0.5 * m_rows * m_crew.size() / static_cast<double>(m_cell.pixels());
    double aside = 1.1 * Kokkos::sqrt(static_cast<double>(n));
    aside = aside < 0.5 * share * n ? aside : 0.5 * share * n;
    int low = n / 2 + (shift < 0 ? shift : 0) - static_cast<int>(aside);
    int high = n / 2 + (shift > 0 ? shift : 0) + static_cast<int>(aside) + 1;
    low = low < 0 ? 0 : low;
    high = high < n ? high : n - 1;
    // All that are equal, or none of them: of a few values the outermost may be too many.
    const int most = static_cast<int>(1.28 * share * n);
    while (low > 0 && sample[low - 1] == sample[low]) --low;
    while (high < n - 1 && sample[high + 1] == sample[high]) ++high;
    while (high - low >= most && sample[low] < sample[high]) {
      if (n / 2 - low > high - n / 2) {
        do ++low;
        while (sample[low] == sample[low - 1]);
      } else {
        do --high;
        while (sample[high] == sample[high + 1]);
      }
    }
    m_window.low = sample[low];
    m_window.high = next_above(sample[high]);
  }

  /// The pixels of the window or all.
  template <class Visit>
  KOKKOS_FUNCTION void look_for_ranks(bool listed, const Visit& visit) const {
    if (listed) {
      for_my_window(visit);
    } else {
      m_reader.for_each_of_mine(visit);
    }
  }

  [[nodiscard]] KOKKOS_FUNCTION static Interval<T> middle_half_of(const Interval<T>& limits) {
    const auto low = static_cast<double>(limits.low);
    const auto high = static_cast<double>(limits.high);
    return {static_cast<T>(0.75 * low + 0.25 * high), static_cast<T>(0.25 * low + 0.75 * high)};
  }
  /// Whether no pixel of the core is beyond the interval.
  [[nodiscard]] KOKKOS_FUNCTION bool has_core_of(const Interval<T>& interval) const {
    return m_has_tails && interval.low <= m_core.low && interval.high >= m_core.high;
  }

  // -------------------------------------------------------------------------------------- reads

  template <class Visit>
  KOKKOS_FUNCTION void for_my_window(const Visit& visit) const {
    KASTOR_UNROLL_BY_4
    for (int i = 0; i < m_in_window; ++i) visit(m_column[i * m_crew.size()]);
  }
  template <class Visit>
  KOKKOS_FUNCTION void for_my_tails(const Visit& visit) const {
    constexpr int batch = 4;
    KASTOR_KEEP_LOOP
    for (int i = m_first_tail; i < m_rows; i += batch) {
      T tail[batch];
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k)
        tail[k] = i + k < m_rows ? m_column[(i + k) * m_crew.size()]
                                 : Kokkos::Experimental::quiet_NaN_v<T>;
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) visit(tail[k]);
    }
  }

  template <bool Clean>
  [[nodiscard]] KOKKOS_FUNCTION CellRead<T> first_read() {
    CellRead<T> mine{Kokkos::Experimental::infinity_v<T>, -Kokkos::Experimental::infinity_v<T>};
    const T low = m_window.low, high = m_window.high;
    T blank = 0;
    int lost = 0;
    const int step = m_crew.size();
    const int begin = m_crew.rank();
    const int full = begin + (m_rows - group) * step;
    T* const columns = m_column - begin;
    int end = begin;  // of the window's column
    m_reader.template for_mine<Clean>([&](const auto& chunk) {
      KASTOR_UNROLL
      for (int i = 0; i < chunk.size; ++i) {
        if (i % group == 0) {
          const bool over = end > full;
          lost += over ? end - begin : 0;
          end = over ? begin : end;
        }
        const T x = chunk.pixel[i];
        if constexpr (Clean) {
          blank = Kokkos::fma(x, T{0}, blank);
        } else {
          mine.good += x == x ? 1 : 0;
        }
        mine.min = lesser(x, mine.min);
        mine.max = greater(x, mine.max);
        const bool below = x < low;
        mine.below += below ? 1 : 0;
        // Written in any case: that is less work than a branch.
        columns[end] = x;
        end += (!below & (x < high)) ? step : 0;
      }
    });
    if (end > full) {
      lost += end - begin;
      end = begin;
    }
    mine.inside = static_cast<std::uint32_t>((lost + end - begin) / step);
    mine.lost = lost > 0 ? 1 : 0;
    mine.blank = blank == 0 ? 0 : 1;
    m_in_window = (end - begin) / step;
    return m_crew.sum(mine);
  }

  template <bool Clean, bool All>
  [[nodiscard]] KOKKOS_FUNCTION CellSums sums_of(const Interval<T>& interval, const Grid& grid) {
    CellSums mine;
    const GridTerms<T> terms(grid);
    const auto centre = static_cast<T>(grid.centre);
    const Interval<T> core = m_core;
    const int step = m_crew.size();
    const int begin = m_crew.rank();
    const int full = begin + (m_in_window + group - 1) * step;
    const int last = begin + (m_rows - 1) * step;
    T* const columns = m_column - begin;
    int next_tail = last;
    m_reader.template for_mine<Clean>([&](const auto& chunk) {
      typename GridTerms<T>::Sums sums;
      KASTOR_UNROLL
      for (int i = 0; i < chunk.size; ++i) {
        T x = chunk.pixel[i];
        if constexpr (All) {
          if (i % group == 0) {
            const bool over = next_tail < full;
            mine.lost += over ? 1 : 0;
            next_tail = over ? last : next_tail;
          }
          columns[next_tail] = x;
          next_tail -= ((x <= core.low) | (x >= core.high)) ? step : 0;
          if constexpr (!Clean) {
            mine.inside += x == x ? 1 : 0;
            x = x == x ? x : centre;
          }
        } else {
          const bool in = interval.contains(x);
          mine.below += x <= interval.low ? 1 : 0;
          mine.inside += in ? 1 : 0;
          x = in ? x : centre;
        }
        terms.add(x, i, sums);
      }
      terms.flush(sums, chunk.size, mine.sum, mine.squares);
      if constexpr (All && Clean) mine.inside += chunk.size;
    });
    if constexpr (All) m_first_tail = (next_tail - begin) / step + 1;
    return m_crew.sum(mine);
  }

  [[nodiscard]] KOKKOS_FUNCTION static T lesser(T x, T than) {
    if constexpr (sizeof(T) == 4) return Kokkos::fmin(x, than);
    return x < than ? x : than;
  }
  [[nodiscard]] KOKKOS_FUNCTION static T greater(T x, T than) {
    if constexpr (sizeof(T) == 4) return Kokkos::fmax(x, than);
    return x > than ? x : than;
  }

  const Crew& m_crew;
  const CellImage<T>& m_image;
  const Cell& m_cell;
  CellReader<T> m_reader;
  List& m_list;
  T* m_column;  ///< of this thread: the window from its first row on, the tails from its last
  int m_rows;
  RankBracket<T> m_window;
  Interval<T> m_core;
  int m_in_window = 0;   ///< of this thread
  int m_first_tail = 0;  ///< of this thread
  std::int64_t m_good = 0;
  bool m_clean = false;
  bool m_has_window = false;
  bool m_has_tails = false, m_tried_tails = false;
};

}  // namespace kastor::detail

#endif
