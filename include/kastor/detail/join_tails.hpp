// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_JOIN_TAILS_HPP
#define KASTOR_DETAIL_JOIN_TAILS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/ordered_key.hpp>
#include <kastor/detail/sort_into_pages.hpp>
#include <kastor/detail/word_sums.hpp>

/// Joins what the pages have of each bin of the tails, and adds it up. The pixels of the window
/// stay in their pages: few of its bins are ever looked at.
namespace kastor::detail {

/// A team has a group of bins. One more has the window's begins, and another adds up what the teams
/// of the read found.
template <class T, class Exec, int Threads>
struct JoinTails {
  using Bins = GatheredBins<T>;
  using Pages = SortedPages<T>;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = Threads;
  static constexpr int teams_at_once = 1024 / threads;  ///< on a processor of a device
  static constexpr int in_group = TailOctaves::in_group;
  static constexpr int teams = 2 * TailOctaves::groups + 2;

  /// What the threads of a bin found: sums, and keys of the extremes.
  struct Finds {
    static constexpr int words = WideTailSums::words + 2;
    static constexpr int columns = words * in_group;
    static constexpr int in_part = 8;
    static constexpr int parts = threads / in_group / in_part;  ///< of a bin's threads
    std::uint64_t word[words][threads];
    std::uint64_t part[columns][parts + 1];  ///< one more, so that columns lie in other banks
    std::uint64_t all[columns];              ///< (words, in_group)
  };
  static_assert(Finds::columns * Finds::parts <= threads);

  struct Space {
    std::uint32_t begin[in_group + 1];  ///< of the bins among the joined pixels
    std::uint32_t next[in_group];
    std::uint32_t longest, most;
    union {  // one at a time
      Finds finds;
      WordSumSpace<GatherTotals::words, threads> totals;
      SumsBeforeSpace<std::uint32_t, 1, threads> before;
    };
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;

  const Brackets<T>* brackets;
  Pages pages;
  PageCounts counts;
  std::uint64_t* window_begin;  ///< (Bins::window + 1) among the pixels of the window
  T* joined;
  TailSummaries<T> summaries;
  const GatherTotals* totals;       ///< (segments)
  const SegmentCounts* in_segment;  ///< (segments)
  int segments;
  GatherResult* result;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (brackets->usable == 0) return;
    const int group = team.league_rank() - 2;
    if (group >= 0 && counts.of_bin[Pages::first_bin_of_tails() + group] == 0) {
      put_nothing(group, team.team_rank());
      return;
    }
    const int bytes = sizeof(Space);  // is taken by reference
    auto& space = *static_cast<Space*>(team.team_scratch(0).get_shmem_aligned(bytes, 16));
    if (group >= 0) {
      join(team, space, group);
    } else if (team.league_rank() == 0) {
      find_window(team, space);
    } else {
      add_up_read(team, space);
    }
  }

 private:
  KOKKOS_FUNCTION void find_window(const Member& team, Space& space) const {
    constexpr int share = Bins::window / threads;
    static_assert(Bins::window % threads == 0);
    const int first = team.team_rank() * share;
    std::uint32_t n[share];
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) n[k] = counts.of_bin[first + k];
    std::uint32_t before[1] = {0};
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) before[0] += n[k];
    sums_before(TeamCrew<Member>(team), space.before, before);
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) {
      window_begin[first + k] = before[0];
      before[0] += n[k];
    }
    if (team.team_rank() == threads - 1) window_begin[Bins::window] = before[0];
  }

  KOKKOS_FUNCTION void add_up_read(const Member& team, Space& space) const {
    const TeamCrew<Member> crew(team);
    const int rank = crew.rank();
    if (rank == 0) space.longest = space.most = 0;
    team.team_barrier();
    std::uint64_t words[GatherTotals::words] = {};
    SegmentCounts most{0, 0};
    for (int s = rank; s < segments; s += threads) {
      KASTOR_UNROLL
      for (int k = 0; k < GatherTotals::words; ++k) words[k] += totals[s].word[k];
      const SegmentCounts n = in_segment[s];
      most.gathered = n.gathered > most.gathered ? n.gathered : most.gathered;
      most.candidates = n.candidates > most.candidates ? n.candidates : most.candidates;
    }
    Kokkos::atomic_max(&space.longest, most.gathered);
    Kokkos::atomic_max(&space.most, most.candidates);
    GatherResult* const to = result;
    add_up_words(crew, space.totals, words,
                 [to](int k, std::uint64_t sum) { to->totals.word[k] = sum; });
    for (int spike = 0; spike < brackets->spikes; ++spike) {
      std::int64_t sum = 0;
      for (int s = rank; s < segments; s += threads)
        sum += static_cast<std::int64_t>(totals[s].spike[spike]);
      sum = crew.sum(sum);
      if (rank == 0) to->totals.spike[spike] = static_cast<std::uint64_t>(sum);
    }
    if (rank == 0) {
      to->longest_list = space.longest;
      to->most_candidates = space.most;
    }
  }

  KOKKOS_FUNCTION void put_nothing(int group, int rank) const {
    if (rank < in_group) summaries.bins[group * in_group + rank] = BinSummary<T>{};
    if (rank == in_group) summaries.groups[group] = WideTailSums{};
  }

  /// A group of both tails.
  KOKKOS_FUNCTION void join(const Member& team, Space& space, int group) const {
    const int rank = team.team_rank();
    if (rank == 0) {
      std::uint32_t n[in_group];
      KASTOR_UNROLL
      for (int b = 0; b < in_group; ++b) n[b] = counts.of_tail[group * in_group + b];
      std::uint32_t all = 0;
      KASTOR_UNROLL
      for (int b = 0; b < in_group; ++b) all += n[b];
      std::uint32_t begin = Kokkos::atomic_fetch_add(counts.joined, all);
      KASTOR_UNROLL
      for (int b = 0; b < in_group; ++b) {
        space.begin[b] = space.next[b] = begin;
        begin += n[b];
      }
      space.begin[in_group] = begin;
    }
    team.team_barrier();
    const Bins bins(*brackets);
    collect(space, bins, group, rank);
    team.team_barrier();
    add_up(space, bins, group, rank);
    team.team_barrier();
    add_up_finds(team, space.finds);
    report(space.finds, space, group, rank);
  }

  /// A squad goes through a page's pixels of the group.
  KOKKOS_FUNCTION void collect(Space& space, const Bins& bins, int group, int rank) const {
    constexpr int squad = 32;
    constexpr int batch = 8;
    const int first = group * in_group;
    const int lane = rank % squad;
    const std::int64_t count = *pages.count;
    for (std::int64_t page = rank / squad; page < count; page += batch * (threads / squad)) {
      const T* from[batch];
      int n[batch];
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) {
        const std::int64_t p = page + k * (threads / squad);
        const auto places = p < count ? pages.places(p, Pages::first_bin_of_tails() + group)
                                      : typename Pages::Places{0, 0};
        from[k] = pages.page(p) + places.begin;
        n[k] = static_cast<int>(places.end - places.begin);
      }
      int longest = 0;
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) longest = n[k] > longest ? n[k] : longest;
      KASTOR_KEEP_LOOP
      for (int i = lane; i - lane < longest; i += squad) {
        T x[batch]{};
        KASTOR_UNROLL
        for (int k = 0; k < batch; ++k) {
          if (i < n[k]) x[k] = from[k][i];
        }
        KASTOR_UNROLL
        for (int k = 0; k < batch; ++k) {
          if (i < n[k])
            joined[Kokkos::atomic_fetch_add(&space.next[bins.in_tails(x[k]) - first], 1U)] = x[k];
        }
      }
    }
  }

  /// A squad goes through the pixels of a bin.
  KOKKOS_FUNCTION void add_up(Space& space, const Bins& bins, int group, int rank) const {
    constexpr int squad = threads / in_group;
    const int b = rank / squad;
    const int bin = group % TailOctaves::groups * in_group + b;
    const TailTerm<T> term(bins.centre, bins.exponent_of(TailOctaves::octave_of(bin)));
    Key<T> lowest = ~Key<T>{0};
    Key<T> highest = 0;
    TailSums sums;
    add_tail(Squad{rank % squad, squad}, joined + space.begin[b],
             static_cast<std::int64_t>(space.begin[b + 1]) - space.begin[b], term, sums, [&](T x) {
               const Key<T> key = key_of(x);
               lowest = key < lowest ? key : lowest;
               highest = key > highest ? key : highest;
               return true;
             });
    const WideTailSums wide = WideTailSums::of(sums);
    KASTOR_UNROLL
    for (int k = 0; k < WideTailSums::words; ++k) space.finds.word[k][rank] = wide.word[k];
    // Both as what is largest of all.
    space.finds.word[WideTailSums::words][rank] = static_cast<Key<T>>(~lowest);
    space.finds.word[WideTailSums::words + 1][rank] = highest;
  }

  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t joined_words(int word, std::uint64_t a,
                                                                  std::uint64_t b) {
    return word < WideTailSums::words ? a + b : (a > b ? a : b);
  }

  /// What all the threads of each bin found.
  KOKKOS_FUNCTION static void add_up_finds(const Member& team, Finds& finds) {
    const int rank = team.team_rank();
    if (rank < Finds::columns * Finds::parts) {
      const int column = rank / Finds::parts;
      const int word = column / in_group;
      const std::uint64_t* const from =
          &finds.word[word][column % in_group * (threads / in_group) + rank % Finds::parts];
      std::uint64_t sum = from[0];
      KASTOR_UNROLL
      for (int i = 1; i < Finds::in_part; ++i)
        sum = joined_words(word, sum, from[i * Finds::parts]);
      finds.part[column][rank % Finds::parts] = sum;
    }
    team.team_barrier();
    if (rank < Finds::columns) {
      const int word = rank / in_group;
      std::uint64_t sum = finds.part[rank][0];
      KASTOR_UNROLL
      for (int i = 1; i < Finds::parts; ++i) sum = joined_words(word, sum, finds.part[rank][i]);
      finds.all[rank] = sum;
    }
    team.team_barrier();
  }

  KOKKOS_FUNCTION void report(const Finds& finds, const Space& space, int group, int rank) const {
    constexpr int warp = 32;
    const bool fine = summaries.is_fine(group);
    if (rank < in_group) {
      WideTailSums wide;
      KASTOR_UNROLL
      for (int k = 0; k < WideTailSums::words; ++k) wide.word[k] = finds.all[k * in_group + rank];
      const auto key = [&](int k) {
        return static_cast<Key<T>>(finds.all[(WideTailSums::words + k) * in_group + rank]);
      };
      BinSummary<T> summary{};
      if (wide.word[WideTailSums::pixels] != 0)
        summary = {space.begin[rank], value_of<T>(static_cast<Key<T>>(~key(0))),
                   value_of<T>(key(1)), wide.sums()};
      summaries.bins[group * in_group + rank] = summary;
      if (!fine) summaries.octave_of(group, rank) = wide;
    } else if (rank >= warp && rank < warp + WideTailSums::words) {
      // Words of all the bins, by threads of another warp.
      const int k = rank - warp;
      std::uint64_t sum = 0;
      KASTOR_UNROLL
      for (int b = 0; b < in_group; ++b) sum += finds.all[k * in_group + b];
      summaries.groups[group].word[k] = sum;
      if (fine) Kokkos::atomic_add(&summaries.octave_of(group, 0).word[k], sum);
    }
  }
};

}  // namespace kastor::detail

#endif
