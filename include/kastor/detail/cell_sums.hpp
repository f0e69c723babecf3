// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CELL_SUMS_HPP
#define KASTOR_DETAIL_CELL_SUMS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/fixed_point.hpp>

/// What the threads that read a DeviceCell add up.
namespace kastor::detail {

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
  /// The same of all lanes.
  template <class Lanes>
  requires(sizeof(T) == 4)  //
      KOKKOS_FUNCTION void join(const Lanes& of_lanes) {
    of_lanes.least(min);
    of_lanes.greatest(max);
    of_lanes.add(good);
    of_lanes.add(below);
    of_lanes.add(inside);
    of_lanes.add(lost);
    of_lanes.add(blank);
  }
};

/// Pixels below two thresholds.
struct CellCountsBelow {
  std::uint32_t low = 0, middle = 0;

  KOKKOS_FUNCTION CellCountsBelow& operator+=(const CellCountsBelow& other) {
    low += other.low;
    middle += other.middle;
    return *this;
  }
  template <class Lanes>
  KOKKOS_FUNCTION void join(const Lanes& of_lanes) {
    of_lanes.add(low);
    of_lanes.add(middle);
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
  /// The same of all lanes.
  template <class Lanes>
  KOKKOS_FUNCTION void join(const Lanes& of_lanes) {
    of_lanes.add(sum);
    of_lanes.add(squares);
    of_lanes.add(inside);
    of_lanes.add(below);
    of_lanes.add(lost);
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

/// The sums alone.
struct GridSums {
  std::int64_t sum = 0, squares = 0;

  KOKKOS_FUNCTION GridSums& operator+=(const GridSums& other) {
    sum += other.sum;
    squares += other.squares;
    return *this;
  }
  template <class Lanes>
  KOKKOS_FUNCTION void join(const Lanes& of_lanes) {
    of_lanes.add(sum);
    of_lanes.add(squares);
  }
};

/// What is left of `all` without these, of which `gone.below` were below the rest.
[[nodiscard]] KOKKOS_INLINE_FUNCTION IntervalSums without(const IntervalSums& all,
                                                          const CellSums& gone) {
  const IntervalSums taken = gone.wide();
  IntervalSums left = all;
  left.sum -= taken.sum;
  left.squares -= taken.squares;
  left.count -= taken.count;
  left.below += taken.below;
  return left;
}
[[nodiscard]] KOKKOS_INLINE_FUNCTION ShortSums without(const ShortSums& all, const CellSums& gone) {
  return {all.sum - gone.sum, all.squares - gone.squares, all.count - gone.inside,
          all.below + gone.below};
}

}  // namespace kastor::detail

template <class T>
struct Kokkos::reduction_identity<kastor::detail::CellRead<T>> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::CellRead<T> sum() {
    return {Kokkos::Experimental::infinity_v<T>, -Kokkos::Experimental::infinity_v<T>};
  }
};
template <>
struct Kokkos::reduction_identity<kastor::detail::CellCountsBelow> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::CellCountsBelow sum() { return {}; }
};
template <>
struct Kokkos::reduction_identity<kastor::detail::CellSums> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::CellSums sum() { return {}; }
};
template <>
struct Kokkos::reduction_identity<kastor::detail::GridSums> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::GridSums sum() { return {}; }
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
  /// So many of magnitude 1 at most, and the magic number on top, are less than 2^9: multiples of
  /// 2^-44 that are exact.
  static constexpr int most_terms = 128;
  Grid grid;

  KOKKOS_FUNCTION explicit GridTerms(const Grid& g) : grid(g) {}

  /// A chunk.
  template <int N>
  KOKKOS_FUNCTION void add(const T (&pixels)[N], Sums& sums) const {
    KASTOR_UNROLL
    for (int i = 0; i < N; ++i) {
      const double u = map(static_cast<double>(pixels[i]));
      if (i % 2 == 0) {
        sums.sum += grid_magic + u;
        sums.squares += grid_magic + u * u;
      } else {
        sums.sum -= grid_magic - u;
        sums.squares -= grid_magic - u * u;
      }
    }
    if constexpr (N % 2 == 1) {
      sums.sum -= grid_magic;
      sums.squares -= grid_magic;
    }
  }
  /// In steps of the grid.
  [[nodiscard]] KOKKOS_FUNCTION static std::int64_t in_steps(double sum) {
    return static_cast<std::int64_t>(sum * power_of_two(grid_bits));
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION double map(double x) const {
    // Scaling a float rounds nothing, so that one rounding is as good as two.
    if constexpr (sizeof(T) == 4) return Kokkos::fma(x, grid.scale, -grid.centre_scaled);
    return grid.map(x);
  }
};

/// The same for any number of chunks.
template <class T>
class GridTotals {
 public:
  KOKKOS_FUNCTION explicit GridTotals(const Grid& grid) : m_terms(grid) {}

  /// Some of it `to` the sums, the rest when they are flushed.
  template <int N>
  KOKKOS_FUNCTION void add(const T (&pixels)[N], CellSums& to) {
    if (m_terms_left < N) flush(to);
    m_terms.add(pixels, m_sums);
    m_terms_left -= N;
  }
  KOKKOS_FUNCTION void flush(CellSums& to) {
    to.sum += m_terms.in_steps(m_sums.sum);
    to.squares += m_terms.in_steps(m_sums.squares);
    m_sums = {};
    m_terms_left = GridTerms<T>::most_terms;
  }

 private:
  GridTerms<T> m_terms;
  typename GridTerms<T>::Sums m_sums;
  int m_terms_left = GridTerms<T>::most_terms;
};

/// Of the good pixels within an interval; all threads of the crew get it. `reader`: the thread's.
template <class Crew, class Reader, class T>
[[nodiscard]] KOKKOS_FUNCTION CellSums sums_within(const Crew& crew, Reader& reader,
                                                   const Interval<T>& interval, const Grid& grid) {
  CellSums mine;
  GridTotals<T> totals(grid);
  const auto centre = static_cast<T>(grid.centre);
  reader.template for_mine<false>([&](auto chunk) {
    KASTOR_UNROLL
    for (int i = 0; i < chunk.size; ++i) {
      T& x = chunk.pixel[i];
      const bool in = interval.contains(x);
      mine.below += x <= interval.low ? 1 : 0;
      mine.inside += in ? 1 : 0;
      x = in ? x : centre;
    }
    totals.add(chunk.pixel, mine);
  });
  totals.flush(mine);
  return crew.sum(mine);
}

}  // namespace kastor::detail

#endif
