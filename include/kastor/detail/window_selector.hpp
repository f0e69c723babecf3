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
    SumsBeforeSpace<std::uint32_t, 1, threads> before;
  };

  std::uint32_t bin_begin[GatheredBins<T>::window + 1];  ///< of a device's bins
  std::uint32_t share_begin[shares + 1];                 ///< ranks in the bin at hand
  T sorted[max_sorted];  ///< pixels of the bin, of consecutive ranks, in order
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

  KOKKOS_FUNCTION WindowSelector(const Crew& crew, const Bins& bins, const PagedWindow<T>& window,
                                 Space& space, Sharing& sharing)
      : m_crew(crew), m_bins(bins), m_window(window), m_space(space), m_sharing(sharing) {
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
    if (rank < m_sorted.first || rank >= m_sorted.past) {
      const std::uint32_t* const begin = m_space->share_begin;
      const std::int64_t in_bin = rank - m_bin.first;
      const int share =
          last_not_above_by_lanes(begin, Space::shares, static_cast<std::uint32_t>(in_bin));
      if (begin[share + 1] - begin[share] > Space::max_sorted) return bisect(share, in_bin);
      sort_share(share);
    }
    return m_space->sorted[rank - m_sorted.first];
  }

 private:
  struct Ranks {
    std::int64_t first, past;
  };

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
      sort_few(unsorted, static_cast<int>(n));
      m_sorted = {m_bin.first, m_bin.past};
    } else {
      m_list = m_window.list(m_crew, m_bin.bin, n, &m_space->next);
      m_crew.barrier();
      count_shares();
      m_sorted = {0, 0};
    }
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

  /// By counting the smaller pixels of each; on CUDA two or four lanes count for one.
  KOKKOS_FUNCTION void sort_few(const T* unsorted, int n) const {
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
  }

  /// Of the equal shares of the bin's width; clamped and monotone, as the bins themselves.
  [[nodiscard]] KOKKOS_FUNCTION int share_of(T x) const {
    constexpr int last = Space::shares - 1;
    const double in_bin = (static_cast<double>(x) - m_bins.low) * m_bins.per_unit - m_bin.bin;
    const double share = in_bin * Space::shares;
    return share < last ? (share > 0 ? static_cast<int>(share) : 0) : last;
  }

  KOKKOS_FUNCTION void count_shares() const {
    constexpr int shares = Space::shares;
    std::uint32_t* const in_share = m_sharing->in_share;
    const int rank = m_crew.rank();
    const int size = m_crew.size();
    for (int s = rank; s < shares; s += size) in_share[s] = 0;
    if (rank == 0) m_space->next = 0;
    m_crew.barrier();
    for_each_in_bin([&](T x) { (void)scratch_fetch_add(&in_share[share_of(x)], 1U); });
    m_crew.barrier();
    const int mine = (shares + size - 1) / size;
    const int first = rank * mine < shares ? rank * mine : shares;
    const int past = first + mine < shares ? first + mine : shares;
    std::uint32_t before[1] = {0};
    for (int s = first; s < past; ++s) before[0] += in_share[s];
    std::uint32_t all[1];
    sums_before(m_crew, m_sharing->before, before, all);
    for (int s = first; s < past; ++s) {
      m_space->share_begin[s] = before[0];
      before[0] += in_share[s];
    }
    if (rank == 0) m_space->share_begin[shares] = all[0];
    m_crew.barrier();
  }

  KOKKOS_FUNCTION void sort_share(int share) {
    T* const unsorted = m_sharing->unsorted;
    const std::uint32_t first = m_space->share_begin[share];
    const std::uint32_t past = m_space->share_begin[share + 1];
    m_crew.barrier();
    for_each_in_bin([&](T x) {
      if (share_of(x) == share) unsorted[scratch_fetch_add(&m_space->next, 1)] = x;
    });
    m_crew.barrier();
    if (m_crew.rank() == 0) m_space->next = 0;
    sort_few(unsorted, static_cast<int>(past - first));
    m_sorted = {m_bin.first + first, m_bin.first + past};
  }

  /// Among many pixels of one share, as a rule equal ones: by halving the range of their bit
  /// patterns. `rank` is that in the bin.
  [[nodiscard]] KOKKOS_FUNCTION T bisect(int share, std::int64_t rank) const {
    auto low = static_cast<Key<T>>(~Key<T>{0});
    auto above_high = low;  // the complement of the largest
    for_each_in_bin([&](T x) {
      if (share_of(x) != share) return;
      const Key<T> key = key_of(x);
      low = key < low ? key : low;
      above_high = static_cast<Key<T>>(~key) < above_high ? static_cast<Key<T>>(~key) : above_high;
    });
    low = m_crew.smallest(low);
    auto high = static_cast<Key<T>>(~m_crew.smallest(above_high));
    while (low < high) {
      const Key<T> middle = low + (high - low) / 2;
      std::int64_t up_to = 0;
      for_each_in_bin([&](T x) { up_to += key_of(x) <= middle ? 1 : 0; });
      if (m_crew.sum(up_to) > rank) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return value_of<T>(low);
  }

  Crew m_crew;
  Bins m_bins;
  PagedWindow<T> m_window;
  InScratch<Space> m_space;
  InScratch<Sharing> m_sharing;
  typename Space::Bin m_bin{0, 0, 0};  ///< at hand
  const T* m_list = nullptr;           ///< its pixels, if they are in one list
  Ranks m_sorted{0, 0};                ///< those in order
};

}  // namespace kastor::detail

#endif
