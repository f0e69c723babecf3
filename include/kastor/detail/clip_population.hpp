// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CLIP_POPULATION_HPP
#define KASTOR_DETAIL_CLIP_POPULATION_HPP

#include <cmath>
#include <cstdint>
#include <kastor/detail/gather.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/select.hpp>
#include <kastor/detail/window_ranks.hpp>
#include <kastor/statistics.hpp>
#include <optional>

/// The two ways to ask for the statistics of the pixels inside an interval. Both offer
/// `count_inside` (none: a bracket failed) and then `statistics` of the interval last counted.
namespace kastor::detail {

/// -0 and +0 are one number, and which of them comes out must not depend on an order.
[[nodiscard]] inline double without_sign_of_zero(double x) { return x + 0.0; }

/// The mean of two middle pixels without overflow.
[[nodiscard]] inline double midpoint(double a, double b) {
  return a == b
             ? a
             : (std::fabs(a) < 1e300 && std::fabs(b) < 1e300 ? (a + b) * 0.5 : a * 0.5 + b * 0.5);
}

/// Reads the image for every question.
template <class Exec, class T>
class RereadPopulation {
 public:
  RereadPopulation(const Exec& space, Bands<T, Exec> bands, RankSelector<Exec, T>& selector)
      : m_space(space), m_bands(bands), m_selector(selector) {}

  [[nodiscard]] std::optional<std::int64_t> count_inside(const Interval<T>& interval) {
    m_interval = interval;
    m_extent = reduce_bands<Exec, T>("kastor::sigma_clip::extent", m_space, m_bands,
                                     ExtentOf<T>{interval});
    return m_extent.count;
  }

  [[nodiscard]] std::optional<Statistics> statistics() {
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

/// Asks the gathered pixels only, and adds the core.
template <class Exec, class T>
class BracketedPopulation {
 public:
  BracketedPopulation(const Exec& space, Bands<T, Exec> bands, const Brackets<T>& brackets,
                      const CoreSums& core, const Grid& core_grid, const ConstImage<T, Exec>& tails,
                      const ConstImage<T, Exec>& window, WindowRanks<Exec, T>& ranks)
      : m_space(space),
        m_bands(bands),
        m_brackets(brackets),
        m_core(core),
        m_tails(tails),
        m_ranks(ranks) {
    m_base = CentredSums(core.below + core.above, std::ldexp(core.sum.to_double(), -grid_bits),
                         std::ldexp(core.squares.to_double(), -grid_bits), core_grid.exponent);
    m_centre = core_grid.centre;
    if (brackets.window_is_one_value()) {
      const auto n = static_cast<double>(core.window);
      const double d =
          std::ldexp(static_cast<double>(brackets.window_low) - m_centre, -core_grid.exponent);
      m_base += CentredSums(core.window, n * d, n * d * d, core_grid.exponent);
    } else {
      const Grid grid(m_centre, static_cast<double>(brackets.window_low),
                      static_cast<double>(brackets.window_high));
      const Moments<T> all = reduce_pixels<Exec, T>("kastor::sigma_clip::window_moments", space,
                                                    window, MomentsOf<T>{Interval<T>{}, grid});
      m_base += CentredSums(all, grid);
    }
  }

  [[nodiscard]] std::optional<std::int64_t> count_inside(const Interval<T>& interval) {
    if (interval.low > m_brackets.low_edge || interval.high < m_brackets.high_edge) {
      return std::nullopt;
    }
    m_interval = interval;
    m_extent = reduce_pixels<Exec, T>("kastor::sigma_clip::extent", m_space, m_tails,
                                      ExtentOf<T>{interval});
    return m_base.count + m_extent.count;
  }

  [[nodiscard]] std::optional<Statistics> statistics() {
    CentredSums sums = m_base;
    std::int64_t below_window = m_core.below;
    if (m_extent.count > 0) {
      // The grid follows the pixels that are there, not the limits: those may be wider by any
      // factor.
      const Grid grid(m_centre, static_cast<double>(m_extent.min),
                      static_cast<double>(m_extent.max));
      const Moments<T> inside = reduce_pixels<Exec, T>("kastor::sigma_clip::tail_moments", m_space,
                                                       m_tails, MomentsOf<T>{m_interval, grid});
      sums += CentredSums(inside, grid);
      m_tails_below = inside.below;
    } else {
      m_tails_below = 0;
    }
    below_window += m_tails_below;
    const std::int64_t n = sums.count;
    const std::int64_t rank = (n - 1) / 2 - below_window;
    const std::int64_t next = n / 2 - below_window;
    if (rank < 0 || next >= m_core.window) return std::nullopt;
    const auto pixel_at = [&](std::int64_t r) {
      return static_cast<double>(m_brackets.window_is_one_value() ? m_brackets.window_low
                                                                  : m_ranks.at_rank(r));
    };
    Statistics s;
    s.count = n;
    s.median = without_sign_of_zero(midpoint(pixel_at(rank), pixel_at(next)));
    s.mean = without_sign_of_zero(sums.mean(m_centre));
    s.std = sums.std();
    s.min = without_sign_of_zero(
        static_cast<double>(m_tails_below > 0 ? m_extent.min : inner_extent().min));
    s.max = without_sign_of_zero(
        static_cast<double>(m_extent.count > m_tails_below ? m_extent.max : inner_extent().max));
    return s;
  }

 private:
  /// Extremes of core and window: asked for only where a tail is empty, so they are not worth
  /// tracking in the one read.
  [[nodiscard]] const Extent<T>& inner_extent() {
    if (m_inner_extent.count == 0) {
      m_inner_extent = reduce_bands<Exec, T>(
          "kastor::sigma_clip::extent", m_space, m_bands,
          ExtentOf<T>{Interval<T>{m_brackets.low_edge, m_brackets.high_edge}});
    }
    return m_inner_extent;
  }

  Exec m_space;
  Bands<T, Exec> m_bands;
  Brackets<T> m_brackets;
  CoreSums m_core;
  ConstImage<T, Exec> m_tails;
  WindowRanks<Exec, T>& m_ranks;
  CentredSums m_base;
  double m_centre = 0;
  Extent<T> m_inner_extent;
  Interval<T> m_interval;
  Extent<T> m_extent;  ///< of the tails inside the interval
  std::int64_t m_tails_below = 0;
};

}  // namespace kastor::detail

#endif
