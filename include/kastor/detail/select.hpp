// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SELECT_HPP
#define KASTOR_DETAIL_SELECT_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/ordered_key.hpp>
#include <kastor/detail/reduce_pixels.hpp>
#include <kastor/detail/team_launcher.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/work_shares.hpp>
#include <utility>

/// Order statistics by histogram selection: count the pixels per bin of their ordered bit patterns,
/// go on inside the bin that holds the rank. Exact for every distribution; at most 3 reads for
/// float, 6 for double.
namespace kastor::detail {

inline constexpr int select_bins = 4096;
template <class Exec>
using BinCounts = Kokkos::View<std::uint64_t*, typename Exec::memory_space>;

/// Keys from `first` to `last`, both inside, in bins of 2^shift keys.
template <class T>
struct KeyRange {
  Key<T> first = 0;
  Key<T> last = 0;
  int shift = 0;

  KeyRange() = default;
  KeyRange(Key<T> f, Key<T> l)
      : first(f),
        last(l),
        shift(std::max(0,
                       static_cast<int>(std::bit_width(static_cast<std::uint64_t>(l - f))) - 12)) {}

  [[nodiscard]] static KeyRange of(const Interval<T>& interval) {
    // Both zeros are one number: a bound at zero leaves out, or takes in, both keys.
    const T low = interval.low == 0 ? T{0} : interval.low;
    const T high = interval.high == 0 ? -T{0} : interval.high;
    return KeyRange(key_of(low) + 1, key_of(high) - 1);
  }
  [[nodiscard]] KOKKOS_FUNCTION bool contains(Key<T> key) const {
    return static_cast<Key<T>>(key - first) <= static_cast<Key<T>>(last - first);
  }
  [[nodiscard]] KOKKOS_FUNCTION int bin_of(Key<T> key) const {
    return static_cast<int>(static_cast<Key<T>>(key - first) >> shift);
  }
  [[nodiscard]] KeyRange bin(int b) const {
    const Key<T> f = first + (static_cast<Key<T>>(b) << shift);
    const Key<T> width = (Key<T>{1} << shift) - 1;
    return KeyRange(f, last - f < width ? last : f + width);
  }
};

/// Hosts: of a segment, whose histogram is a thread's own.
template <class T, class Exec>
struct CountKeys {
  Segments<T> segments;
  KeyRange<T> range;
  BinCounts<Exec> counts;

  KOKKOS_FUNCTION void operator()(std::int64_t s) const {
    const T* pixels = segments.begin(s);
    const std::int64_t n = segments.size(s);
    std::uint32_t mine[select_bins] = {};
    for (std::int64_t i = 0; i < n; ++i) {
      const Key<T> key = key_of(pixels[i]);
      if (range.contains(key)) ++mine[range.bin_of(key)];
    }
    for (int b = 0; b < select_bins; ++b) {
      if (mine[b] != 0) Kokkos::atomic_add(&counts(b), std::uint64_t{mine[b]});
    }
  }
};

/// Devices: a team goes from segment to segment with a histogram in its scratch memory. In global
/// memory all pixels would queue up at few counters, those about the median.
template <class T, class Exec>
struct CountKeysByTeams {
  using Member = TeamMember<Exec>;
  static constexpr int threads = 256;
  static constexpr int teams_at_once = 6;  ///< on a processor
  struct Space {
    std::uint32_t count[select_bins];
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;
  static constexpr std::int64_t segment = 8192;

  Segments<T> segments;
  KeyRange<T> range;
  BinCounts<Exec> counts;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const TeamCrew<Member> crew(team);
    Space& space = *scratch_of<Space>(team);
    for (int b = crew.rank(); b < select_bins; b += crew.size()) space.count[b] = 0;
    crew.barrier();
    const std::int64_t all = segments.rows.ny * segments.per_row;
    for (std::int64_t s = team.league_rank(); s < all; s += team.league_size()) {
      for_my_share(crew, segments.begin(s), segments.size(s), [&](T x) {
        const Key<T> key = key_of(x);
        if (range.contains(key)) (void)scratch_fetch_add(&space.count[range.bin_of(key)], 1U);
      });
    }
    crew.barrier();
    for (int b = crew.rank(); b < select_bins; b += crew.size()) {
      if (space.count[b] != 0) Kokkos::atomic_add(&counts(b), std::uint64_t{space.count[b]});
    }
  }
};

/// Selects by rank among the pixels of an interval. Owns its histogram.
template <class Exec, class T>
class RankSelector {
 public:
  explicit RankSelector(const Exec& space)
      : m_space(space),
        m_counts(Kokkos::view_alloc(space, "kastor::select::counts"), select_bins),
        m_host(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::select::host_counts"),
               select_bins) {}

  /// The pixels of rank `rank` and, if `pair`, `rank + 1` (0-based) among those in the interval,
  /// which must hold that many.
  [[nodiscard]] std::pair<T, T> operator()(Bands<T, Exec> bands, const Interval<T>& interval,
                                           std::int64_t rank, bool pair) {
    return select(bands, KeyRange<T>::of(interval), rank, pair);
  }

 private:
  std::pair<T, T> select(Bands<T, Exec> bands, KeyRange<T> range, std::int64_t rank, bool pair) {
    while (true) {
      if (range.first == range.last) return {value_of<T>(range.first), value_of<T>(range.first)};
      count(bands, range);
      const int bin = find(rank);
      const KeyRange<T> inside = range.bin(bin);
      if (pair && rank + 1 >= static_cast<std::int64_t>(m_host(bin))) {
        // The two ranks lie in different bins: the last of this one, the first of the next that is
        // not empty.
        int next = bin + 1;
        while (m_host(next) == 0) ++next;
        const KeyRange<T> above = range.bin(next);
        const T low = select(bands, inside, rank, false).first;
        return {low, select(bands, above, 0, false).first};
      }
      range = inside;
    }
  }

  void count(Bands<T, Exec> bands, const KeyRange<T>& range) {
    Kokkos::deep_copy(m_space, m_counts, std::uint64_t{0});
    for (const auto& band : bands) {
      const Rows<T> rows = rows_of<T, Exec>(band);
      if constexpr (is_host_space_v<Exec>) {
        // Long ones: the histogram is emptied after each.
        const Segments<T> segments(rows, 16 * host_segment);
        for_each_index("kastor::select::count_keys", m_space, segments.count(),
                       CountKeys<T, Exec>{segments, range, m_counts});
      } else {
        using Count = CountKeysByTeams<T, Exec>;
        const Segments<T> segments(rows, Count::segment);
        const std::int64_t most = std::int64_t{processors_of(m_space)} * Count::teams_at_once;
        const auto teams = static_cast<int>(std::min(segments.count(), most));
        if (teams > 0)
          TeamLauncher<Exec>{m_space}("kastor::select::count_keys", teams,
                                      Count{segments, range, m_counts});
      }
    }
    Kokkos::deep_copy(m_space, m_host, m_counts);
    m_space.fence("kastor::select::count_keys");
  }

  /// The bin that holds the rank, which becomes the rank inside it.
  [[nodiscard]] int find(std::int64_t& rank) const {
    int bin = 0;
    while (rank >= static_cast<std::int64_t>(m_host(bin))) {
      rank -= static_cast<std::int64_t>(m_host(bin++));
    }
    return bin;
  }

  Exec m_space;
  BinCounts<Exec> m_counts;
  Kokkos::View<std::uint64_t*, Kokkos::HostSpace> m_host;
};

}  // namespace kastor::detail

#endif
