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
  /// `all`: of the population, which is not empty.
  KOKKOS_FUNCTION ListedRanks(Population& pixels, const Extent<T>& all)
      : m_pixels(pixels), m_all{all.min, next_above(all.max), 0, all.count} {}

  /// The pixel of rank k >= 0 and, if `two`, that of rank k + 1; otherwise twice the same.
  [[nodiscard]] KOKKOS_FUNCTION TwoPixels<T> operator()(std::int64_t k, bool two) {
    return pixels_of_rank(m_pixels, m_ranks, k, two, [this](std::int64_t rank) { search(rank); });
  }

 private:
  KOKKOS_FUNCTION void search(std::int64_t k) {
    RankBracket<T> bracket = m_all;
    const RankBracket<T>& window = m_pixels.window();
    bracket.narrow(window.low, window.below_low, k);
    bracket.narrow(window.high, window.below_high, k);
    while (!bracket.is_one_value()) {
      // Where the rank is if the pixels are spread evenly, and a bound that halves the bracket if
      // they are not.
      constexpr double margin = 0.33 * Population::List::room;
      const T middle = bracket.middle();
      T from = bracket.low, to = bracket.high;
      if (bracket.count() > Population::List::room) {
        const auto low = static_cast<double>(bracket.low);
        const double unit =
            (static_cast<double>(bracket.high) - low) / static_cast<double>(bracket.count());
        const double rank = static_cast<double>(k - bracket.below_low) + 0.5;
        const T after = static_cast<T>(low + (rank - margin) * unit);
        const T before = static_cast<T>(low + (rank + margin) * unit);
        // Not those that rounding or an overflow spoilt.
        if (after > from && after < to) from = after;
        if (before > from && before < to) to = before;
      }
      const auto taken = m_pixels.take(from, to, middle);
      bracket.narrow(middle, taken.below_middle, k);
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
