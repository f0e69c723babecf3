// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_CELL_CLIP_HPP
#define KASTOR_BACKGROUND_CELL_CLIP_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "background/cell_passes.hpp"
#include "background/cell_ranks.hpp"
#include "core/fixed_point.hpp"
#include "core/group.hpp"
#include "core/interval.hpp"

namespace kastor::detail {

/// Statistics of the survivors of a clip.
struct CellStatistics {
  std::int64_t good = 0;  ///< number of pixels before the clip
  std::int64_t count = 0;
  double mean = 0, median = 0, std = 0;
};

/// Mean and variance in grid coordinates: of u = (x - centre) / 2^exponent.
struct GridMoments {
  double mean, variance;

  KOKKOS_FUNCTION explicit GridMoments(const GridSums& sums) {
    const auto n = static_cast<double>(sums.count);
    const double sum = sums.sum.to_double() * core::power_of_two(-core::grid_bits);
    const double squares = sums.squares.to_double() * core::power_of_two(-core::grid_bits);
    mean = sum / n;
    variance = (squares - sum * mean) / n;
  }
  /// Whether the variance is so few grid steps that a finer grid is worth trying.
  [[nodiscard]] KOKKOS_FUNCTION bool are_coarse() const {
    return variance < core::power_of_two(-16);
  }
};

/// Sums over the pixels that a narrower interval leaves out. The pixels outside a core, which the
/// next passes are not likely to cut, are kept in a list; most passes look only at this list.
template <class Exec, class Source>
class LeavingPixels {
 public:
  using T = typename Source::Pixel;
  using List = PixelList<T, 256>;

  KOKKOS_FUNCTION LeavingPixels(const core::Group<Exec>& group, const Source& pixels, List& list)
      : m_group(group), m_pixels(pixels), m_list(list) {}

  /// The sums over the pixels in `outer` but not in `inner`; `inner` contains the median.
  [[nodiscard]] KOKKOS_FUNCTION GridSums sums(const core::Interval<T>& outer,
                                              const core::Interval<T>& inner, double median,
                                              const core::Grid& grid) {
    if (!(m_is_listed && inner.low <= m_core.low && inner.high >= m_core.high)) {
      m_core = core_of(inner, median);
      m_is_listed = take_outside(m_group, m_pixels, m_core, m_list);
    }
    if (!m_is_listed) return sums_between(m_group, m_pixels, outer, inner, grid);
    const ScratchPixels<Exec, T> listed(m_group, m_list.pixels, m_list.count);
    m_group.barrier();
    return sums_between(m_group, listed, outer, inner, grid);
  }

 private:
  /// An interval around the median that is a quarter narrower than the bounds. If it is not within
  /// `inner`, returns `inner`.
  [[nodiscard]] KOKKOS_FUNCTION static core::Interval<T> core_of(const core::Interval<T>& inner,
                                                                 double median) {
    const double below = median - static_cast<double>(inner.low);
    const double above = static_cast<double>(inner.high) - median;
    const double half = 0.75 * (below < above ? below : above);
    const core::Interval<T> core{static_cast<T>(median - half), static_cast<T>(median + half)};
    return core.low >= inner.low && core.high <= inner.high ? core : inner;
  }

  const core::Group<Exec>& m_group;
  const Source& m_pixels;
  List& m_list;
  core::Interval<T> m_core;
  bool m_is_listed = false;
};

/// Scratch memory of the group.
template <class Exec, class Source>
struct CellScratch {
  typename RankFinder<Exec, Source>::Scratch ranks;
  typename LeavingPixels<Exec, Source>::List leaving;
};

/// Clips the pixels of a cell: the plain kappa-sigma iteration around the median. Sums are integers
/// on a grid that is derived from the median, minimum and maximum of the pixels. It is derived anew
/// when the survivors have shrunk so much that it is coarse. So the result does not depend on the
/// order of the pixels. All threads of the group must call it; all get the result.
/// \param all the extent of the good pixels
template <class Exec, class Source, class T>
[[nodiscard]] KOKKOS_FUNCTION CellStatistics clip_cell(const core::Group<Exec>& group,
                                                       const Source& pixels,
                                                       const core::MinMaxCount<T>& all,
                                                       double kappa, int max_passes,
                                                       CellScratch<Exec, Source>& scratch) {
  CellStatistics now;
  now.good = all.count;
  if (all.count == 0) return now;

  RankFinder<Exec, Source> pixel_of_rank(group, pixels, all, scratch.ranks);
  LeavingPixels<Exec, Source> leaving(group, pixels, scratch.leaving);
  core::Interval<T> interval;
  core::Grid grid;
  GridSums sums;
  sums.count = all.count;
  const auto sum_up = [&](double centre, double min, double max) {
    grid = core::Grid(centre, min, max);
    const GridSums anew = sums_within(group, pixels, interval, grid);
    sums.sum = anew.sum;
    sums.squares = anew.squares;
  };
  for (int pass = 1;; ++pass) {
    const auto middle = pixel_of_rank(sums.below + (sums.count - 1) / 2, sums.count % 2 == 0);
    const auto centre = static_cast<double>(middle.first);
    if (pass == 1) sum_up(centre, static_cast<double>(all.min), static_cast<double>(all.max));
    GridMoments moments(sums);
    bool all_equal = false;
    if (pass > 1 && moments.are_coarse()) {
      const core::MinMaxCount<T> left = extent_of(group, pixels, interval);
      const auto min = static_cast<double>(left.min), max = static_cast<double>(left.max);
      all_equal = min == max;
      if (!all_equal && core::Grid(centre, min, max).exponent < grid.exponent) {
        sum_up(centre, min, max);
        moments = GridMoments(sums);
      }
    }
    now.count = sums.count;
    now.median =
        core::without_sign_of_zero(core::midpoint(centre, static_cast<double>(middle.second)));
    now.mean = all_equal
                   ? now.median
                   : core::without_sign_of_zero(
                         grid.centre + core::scale_by_power_of_two(moments.mean, grid.exponent));
    now.std = all_equal || !(moments.variance > 0)
                  ? 0.0
                  : core::scale_by_power_of_two(Kokkos::sqrt(moments.variance), grid.exponent);
    if (pass == max_passes) return now;

    const auto limits =
        core::interval_between<T>(now.median - kappa * now.std, now.median + kappa * now.std);
    const core::Interval<T> before = interval;
    interval.low = limits.low > interval.low ? limits.low : interval.low;
    interval.high = limits.high < interval.high ? limits.high : interval.high;
    if (!(interval.low < interval.high)) return now;
    const GridSums gone = leaving.sums(before, interval, now.median, grid);
    sums.sum -= gone.sum;
    sums.squares -= gone.squares;
    sums.count -= gone.count;
    sums.below += gone.below;
    if (sums.count == now.count || sums.count == 0) return now;
  }
}

}  // namespace kastor::detail

#endif
