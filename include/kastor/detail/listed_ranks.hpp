// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LISTED_RANKS_HPP
#define KASTOR_DETAIL_LISTED_RANKS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/rank_window.hpp>

namespace kastor::detail {

/// As RankWindow, for a population that knows a window of the ranks most likely asked for: takes
/// the pixels of a short interval out of it, and puts them in order.
template <class T, class Population>
class ListedRanks {
 public:
  /// Ranks on each side of the one asked for; and on the side to which the ranks asked for move.
  static constexpr int aside = Population::ranks_aside, ahead = Population::ranks_ahead;

  /// `all`: of the population, which is not empty.
  KOKKOS_FUNCTION ListedRanks(Population& pixels, const Extent<T>& all)
      : m_pixels(pixels), m_all{all.min, next_above(all.max), 0, all.count} {}

  /// The pixel of rank k >= 0 and, if `two`, that of rank k + 1; otherwise twice the same.
  [[nodiscard]] KOKKOS_FUNCTION TwoPixels<T> operator()(std::int64_t k, bool two) {
    return pixels_of_rank(m_pixels, m_ranks, k, two, [this](std::int64_t rank) {
      const bool knows = m_ranks.of.count() > 0;
      const bool is_below = knows && rank < m_ranks.of.below_low;
      const bool is_above = knows && rank >= m_ranks.of.below_high;
      search(rank, is_below ? ahead : aside, is_above ? ahead : aside, 1 << 30);
    });
  }

  /// Brings ranks from one to another into the list. False: they do not fit, or it took too long,
  /// as where very many pixels are equal.
  [[nodiscard]] KOKKOS_FUNCTION bool cover(std::int64_t first, std::int64_t last) {
    if (!m_ranks.holds(first) || !m_ranks.holds(last)) {
      const auto half = static_cast<int>(last - first) / 2 + 20;
      constexpr int most_takes = 3;
      const int margin = half > aside ? half : aside;
      search(first + (last - first) / 2, margin, margin, most_takes);
    }
    return m_ranks.holds(first) && m_ranks.holds(last);
  }
  /// The pixel of a rank in the list.
  [[nodiscard]] KOKKOS_FUNCTION T at(std::int64_t k) const { return m_ranks.at(k); }

 private:
  /// So many ranks below it and above are wanted, too. The list is empty after `most_takes`.
  KOKKOS_FUNCTION void search(std::int64_t k, int below_it, int above_it, int most_takes) {
    RankBracket<T> bracket = m_all;
    const RankBracket<T>& window = m_pixels.window();
    bracket.narrow(window.low, window.below_low, k);
    bracket.narrow(window.high, window.below_high, k);
    for (int takes = 0; !bracket.is_one_value(); ++takes) {
      if (takes == most_takes) {
        m_ranks.of = {0, 0, 0, 0};
        return;
      }
      // Where the rank is if the pixels are spread evenly, and a bound that halves the bracket if
      // they are not.
      const T middle = bracket.middle();
      T from = bracket.low, to = bracket.high;
      if (bracket.count() > below_it + above_it) {
        // From a known rank: the nearer it is, the better.
        const bool knows = m_ranks.of.count() > 0;
        const auto low = static_cast<double>(knows ? m_ranks.of.low : bracket.low);
        const std::int64_t below = knows ? m_ranks.of.below_low : bracket.below_low;
        const double unit = (static_cast<double>(bracket.high) - static_cast<double>(bracket.low)) /
                            static_cast<double>(bracket.count());
        const double rank = static_cast<double>(k - below) + 0.5;
        const T after = static_cast<T>(low + (rank - below_it) * unit);
        const T before = static_cast<T>(low + (rank + above_it) * unit);
        // Not those that rounding or an overflow spoilt.
        if (after > from && after < to) from = after;
        if (before > from && before < to) to = before;
      }
      const bool needs_middle = takes > 0;
      const auto taken = m_pixels.take(from, to, middle, needs_middle);
      if (needs_middle) bracket.narrow(middle, taken.below_middle, k);
      bracket.narrow(from, taken.below, k);
      bracket.narrow(to, taken.below + taken.count, k);
      if (taken.sorted != nullptr && k >= taken.below && k < taken.below + taken.count) {
        m_ranks.of = {from, to, taken.below, taken.below + taken.count};
        m_ranks.sorted = taken.sorted;
        return;
      }
    }
    m_ranks.of = bracket;
    m_ranks.sorted = nullptr;
  }

  Population& m_pixels;
  RankBracket<T> m_all;
  SortedRanks<T> m_ranks;
};

}  // namespace kastor::detail

#endif
