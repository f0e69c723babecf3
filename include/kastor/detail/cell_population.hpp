// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CELL_POPULATION_HPP
#define KASTOR_DETAIL_CELL_POPULATION_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/moments.hpp>

/// What a clip asks of the pixels of a cell. Every answer is order-free.
namespace kastor::detail {

/// Of an interval's pixels, on a grid.
struct IntervalSums {
  Int128 sum, squares;
  std::int64_t count = 0;
  std::int64_t below = 0;  ///< good pixels below the interval

  KOKKOS_FUNCTION IntervalSums& operator+=(const IntervalSums& other) {
    sum += other.sum;
    squares += other.squares;
    count += other.count;
    below += other.below;
    return *this;
  }
};

/// How many pixels are smaller than each of some thresholds.
struct CountsBelow {
  static constexpr int thresholds = 3;
  std::int64_t of[thresholds] = {};

  KOKKOS_FUNCTION CountsBelow& operator+=(const CountsBelow& other) {
    for (int i = 0; i < thresholds; ++i) of[i] += other.of[i];
    return *this;
  }
};

/// IntervalSums of less than 2^18 pixels.
struct SmallSums {
  std::uint64_t sum = 0, squares = 0;  ///< biased once for every pixel inside
  std::uint64_t counts = 0;            ///< inside, and 2^32 times below

  KOKKOS_FUNCTION SmallSums& operator+=(const SmallSums& other) {
    sum += other.sum;
    squares += other.squares;
    counts += other.counts;
    return *this;
  }
  [[nodiscard]] KOKKOS_FUNCTION IntervalSums wide() const {
    IntervalSums sums;
    sums.count = static_cast<std::int64_t>(counts & 0xffffffffU);
    sums.below = static_cast<std::int64_t>(counts >> 32);
    sums.sum.add(unbias(sum, sums.count));
    sums.squares.add(unbias(squares, sums.count));
    return sums;
  }
};

/// Pixels set aside to be put in order.
template <class T>
struct SmallList {
  static constexpr int room = 128;
  static constexpr int sample = 64;
  T found[room + 64];  ///< vectors may be written in whole
  T sorted[room];
  int count;
};

}  // namespace kastor::detail

template <>
struct Kokkos::reduction_identity<kastor::detail::IntervalSums> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::IntervalSums sum() { return {}; }
};
template <>
struct Kokkos::reduction_identity<kastor::detail::SmallSums> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::SmallSums sum() { return {}; }
};
template <>
struct Kokkos::reduction_identity<kastor::detail::CountsBelow> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::CountsBelow sum() { return {}; }
};
template <class T>
struct Kokkos::reduction_identity<kastor::detail::Extent<T>> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::Extent<T> sum() {
    return {0, Kokkos::Experimental::infinity_v<T>, -Kokkos::Experimental::infinity_v<T>};
  }
};

namespace kastor::detail {

/// The pixels of a cell as a crew sees them; `Held` is a StreamedCell or a HeldCell. All threads
/// ask the same and get the same answer.
template <class Crew, class Held, class T>
class CellPopulation {
 public:
  using List = SmallList<T>;

  KOKKOS_FUNCTION CellPopulation(const Crew& crew, Held& held, const CellImage<T>& image,
                                 const Cell& cell, List& list)
      : m_crew(crew), m_held(held), m_image(image), m_cell(cell), m_list(list) {}

  /// Of all good pixels.
  [[nodiscard]] KOKKOS_FUNCTION Extent<T> extent() const {
    if constexpr (Held::is_small) return m_crew.sum(m_held.extent());
    return extent(Interval<T>{});
  }
  [[nodiscard]] KOKKOS_FUNCTION Extent<T> extent(const Interval<T>& interval) const {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    Extent<T> mine{0, infinity, -infinity};
    m_held.for_mine([&](T x) {
      const bool in = interval.contains(x);
      mine.count += in ? 1 : 0;
      mine.min = (in & (x < mine.min)) ? x : mine.min;
      mine.max = (in & (x > mine.max)) ? x : mine.max;
    });
    return m_crew.sum(mine);
  }

  [[nodiscard]] KOKKOS_FUNCTION IntervalSums sums(const Interval<T>& interval,
                                                  const Grid& grid) const {
    if constexpr (Held::is_small) return small_sums(interval, grid);
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
    m_held.for_mine([&](T x) {
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

  /// Those of `to`, which lies within `from`, whose sums are `all`. What leaves is few: sums of
  /// integers lose nothing when it is taken off.
  [[nodiscard]] KOKKOS_FUNCTION IntervalSums narrowed(const IntervalSums& all,
                                                      const Interval<T>& from,
                                                      const Interval<T>& to, const Grid& grid) {
    if constexpr (!Held::is_small) return sums(to, grid);
    if constexpr (Held::is_small) keep_core(to);
    SmallSums gone;
    const auto look = [&](T x) {
      const bool below = (x > from.low) & (x <= to.low);
      const bool above = (x < from.high) & (x >= to.high);
      if (!(below | above)) return;
      const double u = grid.map(static_cast<double>(x));
      gone.sum += to_grid_biased(u);
      gone.squares += to_grid_biased(u * u);
      gone.counts += 1 | std::uint64_t{below} << 32;
    };
    if constexpr (Held::is_small) {
      if (to.low <= m_core.low && to.high >= m_core.high) {
        m_held.for_my_tails(look);
      } else {
        m_held.for_mine(look);
      }
    }
    const IntervalSums out = m_crew.sum(gone).wide();
    IntervalSums left = all;
    left.sum -= out.sum;
    left.squares -= out.squares;
    left.count -= out.count;
    left.below += out.below;
    return left;
  }

  [[nodiscard]] KOKKOS_FUNCTION CountsBelow
  count_below(const T (&threshold)[CountsBelow::thresholds]) const {
    if constexpr (Held::is_small) return small_counts(threshold);
    CountsBelow mine;
    m_held.for_mine([&](T x) {
      for (int i = 0; i < CountsBelow::thresholds; ++i) mine.of[i] += x < threshold[i] ? 1 : 0;
    });
    return m_crew.sum(mine);
  }

  /// The smallest pixel that is not below the bound.
  [[nodiscard]] KOKKOS_FUNCTION T smallest_from(T bound) const {
    T mine = Kokkos::Experimental::infinity_v<T>;
    m_held.for_mine([&](T x) { mine = ((x >= bound) & (x < mine)) ? x : mine; });
    return m_crew.smallest(mine);
  }

  /// The pixels from `low` on and below `high` in order: they must fit the list.
  [[nodiscard]] KOKKOS_FUNCTION const T* sorted_between(T low, T high) const {
    begin_list();
    m_held.for_mine([&](T x) {
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
  /// The middle half of the first limits: later ones hardly come so near.
  KOKKOS_FUNCTION void keep_core(const Interval<T>& limits) {
    if (m_has_core) return;
    m_has_core = true;
    const auto low = static_cast<double>(limits.low);
    const auto high = static_cast<double>(limits.high);
    m_core = {static_cast<T>(0.75 * low + 0.25 * high), static_cast<T>(0.25 * low + 0.75 * high)};
    m_held.set_core(m_core);
  }

  [[nodiscard]] KOKKOS_FUNCTION IntervalSums small_sums(const Interval<T>& interval,
                                                        const Grid& grid) const {
    SmallSums mine;
    std::uint32_t inside = 0, below = 0;
    m_held.for_mine([&](T x) {
      const bool in = interval.contains(x);
      const double u = in ? grid.map(static_cast<double>(x)) : 0.0;
      below += x <= interval.low ? 1 : 0;
      inside += in ? 1 : 0;
      mine.sum += in ? to_grid_biased(u) : 0;
      mine.squares += in ? to_grid_biased(u * u) : 0;
    });
    mine.counts = inside | std::uint64_t{below} << 32;
    return m_crew.sum(mine).wide();
  }

  /// Three counts in one number.
  [[nodiscard]] KOKKOS_FUNCTION CountsBelow
  small_counts(const T (&threshold)[CountsBelow::thresholds]) const {
    constexpr int bits = 21;
    static_assert(CountsBelow::thresholds * bits <= 64);
    std::uint32_t mine[CountsBelow::thresholds] = {};
    m_held.for_mine([&](T x) {
      KASTOR_UNROLL
      for (int i = 0; i < CountsBelow::thresholds; ++i) mine[i] += x < threshold[i] ? 1 : 0;
    });
    std::uint64_t all = 0;
    KASTOR_UNROLL
    for (int i = 0; i < CountsBelow::thresholds; ++i) all |= std::uint64_t{mine[i]} << (bits * i);
    all = m_crew.sum(all);
    CountsBelow counts;
    KASTOR_UNROLL
    for (int i = 0; i < CountsBelow::thresholds; ++i)
      counts.of[i] = static_cast<std::int64_t>(all >> (bits * i) & ((1U << bits) - 1));
    return counts;
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
  Held& m_held;
  const CellImage<T>& m_image;
  const Cell& m_cell;
  List& m_list;
  Interval<T> m_core{};
  bool m_has_core = false;
};

}  // namespace kastor::detail

#endif
