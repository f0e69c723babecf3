// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LISTED_WINDOW_HPP
#define KASTOR_DETAIL_LISTED_WINDOW_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/cell_host.hpp>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/host_lists.hpp>
#include <kastor/detail/rank_window.hpp>
#include <kastor/detail/take_part.hpp>

/// Finds the pixel of a rank among those of a clip's window, on a host.
namespace kastor::detail {

/// Looks at all pixels for the first rank, and sets aside those around it, a small part of them,
/// and of these again; medians that are asked for next are as a rule among them.
template <class Exec, class T>
class ListedWindow {
 public:
  /// `pixels`: from `low` up to `high`, with NaN after them up to a whole block. `room`: for as
  /// many and a block more. `few`: nobody else's meanwhile.
  ListedWindow(const Exec& space, const T* pixels, std::int64_t n, T low, T high, T* room,
               SmallList<T>& few)
      : m_space(space), m_all{{low, next_above(high), 0, n}, pixels}, m_room(room), m_few(&few) {}

  [[nodiscard]] std::int64_t pixels() const { return m_all.of.count(); }
  /// Pixels that are smaller than x.
  [[nodiscard]] std::int64_t below(T x) const {
    return counts_of(m_all, {x, x, x}, nullptr, 0).below;
  }
  /// The pixel of a rank, from 0.
  [[nodiscard]] T operator()(std::int64_t rank) {
    if (!m_ranks.holds(rank)) search(rank);
    return m_ranks.at(rank);
  }

 private:
  /// Pixels of consecutive ranks, in no order; null: they are all the low bound.
  struct Part {
    RankBracket<T> of;
    const T* pixels;
    [[nodiscard]] bool holds(std::int64_t k) const {
      return k >= of.below_low && k < of.below_high;
    }
  };

  void search(std::int64_t k) {
    if (!m_nearest.holds(k)) {
      if (!m_near.holds(k)) m_near = near(m_all, k, m_room);
      m_nearest = near(m_near, k, m_room + whole_blocks(pixels() / 2) + cell_block);
    }
    const Part few = m_nearest.pixels == nullptr ? m_nearest
                                                 : taken_from(m_nearest, k, SmallList<T>::room / 3,
                                                              SmallList<T>::room, m_few->found);
    m_ranks = {few.of, nullptr};
    if (few.pixels == nullptr) return;
    sort_on_host(best_host_level(), m_few->found, static_cast<int>(few.of.count()), m_few->sorted);
    m_ranks.sorted = m_few->sorted;
  }

  /// A thirty-second of a part, as a rule, unless it is small.
  [[nodiscard]] Part near(const Part& part, std::int64_t k, T* to) const {
    constexpr std::int64_t all_are_near = 8192;
    const std::int64_t n = part.of.count();
    if (part.pixels == nullptr || n <= all_are_near) return part;
    return taken_from(part, k, n / 64, n / 2, to);
  }

  /// Copies those about rank k: as many as there is room for at most, about `margin` on each side.
  [[nodiscard]] Part taken_from(const Part& part, std::int64_t k, std::int64_t margin,
                                std::int64_t most, T* to) const {
    RankBracket<T> bracket = part.of;
    while (!bracket.is_one_value()) {
      // Where the rank is if the pixels are spread evenly, and a bound that halves the bracket if
      // they are not.
      HostTaking<T> taking{bracket.low, bracket.middle(), bracket.high};
      if (bracket.count() > 2 * margin) {
        const auto low = static_cast<double>(bracket.low);
        const double unit =
            (static_cast<double>(bracket.high) - low) / static_cast<double>(bracket.count());
        const auto rank = static_cast<double>(k - bracket.below_low) + 0.5;
        const auto aside = static_cast<double>(margin);
        const T after = static_cast<T>(low + (rank - aside) * unit);
        const T before = static_cast<T>(low + (rank + aside) * unit);
        // Not those that rounding or an overflow spoilt.
        if (after > bracket.low && after < bracket.high) taking.low = after;
        if (before > taking.low && before < bracket.high) taking.high = before;
      }
      const auto found = counts_of(part, taking, to, most);
      const std::int64_t below = part.of.below_low + found.below;
      bracket.narrow(taking.middle, part.of.below_low + found.below_middle, k);
      bracket.narrow(taking.low, below, k);
      bracket.narrow(taking.high, below + found.between, k);
      const Part taken{{taking.low, taking.high, below, below + found.between}, to};
      if (found.between > most || !taken.holds(k)) continue;
      fill_block(to, found.between);
      return taken;
    }
    return {bracket, nullptr};
  }

  [[nodiscard]] typename TakePart<T>::Counts counts_of(const Part& part,
                                                       const HostTaking<T>& taking, T* to,
                                                       std::int64_t room) const {
    std::int64_t next = 0;
    const TakePart<T> take{part.pixels, whole_blocks(part.of.count()), taking, to, room,
                           &next,       m_space.concurrency() == 1};
    return reduce_list("kastor::sigma_clip::take", m_space, list_parts(take.n), take);
  }

  Exec m_space;
  Part m_all;
  Part m_near{{0, 0, 0, 0}, nullptr};     ///< about the last rank that it did not hold
  Part m_nearest{{0, 0, 0, 0}, nullptr};  ///< a part of it, likewise
  T* m_room;
  SmallList<T>* m_few;
  SortedRanks<T> m_ranks;
};

}  // namespace kastor::detail

#endif
