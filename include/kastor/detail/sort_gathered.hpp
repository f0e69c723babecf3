// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SORT_GATHERED_HPP
#define KASTOR_DETAIL_SORT_GATHERED_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/gather_device.hpp>
#include <kastor/detail/gathered_bins.hpp>

/// Sorts the gathered pixels into their bins: counts, then moves.
namespace kastor::detail {

/// Where the pixels of bins go.
struct BinPlaces {
  std::uint64_t* begin;    ///< (bins + 1) among the sorted pixels
  std::uint64_t* counted;  ///< (bins) so far
  std::uint32_t* of_team;  ///< (sorting teams, bins) of a team's pixels of a bin among all of it
};

// ------------------------------------------------------------------------------------ devices

/// How the threads of a team go through all bins.
template <class T>
struct TeamBins {
  static constexpr int threads = 1024;
  static constexpr int share = (GatheredBins<T>::count + threads - 1) / threads;
  [[nodiscard]] KOKKOS_FUNCTION static int at(int k, int rank, int team) {
    return (k + team) % share * threads + rank;
  }
};

/// Visits the pixels of a team's segments, a squad a segment. The same pixels whatever the squads.
template <class T, class Member, class Visit>
KOKKOS_FUNCTION void for_my_segments(const Member& team, const Segmented<T>& lists, int segments,
                                     int squad, const Visit& visit) {
  const int rank = team.team_rank();
  const Squad mine{rank % squad, squad};
  const int step = team.league_size();
  const int squads = team.team_size() / squad;
  for (int s = team.league_rank() + rank / squad * step; s < segments; s += squads * step)
    for_my_share(mine, lists.gathered + s * lists.capacity, lists.gathered_by(s), visit);
}

/// A team counts its segments; the last team to finish turns the counts into begins.
template <class T, class Exec>
struct CountSegments {
  using Bins = GatheredBins<T>;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = TeamBins<T>::threads;
  static constexpr int scratch_bytes = (Bins::count + 2) * sizeof(std::uint32_t) + 8;

  const Brackets<T>* brackets;
  Segmented<T> lists;
  int segments;
  int squad;  ///< threads that take a segment together; divides those of a team
  BinPlaces bins;
  std::uint32_t* tickets;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (brackets->usable == 0) return;
    const int bytes = scratch_bytes - 8;
    auto* mine = static_cast<std::uint32_t*>(team.team_scratch(0).get_shmem_aligned(bytes, 8));
    std::uint32_t* ticket = mine + Bins::count;
    const int rank = team.team_rank();
    const int size = team.team_size();
    for (int b = rank; b < Bins::count; b += size) mine[b] = 0;
    team.team_barrier();
    const Bins bin_of(*brackets);
    for_my_segments(team, lists, segments, squad,
                    [&](T x) { Kokkos::atomic_inc(&mine[bin_of(x)]); });
    team.team_barrier();
    // Every team begins elsewhere, lest all meet at the same counters.
    std::uint64_t before_mine[TeamBins<T>::share];
    KASTOR_UNROLL
    for (int k = 0; k < TeamBins<T>::share; ++k) {
      const int b = TeamBins<T>::at(k, rank, team.league_rank());
      before_mine[k] = b < Bins::count && mine[b] != 0
                           ? Kokkos::atomic_fetch_add(&bins.counted[b], std::uint64_t{mine[b]})
                           : 0;
    }
    KASTOR_UNROLL
    for (int k = 0; k < TeamBins<T>::share; ++k) {
      const int b = TeamBins<T>::at(k, rank, team.league_rank());
      if (b < Bins::count)
        bins.of_team[team.league_rank() * Bins::count + b] =
            static_cast<std::uint32_t>(before_mine[k]);
    }
    Kokkos::memory_fence();
    team.team_barrier();
    if (rank == 0) *ticket = Kokkos::atomic_fetch_add(tickets, 1U);
    team.team_barrier();
    if (*ticket + 1 != static_cast<std::uint32_t>(team.league_size())) return;
    Kokkos::memory_fence();
    // Not yet read by this team, so that no cache of its own holds old counts. Threads read and
    // write beside each other; the sums over a stretch each go through the scratch memory.
    constexpr int share = (Bins::count + threads - 1) / threads;
    for (int b = rank; b < Bins::count; b += size)
      mine[b] = static_cast<std::uint32_t>(bins.counted[b]);
    team.team_barrier();
    const int first = rank * share;
    std::int64_t sum = 0;
    for (int b = first; b < first + share && b < Bins::count; ++b) sum += mine[b];
    auto before = static_cast<std::uint32_t>(team.team_scan(sum));
    for (int b = first; b < first + share && b < Bins::count; ++b) {
      const std::uint32_t n = mine[b];
      mine[b] = before;
      before += n;
    }
    if (first < Bins::count && first + share >= Bins::count) bins.begin[Bins::count] = before;
    team.team_barrier();
    for (int b = rank; b < Bins::count; b += size) bins.begin[b] = mine[b];
  }
};

/// The teams that counted move what they counted: each knows its places in every bin.
template <class T, class Exec>
struct ScatterSegments {
  using Bins = GatheredBins<T>;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = TeamBins<T>::threads;
  static constexpr int scratch_bytes = Bins::count * sizeof(std::uint32_t) + 8;

  const Brackets<T>* brackets;
  Segmented<T> lists;
  int segments;
  int squad;  ///< threads that take a segment together; divides those of a team
  BinPlaces bins;
  T* sorted;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (brackets->usable == 0) return;
    const int bytes = scratch_bytes - 8;
    auto* next = static_cast<std::uint32_t*>(team.team_scratch(0).get_shmem_aligned(bytes, 8));
    const std::uint32_t* mine = bins.of_team + team.league_rank() * Bins::count;
    KASTOR_UNROLL
    for (int k = 0; k < TeamBins<T>::share; ++k) {
      const int b = k * threads + team.team_rank();
      if (b < Bins::count) next[b] = static_cast<std::uint32_t>(bins.begin[b]) + mine[b];
    }
    team.team_barrier();
    const Bins bin_of(*brackets);
    for_my_segments(team, lists, segments, squad,
                    [&](T x) { sorted[Kokkos::atomic_fetch_add(&next[bin_of(x)], 1U)] = x; });
  }
};

/// A team goes through a tail's bin.
template <class T, class Exec>
struct SummariseBins {
  using Bins = GatheredBins<T>;
  static constexpr int threads = 64;
  const Brackets<T>* brackets;
  const std::uint64_t* begin;
  const T* sorted;
  BinSummary<T>* summaries;
  WideTailSums* octaves;  ///< (2, TailOctaves::count)

  /// Bin `i` of both tails.
  template <class Crew>
  KOKKOS_FUNCTION void bin(const Crew& crew, int i) const {
    const int b = Bins::window + i;
    const auto n = static_cast<std::int64_t>(begin[b + 1] - begin[b]);
    if (n == 0) {
      if (crew.rank() == 0) summaries[i] = BinSummary<T>{};
      return;
    }
    const Bins bins(*brackets);
    const int side = i / TailOctaves::bins;
    const int octave = TailOctaves::octave_of(i % TailOctaves::bins);
    BinSummary<T> summary;
    summarise_bin(crew, sorted + begin[b], n, TailTerm<T>(bins.centre, bins.exponent_of(octave)),
                  summary);
    if (crew.rank() != 0) return;
    summaries[i] = summary;
    octaves[side * TailOctaves::count + octave].atomic_add(WideTailSums::of(summary.sums));
  }
  /// Device.
  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<Exec>::member_type& team) const {
    if (brackets->usable == 0) return;
    bin(TeamCrew<typename Kokkos::TeamPolicy<Exec>::member_type>(team), team.league_rank());
  }
  /// Host.
  KOKKOS_FUNCTION void operator()(std::int64_t b) const { bin(Alone{}, static_cast<int>(b)); }
};

// -------------------------------------------------------------------------------------- hosts

/// The list in equal chunks, a thread each; every chunk has a row of counts, then of next places.
template <class T>
struct SortOnHost {
  using Bins = GatheredBins<T>;
  Bins bin_of;
  const T* values;
  std::int64_t n;
  std::int64_t chunks;
  std::uint64_t* counts;  ///< (chunks, bins)
  T* sorted;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t begin_of(std::int64_t chunk) const {
    return n / chunks * chunk + (chunk < n % chunks ? chunk : n % chunks);
  }
};

template <class T>
struct CountOnHost {
  SortOnHost<T> sort;
  KOKKOS_FUNCTION void operator()(std::int64_t chunk) const {
    std::uint64_t* mine = sort.counts + chunk * GatheredBins<T>::count;
    for (int b = 0; b < GatheredBins<T>::count; ++b) mine[b] = 0;
    const std::int64_t end = sort.begin_of(chunk + 1);
    for (std::int64_t i = sort.begin_of(chunk); i < end; ++i) ++mine[sort.bin_of(sort.values[i])];
  }
};

template <class T>
struct ScatterOnHost {
  SortOnHost<T> sort;
  KOKKOS_FUNCTION void operator()(std::int64_t chunk) const {
    std::uint64_t* next = sort.counts + chunk * GatheredBins<T>::count;
    const std::int64_t end = sort.begin_of(chunk + 1);
    for (std::int64_t i = sort.begin_of(chunk); i < end; ++i) {
      const T x = sort.values[i];
      sort.sorted[next[sort.bin_of(x)]++] = x;
    }
  }
};

}  // namespace kastor::detail

#endif
