// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_DEVICE_CELL_HPP
#define KASTOR_DETAIL_DEVICE_CELL_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/ceiling_writer.hpp>
#include <kastor/detail/ceilings_of_cells.hpp>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/cell_reader.hpp>
#include <kastor/detail/cell_sample.hpp>
#include <kastor/detail/cell_sums.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/listed_ranks.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/scratch_cursor.hpp>
#include <kastor/detail/warp_crew.hpp>
#include <type_traits>

/// The pixels of a cell as a device's team sees them.
namespace kastor::detail {

inline constexpr std::int64_t most_pixels_of_a_team = (std::int64_t{1} << 18) - 1;

/// Answers as a StreamedCell does, of a cell of fewer than 2^18 pixels, with two reads of it. A
/// sample says where the medians will be, and beyond which limits a clip will cut: the first read
/// sets aside the pixels of a window around the medians, the second, which adds up, those of the
/// tails. Both are lists in the scratch memory, each thread with its own, so that nobody waits. All
/// later questions are about the lists; if a guess failed, the cell is read again.
template <class Crew, class T>
class DeviceCell {
 public:
  static constexpr int most_sorted_tails = 256;
  /// Pixels to be put in order.
  struct List {
    static constexpr int room = sizeof(T) == 4 ? 256 : 128;
    alignas(16) T pixels[room];
    T sample[CellSample<Crew, T>::size];
  };
  using Ring = typename CellReader<T>::Ring;
  using Ranks = ListedRanks<T, DeviceCell>;
  static constexpr int ranks_aside = 49;
  /// So that the list has room where pixels are denser than it seemed.
  static constexpr int ranks_ahead = sizeof(T) == 4 ? 144 : ranks_aside;

  static constexpr int least_rows = CellReader<T>::most_ahead;
  /// `columns`: `rows` for each thread, at least least_rows. `ceilings`: to be filled by `extent`;
  /// only a warp of floats may be asked for them.
  KOKKOS_FUNCTION DeviceCell(const Crew& crew, const CellImage<T>& image, const Cell& cell,
                             double kappa, List& list, T* columns, int rows, T* ring = nullptr,
                             const CeilingRoom<T>& ceilings = {})
      : m_crew(crew),
        m_image(image),
        m_cell(cell),
        m_reader(image, cell, crew.rank(), crew.size(), ring),
        m_list(list),
        m_column(columns + crew.rank()),
        m_rows(rows),
        m_ceilings(ceilings) {
    const CellSample<Crew, T> sample(crew, m_reader, image, cell);
    announce(crew, image, cell);
    m_reader.ask_early();
    guess(sample, kappa);
  }
  KOKKOS_FUNCTION ~DeviceCell() { m_reader.settle(); }
  DeviceCell(const DeviceCell&) = delete;
  DeviceCell& operator=(const DeviceCell&) = delete;

  /// Of all good pixels.
  [[nodiscard]] KOKKOS_FUNCTION Extent<T> extent() {
    m_clean = m_reader.may_be_clean();
    CellRead<T> all;
    KASTOR_KEEP_LOOP
    for (int reads = 0; reads < 2; ++reads) {
      if (m_clean) all = clean_read();
      m_clean = m_clean && all.blank == 0;
      if (m_clean) {
        all.good = static_cast<std::uint32_t>(m_cell.pixels());
      } else {
        all = first_read<false>();
      }
      m_window.below_low = all.below;
      m_window.below_high = all.below + all.inside;
      m_has_window = all.lost == 0;
      if (reads == 1 || !m_has_window || !move_window(all)) break;
    }
    if (!m_has_window) m_in_window = 0;
    if (m_ceilings.values != nullptr) lift_ceilings();
    if (m_clean) m_reader.ask_early();
    return {all.good, all.min, all.max};
  }
  /// Where the first median, and most likely the later ones, are.
  [[nodiscard]] KOKKOS_FUNCTION const RankBracket<T>& window() const { return m_window; }

  /// Says anew what no clip will cut, better than the sample did: from the median of `good` pixels
  /// and their density in the window.
  KOKKOS_FUNCTION void expect_limits(double kappa, double median, std::int64_t good) {
    if (!m_has_window || m_window.count() == 0) return;
    const double width = static_cast<double>(m_window.high) - static_cast<double>(m_window.low);
    const double std = width * static_cast<double>(good) /
                       (2.5066282746310002 * static_cast<double>(m_window.count()));
    const double near = expected_limit * kappa * std;
    // Of few different values, the window does not show the density.
    const double far = static_cast<double>(m_core.high) - static_cast<double>(m_core.low);
    if (2 * near < 0.8 * far) return;
    m_core = {static_cast<T>(median - near), static_cast<T>(median + near)};
  }

  struct Tails {
    std::uint32_t below = 0, above = 0;  ///< of the core
    std::uint32_t lost = 0;  ///< not 0: they cannot be put in order, or there is no core
    [[nodiscard]] KOKKOS_FUNCTION int all() const { return static_cast<int>(below + above); }
    KOKKOS_FUNCTION Tails& operator+=(const Tails& other) {
      below += other.below;
      above += other.above;
      lost += other.lost;
      return *this;
    }
    template <class Lanes>
    KOKKOS_FUNCTION void join(const Lanes& of_lanes) {
      of_lanes.add(below);
      of_lanes.add(above);
      of_lanes.add(lost);
    }
  };
  /// Once sums were asked for.
  [[nodiscard]] KOKKOS_FUNCTION Tails tails() const {
    Tails mine;
    for (int i = m_first_tail; i < m_rows; ++i)
      mine.below += m_column[i * m_crew.size()] <= m_core.low ? 1 : 0;
    mine.above = static_cast<std::uint32_t>(m_rows - m_first_tail) - mine.below;
    const bool has_core = m_core.low < m_core.high;
    const bool can_sort = m_first_tail * m_crew.size() >= most_sorted_tails;
    mine.lost = m_has_tails && has_core && can_sort ? 0 : 1;
    return m_crew.sum(mine);
  }
  /// At most most_sorted_tails, in order. The window is overwritten, the sorted list stays.
  KOKKOS_FUNCTION void sort_tails(T* sorted) {
    m_has_window = false;
    T* const found = m_column - m_crew.rank();
    int n = 0;
    int at = m_crew.sum_before(m_rows - m_first_tail, n);
    m_crew.barrier();  // the window has been read
    for (int i = m_first_tail; i < m_rows; ++i) found[at++] = m_column[i * m_crew.size()];
    m_crew.barrier();
    sort_most<64, most_sorted_tails>(m_crew, found, n, sorted);
  }
  [[nodiscard]] KOKKOS_FUNCTION const Interval<T>& core() const { return m_core; }

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
    if (m_tried_tails) return sums_within(m_crew, m_reader, interval, grid).wide();
    m_tried_tails = true;
    const CellSums sums = m_clean ? sums_of_all<true>(grid) : sums_of_all<false>(grid);
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
    return without(all, out);
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
    std::int64_t below, below_middle;  ///< pixels below these bounds; the second may be needless
    std::int64_t count;                ///< from `low` on and below `high`
    const T* sorted;                   ///< these; null: they do not fit the list
  };
  /// The pixels from `low` on and below `high` in order. `low`, `middle` and `high` are all within
  /// the window, or all beyond one side of it.
  [[nodiscard]] KOKKOS_FUNCTION Taken take(T low, T high, T middle, bool needs_middle) const {
    const bool listed = m_has_window && low >= m_window.low && high <= m_window.high;
    if (listed && !needs_middle && !m_tried_tails) {
      const Taken taken = take_at_once(low, high);
      if (taken.sorted != nullptr) return taken;
    }
    int below = 0, below_middle = 0, mine = 0;
    look_for_ranks(listed, [&](T x) {
      const bool is_below = x < low;
      add_if(is_below, 1, below);
      add_if(x < middle, 1, below_middle);
      add_if(!is_below & (x < high), 1, mine);
    });
    const CellCountsBelow all = m_crew.sum(CellCountsBelow{
        static_cast<std::uint32_t>(below), static_cast<std::uint32_t>(below_middle)});
    const std::int64_t before = listed ? m_window.below_low : 0;
    int count = 0;
    int at = m_crew.sum_before(mine, count);
    Taken taken{all.low + before, all.middle + before, count, nullptr};
    if (count > List::room) return taken;
    m_crew.barrier();  // the last list has been read
    look_for_ranks(listed, [&](T x) {
      if ((x >= low) & (x < high)) m_list.pixels[at++] = x;
    });
    m_crew.barrier();
    sort_most<128, List::room>(m_crew, m_list.pixels, count, m_list.pixels);
    m_crew.barrier();
    taken.sorted = m_list.pixels;
    return taken;
  }

 private:
  /// Of the clip's limits, what a normal distribution leaves of them with some room for chance.
  static constexpr double expected_limit = 5.0 / 6.0;

  // ------------------------------------------------------------------------------------ guesses

  /// From a sample: the window of the medians, and a core that no clip will cut.
  KOKKOS_FUNCTION void guess(const CellSample<Crew, T>& pixels, double kappa) {
    constexpr int size = CellSample<Crew, T>::size;
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    m_window = {-infinity, infinity, 0, 0};
    m_core = {infinity, -infinity};
    if (m_cell.pixels() <= size) return;
    std::uint32_t good = 0;
    pixels.for_mine(m_crew, m_image, m_cell, [&](int i, T value) {
      m_list.pixels[i] = value == value ? value : infinity;
      good += value == value ? 1 : 0;
    });
    const int n = static_cast<int>(m_crew.sum(good));
    m_crew.barrier();
    sort_few<size>(m_crew, m_list.pixels, size, m_list.sample);
    m_crew.barrier();
    if (n < 16) {
      m_window = {infinity, infinity, 0, 0};
      return;
    }
    m_sample_size = n;
    const T* const sample = m_list.sample;
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
    // 1.9 standard errors of the sample, if there is room.
    const double share = 0.5 * m_rows * m_crew.size() / static_cast<double>(m_cell.pixels());
    double aside = 0.95 * Kokkos::sqrt(static_cast<double>(n));
    aside = aside < 0.5 * share * n ? aside : 0.5 * share * n;
    m_aside = static_cast<int>(aside);
    m_most_in_window = static_cast<int>(1.28 * share * n);
    set_window(n / 2 + (shift < 0 ? shift : 0) - m_aside,
               n / 2 + (shift > 0 ? shift : 0) + m_aside + 1);
  }

  /// From one place of the sample to another.
  KOKKOS_FUNCTION void set_window(int low, int high) {
    const T* const sample = m_list.sample;
    const int n = m_sample_size;
    const int most = m_most_in_window;
    low = low < 0 ? 0 : low;
    high = high < n ? high : n - 1;
    // All that are equal, or none of them: of a few values the outermost may be too many.
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
    m_low_place = low;
    m_high_place = high;
  }

  /// Whether the median is too near an end of the window or beyond it, and may be in another one:
  /// the read tells the true ranks of two places of the sample.
  [[nodiscard]] KOKKOS_FUNCTION bool move_window(const CellRead<T>& all) {
    if (m_sample_size == 0 || all.good == 0) return false;
    const auto good = static_cast<int>(all.good), below = static_cast<int>(all.below);
    const auto inside = static_cast<int>(all.inside);
    const int above = good - below - inside;
    const int rank = (good - 1) / 2;
    const int aside = inside / 4 < ranks_aside ? inside / 4 : ranks_aside;
    int place = 0;
    if (rank < below + aside && below > 0) {
      place = static_cast<int>(std::int64_t{m_low_place} * rank / below);
    } else if (rank >= below + inside - aside && above > 0) {
      const int places = m_sample_size - 1 - m_high_place;
      place =
          m_sample_size - 1 - static_cast<int>(std::int64_t{places} * (good - 1 - rank) / above);
    } else {
      return false;
    }
    // Where the sample is not like the cell, it leads anywhere.
    place = place < 0 ? 0 : (place < m_sample_size ? place : m_sample_size - 1);
    set_window(place - m_aside, place + m_aside + 1);
    return true;
  }

  /// Of the window, with one look at it: the thread's are set aside behind it, and `below_middle`
  /// is not counted. Nothing is taken if some do not fit there.
  [[nodiscard]] KOKKOS_FUNCTION Taken take_at_once(T low, T high) const {
    constexpr int batch = 4;
    const int step = m_crew.size();
    // So that all batches are full.
    KASTOR_UNROLL
    for (int k = 0; k < batch; ++k)
      m_column[(m_in_window + k) * step] = Kokkos::Experimental::infinity_v<T>;
    const ScratchCursor<T> last(m_column + (m_rows - 1) * step);
    const ScratchCursor<T> full(m_column + (m_in_window + 2 * batch - 1) * step);
    ScratchCursor<T> next = last;
    int below = 0, lost = 0;
    KASTOR_KEEP_LOOP
    for (int i = 0; i < m_in_window; i += batch) {
      const bool over = full.is_beyond(next);
      lost = over ? 1 : lost;
      next = over ? last : next;
      T pixel[batch];
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) pixel[k] = m_column[(i + k) * step];
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) {
        const bool is_below = pixel[k] < low;
        add_if(is_below, 1, below);
        next.put(pixel[k]);
        next.step_if(!is_below & (pixel[k] < high), -step);
      }
    }
    const CellCountsBelow all = m_crew.sum(
        CellCountsBelow{static_cast<std::uint32_t>(below), static_cast<std::uint32_t>(lost)});
    const int mine = last.from(next) / step;
    int count = 0;
    int at = m_crew.sum_before(mine, count);
    if (all.middle != 0 || count > List::room) return {0, 0, 0, nullptr};
    m_crew.barrier();  // the last list has been read
    for (int i = 0; i < mine; ++i) m_list.pixels[at++] = m_column[(m_rows - 1 - i) * step];
    m_crew.barrier();
    sort_most<128, List::room>(m_crew, m_list.pixels, count, m_list.pixels);
    m_crew.barrier();
    return {all.low + m_window.below_low, 0, count, m_list.pixels};
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

  [[nodiscard]] KOKKOS_FUNCTION CellRead<T> clean_read() {
    constexpr bool is_warp = requires { requires Crew::least_size == lanes; };
    if constexpr (is_warp && sizeof(T) == 4) {
      if (m_ceilings.values != nullptr && m_reader.has_ceilings()) return first_read<true, true>();
    }
    return first_read<true>();
  }
  template <bool Clean, bool Ceilings = false>
  [[nodiscard]] KOKKOS_FUNCTION CellRead<T> first_read() {
    CellRead<T> mine{Kokkos::Experimental::infinity_v<T>, -Kokkos::Experimental::infinity_v<T>};
    const T low = m_window.low, high = m_window.high;
    T blank = 0;
    int below = 0, lost = 0;
    const int step = m_crew.size();
    const ScratchCursor<T> begin(m_column);
    const ScratchCursor<T> full(m_column + (m_rows - CellReader<T>::most_ahead) * step);
    ScratchCursor<T> end = begin;  // of the window's column
    static_assert(!Ceilings || List::room >= ceiling_groups * lanes);
    using Writer = std::conditional_t<Ceilings, CeilingWriter<Crew, T>, NoCeilings>;
    Writer ceilings(m_crew, m_ceilings, m_list.pixels);
    const auto look = [&](const auto& chunk) {
      if (end.is_beyond(full)) {
        lost += end.from(begin);
        end = begin;
      }
      T largest = chunk.pixel[0];
      KASTOR_UNROLL
      for (int i = 0; i < chunk.size; ++i) {
        const T x = chunk.pixel[i];
        if constexpr (!Clean) mine.good += x == x ? 1 : 0;
        if constexpr (Clean && sizeof(T) == 4) {
          mine.min = lesser_or_nan(x, mine.min);
          if constexpr (!Ceilings) mine.max = greater_or_nan(x, mine.max);
        } else {
          if constexpr (Clean) blank = Kokkos::fma(x, T{0}, blank);
          mine.min = lesser(x, mine.min);
          mine.max = greater(x, mine.max);
        }
        if constexpr (Ceilings) largest = greater_or_nan(x, largest);
        const bool is_below = x < low;
        add_if(is_below, 1, below);
        // Written in any case: that is less work than a branch.
        end.put(x);
        end.step_if(!is_below & (x < high), step);
      }
      using Chunk = std::remove_cvref_t<decltype(chunk)>;
      if constexpr (Ceilings && Chunk::size == CellReader<T>::most_ahead) {
        mine.max = greater_or_nan(largest, mine.max);
        ceilings.take(largest);
      }
    };
    if constexpr (Ceilings) {
      m_reader.for_mine_with_ceilings(look);
    } else {
      m_reader.template for_mine<Clean>(look);
    }
    if (end.is_beyond(full)) {
      lost += end.from(begin);
      end = begin;
    }
    m_in_window = end.from(begin) / step;
    mine.below = static_cast<std::uint32_t>(below);
    mine.inside = static_cast<std::uint32_t>(lost / step + m_in_window);
    mine.lost = lost > 0 ? 1 : 0;
    const bool is_finite = mine.min > -Kokkos::Experimental::infinity_v<T> &&
                           mine.max < Kokkos::Experimental::infinity_v<T>;
    const bool has_blank = blank != 0 || (Clean && !is_finite);
    mine.blank = has_blank ? 1 : 0;
    return m_crew.sum(mine);
  }

  /// Of pixels that may be blank, or were not read in step.
  KOKKOS_FUNCTION void lift_ceilings() const {
    if (m_clean && m_reader.has_ceilings()) return;
    m_crew.barrier();  // others may have written them
    const auto fours = static_cast<int>((m_cell.height + ceiling_rows - 1) / ceiling_rows);
    for (int i = m_crew.rank(); i < fours * ceilings_of_rows; i += m_crew.size())
      m_ceilings.values[i / ceilings_of_rows * m_ceilings.stride + i % ceilings_of_rows] =
          Kokkos::Experimental::infinity_v<T>;
  }

  /// Of all good pixels; sets the tails aside.
  template <bool Clean>
  [[nodiscard]] KOKKOS_FUNCTION CellSums sums_of_all(const Grid& grid) {
    CellSums mine;
    GridTotals<T> totals(grid);
    const auto centre = static_cast<T>(grid.centre);
    const Interval<T> core = m_core;
    const int step = m_crew.size();
    const ScratchCursor<T> full(m_column + (m_in_window + CellReader<T>::most_ahead - 1) * step);
    const ScratchCursor<T> last(m_column + (m_rows - 1) * step);
    ScratchCursor<T> next_tail = last;
    m_reader.template for_mine<Clean>([&](auto chunk) {
      const bool over = full.is_beyond(next_tail);
      mine.lost += over ? 1 : 0;
      next_tail = over ? last : next_tail;
      KASTOR_UNROLL
      for (int i = 0; i < chunk.size; ++i) {
        T& x = chunk.pixel[i];
        next_tail.put(x);
        next_tail.step_if((x <= core.low) | (x >= core.high), -step);
        if constexpr (!Clean) {
          mine.inside += x == x ? 1 : 0;
          x = x == x ? x : centre;
        }
      }
      totals.add(chunk.pixel, mine);
      if constexpr (Clean) mine.inside += chunk.size;
    });
    totals.flush(mine);
    m_first_tail = m_rows + next_tail.from(last) / step;
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
  CeilingRoom<T> m_ceilings;
  RankBracket<T> m_window;
  Interval<T> m_core;
  int m_in_window = 0;   ///< of this thread
  int m_first_tail = 0;  ///< of this thread
  int m_sample_size = 0;
  int m_aside = 0, m_most_in_window = 0;  ///< places of the sample
  int m_low_place = 0, m_high_place = 0;  ///< of the window in the sample
  bool m_clean = false;
  bool m_has_window = false;
  bool m_has_tails = false, m_tried_tails = false;
};

}  // namespace kastor::detail

#endif
