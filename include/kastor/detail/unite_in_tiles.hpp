// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_UNITE_IN_TILES_HPP
#define KASTOR_DETAIL_UNITE_IN_TILES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/run_table.hpp>
#include <kastor/detail/sums_before.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/union_find.hpp>
#include <kastor/detail/unite_device.hpp>

/// Uniting the runs of a mask that has very many: first within tiles, whose forests fit the scratch
/// memory of a team, then across their seams. (A tile first, then its borders, is how V. Oliveira
/// and R. Lotufo, "A study on connected components labeling algorithms using GPUs", SIBGRAPI 2010,
/// label pixels.)
namespace kastor::detail {

/// Which tile has what. A run is one of the tile that it begins in, and a guest of those that it
/// goes on in.
struct MaskTiles {
  static constexpr int rows = 16;
  static constexpr int words = 16;  ///< of a row

  RunTable table;
  std::int64_t ny;
  std::int32_t reach;     ///< 0: edges only, 1: corners too
  std::uint32_t* guests;  ///< (ny, columns) of the guest in a tile's row the root within the tile

  [[nodiscard]] static std::int64_t columns_of(std::int64_t words_per_row) {
    return (words_per_row + words - 1) / words;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t columns() const {
    return (table.words.per_row + words - 1) / words;
  }
  /// Tiles below one another.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t bands() const { return (ny + rows - 1) / rows; }
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t last_bit_before(std::int64_t i,
                                                              std::int64_t w) const {
    return w > 0 ? table.words.data[i - 1] >> 63 : 0;
  }
};

template <class Exec>
struct UniteInTiles {
  using Member = TeamMember<Exec>;
  static constexpr int rows = MaskTiles::rows;
  static constexpr int words = MaskTiles::words;
  static constexpr int threads = rows * words;
  static constexpr int teams_at_once = 6;
  static constexpr int most_runs = 32 * threads + rows;  ///< guests included

  /// Runs have their numbers within the tile.
  struct Space {
    SumsBeforeSpace<std::uint32_t, 1, threads> sums;
    std::uint64_t word[threads];
    std::uint32_t before[threads];        ///< runs, guests included, that begin before the word
    std::uint32_t first_of_row[rows + 1]; ///< guest or not
    std::uint32_t number_less[rows];      ///< a run's number in the mask less that in the tile
    std::uint32_t parent[most_runs];
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;

  MaskTiles tiles;

  [[nodiscard]] static int teams(std::int64_t ny, std::int64_t words_per_row) {
    return static_cast<int>((ny + rows - 1) / rows * MaskTiles::columns_of(words_per_row));
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const RunTable& table = tiles.table;
    if (table.runs() == 0) return;
    Space& space = *scratch_of<Space>(team);
    const TeamCrew<Member> crew(team);
    const std::int64_t columns = tiles.columns();
    const std::int64_t band = team.league_rank() / columns;
    const std::int64_t column = team.league_rank() - band * columns;
    const std::int64_t y = band * rows + crew.rank() / words;
    const std::int64_t w = column * words + crew.rank() % words;
    const std::int64_t i = y * table.words.per_row + w;
    const std::uint64_t word = y < tiles.ny && w < table.words.per_row ? table.words.data[i] : 0;
    const std::uint64_t left = word != 0 ? tiles.last_bit_before(i, w) : 0;
    const std::uint64_t starts = word & ~(word << 1 | left);

    const std::uint32_t runs = number(crew, word, starts, i, space);
    unite(crew.rank(), word, starts, space);
    crew.barrier();
    write(crew, runs, band, column, space);
  }

 private:
  /// How many runs the tile has, guests included; their forest is one of roots.
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t number(const TeamCrew<Member>& crew,
                                                     std::uint64_t word, std::uint64_t starts,
                                                     std::int64_t i, Space& space) const {
    const int rank = crew.rank();
    const bool begins_row = rank % words == 0;
    const std::uint32_t guest = begins_row ? static_cast<std::uint32_t>(word & ~starts & 1) : 0;
    std::uint32_t before[1] = {ones_in(starts) + guest};
    std::uint32_t all[1];
    sums_before(crew, space.sums, before, all);
    space.word[rank] = word;
    space.before[rank] = before[0] + guest;
    if (begins_row) space.first_of_row[rank / words] = before[0];
    if (rank == 0) space.first_of_row[rows] = all[0];
    for (std::uint32_t run = static_cast<std::uint32_t>(rank); run < all[0]; run += threads)
      space.parent[run] = run;
    crew.barrier();
    // How many begin before a word is known of those that are not 0.
    if (begins_row) {
      int first = 0;
      while (first < words - 1 && space.word[rank + first] == 0) ++first;
      if (space.word[rank + first] != 0)
        space.number_less[rank / words] =
            tiles.table.first_in_word[i + first] - space.before[rank + first];
    }
    return all[0];
  }

  /// The runs of a word with those of the row above. Where both have a pixel, the runs touch, and
  /// so for all pixels side by side where both have one. Where corners touch and no edge does, one
  /// of the runs begins or ends.
  KOKKOS_FUNCTION void unite(int rank, std::uint64_t word, std::uint64_t starts,
                             Space& space) const {
    if (rank < words || word == 0) return;
    const int up = rank - words;
    const int w = rank % words;
    const std::uint64_t above = space.word[up];
    const std::uint64_t both = word & above;
    const std::uint64_t before = w > 0 ? space.word[rank - 1] : 0;
    const std::uint64_t above_before = w > 0 ? space.word[up - 1] : 0;
    const std::uint64_t above_behind = w < words - 1 ? space.word[up + 1] : 0;
    // The first bit of a tile's row begins a run, unless there is a guest.
    const std::uint32_t above_first = space.before[up];
    const std::uint64_t above_carry =
        w > 0 ? above_before >> 63 : above_first - space.first_of_row[up / words];
    const std::uint64_t above_starts = above & ~(above << 1 | above_carry);

    const UnionFind forest{space.parent};
    const std::uint32_t first = space.before[rank];
    const auto unite_at = [&](std::uint64_t pixels, std::uint32_t behind) {
      for (std::uint64_t rest = pixels; rest != 0; rest &= rest - 1) {
        const std::uint64_t up_to = rest ^ (rest - 1);
        forest.unite(first + ones_in(starts & up_to) - 1,
                     above_first + ones_in(above_starts & up_to) - 1 + behind);
      }
    };
    std::uint64_t with_last = both & ~(both << 1 | (before & above_before) >> 63);
    if (tiles.reach != 0) with_last |= starts & ~above & (above << 1 | above_before >> 63);
    unite_at(with_last, 0);
    if (tiles.reach == 0) return;
    const std::uint64_t behind = w < words - 1 ? space.word[rank + 1] << 63 : 0;
    const std::uint64_t ends = word & ~(word >> 1 | behind);
    unite_at(ends & ~above & (above >> 1 | above_behind << 63), 1);
  }

  KOKKOS_FUNCTION void write(const TeamCrew<Member>& crew, std::uint32_t runs, std::int64_t band,
                             std::int64_t column, Space& space) const {
    const UnionFind forest{space.parent};
    for (std::uint32_t run = static_cast<std::uint32_t>(crew.rank()); run < runs; run += threads) {
      const std::uint32_t root = forest.find(run);
      const int row = row_of(run, space);
      const std::uint32_t number = space.number_less[row_of(root, space)] + root;
      const bool is_guest =
          run == space.first_of_row[row] && space.before[row * words] != run;
      if (is_guest) {
        tiles.guests[(band * rows + row) * tiles.columns() + column] = number;
      } else {
        tiles.table.parent[space.number_less[row] + run] = number;
      }
    }
  }
  [[nodiscard]] KOKKOS_FUNCTION static int row_of(std::uint32_t run, const Space& space) {
    int row = 0;
    KASTOR_UNROLL
    for (int half = rows / 2; half > 0; half /= 2)
      if (space.first_of_row[row + half] <= run) row += half;
    return row;
  }
};

/// Index = worker; after UniteInTiles. Each band of tiles has some of them.
struct UniteAcrossSeams {
  static constexpr int workers_of_band = 256;
  static_assert(workers_of_band % lanes == 0);

  MaskTiles tiles;
  UniteWithRowAbove above;

  [[nodiscard]] static std::int64_t workers(std::int64_t ny) {
    return (ny + MaskTiles::rows - 1) / MaskTiles::rows * workers_of_band;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const RunTable& table = tiles.table;
    if (table.runs() == 0) return;
    const std::int64_t first_row = worker / workers_of_band * MaskTiles::rows;
    const std::int64_t rank = worker % workers_of_band;
    if (first_row > 0) {
      const std::uint32_t* const before = table.first_in_word + first_row * table.words.per_row;
      above.unite_runs(before[0] + rank, before[table.words.per_row], rank % lanes,
                       workers_of_band);
    }
    const std::int64_t columns = tiles.columns();
    for (std::int64_t k = rank; k < MaskTiles::rows * (columns - 1); k += workers_of_band) {
      const std::int64_t y = first_row + k / (columns - 1);
      if (y < tiles.ny) unite_at_column(y, 1 + k % (columns - 1), columns);
    }
  }

 private:
  /// What touches across the left edge of a tile's row.
  KOKKOS_FUNCTION void unite_at_column(std::int64_t y, std::int64_t column,
                                       std::int64_t columns) const {
    const RunTable& table = tiles.table;
    const MaskWords& words = table.words;
    const std::int64_t w = column * MaskTiles::words;
    const std::int64_t i = y * words.per_row + w;
    const bool left = words.data[i - 1] >> 63 != 0;
    const bool right = (words.data[i] & 1) != 0;
    if (left && right)
      table.forest().unite(table.first_in_word[i] - 1, tiles.guests[y * columns + column]);
    if (tiles.reach == 0 || y == 0 || left == right) return;
    const std::int64_t up = i - words.per_row;
    const bool above_left = words.data[up - 1] >> 63 != 0;
    const bool above_right = (words.data[up] & 1) != 0;
    if (above_left == above_right || left == above_left) return;
    const std::int64_t at_left = left ? i : up;
    const std::int64_t at_right = left ? up : i;
    const std::uint32_t last = table.first_in_word[at_left - 1] +
                               ones_in(words.starts(at_left - 1, w - 1, words.data[at_left - 1])) -
                               1;
    table.forest().unite(last, table.first_in_word[at_right]);
  }
};

}  // namespace kastor::detail

#endif
