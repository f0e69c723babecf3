// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_WINDOW_SELECTOR_HPP
#define KASTOR_DETAIL_WINDOW_SELECTOR_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/last_not_above.hpp>
#include <kastor/detail/ordered_key.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/refined_bins.hpp>
#include <kastor/detail/sums_before.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/window_pixels.hpp>

/// Finds the pixel of a rank among those that lie in the bins of the window.
namespace kastor::detail {

/// Work space shared by the crew.
template <class T>
struct WindowSelectorSpace {
  static constexpr int max_sorted = 128;
  static constexpr int shares = 256;   ///< of a bin
  static constexpr int threads = 256;  ///< of a team
  struct Bin {
    int bin;
    std::int64_t first, past;  ///< ranks of its pixels
  };
  /// Of no use once a pixel is found: may be another's until the next one is looked for.
  struct Sharing {
    T unsorted[max_sorted];
    std::uint32_t in_share[shares];
    std::uint32_t part_begin[shares + 1];  ///< of keys
    SumsBeforeSpace<std::uint32_t, 1, threads> before;
  };

  std::uint32_t bin_begin[GatheredBins<T>::window + 1];  ///< of a device's bins
  std::uint32_t share_begin[shares + 1];                 ///< ranks in the bin at hand
  RefinedBins<T> listed;                                 ///< those whose pixels are in one list
  T sorted[max_sorted];  ///< pixels of the bin, of consecutive ranks, in order; or equal ones'
                         ///< value
  int next;              ///< place in a list that all write to
};

/// A bin's pixels, or those of a share of it, are put in order and kept: the ranks asked next are
/// near by.
template <class T, class Crew>
class WindowSelector {
 public:
  using Bins = GatheredBins<T>;
  using Space = WindowSelectorSpace<T>;
  using Sharing = typename Space::Sharing;

  /// `listed`: null, or bins whose pixels are in one list.
  KOKKOS_FUNCTION WindowSelector(const Crew& crew, const Bins& bins, const PagedWindow<T>& window,
                                 const RefinedBins<T>* listed, Space& space, Sharing& sharing)
      : m_crew(crew), m_bins(bins), m_window(window), m_space(space), m_sharing(sharing) {
    m_space->listed.bring(crew, listed);
    keep_begins(crew);
  }

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pixels() const {
    return static_cast<std::int64_t>(m_window.begin[Bins::window]);
  }
  /// Pixels that are smaller than x. All must call it.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t below(T x) const {
    const int bin = m_bins.in_window(x);
    std::int64_t n = 0;
    m_window.for_each(m_crew, bin, [&](T y) { n += y < x ? 1 : 0; });
    return static_cast<std::int64_t>(m_window.begin[bin]) + m_crew.sum(n);
  }
  /// The pixel of a rank, from 0. All must call it.
  [[nodiscard]] KOKKOS_FUNCTION T operator()(std::int64_t rank) {
    if (rank < m_bin.first || rank >= m_bin.past) {
      m_bin = bin_of(rank);
      bring_bin();
    }
    if (rank < m_known.first || rank >= m_known.past) bring_rank(rank - m_bin.first);
    return m_space->sorted[m_step * (rank - m_known.first)];
  }

 private:
  struct Ranks {
    std::int64_t first, past;
  };
  /// The same in the bin.
  struct Stretch {
    std::uint32_t first, past;
    [[nodiscard]] KOKKOS_FUNCTION std::uint32_t count() const { return past - first; }
  };
  static constexpr int none = -1;

  /// Where the bins begin, near at hand.
  template <class Member>
  KOKKOS_FUNCTION void keep_begins(const TeamCrew<Member>& crew) const {
    constexpr int share = Bins::window / Space::threads;
    const auto bin = [&crew](int k) { return k * Space::threads + crew.rank(); };
    // All of them before the first is stored, which for all the compiler knows might change them.
    std::uint32_t begin[share];
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) begin[k] = static_cast<std::uint32_t>(m_window.begin[bin(k)]);
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) m_space->bin_begin[bin(k)] = begin[k];
    if (crew.rank() == 0)
      m_space->bin_begin[Bins::window] = static_cast<std::uint32_t>(m_window.begin[Bins::window]);
    crew.barrier();
  }

  /// The bin of a rank.
  [[nodiscard]] KOKKOS_FUNCTION typename Space::Bin bin_of(std::int64_t rank) const {
    const std::uint32_t* const begin = m_space->bin_begin;
    const int bin = last_not_above_by_lanes(begin, Bins::window, static_cast<std::uint32_t>(rank));
    return {bin, begin[bin], begin[bin + 1]};
  }

  /// The pixels of a bin come near at hand: a few in order, more of them counted by shares.
  KOKKOS_FUNCTION void bring_bin() {
    constexpr int few = 96;
    static_assert(few <= Space::max_sorted);
    const std::int64_t n = m_bin.past - m_bin.first;
    m_list = nullptr;
    m_crew.barrier();  // the last bin has been read
    if (m_crew.rank() == 0) m_space->next = 0;
    m_crew.barrier();
    if (n <= few) {
      T* const unsorted = m_sharing->unsorted;
      m_window.copy(m_crew, m_bin.bin, unsorted, &m_space->next);
      m_crew.barrier();
      sort_few(unsorted, 0, static_cast<std::uint32_t>(n));
    } else {
      const int slot = m_space->listed.place_of(m_bin.bin);
      m_list = slot >= 0 ? m_space->listed.slot(slot)
                         : m_window.list(m_crew, m_bin.bin, n, &m_space->next);
      m_crew.barrier();
      if (m_list != nullptr) count_shares();
      m_known = {0, 0};
    }
  }
  /// So do those about a rank in it.
  KOKKOS_FUNCTION void bring_rank(std::int64_t in_bin) {
    const auto rank = static_cast<std::uint32_t>(in_bin);
    if (m_list == nullptr) return narrow(rank);
    const std::uint32_t* const begin = m_space->share_begin;
    const int share = last_not_above_by_lanes(begin, Space::shares, rank);
    const Stretch of_share{begin[share], begin[share + 1]};
    if (of_share.count() > Space::max_sorted) return narrow(rank);
    sort_those(of_share, [&](T x) { return share_of(x) == share; });
  }
  template <class Visit>
  KOKKOS_FUNCTION void for_each_in_bin(const Visit& visit) const {
    if (m_list != nullptr) {
      for_my_places<4>(m_crew, m_list, m_bin.past - m_bin.first,
                       [&](std::int64_t, T x) { visit(x); });
    } else {
      m_window.for_each(m_crew, m_bin.bin, visit);
    }
  }

  /// Of ranks [first, past) in the bin: by counting the smaller pixels of each; on CUDA two or four
  /// lanes count for one.
  KOKKOS_FUNCTION void sort_few(const T* unsorted, std::uint32_t first, std::uint32_t past) {
    const int n = static_cast<int>(past - first);
#ifdef __CUDA_ARCH__
    static_assert(2 * Space::max_sorted <= Space::threads);
    const int counting = 4 * n <= m_crew.size() ? 4 : 2;
    const int i = m_crew.rank() / counting, part = m_crew.rank() % counting;
    int before =
        i < n ? count_before(unsorted, i, n * part / counting, n * (part + 1) / counting) : 0;
    join_lanes();
    before += value_from_across(before, 1);
    if (counting == 4) before += value_from_across(before, 2);
    if (part == 0 && i < n) m_space->sorted[before] = unsorted[i];
#else
    for (int i = m_crew.rank(); i < n; i += m_crew.size())
      m_space->sorted[count_before(unsorted, i, 0, n)] = unsorted[i];
#endif
    m_crew.barrier();
    m_known = {m_bin.first + first, m_bin.first + past};
    m_step = 1;
  }

  /// Of the equal shares of the bin's width; clamped and monotone, as the bins themselves.
  [[nodiscard]] KOKKOS_FUNCTION int share_of(T x) const {
    constexpr int last = Space::shares - 1;
    const double in_bin = (static_cast<double>(x) - m_bins.low) * m_bins.per_unit - m_bin.bin;
    const double share = in_bin * Space::shares;
    return share < last ? (share > 0 ? static_cast<int>(share) : 0) : last;
  }

  KOKKOS_FUNCTION void count_shares() const {
    count_parts([&](T x) { return share_of(x); }, m_space->share_begin);
  }
  /// How many pixels of the bin have a smaller part, for each, and in all; `part_of` may be none.
  template <class PartOf>
  KOKKOS_FUNCTION void count_parts(const PartOf& part_of, std::uint32_t* begin) const {
    constexpr int parts = Space::shares;
    std::uint32_t* const in_part = m_sharing->in_share;
    const int rank = m_crew.rank();
    const int size = m_crew.size();
    for (int p = rank; p < parts; p += size) in_part[p] = 0;
    if (rank == 0) m_space->next = 0;
    m_crew.barrier();
    for_each_in_bin([&](T x) {
      const int part = part_of(x);
      if (part != none) (void)scratch_fetch_add(&in_part[part], 1U);
    });
    m_crew.barrier();
    const int mine = (parts + size - 1) / size;
    const int first = rank * mine < parts ? rank * mine : parts;
    const int past = first + mine < parts ? first + mine : parts;
    std::uint32_t before[1] = {0};
    for (int p = first; p < past; ++p) before[0] += in_part[p];
    std::uint32_t all[1];
    sums_before(m_crew, m_sharing->before, before, all);
    for (int p = first; p < past; ++p) {
      begin[p] = before[0];
      before[0] += in_part[p];
    }
    if (rank == 0) begin[parts] = all[0];
    m_crew.barrier();
  }

  /// Those pixels of the bin that are wanted have these ranks there, and come near at hand, in
  /// order.
  template <class IsWanted>
  KOKKOS_FUNCTION void sort_those(const Stretch& ranks, const IsWanted& is_wanted) {
    T* const unsorted = m_sharing->unsorted;
    m_crew.barrier();
    for_each_in_bin([&](T x) {
      if (is_wanted(x)) unsorted[scratch_fetch_add(&m_space->next, 1)] = x;
    });
    m_crew.barrier();
    if (m_crew.rank() == 0) m_space->next = 0;
    sort_few(unsorted, ranks.first, ranks.past);
  }

  /// The same of those about a rank, where many are equal, as a rule: the range of the bin's pixels
  /// is parted again and again, until those left are equal, or few.
  KOKKOS_FUNCTION void narrow(std::uint32_t rank) {
    constexpr int parts = Space::shares;
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    T low = -infinity, high = infinity;
    Stretch ranks{0, static_cast<std::uint32_t>(m_bin.past - m_bin.first)};
    const auto is_in_range = [&](T x) { return (x >= low) & (x <= high); };
    for (;;) {
      find_extremes(is_in_range, low, high);
      if (low == high || ranks.count() <= Space::max_sorted) break;
      const Key<T> first = key_of(low);
      const int shift = shift_to_parts(key_of(high) - first);
      std::uint32_t* const begin = m_sharing->part_begin;
      count_parts(
          [&](T x) {
            return is_in_range(x) ? static_cast<int>((key_of(x + T{0}) - first) >> shift) : none;
          },
          begin);
      const int part = last_not_above_by_lanes(begin, parts, rank - ranks.first);
      ranks = {ranks.first + begin[part], ranks.first + begin[part + 1]};
      const Key<T> from = first + (static_cast<Key<T>>(part) << shift);
      const Key<T> width = (Key<T>{1} << shift) - 1;
      low = value_of<T>(from);
      // Zero is in the part behind that one which ends with its negative, to which it is equal.
      const bool ends_at_zero = from + width == key_of(-T{0});
      if (key_of(high) - from > width) high = value_of<T>(from + width - (ends_at_zero ? 1 : 0));
    }
    if (low < high) return sort_those(ranks, is_in_range);
    m_crew.barrier();  // what was at hand has been read
    if (m_crew.rank() == 0) m_space->sorted[0] = low;
    m_crew.barrier();
    m_known = {m_bin.first + ranks.first, m_bin.first + ranks.past};
    m_step = 0;
  }
  /// Of those pixels of the bin that are wanted; of the zeros +0.
  template <class IsWanted>
  KOKKOS_FUNCTION void find_extremes(const IsWanted& is_wanted, T& low, T& high) const {
    T smallest = Kokkos::Experimental::infinity_v<T>;
    T largest = -smallest;
    for_each_in_bin([&](T x) {
      if (!is_wanted(x)) return;
      smallest = x < smallest ? x : smallest;
      largest = x > largest ? x : largest;
    });
    low = m_crew.smallest(smallest) + T{0};
    high = -m_crew.smallest(-largest) + T{0};
  }
  /// Shifted so far, numbers up to this one are less than there are parts.
  [[nodiscard]] KOKKOS_FUNCTION static int shift_to_parts(Key<T> most) {
    int shift = 0;
    while ((most >> shift) >= Space::shares) ++shift;
    return shift;
  }

  Crew m_crew;
  Bins m_bins;
  PagedWindow<T> m_window;
  InScratch<Space> m_space;
  InScratch<Sharing> m_sharing;
  typename Space::Bin m_bin{0, 0, 0};  ///< at hand
  const T* m_list = nullptr;           ///< its pixels, if they are in one list
  Ranks m_known{0, 0};                 ///< of those near at hand
  int m_step = 1;                      ///< from one of them to the next; 0: they are equal
};

}  // namespace kastor::detail

#endif
