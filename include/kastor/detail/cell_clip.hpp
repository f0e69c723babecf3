// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CELL_CLIP_HPP
#define KASTOR_DETAIL_CELL_CLIP_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/divisor.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/replay.hpp>

namespace kastor::detail {

/// The survivors of a clip.
struct CellStatistics {
  std::int64_t good = 0;  ///< pixels before the clip
  std::int64_t count = 0;
  double mean = 0, median = 0, std = 0;
};

/// Sums as real numbers: u = (x - centre) / 2^exponent.
struct CellMoments {
  double mean, variance;
  template <class Integer>
  KOKKOS_FUNCTION explicit CellMoments(const SumsOfInterval<Integer>& sums) {
    const Divisor n(sums.count);
    const double sum = to_double(sums.sum) * power_of_two(-grid_bits);
    const double squares = to_double(sums.squares) * power_of_two(-grid_bits);
    mean = n.quotient(sum);
    variance = n.quotient(squares - sum * mean);
  }
  /// So few units of the grid that a finer one is worth a try.
  [[nodiscard]] KOKKOS_FUNCTION bool are_coarse() const { return variance < power_of_two(-16); }

 private:
  [[nodiscard]] KOKKOS_FUNCTION static double to_double(const Int128& sum) {
    return sum.to_double();
  }
  [[nodiscard]] KOKKOS_FUNCTION static double to_double(std::int64_t sum) {
    return static_cast<double>(sum);
  }
};

/// Clips the pixels of a cell: the plain iteration, as `reread_clip`. The grid of the sums is made
/// from the median, smallest and largest of the survivors, and made anew when they have shrunk so
/// far that it has become coarse: how the sums are come by is left to the population.
template <class T, class Population>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION CellStatistics clip_cell(Population& pixels, double kappa,
                                                                   int max_passes) {
  CellStatistics now;
  Interval<T> interval;
  const Extent<T> all = pixels.extent();
  now.good = all.count;
  if (all.count == 0) return now;

  typename Population::Ranks ranks(pixels, all);
  Grid grid;
  decltype(pixels.sums(interval, grid)) sums;
  sums.count = all.count;
  for (int pass = 1;; ++pass) {
    const auto middle = ranks(sums.below + (sums.count - 1) / 2, sums.count % 2 == 0);
    const auto centre = static_cast<double>(middle.first);
    if (pass == 1) {
      grid = Grid(centre, static_cast<double>(all.min), static_cast<double>(all.max));
      sums = pixels.sums(interval, grid);
    }
    CellMoments moments(sums);
    bool all_equal = false;
    if (pass > 1 && moments.are_coarse()) {
      const Extremes<T> left = pixels.extremes(interval);
      const Grid finer(centre, static_cast<double>(left.min), static_cast<double>(left.max));
      all_equal = left.min == left.max;
      if (!all_equal && finer.exponent < grid.exponent) {
        grid = finer;
        sums = pixels.sums(interval, grid);
        moments = CellMoments(sums);
      }
    }
    now.count = sums.count;
    now.median = without_sign_of_zero(midpoint(centre, static_cast<double>(middle.second)));
    now.mean = all_equal ? now.median
                         : without_sign_of_zero(grid.centre +
                                                scale_by_power_of_two(moments.mean, grid.exponent));
    now.std = all_equal || !(moments.variance > 0)
                  ? 0.0
                  : scale_by_power_of_two(Kokkos::sqrt(moments.variance), grid.exponent);
    if (pass == max_passes) return now;

    const Interval<T> limits =
        interval_between<T>(now.median - kappa * now.std, now.median + kappa * now.std);
    const Interval<T> before = interval;
    interval.low = limits.low > interval.low ? limits.low : interval.low;
    interval.high = limits.high < interval.high ? limits.high : interval.high;
    if (!(interval.low < interval.high)) return now;
    sums = pixels.narrowed(sums, before, interval, grid);
    if (sums.count == now.count || sums.count == 0) return now;
  }
}

}  // namespace kastor::detail

#endif
