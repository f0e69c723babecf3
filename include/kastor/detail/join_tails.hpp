// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_JOIN_TAILS_HPP
#define KASTOR_DETAIL_JOIN_TAILS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/last_not_above.hpp>
#include <kastor/detail/ordered_key.hpp>
#include <kastor/detail/paged_bin.hpp>
#include <kastor/detail/sort_into_pages.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/word_sums.hpp>

/// Joins what the pages have of each bin of the tails, and adds it up. The pixels of the window
/// stay in their pages: few of its bins are ever looked at.
namespace kastor::detail {

/// A team has a group of bins. One more has the window's begins, and another adds up what the teams
/// of the read found. Groups of very many pixels are left to helping teams, each of which takes
/// those of some pages.
template <class T, class Exec, int Threads>
struct JoinTails {
  using Bins = GatheredBins<T>;
  using Pages = SortedPages<T>;
  using Member = TeamMember<Exec>;
  static constexpr int threads = Threads;
  static constexpr int teams_at_once = 1024 / threads;  ///< on a processor of a device
  static constexpr int in_group = TailOctaves::in_group;
  static constexpr int groups = 2 * TailOctaves::groups;
  static constexpr int teams = groups + 2;  ///< and the helping ones

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

  /// The groups of very many pixels.
  struct HeavyGroups {
    /// Pixels of those before, counted from the end of the joined.
    std::uint32_t begin[groups];
    std::uint32_t first_share[groups + 1];  ///< of all that helping teams take
    std::uint16_t group[groups];
    int count;
  };

  /// Pixels of a heavy group that a team sorts at once, a piece.
  static constexpr int pixels_of_thread = 48 / sizeof(T);
  static constexpr int pixels_at_once = threads * pixels_of_thread;
  using Paged = PagedBin<T, threads>;

  struct Space {
    std::uint32_t begin[in_group];  ///< of what the team has of a bin, among the joined pixels
    std::uint32_t next[in_group];   ///< of a group that it has alone: the end, once all are placed
    std::uint32_t count[in_group];  ///< of a piece's pixels
    std::uint32_t first[in_group + 1];  ///< pixels of the piece that are of lower bins
    std::uint32_t longest, most;
    HeavyGroups heavy;
    typename Paged::Space pages;
    union {  // one at a time
      Finds finds;
      T pixels[pixels_at_once];
      WordSumSpace<GatherTotals::words, threads> totals;
      SumsBeforeSpace<std::uint32_t, 1, threads> before;
      SumsBeforeSpace<std::uint32_t, 3, threads> before_group;
    };
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;
  /// See SortIntoPages.
  static_assert(scratch_bytes + (threads + 3) * 8 <= 48 * 1024);

  const Brackets<T>* brackets;
  Pages pages;
  PageCounts counts;
  std::uint64_t* window_begin;  ///< (Bins::window + 1) among the pixels of the window
  T* joined;  ///< first the groups that a team has alone, in any order; heavy ones at the end
  std::int64_t joined_capacity;
  TailSummaries<T> summaries;       ///< zero before
  const GatherTotals* totals;       ///< (segments)
  const SegmentCounts* in_segment;  ///< (segments)
  int segments;
  GatherResult* result;
  std::uint32_t most_alone;   ///< pixels of a group that one team joins
  std::uint32_t least_share;  ///< of larger groups, about: what a helping team takes at least

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (brackets->usable == 0) return;
    const int group = team.league_rank() - 2;
    if (group >= 0 && group < groups && (in_group_of(group) == 0 || is_heavy(group))) return;
    Space& space = *scratch_of<Space>(team);
    if (group >= groups) {
      help(team, space, group - groups, team.league_size() - teams);
    } else if (group >= 0) {
      join_alone(team, space, group);
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

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t in_group_of(int group) const {
    return counts.of_bin[Pages::first_group + group];
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_heavy(int group) const {
    return in_group_of(group) > most_alone;
  }

  /// A group of both tails.
  KOKKOS_FUNCTION void join_alone(const Member& team, Space& space, int group) const {
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
    }
    team.team_barrier();
    const Bins bins(*brackets);
    place(space, bins, group, rank);
    team.team_barrier();
    add_up(team, space, bins, group);
    if (rank < in_group) {
      BinSummary<T>& summary = summaries.bins[group * in_group + rank];
      summary = found_of(space.finds, rank);
      summary.begin = space.begin[rank];
    }
    report(space.finds, group, rank,
           [](WideTailSums& to, int k, std::uint64_t sum) { to.word[k] = sum; });
  }

  /// Takes shares of the heavy groups.
  KOKKOS_FUNCTION void help(const Member& team, Space& space, int helper, int helpers) const {
    list_heavy_groups(team, space, static_cast<std::uint32_t>(helpers));
    const HeavyGroups& heavy = space.heavy;
    const auto shares = static_cast<int>(heavy.first_share[heavy.count]);
    for (int s = helper; s < shares; s += helpers) {
      const int i = last_not_above(heavy.first_share, heavy.count, static_cast<std::uint32_t>(s));
      const auto first = static_cast<int>(heavy.first_share[i]);
      const std::int64_t of = static_cast<std::int64_t>(heavy.first_share[i + 1]) - first;
      const std::int64_t count = *pages.count;
      join_share(team, space, heavy.group[i], heavy.begin[i], count * (s - first) / of,
                 count * (s - first + 1) / of);
    }
  }

  /// And their shares: so many that every helper has two, unless they became small.
  KOKKOS_FUNCTION void list_heavy_groups(const Member& team, Space& space,
                                         std::uint32_t helpers) const {
    constexpr int share = (groups + threads - 1) / threads;
    const int first = team.team_rank() * share;
    std::uint32_t n[share];
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) n[k] = first + k < groups ? in_group_of(first + k) : 0;
    const TeamCrew<Member> crew(team);
    std::uint32_t mine = 0;
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) mine += n[k] > most_alone ? n[k] : 0;
    const std::uint32_t evenly = sum_of_all(crew, space.before, mine) / (2 * helpers) + 1;
    const std::uint32_t in_share = evenly > least_share ? evenly : least_share;
    team.team_barrier();
    std::uint32_t before[3] = {};  // groups, shares, pixels
    const auto pass = [&](std::uint32_t pixels) {
      if (pixels <= most_alone) return;
      ++before[0];
      before[1] += (pixels - 1) / in_share + 1;
      before[2] += pixels;
    };
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) pass(n[k]);
    sums_before(crew, space.before_group, before);
    HeavyGroups& heavy = space.heavy;
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) {
      if (n[k] > most_alone) {
        heavy.group[before[0]] = static_cast<std::uint16_t>(first + k);
        heavy.first_share[before[0]] = before[1];
        heavy.begin[before[0]] = before[2];
      }
      pass(n[k]);
    }
    if (team.team_rank() == threads - 1) {
      heavy.count = static_cast<int>(before[0]);
      heavy.first_share[before[0]] = before[1];
    }
    team.team_barrier();
  }

  /// A squad of threads has a bin of a group.
  static constexpr int squad = threads / in_group;

  /// What a thread adds up of the bin of its squad.
  struct Tally {
    TailTerm<T> term;
    Key<T> lowest = ~Key<T>{0};
    Key<T> highest = 0;
    TailSums sums;

    KOKKOS_FUNCTION Tally(const Bins& bins, int group, int rank)
        : term(bins.centre, bins.exponent_of(TailOctaves::octave_of(
                                group % TailOctaves::groups * in_group + rank / squad))) {}
    KOKKOS_FUNCTION void look_at(T x) {
      const Key<T> key = key_of(x);
      lowest = key < lowest ? key : lowest;
      highest = key > highest ? key : highest;
    }
    KOKKOS_FUNCTION void put_into(Finds& finds, int rank) const {
      const WideTailSums wide = WideTailSums::of(sums);
      KASTOR_UNROLL
      for (int k = 0; k < WideTailSums::words; ++k) finds.word[k][rank] = wide.word[k];
      finds.word[WideTailSums::words][rank] = BinSummary<T>::low_word(lowest);
      finds.word[WideTailSums::words + 1][rank] = BinSummary<T>::high_word(highest);
    }
  };

  /// The pixels of a group that some pages have; those of other pages are others' work.
  KOKKOS_FUNCTION void join_share(const Member& team, Space& space, int group, std::uint32_t begin,
                                  std::int64_t page, std::int64_t past) const {
    const TeamCrew<Member> crew(team);
    const int rank = crew.rank();
    const int first_bin = group * in_group;
    std::uint64_t bin_begin = static_cast<std::uint64_t>(joined_capacity) - begin;
    if (rank < in_group) {
      for (int b = rank; b < in_group; ++b) bin_begin -= counts.of_tail[first_bin + b];
      summaries.bins[first_bin + rank].begin = bin_begin;  // by all the same
    }
    const Bins bins(*brackets);
    Tally tally(bins, group, rank);
    for (std::int64_t p = page; p < past; p += Paged::most_pages) {
      const auto some =
          static_cast<int>(past - p < Paged::most_pages ? past - p : Paged::most_pages);
      const Paged paged(crew, pages, Pages::first_group + group, p, some, space.pages);
      const std::uint32_t all = paged.size();
      if (all == 0) continue;
      // Pieces of about the same size.
      const std::uint32_t pieces = (all - 1) / pixels_at_once + 1;
      const std::uint32_t size = (all - 1) / pieces + 1;
      const auto end_of = [&](std::uint32_t at) { return at + size < all ? at + size : all; };
      T mine[pixels_of_thread]{};
      paged.load(rank, 0, end_of(0), mine);
      for (std::uint32_t at = 0; at < all; at += size) {
        sort_by_bins(crew, space, bins, first_bin, end_of(at) - at, mine, bin_begin);
        // Those of the next piece are under way meanwhile.
        if (at + size < all) paged.load(rank, at + size, end_of(at + size), mine);
        write_and_add(space, rank, tally);
        crew.barrier();
      }
    }
    tally.put_into(space.finds, rank);
    crew.barrier();
    add_up_finds(team, space.finds);
    if (rank < in_group) {
      BinSummary<T>& summary = summaries.bins[first_bin + rank];
      const BinSummary<T> found = found_of(space.finds, rank);
      summary.sums.atomic_add(found.sums);
      Kokkos::atomic_max(&summary.lowest, found.lowest);
      Kokkos::atomic_max(&summary.highest, found.highest);
    }
    report(space.finds, group, rank, [](WideTailSums& to, int k, std::uint64_t sum) {
      Kokkos::atomic_add(&to.word[k], sum);
    });
    team.team_barrier();
  }

  /// Sorts a piece of n pixels, of which every thread has some, into scratch memory, and reserves
  /// places among the joined. `bin_begin`: of all pixels of the b-th bin; the b-th thread knows it.
  template <class Crew>
  KOKKOS_FUNCTION void sort_by_bins(const Crew& crew, Space& space, const Bins& bins, int first_bin,
                                    std::uint32_t n, const T (&mine)[pixels_of_thread],
                                    std::uint64_t bin_begin) const {
    const int rank = crew.rank();
    const auto place = [rank](int k) { return static_cast<std::uint32_t>(rank + k * threads); };
    if (rank < in_group) space.count[rank] = 0;
    crew.barrier();
    // A pixel's bin in the group, and how many of that came before it; two pixels share a word.
    std::uint32_t code[pixels_of_thread / 2]{};
    static_assert(pixels_at_once * in_group <= 1 << 16);
    KASTOR_UNROLL
    for (int k = 0; k < pixels_of_thread; ++k) {
      if (place(k) >= n) break;
      const auto bin = static_cast<std::uint32_t>(bins.in_tails(mine[k]) - first_bin);
      code[k / 2] |= (bin | scratch_fetch_add(&space.count[bin], 1U) * in_group) << (k % 2 * 16);
    }
    crew.barrier();
    std::uint32_t reserved = 0;
    if (rank < in_group) {
      std::uint32_t before = 0;
      for (int b = 0; b < rank; ++b) before += space.count[b];
      space.first[rank] = before;
      if (rank == 0) space.first[in_group] = n;
      reserved = Kokkos::atomic_fetch_add(&counts.placed[first_bin + rank], space.count[rank]);
    }
    crew.barrier();
    KASTOR_UNROLL
    for (int k = 0; k < pixels_of_thread; ++k) {
      if (place(k) >= n) break;
      const std::uint32_t its = code[k / 2] >> (k % 2 * 16) & 0xffff;
      space.pixels[space.first[its % in_group] + its / in_group] = mine[k];
    }
    // Needed only now: to reserve may take as long as to sort.
    if (rank < in_group) space.begin[rank] = static_cast<std::uint32_t>(bin_begin) + reserved;
    crew.barrier();
  }

  /// The sorted pixels of a piece.
  KOKKOS_FUNCTION void write_and_add(const Space& space, int rank, Tally& tally) const {
    const int bin = rank / squad;
    const std::uint32_t first = space.first[bin];
    const std::uint32_t past = space.first[bin + 1];
    T* const to = joined + space.begin[bin];
    FewTailSums few;
    KASTOR_UNROLL_BY_4
    for (std::uint32_t i = first + static_cast<std::uint32_t>(rank % squad); i < past; i += squad) {
      const T x = space.pixels[i];
      to[i - first] = x;
      tally.look_at(x);
      tally.term.add(x, true, few);
    }
    few.move_to(tally.sums);
  }

  /// Moves a group's pixels to the places of their bins. A warp goes through those of a page.
  KOKKOS_FUNCTION void place(Space& space, const Bins& bins, int group, int rank) const {
    constexpr int batch = 8;
    const std::int64_t past = *pages.count;
    const int lane = rank % lanes;
    for (std::int64_t page = rank / lanes; page < past; page += batch * (threads / lanes)) {
      const T* from[batch];
      int n[batch];
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) {
        const std::int64_t p = page + k * (threads / lanes);
        const auto places =
            p < past ? pages.places(p, Pages::first_group + group) : typename Pages::Places{0, 0};
        from[k] = pages.page(p) + places.begin;
        n[k] = static_cast<int>(places.end - places.begin);
      }
      int longest = 0;
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) longest = n[k] > longest ? n[k] : longest;
      KASTOR_KEEP_LOOP
      for (int i = lane; i - lane < longest; i += lanes) {
        T x[batch]{};
        KASTOR_UNROLL
        for (int k = 0; k < batch; ++k) {
          if (i < n[k]) x[k] = from[k][i];
        }
        KASTOR_UNROLL
        for (int k = 0; k < batch; ++k) {
          if (i < n[k])
            joined[scratch_fetch_add(&space.next[bins.in_tails(x[k]) - group * in_group], 1U)] =
                x[k];
        }
      }
    }
  }

  /// What the team placed.
  KOKKOS_FUNCTION void add_up(const Member& team, Space& space, const Bins& bins, int group) const {
    const int rank = team.team_rank();
    const int b = rank / squad;
    Tally tally(bins, group, rank);
    add_tail(Squad{rank % squad, squad}, joined + space.begin[b],
             static_cast<std::int64_t>(space.next[b]) - space.begin[b], tally.term, tally.sums,
             [&](T x) {
               tally.look_at(x);
               return true;
             });
    tally.put_into(space.finds, rank);
    team.team_barrier();
    add_up_finds(team, space.finds);
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

  /// All but where the pixels of a bin lie.
  [[nodiscard]] KOKKOS_FUNCTION static BinSummary<T> found_of(const Finds& finds, int bin) {
    const auto word = [&](int k) { return finds.all[k * in_group + bin]; };
    BinSummary<T> found{0, word(WideTailSums::words), word(WideTailSums::words + 1), {}};
    KASTOR_UNROLL
    for (int k = 0; k < WideTailSums::words; ++k) found.sums.word[k] = word(k);
    return found;
  }

  /// The sums of the group and its octaves.
  template <class Put>
  KOKKOS_FUNCTION void report(const Finds& finds, int group, int rank, const Put& put) const {
    constexpr int warp = 32;
    const bool is_of_parted = summaries.is_of_parted(group);
    if (rank < in_group) {
      KASTOR_UNROLL
      for (int k = 0; k < WideTailSums::words; ++k) {
        if (!is_of_parted) put(summaries.octave_of(group, rank), k, finds.all[k * in_group + rank]);
      }
    } else if (rank >= warp && rank < warp + WideTailSums::words) {
      // Words of all the bins, by threads of another warp.
      const int k = rank - warp;
      std::uint64_t sum = 0;
      KASTOR_UNROLL
      for (int b = 0; b < in_group; ++b) sum += finds.all[k * in_group + b];
      put(summaries.groups[group], k, sum);
      if (is_of_parted) Kokkos::atomic_add(&summaries.octave_of(group, 0).word[k], sum);
    }
  }
};

}  // namespace kastor::detail

#endif
