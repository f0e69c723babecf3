// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_RANK_WINDOW_HPP
#define KASTOR_DETAIL_RANK_WINDOW_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/ordered_key.hpp>

namespace kastor::detail {

template <class T>
struct TwoPixels {
  T first, second;
};

/// Pixels from `low` on and below `high`, and how many are below each of these.
template <class T>
struct RankBracket {
  T low, high;
  std::int64_t below_low, below_high;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const { return below_high - below_low; }
  [[nodiscard]] KOKKOS_FUNCTION bool is_one_value() const { return !(next_above(low) < high); }
  KOKKOS_FUNCTION void narrow(T threshold, std::int64_t below, std::int64_t k) {
    if (below <= k) {
      if (threshold > low) low = threshold, below_low = below;
    } else if (threshold < high) {
      high = threshold, below_high = below;
    }
  }
  /// The number between the bounds' that has as many numbers below as above it.
  [[nodiscard]] KOKKOS_FUNCTION T middle() const {
    const Key<T> a = key_of(low), b = key_of(high);
    const T middle = value_of<T>(a + (b - a) / 2);
    return middle > low ? middle : next_above(low);  // +0 is not above -0
  }
};

/// Pixels of consecutive ranks in order, of a population that keeps them.
template <class T>
struct SortedRanks {
  RankBracket<T> of{0, 0, 0, 0};
  const T* sorted = nullptr;  ///< null: they are all the low bound

  [[nodiscard]] KOKKOS_FUNCTION bool holds(std::int64_t k) const {
    return k >= of.below_low && k < of.below_high;
  }
  [[nodiscard]] KOKKOS_FUNCTION T at(std::int64_t k) const {
    return sorted == nullptr ? of.low : sorted[k - of.below_low];
  }
};

/// The pixel of rank k >= 0 and, if `two`, that of rank k + 1; otherwise twice the same. `search`
/// brings the rank it is given among the sorted ones.
template <class T, class Population, class Search>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION TwoPixels<T> pixels_of_rank(const Population& pixels,
                                                                      const SortedRanks<T>& ranks,
                                                                      std::int64_t k, bool two,
                                                                      const Search& search) {
  if (!ranks.holds(k) || (two && !ranks.holds(k + 1))) search(k);
  const T first = ranks.at(k);
  if (!two) return {first, first};
  return {first, ranks.holds(k + 1) ? ranks.at(k + 1) : pixels.smallest_from(ranks.of.high)};
}

/// Finds pixels of a population by their rank, exactly: counts the pixels below thresholds until
/// few are left, which are put in order and kept, for the ranks asked next are near by. Where it
/// looks is of no consequence for what it finds.
template <class T, class Population>
class RankWindow {
 public:
  /// `all`: of the population, which is not empty.
  KOKKOS_FUNCTION RankWindow(Population& pixels, const Extent<T>& all)
      : m_pixels(pixels), m_all{all.min, next_above(all.max), 0, all.count} {}

  /// The pixel of rank k >= 0 and, if `two`, that of rank k + 1; otherwise twice the same.
  [[nodiscard]] KOKKOS_FUNCTION TwoPixels<T> operator()(std::int64_t k, bool two) {
    return pixels_of_rank(m_pixels, m_ranks, k, two, [this](std::int64_t rank) { search(rank); });
  }

 private:
  KOKKOS_FUNCTION void search(std::int64_t k) {
    RankBracket<T> bracket = m_all;
    const bool first = m_ranks.of.count() == 0;
    if (!first && k < m_ranks.of.below_low) {
      bracket.high = m_ranks.of.low;
      bracket.below_high = m_ranks.of.below_low;
    } else if (!first && k >= m_ranks.of.below_high) {
      bracket.low = m_ranks.of.high;
      bracket.below_low = m_ranks.of.below_high;
    }
    constexpr int pixels_aside = Population::List::room / 4;  // on each side of the rank
    constexpr double margin = pixels_aside;
    bool guessed = false;
    while (bracket.count() > Population::List::room && !bracket.is_one_value()) {
      T threshold[CountsBelow::thresholds];
      const auto low = static_cast<double>(bracket.low);
      const auto high = static_cast<double>(bracket.high);
      const auto rank = static_cast<double>(k - bracket.below_low) + 0.5;
      const auto count = static_cast<double>(bracket.count());
      threshold[2] = bracket.middle();
      if (!guessed && first && bracket.count() > 4 * Population::List::room) {
        guess_from_sample(k, threshold);
      } else if (!guessed && !first && m_ranks.sorted != nullptr) {
        // As dense as in the window.
        const double unit =
            (static_cast<double>(m_ranks.of.high) - static_cast<double>(m_ranks.of.low)) /
            static_cast<double>(m_ranks.of.count());
        const double from =
            k < m_ranks.of.below_low ? high - (count - rank) * unit : low + rank * unit;
        threshold[0] = static_cast<T>(from - margin * unit);
        threshold[1] = static_cast<T>(from + margin * unit);
      } else {
        const double unit = (high - low) / count;
        threshold[0] = static_cast<T>(low + (rank - margin) * unit);
        threshold[1] = static_cast<T>(low + (rank + margin) * unit);
      }
      guessed = true;
      // Also those that rounding or an overflow spoilt.
      for (int i = 0; i < 2; ++i)
        if (!(threshold[i] > bracket.low && threshold[i] < bracket.high))
          threshold[i] = threshold[2];
      const CountsBelow below = m_pixels.count_below(threshold);
      for (int i = 0; i < CountsBelow::thresholds; ++i)
        bracket.narrow(threshold[i], below.of[i], k);
    }
    m_ranks.of = bracket;
    m_ranks.sorted = bracket.count() > Population::List::room
                         ? nullptr
                         : m_pixels.sorted_between(bracket.low, bracket.high);
  }

  /// Below the rank and above it by 2 standard errors of the sample.
  KOKKOS_FUNCTION void guess_from_sample(std::int64_t k, T (&threshold)[CountsBelow::thresholds]) {
    int n = 0;
    const T* sample = m_pixels.sorted_sample(n);
    threshold[0] = threshold[1] = threshold[2];
    if (n < 16) return;
    const int at = static_cast<int>(k * n / m_all.below_high);
    const int low = at - n / 8, high = at + n / 8;
    threshold[0] = sample[low < 0 ? 0 : low];
    threshold[1] = sample[high < n ? high : n - 1];
    threshold[2] = sample[at];
  }

  Population& m_pixels;
  RankBracket<T> m_all;
  SortedRanks<T> m_ranks;
};

}  // namespace kastor::detail

#endif
