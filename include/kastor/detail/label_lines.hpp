// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LABEL_LINES_HPP
#define KASTOR_DETAIL_LABEL_LINES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/fill_words.hpp>
#include <kastor/detail/label_device.hpp>
#include <kastor/detail/mask_lines.hpp>
#include <kastor/detail/run_table.hpp>
#include <kastor/detail/sums_before.hpp>
#include <kastor/detail/team_scratch.hpp>

/// The first steps of labelling by teams where it is known which lines of the mask have a bit: the
/// others are not looked at. Of a tile of lines those that were touched are listed, and shared
/// among the threads.
namespace kastor::detail {

/// Parts of whole tiles of the lines of a mask.
struct TilesOfLines {
  static constexpr int threads = 256;
  static constexpr int of_thread = 2;  ///< lines of a tile, side by side
  static constexpr int tile = threads * of_thread;
  static constexpr int words = static_cast<int>(MaskLines::words);  ///< of a line
  static constexpr int pairs = words / 2;                           ///< of a line

  RunTable table;
  std::int64_t tiles_per_team;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t lines() const {
    return (table.words.count + words - 1) / words;
  }
  /// First line of a part.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t first(std::int64_t part) const {
    const std::int64_t at = part * tiles_per_team * tile;
    return at < lines() ? at : lines();
  }
  /// A bit for each of a thread's lines that was touched, those from `line` on.
  [[nodiscard]] KOKKOS_FUNCTION unsigned touched(std::int64_t line) const {
    unsigned bits = 0;
    KASTOR_UNROLL
    for (int k = 0; k < of_thread; ++k) {
      if (line + k < lines() && table.words.lines.touched[line + k] != 0) bits |= 1U << k;
    }
    return bits;
  }
  /// The pair of words that begins at word i.
  [[nodiscard]] KOKKOS_FUNCTION WordPair pair(std::int64_t i) const {
    const MaskWords& mask = table.words;
    return {{i < mask.count ? mask.data[i] : 0, i + 1 < mask.count ? mask.data[i + 1] : 0}};
  }
  [[nodiscard]] KOKKOS_FUNCTION WordPair starts(std::int64_t i, const WordPair& word) const {
    const MaskWords& mask = table.words;
    return {{mask.starts(i, word.word[0]), mask.starts(i + 1, word.word[1])}};
  }
};

template <class Exec>
struct CountRunsInLines {
  using Tiles = TilesOfLines;
  using Member = TeamMember<Exec>;
  static constexpr int threads = Tiles::threads;
  static constexpr int teams_at_once = 4;
  struct Space {
    SumsBeforeSpace<std::uint64_t, 1, threads> sums;
    int listed;
    std::uint16_t line[Tiles::tile];  ///< in no order
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;
  Tiles tiles;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Space& space = *scratch_of<Space>(team);
    std::uint64_t runs = 0;
    const std::int64_t past = tiles.first(team.league_rank() + 1);
    for (std::int64_t t = tiles.first(team.league_rank()); t < past; t += Tiles::tile) {
      if (team.team_rank() == 0) space.listed = 0;
      team.team_barrier();
      const int mine = Tiles::of_thread * team.team_rank();
      unsigned touched = tiles.touched(t + mine);
      if (touched != 0) {
        int at = scratch_fetch_add(&space.listed, static_cast<int>(ones_in(touched)));
        for (; touched != 0; touched &= touched - 1)
          space.line[at++] = static_cast<std::uint16_t>(mine + lowest_one(touched));
      }
      team.team_barrier();
      for (int k = team.team_rank(); k < Tiles::pairs * space.listed; k += team.team_size()) {
        const std::int64_t line = t + space.line[k / Tiles::pairs];
        const std::int64_t i = line * Tiles::words + k % Tiles::pairs * 2;
        const WordPair starts = tiles.starts(i, tiles.pair(i));
        runs += ones_in(starts.word[0]) + ones_in(starts.word[1]);
      }
      team.team_barrier();
    }
    runs = sum_of_all(TeamCrew<Member>(team), space.sums, runs);
    if (team.team_rank() == 0) tiles.table.totals.runs[team.league_rank()] = runs;
  }
};

template <class Exec>
struct NumberRunsInLines {
  using Tiles = TilesOfLines;
  using Member = TeamMember<Exec>;
  static constexpr int threads = Tiles::threads;
  static constexpr int teams_at_once = 4;
  struct Space {
    SumsBeforeSpace<std::uint64_t, 1, threads> sums;
    std::uint16_t line[Tiles::tile];           ///< that was touched, in order
    std::uint16_t listed_before[Tiles::tile];  ///< every line of the tile
    /// Runs of the tile that begin in a pair of words of a listed line; then before it.
    std::uint32_t runs[Tiles::tile * Tiles::pairs];
    FillWords::Space fill[threads / lanes];
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;
  static_assert(Tiles::tile <= 1 << 16);
  Tiles tiles;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const RunTable& table = tiles.table;
    Space& space = *scratch_of<Space>(team);
    const TeamCrew<Member> crew(team);

    std::uint64_t before = 0;
    for (int part = team.team_rank(); part < team.league_rank(); part += team.team_size())
      before += table.totals.runs[part];
    before = sum_of_all(crew, space.sums, before);

    std::uint64_t pixels = 0;
    const std::int64_t past = tiles.first(team.league_rank() + 1);
    for (std::int64_t t = tiles.first(team.league_rank()); t < past; t += Tiles::tile) {
      const int listed = list(crew, t, space);
      crew.barrier();
      pixels += count(crew, t, listed, space);
      crew.barrier();
      const std::uint64_t in_tile = add_up(crew, listed, space);
      crew.barrier();
      number_rows(crew, t, listed, before, in_tile, space);
      fill(crew, t, listed, before, space);
      before += in_tile;
      crew.barrier();
    }
    pixels = sum_of_all(crew, space.sums, pixels);
    if (crew.rank() == 0) {
      table.totals.pixels[team.league_rank()] = pixels;
      if (team.league_rank() == team.league_size() - 1) {
        table.first_in_word[table.words.count] = static_cast<std::uint32_t>(before);
        table.counts->runs = before;
      }
    }
  }

 private:
  using Crew = TeamCrew<Member>;

  /// First word of the k-th listed pair.
  [[nodiscard]] KOKKOS_FUNCTION static std::int64_t word_of(std::int64_t tile, int k,
                                                            const Space& space) {
    return (tile + space.line[k / Tiles::pairs]) * Tiles::words + k % Tiles::pairs * 2;
  }

  /// How many lines of a tile are listed.
  [[nodiscard]] KOKKOS_FUNCTION int list(const Crew& crew, std::int64_t tile, Space& space) const {
    const int mine = Tiles::of_thread * crew.rank();
    const unsigned touched = tiles.touched(tile + mine);
    std::uint64_t before[1] = {ones_in(touched)};
    std::uint64_t all[1];
    sums_before(crew, space.sums, before, all);
    auto at = static_cast<int>(before[0]);
    KASTOR_UNROLL
    for (int k = 0; k < Tiles::of_thread; ++k) {
      space.listed_before[mine + k] = static_cast<std::uint16_t>(at);
      if ((touched >> k & 1) != 0) space.line[at++] = static_cast<std::uint16_t>(mine + k);
    }
    return static_cast<int>(all[0]);
  }
  /// Counts the runs of every listed pair; the pixels of a thread's.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t count(const Crew& crew, std::int64_t tile, int listed,
                                                    Space& space) const {
    std::uint64_t pixels = 0;
    for (int k = crew.rank(); k < Tiles::pairs * listed; k += crew.size()) {
      const std::int64_t i = word_of(tile, k, space);
      const WordPair words = tiles.pair(i);
      const WordPair starts = tiles.starts(i, words);
      space.runs[k] = ones_in(starts.word[0]) + ones_in(starts.word[1]);
      pixels += ones_in(words.word[0]) + ones_in(words.word[1]);
    }
    return pixels;
  }
  /// From the runs of every listed pair to those before it; all of them.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t add_up(const Crew& crew, int listed,
                                                     Space& space) const {
    const int n = Tiles::pairs * listed;
    const int share = (n + crew.size() - 1) / crew.size();
    const int first = crew.rank() * share;
    const int past = first + share < n ? first + share : n;
    std::uint64_t before[1] = {0};
    for (int k = first; k < past; ++k) before[0] += space.runs[k];
    std::uint64_t all[1];
    sums_before(crew, space.sums, before, all);
    auto runs = static_cast<std::uint32_t>(before[0]);
    for (int k = first; k < past; ++k) {
      const std::uint32_t here = space.runs[k];
      space.runs[k] = runs;
      runs += here;
    }
    return all[0];
  }
  /// The first words of rows, whether their lines were touched or not.
  KOKKOS_FUNCTION void number_rows(const Crew& crew, std::int64_t tile, int listed,
                                   std::uint64_t before, std::uint64_t in_tile,
                                   const Space& space) const {
    const MaskWords& mask = tiles.table.words;
    const std::int64_t begin = tile * Tiles::words;
    const std::int64_t behind = begin + std::int64_t{Tiles::tile} * Tiles::words;
    const std::int64_t end = behind < mask.count ? behind : mask.count;
    const std::int64_t first_row = (begin + mask.per_row - 1) / mask.per_row;
    for (std::int64_t i = (first_row + crew.rank()) * mask.per_row; i < end;
         i += crew.size() * mask.per_row) {
      const auto line = static_cast<int>((i - begin) / Tiles::words);
      const int at = space.listed_before[line];
      std::uint64_t runs = in_tile;
      if (at < listed && space.line[at] == line) {
        runs = space.runs[Tiles::pairs * at + static_cast<int>(i % Tiles::words) / 2];
        if (i % 2 != 0) runs += ones_in(mask.starts(i - 1, mask.data[i - 1]));
      } else if (at < listed) {
        runs = space.runs[Tiles::pairs * at];
      }
      tiles.table.first_in_word[i] = static_cast<std::uint32_t>(before + runs);
    }
  }
  KOKKOS_FUNCTION void fill(const Crew& crew, std::int64_t tile, int listed, std::uint64_t before,
                            Space& space) const {
    const FillWords fill_words(tiles.table, space.fill[crew.rank() / lanes]);
    const int n = Tiles::pairs * listed;
    const int lane = crew.rank() % lanes;
    for (int k = crew.rank(); k - lane < n; k += crew.size()) {
      const bool has_pair = k < n;
      const std::int64_t i = has_pair ? word_of(tile, k, space) : 0;
      const WordPair words = has_pair ? tiles.pair(i) : WordPair{};
      const WordPair starts = tiles.starts(i, words);
      const std::uint64_t runs = before + (has_pair ? space.runs[k] : 0);
      std::uint32_t* const first = tiles.table.first_in_word + i;
      if (words.word[0] != 0) first[0] = static_cast<std::uint32_t>(runs);
      if (words.word[1] != 0) first[1] = static_cast<std::uint32_t>(runs) + ones_in(starts.word[0]);
      fill_words.of_pair(i, words, starts, runs);
    }
  }
};

}  // namespace kastor::detail

#endif
