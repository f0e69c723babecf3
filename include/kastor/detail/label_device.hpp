// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LABEL_DEVICE_HPP
#define KASTOR_DETAIL_LABEL_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/fill_words.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/run_table.hpp>
#include <kastor/detail/sums_before.hpp>
#include <kastor/detail/team_scratch.hpp>

/// The steps of labelling by teams. Each team has a part of its own; what it must know of the parts
/// before, it adds up from their totals, which an earlier kernel left.
namespace kastor::detail {

struct alignas(8) NumberPair {
  std::uint32_t number[2];
};

/// Parts of whole tiles of the words of a mask.
struct TilesOfWords {
  static constexpr int threads = 256;
  static constexpr int pairs = 4;  ///< that a thread loads before it looks at the first
  static constexpr std::int64_t tile = std::int64_t{threads} * pairs * 2;

  RunTable table;
  std::int64_t tiles_per_team;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t first(std::int64_t part) const {
    const std::int64_t at = part * tiles_per_team * tile;
    return at < table.words.count ? at : table.words.count;
  }
  /// First word of a thread's pair in the tile that begins at `begin`.
  [[nodiscard]] KOKKOS_FUNCTION static std::int64_t at(int rank, std::int64_t begin, int pair) {
    return begin + 2 * (std::int64_t{pair} * threads + rank);
  }
  /// Words beyond the mask read as 0.
  KOKKOS_FUNCTION void load(int rank, std::int64_t begin, WordPair* loaded) const {
    const MaskWords& words = table.words;
    if (begin + tile <= words.count && reinterpret_cast<std::uintptr_t>(words.data) % 16 == 0) {
      KASTOR_UNROLL
      for (int p = 0; p < pairs; ++p)
        loaded[p] = *reinterpret_cast<const WordPair*>(words.data + at(rank, begin, p));
    } else {
      KASTOR_UNROLL
      for (int p = 0; p < pairs; ++p) {
        const std::int64_t i = at(rank, begin, p);
        loaded[p].word[0] = i < words.count ? words.data[i] : 0;
        loaded[p].word[1] = i + 1 < words.count ? words.data[i + 1] : 0;
      }
    }
  }
};

template <class Exec>
struct CountRunsByTeams {
  using Tiles = TilesOfWords;
  using Member = TeamMember<Exec>;
  using Space = SumsBeforeSpace<std::uint64_t, 1, Tiles::threads>;
  static constexpr int threads = Tiles::threads;
  static constexpr int teams_at_once = 4;
  static constexpr int scratch_bytes = sizeof(Space) + 16;
  Tiles tiles;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Space& space = *scratch_of<Space>(team);
    const MaskWords& words = tiles.table.words;
    std::uint64_t runs = 0;
    const std::int64_t past = tiles.first(team.league_rank() + 1);
    for (std::int64_t t = tiles.first(team.league_rank()); t < past; t += Tiles::tile) {
      WordPair loaded[Tiles::pairs];
      tiles.load(team.team_rank(), t, loaded);
      KASTOR_UNROLL
      for (int p = 0; p < Tiles::pairs; ++p) {
        const std::int64_t i = Tiles::at(team.team_rank(), t, p);
        KASTOR_UNROLL
        for (int k = 0; k < 2; ++k) runs += ones_in(words.starts(i + k, loaded[p].word[k]));
      }
    }
    runs = sum_of_all(TeamCrew<Member>(team), space, runs);
    if (team.team_rank() == 0) tiles.table.totals.runs[team.league_rank()] = runs;
  }
};

/// Four counts of at most 64 a thread, so at most 2^14 a team, share the 64 bits of one scan.
template <class Exec>
struct NumberRunsByTeams {
  using Tiles = TilesOfWords;
  using Member = TeamMember<Exec>;
  static constexpr int threads = Tiles::threads;
  static constexpr int teams_at_once = 4;  ///< a scan leaves threads waiting, others fill the gap
  Tiles tiles;

  /// The words of a tile that are not 0 are few, as a rule: they are set aside, and then shared
  /// among the threads.
  struct Space {
    SumsBeforeSpace<std::uint64_t, 1, Tiles::threads> sums;
    int listed;
    std::uint16_t word[Tiles::tile];    ///< of the tile
    std::uint32_t before[Tiles::tile];  ///< runs that begin before the word
    FillWords::Space fill[Tiles::threads / lanes];
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;
  static_assert(Tiles::tile <= 1 << 16);

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    static_assert(Tiles::pairs == 4 && Tiles::threads * 64 < 1 << 16);
    const RunTable& table = tiles.table;
    auto* const space = scratch_of<Space>(team);
    const TeamCrew<Member> crew(team);
    if (team.team_rank() == 0) space->listed = 0;

    std::uint64_t before = 0;
    for (int part = team.team_rank(); part < team.league_rank(); part += team.team_size())
      before += table.totals.runs[part];
    before = sum_of_all(crew, space->sums, before);

    std::uint64_t pixels = 0;
    const std::int64_t past = tiles.first(team.league_rank() + 1);
    for (std::int64_t t = tiles.first(team.league_rank()); t < past; t += Tiles::tile) {
      WordPair loaded[Tiles::pairs];
      WordPair starts[Tiles::pairs];
      std::uint64_t counts = 0;
      tiles.load(team.team_rank(), t, loaded);
      KASTOR_UNROLL
      for (int p = 0; p < Tiles::pairs; ++p) {
        const std::int64_t i = Tiles::at(team.team_rank(), t, p);
        KASTOR_UNROLL
        for (int k = 0; k < 2; ++k) {
          const std::uint64_t word = loaded[p].word[k];
          starts[p].word[k] = table.words.starts(i + k, word);
          counts += std::uint64_t{ones_in(starts[p].word[k])} << (16 * p);
          pixels += ones_in(word);
        }
      }
      std::uint64_t begun[1] = {counts};
      std::uint64_t all[1];
      sums_before(crew, space->sums, begun, all);
      KASTOR_UNROLL
      for (int p = 0; p < Tiles::pairs; ++p) {
        number(Tiles::at(team.team_rank(), t, p), t, loaded[p], starts[p],
               before + (begun[0] >> (16 * p) & 0xffffU), *space);
        before += all[0] >> (16 * p) & 0xffffU;
      }
      team.team_barrier();
      const int lane = team.team_rank() % lanes;
      for (int k = team.team_rank(); k - lane < space->listed; k += team.team_size()) {
        const bool has_word = k < space->listed;
        fill(t + (has_word ? space->word[k] : 0), has_word, has_word ? space->before[k] : 0,
             space->fill[team.team_rank() / lanes]);
      }
      team.team_barrier();
      // The next scan has barriers before anything is listed again.
      if (team.team_rank() == 0) space->listed = 0;
    }
    pixels = sum_of_all(crew, space->sums, pixels);
    if (team.team_rank() == 0) {
      table.totals.pixels[team.league_rank()] = pixels;
      if (team.league_rank() == team.league_size() - 1) {
        table.first_in_word[table.words.count] = static_cast<std::uint32_t>(before);
        table.counts->runs = before;
      }
    }
  }

  KOKKOS_FUNCTION void number(std::int64_t i, std::int64_t first_of_tile, const WordPair& words,
                              const WordPair& starts, std::uint64_t before, Space& space) const {
    const RunTable& table = tiles.table;
    const std::uint64_t second = before + ones_in(starts.word[0]);
    if (i + 1 < table.words.count) {
      *reinterpret_cast<NumberPair*>(table.first_in_word + i) = {
          {static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(second)}};
    } else if (i < table.words.count) {
      table.first_in_word[i] = static_cast<std::uint32_t>(before);
    }
    const auto list = [&](std::int64_t word, std::uint64_t runs) {
      if (runs > static_cast<std::uint64_t>(table.capacity)) return;
      const int at = scratch_fetch_add(&space.listed, 1);
      space.word[at] = static_cast<std::uint16_t>(word - first_of_tile);
      space.before[at] = static_cast<std::uint32_t>(runs);
    };
    if (words.word[0] != 0) list(i, before);
    if (words.word[1] != 0) list(i + 1, second);
  }
  KOKKOS_FUNCTION void fill(std::int64_t i, bool has_word, std::uint32_t before,
                            FillWords::Space& space) const {
    const MaskWords& words = tiles.table.words;
    const std::uint64_t word = has_word ? words.data[i] : 0;
    FillWords(tiles.table, space).of_word(i, word, words.starts(i, word), before);
  }
};

/// Parts of whole tiles of runs, of one length, which only the device knows.
struct TilesOfRuns {
  static constexpr int threads = 256;

  RunTable table;

  /// Of each of so many teams.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t share(int teams) const {
    const std::int64_t tiles = (table.runs() + threads - 1) / threads;
    return (tiles + teams - 1) / teams * threads;
  }
};

struct RankedRoots {
  std::uint32_t kept, dropped;  ///< dropped: meaningless if all components are kept
};
/// Numbers the roots of some runs that are kept, from 0, and says how many there are. All threads
/// of a team must call it, with a work space for one sum. A thread looks at `AtOnce` runs, whose
/// counts share the bits of that sum.
template <int AtOnce, int Threads, class Crew>
[[nodiscard]] KOKKOS_FUNCTION RankedRoots
rank_roots(const Crew& crew, SumsBeforeSpace<std::uint64_t, 1, Threads>& space,
           const RunTable& table, std::int64_t first, std::int64_t past) {
  constexpr int bits = 16;
  static_assert(Threads < 1 << bits && AtOnce * bits <= 64);
  RankedRoots roots{0, 0};
  std::uint64_t dropped = 0;
  for (std::int64_t t = first; t < past; t += AtOnce * Threads) {
    const std::int64_t mine = t + crew.rank();
    bool is_kept[AtOnce];
    KASTOR_UNROLL
    for (int k = 0; k < AtOnce; ++k) {
      const std::int64_t run = mine + k * Threads < past ? mine + k * Threads : past - 1;
      is_kept[k] = table.forest().is_root(static_cast<std::uint32_t>(run));
    }
    std::uint64_t counts = 0;
    KASTOR_UNROLL
    for (int k = 0; k < AtOnce; ++k) {
      const std::int64_t run = mine + k * Threads;
      const bool is_root = run < past && is_kept[k];
      is_kept[k] = is_root &&
                   (table.pixels_of_set == nullptr || table.is_kept_set(table.pixels_of_set[run]));
      dropped += is_root && !is_kept[k] ? 1 : 0;
      counts += std::uint64_t{is_kept[k] ? 1U : 0U} << (k * bits);
    }
    std::uint64_t before[1] = {counts};
    std::uint64_t all[1];
    sums_before(crew, space, before, all);
    KASTOR_UNROLL
    for (int k = 0; k < AtOnce; ++k) {
      constexpr std::uint32_t most = (1U << bits) - 1;
      const std::int64_t run = mine + k * Threads;
      if (run < past) {
        const auto begun = static_cast<std::uint32_t>(before[0] >> (k * bits)) & most;
        table.rank[run] = is_kept[k] ? roots.kept + begun : RunTable::dropped;
        table.few.clear(run);  // there are no more components than runs
      }
      roots.kept += static_cast<std::uint32_t>(all[0] >> (k * bits)) & most;
    }
  }
  if (table.pixels_of_set != nullptr)
    roots.dropped = static_cast<std::uint32_t>(sum_of_all(crew, space, dropped));
  return roots;
}

/// Adds up the pixels of the parts, and says the counts. All threads of a team must call it.
template <int Threads, class Crew>
KOKKOS_FUNCTION void publish_counts(const Crew& crew,
                                    SumsBeforeSpace<std::uint64_t, 1, Threads>& space,
                                    const RunTable& table, int word_parts,
                                    const RankedRoots& roots) {
  std::uint64_t pixels = 0;
  for (int part = crew.rank(); part < word_parts; part += Threads)
    pixels += table.totals.pixels[part];
  pixels = sum_of_all(crew, space, pixels);
  if (crew.rank() == 0) table.publish(pixels, roots.kept, roots.dropped);
}

/// Lists those runs of a team's threads that have a label, behind those of other teams. All threads
/// must call it. `first`: shared by them.
template <class V, int Threads, class Crew>
KOKKOS_FUNCTION void list_labelled(const Crew& crew, SumsBeforeSpace<V, 1, Threads>& space,
                                   std::uint32_t& first, const RunTable& table, std::int64_t run,
                                   bool has_label) {
  V before[1] = {has_label ? V{1} : V{0}};
  V all[1];
  sums_before(crew, space, before, all);
  if (crew.rank() == 0 && all[0] != 0)
    first =
        Kokkos::atomic_fetch_add(&table.counts->labelled_runs, static_cast<std::uint32_t>(all[0]));
  crew.barrier();
  if (has_label)
    table.labelled[first + static_cast<std::uint32_t>(before[0])] = static_cast<std::uint32_t>(run);
}

template <class Exec>
struct RankRootsByTeams {
  using Tiles = TilesOfRuns;
  using Member = TeamMember<Exec>;
  using Space = SumsBeforeSpace<std::uint64_t, 1, Tiles::threads>;
  static constexpr int threads = Tiles::threads;
  static constexpr int teams_at_once = 6;
  static constexpr int scratch_bytes = sizeof(Space) + 16;
  Tiles tiles;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const RunTable& table = tiles.table;
    Space& space = *scratch_of<Space>(team);
    const std::int64_t share = tiles.share(team.league_size());
    const std::int64_t first = team.league_rank() * share;
    const std::int64_t past = first + share < table.runs() ? first + share : table.runs();
    const RankedRoots roots = rank_roots<4>(TeamCrew<Member>(team), space, table, first, past);
    if (team.team_rank() == 0) {
      table.totals.roots[team.league_rank()] = roots.kept;
      table.totals.dropped[team.league_rank()] = roots.dropped;
      if (team.league_rank() == 0) table.counts->labelled_runs = 0;
    }
  }
};

/// As many teams as ranked the roots.
template <class Exec>
struct LabelRunsByTeams {
  using Tiles = TilesOfRuns;
  using Member = TeamMember<Exec>;
  static constexpr int threads = Tiles::threads;
  static constexpr int teams_at_once = 6;
  static constexpr int at_once = 4;  ///< runs of a thread
  Tiles tiles;
  int word_parts;
  int scratch_bytes;  ///< see `scratch_for`

  struct Sums {
    SumsBeforeSpace<std::uint32_t, 1, Tiles::threads> counts;
    SumsBeforeSpace<std::uint64_t, 1, Tiles::threads> pixels;
    std::uint32_t first_listed;
  };
  [[nodiscard]] static int scratch_for(int teams) {
    return static_cast<int>(sizeof(Sums)) + (teams + 1) * static_cast<int>(sizeof(std::uint32_t)) +
           2 * 16;
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const RunTable& table = tiles.table;
    const int parts = team.league_size();
    Sums& sums = *scratch_of<Sums>(team);
    auto* const before = scratch_of<std::uint32_t>(team, parts + 1);
    const TeamCrew<Member> crew(team);

    const int mine = (parts + team.team_size() - 1) / team.team_size();
    const int first = team.team_rank() * mine;
    const int past = first + mine < parts ? first + mine : parts;
    std::uint32_t sum = 0;
    for (int part = first; part < past; ++part) sum += table.totals.roots[part];
    std::uint32_t begun[1] = {sum};
    std::uint32_t all[1];
    sums_before(crew, sums.counts, begun, all);
    std::uint32_t roots = begun[0];
    for (int part = first; part < past; ++part) {
      before[part] = roots;
      roots += table.totals.roots[part];
    }
    if (team.team_rank() == 0) before[parts] = all[0];
    team.team_barrier();

    // The last team has no more runs than others, and as a rule none.
    if (team.league_rank() == parts - 1) publish(crew, sums, parts, before[parts]);
    const std::int64_t runs = table.runs();
    const auto share = static_cast<std::uint32_t>(tiles.share(team.league_size()));
    const std::int64_t step = std::int64_t{team.league_size()} * threads;
    FewRunsLister few(table.few);
    for (std::int64_t t = std::int64_t{team.league_rank()} * threads; t < runs;
         t += at_once * step) {
      std::uint32_t root[at_once];
      KASTOR_UNROLL
      for (int k = 0; k < at_once; ++k) {
        const std::int64_t run = t + k * step + crew.rank();
        root[k] = run < runs ? static_cast<std::uint32_t>(run) : 0;  // a root, in any case
      }
      table.forest().find_all(root);
      KASTOR_UNROLL
      for (int k = 0; k < at_once; ++k) {
        const std::int64_t first_of_team = t + k * step;
        if (first_of_team >= runs) break;
        const std::int64_t run = first_of_team + crew.rank();
        const std::uint32_t label =
            run < runs ? table.label_run(run, root[k], before[root[k] / share]) : 0;
        few.see(label, run);
        if (table.labelled != nullptr)
          list_labelled(crew, sums.counts, sums.first_listed, table, run, label != 0);
      }
    }
  }

 private:
  KOKKOS_FUNCTION void publish(const TeamCrew<Member>& crew, Sums& sums, int parts,
                               std::uint32_t roots) const {
    const RunTable& table = tiles.table;
    std::uint32_t dropped = 0;
    if (table.pixels_of_set != nullptr) {
      for (int part = crew.rank(); part < parts; part += crew.size())
        dropped += table.totals.dropped[part];
      dropped = sum_of_all(crew, sums.counts, dropped);
    }
    publish_counts(crew, sums.pixels, table, word_parts, {roots, dropped});
  }
};

}  // namespace kastor::detail

#endif
