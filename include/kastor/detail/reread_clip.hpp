// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_REREAD_CLIP_HPP
#define KASTOR_DETAIL_REREAD_CLIP_HPP

#include <cstdint>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/replay.hpp>
#include <kastor/detail/select.hpp>
#include <kastor/sigma_clip.hpp>
#include <kastor/statistics.hpp>

/// The clip that reads the image for every question: for small images, and for those that defy a
/// prediction.
namespace kastor::detail {

template <class Exec, class T>
class RereadPopulation {
 public:
  RereadPopulation(const Exec& space, Bands<T, Exec> bands, RankSelector<Exec, T>& selector)
      : m_space(space), m_bands(bands), m_selector(selector) {}

  [[nodiscard]] std::int64_t count_inside(const Interval<T>& interval) {
    m_interval = interval;
    m_extent = reduce_bands<Exec, T>("kastor::sigma_clip::extent", m_space, m_bands,
                                     ExtentOf<T>{interval});
    return m_extent.count;
  }

  [[nodiscard]] Statistics statistics() {
    const std::int64_t n = m_extent.count;
    const auto [a, b] = m_selector(m_bands, m_interval, (n - 1) / 2, n % 2 == 0);
    Statistics s;
    s.count = n;
    s.min = without_sign_of_zero(static_cast<double>(m_extent.min));
    s.max = without_sign_of_zero(static_cast<double>(m_extent.max));
    s.median = without_sign_of_zero(midpoint(static_cast<double>(a), static_cast<double>(b)));
    // A pixel as the centre: its distances to the others are exact more often than those of the
    // median.
    const Grid grid(static_cast<double>(a), s.min, s.max);
    const CentredSums sums(reduce_bands<Exec, T>("kastor::sigma_clip::moments", m_space, m_bands,
                                                 MomentsOf<T>{m_interval, grid}),
                           grid);
    s.mean = without_sign_of_zero(sums.mean(grid.centre));
    s.std = sums.std();
    return s;
  }

 private:
  Exec m_space;
  Bands<T, Exec> m_bands;
  RankSelector<Exec, T>& m_selector;
  Interval<T> m_interval;
  Extent<T> m_extent;
};

/// The plain iteration. Fences. Leaves blank = pixels if no pixel is finite.
template <class Exec, class T>
void reread_clip(const Exec& space, Bands<T, Exec> bands, RankSelector<Exec, T>& selector,
                 const SigmaClipParams& params, SigmaClipResult& result) {
  RereadPopulation<Exec, T> population(space, bands, selector);
  Interval<T> interval;
  std::int64_t count = population.count_inside(interval);
  result.blank = result.pixels - count;
  result.passes = 0;
  result.converged = result.degenerate = false;
  if (count == 0) return;
  while (true) {
    const Statistics now = population.statistics();
    ++result.passes;
    if (result.passes == 1) result.all = now;
    result.clipped = now;
    const Interval<T> limits = interval_between<T>(now.median - params.kappa * now.std,
                                                   now.median + params.kappa * now.std);
    interval = {std::max(interval.low, limits.low), std::min(interval.high, limits.high)};
    if (!(interval.low < interval.high)) {
      result.degenerate = true;
      return;
    }
    count = population.count_inside(interval);
    result.degenerate = count == 0;
    result.converged = count == now.count;
    if (result.degenerate || result.converged || result.passes == params.max_passes) return;
  }
}

}  // namespace kastor::detail

#endif
