// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_UNITE_IN_TILES_HPP
#define KASTOR_DETAIL_UNITE_IN_TILES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/pixel_pack.hpp>
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

  [[nodiscard]] KOKKOS_FUNCTION static std::int64_t columns_of(std::int64_t words_per_row) {
    return (words_per_row + words - 1) / words;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t columns() const {
    return columns_of(table.words.per_row);
  }
  /// Of tiles below one another.
  [[nodiscard]] static std::int64_t bands_of(std::int64_t ny) { return (ny + rows - 1) / rows; }
};

template <class Exec>
struct UniteInTiles {
  using Member = TeamMember<Exec>;
  static constexpr int rows = MaskTiles::rows;
  static constexpr int words = MaskTiles::words;
  static constexpr int threads = rows * words;
  static constexpr int teams_at_once = 5;
  static constexpr int most_in_row = 32 * words + 1;  ///< runs, guest included

  struct PairsOfWarp {
    static constexpr int most = 224;
    std::uint32_t pair[most];  ///< places in the tile, of which that of the run above is the upper
  };
  static_assert(rows * most_in_row <= 1 << 16);

  /// A run's place in the tile: `most_in_row` of each row, whether there are so many or not.
  struct Space {
    SumsBeforeSpace<std::uint32_t, 1, threads> sums;
    std::uint64_t word[threads];
    std::uint32_t before[threads];  ///< place of the first run that begins in the word
    std::uint32_t counted_before[rows + 1];
    std::uint32_t number_less[rows];  ///< a run's number in the mask less its place
    std::uint32_t parent[rows * most_in_row];
    PairsOfWarp pairs_of_warp[threads / lanes];
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;

  MaskTiles tiles;

  [[nodiscard]] static int teams(std::int64_t ny, std::int64_t words_per_row) {
    return static_cast<int>(MaskTiles::bands_of(ny) * MaskTiles::columns_of(words_per_row));
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
    const std::uint64_t starts = word != 0 ? table.words.starts(i, w, word) : 0;

    number(crew, word, starts, i, space);
    unite(crew, word, starts, space);
    crew.barrier();
    write(crew, band, column, space);
  }

 private:
  /// Finds the places of all runs, each the root of itself.
  KOKKOS_FUNCTION void number(const TeamCrew<Member>& crew, std::uint64_t word,
                              std::uint64_t starts, std::int64_t i, Space& space) const {
    const int rank = crew.rank();
    const int row = rank / words;
    const bool begins_row = rank % words == 0;
    const std::uint32_t guest = begins_row ? static_cast<std::uint32_t>(word & ~starts & 1) : 0;
    std::uint32_t before[1] = {ones_in(starts) + guest};
    std::uint32_t all[1];
    sums_before(crew, space.sums, before, all);
    space.word[rank] = word;
    if (begins_row) space.counted_before[row] = before[0];
    if (rank == 0) space.counted_before[rows] = all[0];
    crew.barrier();
    space.before[rank] = first_of_row(row) + before[0] + guest - space.counted_before[row];
    for_each_run(rank, space, [&](std::uint32_t run, int) { space.parent[run] = run; });
    crew.barrier();
    // How many begin before a word is known of those that are not 0.
    if (begins_row) {
      int first = 0;
      while (first < words - 1 && space.word[rank + first] == 0) ++first;
      if (space.word[rank + first] != 0)
        space.number_less[row] = tiles.table.first_in_word[i + first] - space.before[rank + first];
    }
  }
  [[nodiscard]] KOKKOS_FUNCTION static std::uint32_t first_of_row(int row) {
    return static_cast<std::uint32_t>(row * most_in_row);
  }
  /// Calls `visit(run, row)` for a thread's share; the threads of a word share the row's.
  template <class Visit>
  KOKKOS_FUNCTION static void for_each_run(int rank, const Space& space, const Visit& visit) {
    const int row = rank / words;
    const std::uint32_t first = first_of_row(row);
    const std::uint32_t past = first + space.counted_before[row + 1] - space.counted_before[row];
    for (std::uint32_t run = first + static_cast<std::uint32_t>(rank % words); run < past;
         run += words)
      visit(run, row);
  }

  /// The runs of a word with those of the row above. Where both have a pixel, the runs touch, and
  /// so for all pixels side by side where both have one. Where corners touch and no edge does, one
  /// of the runs begins or ends.
  KOKKOS_FUNCTION void unite(const TeamCrew<Member>& crew, std::uint64_t word, std::uint64_t starts,
                             Space& space) const {
    const int rank = crew.rank();
    const int up = rank - words;
    const int w = rank % words;
    Pairs pairs{};
    if (up >= 0 && word != 0) {
      const std::uint64_t above = space.word[up];
      const std::uint64_t both = word & above;
      const std::uint64_t before = w > 0 ? space.word[rank - 1] : 0;
      const std::uint64_t above_before = w > 0 ? space.word[up - 1] : 0;
      // The first bit of a tile's row begins a run, unless there is a guest.
      const std::uint64_t above_carry =
          w > 0 ? above_before >> 63 : space.before[up] - first_of_row(up / words);
      pairs.starts = starts;
      pairs.above_starts = above & ~(above << 1 | above_carry);
      pairs.before_first = space.before[rank] - 1;
      pairs.above_before_first = space.before[up] - 1;
      pairs.with_last = both & ~(both << 1 | (before & above_before) >> 63);
      if (tiles.reach != 0) {
        const std::uint64_t behind = w < words - 1 ? space.word[rank + 1] << 63 : 0;
        const std::uint64_t above_behind = w < words - 1 ? space.word[up + 1] << 63 : 0;
        pairs.with_last |= starts & ~above & (above << 1 | above_before >> 63);
        pairs.with_next = word & ~(word >> 1 | behind) & ~above & (above >> 1 | above_behind);
      }
    }
    const Forest<ParentsInScratch<Space>> forest{{InScratch<Space>(space)}};
    // The first that a run touches becomes its parent before anybody looks for roots. That of a run
    // that comes in from the word before is left to the word that it begins in.
    std::uint64_t linked = w > 0 ? 1 : 0;
    PairsOfLanes shared(space.pairs_of_warp[rank / lanes]);
    Pairs rest = pairs;
    rest.with_last = rest.with_next = 0;
    pairs.for_each([&](bool has_pair, std::uint64_t up_to, bool next) {
      const std::uint32_t begun = ones_in(pairs.starts & up_to);
      const std::uint32_t run = pairs.before_first + begun;
      const std::uint32_t touched = pairs.touched(up_to, next);
      const std::uint64_t bit = std::uint64_t{1} << (begun & 63);
      const bool is_first = has_pair && (linked & bit) == 0;
      if (is_first) forest.parents.store(run, touched);
      linked |= is_first ? bit : 0;
      if (!shared.take(has_pair && !is_first, run, touched)) {
        const std::uint64_t pixel = up_to & ~(up_to >> 1);
        rest.with_last |= next ? 0 : pixel;
        rest.with_next |= next ? pixel : 0;
      }
    });
    crew.barrier();
    shared.for_each([&](std::uint32_t run, std::uint32_t touched) { forest.unite(run, touched); });
    rest.for_each([&](bool has_pair, std::uint64_t up_to, bool next) {
      if (has_pair)
        forest.unite(rest.before_first + ones_in(rest.starts & up_to), rest.touched(up_to, next));
    });
  }

  /// Pixels of a word, one for each pair of runs that touch.
  struct Pairs {
    std::uint64_t with_last;  ///< with the last run above that begins before the pixel, or at it
    std::uint64_t with_next;  ///< with the one behind that
    std::uint64_t starts, above_starts;
    std::uint32_t before_first, above_before_first;  ///< place before the first that begins

    /// Calls `visit(whether there is one, bits up to the pixel, whether it is the next)`. On CUDA
    /// all lanes of a warp must call it: they stay together, as long as any has a pair.
    template <class Visit>
    KOKKOS_FUNCTION void for_each(const Visit& visit) const {
      std::uint64_t last = with_last, next = with_next;
      while (any_lane_has((last | next) != 0)) {
        const bool is_next = last == 0;
        const std::uint64_t rest = is_next ? next : last;
        const std::uint64_t less = rest & (rest - 1);
        last = is_next ? 0 : less;
        next = is_next ? less : next;
        visit(rest != 0, rest ^ (rest - 1), is_next);
      }
    }
    [[nodiscard]] KOKKOS_FUNCTION static bool any_lane_has(bool it) {
#ifdef __CUDA_ARCH__
      join_lanes();
      return lanes_where(it) != 0;
#else
      return it;
#endif
    }
    [[nodiscard]] KOKKOS_FUNCTION std::uint32_t touched(std::uint64_t up_to, bool next) const {
      return above_before_first + ones_in(above_starts & up_to) + (next ? 1 : 0);
    }
  };

  /// Pairs that the lanes of a warp have found, to be shared among them: paths to roots are of any
  /// length, and some words have many pairs. Those for which there is no room, as in a chequerboard
  /// whose corners touch, stay with their lanes. Elsewhere it takes none.
  class PairsOfLanes {
   public:
    KOKKOS_FUNCTION explicit PairsOfLanes(PairsOfWarp& list) : m_list(list) {}

    /// False: there is no room. All lanes must call it.
    KOKKOS_FUNCTION bool take(bool has_pair, std::uint32_t run, std::uint32_t touched) {
#ifdef __CUDA_ARCH__
      const std::uint32_t having = lanes_where(has_pair);
      const std::uint32_t below = (std::uint32_t{1} << this_lane()) - 1;
      const int at = m_count + __popc(having & below);
      m_count += __popc(having);
      if (!has_pair) return true;
      if (at >= PairsOfWarp::most) return false;
      m_list.pair[at] = run | touched << 16;
      return true;
#else
      (void)run, (void)touched;
      return !has_pair;
#endif
    }
    template <class Visit>
    KOKKOS_FUNCTION void for_each([[maybe_unused]] const Visit& visit) const {
#ifdef __CUDA_ARCH__
      const int count = m_count < PairsOfWarp::most ? m_count : PairsOfWarp::most;
      join_lanes();
      KASTOR_KEEP_LOOP
      for (int p = this_lane(); p - this_lane() < count; p += lanes) {
        if (p < count) {
          const std::uint32_t pair = m_list.pair[p];
          visit(pair & 0xffffU, pair >> 16);
        }
        join_lanes();
      }
#endif
    }

   private:
    [[maybe_unused]] PairsOfWarp& m_list;  // by lanes only
    [[maybe_unused]] int m_count = 0;
  };

  KOKKOS_FUNCTION void write(const TeamCrew<Member>& crew, std::int64_t band, std::int64_t column,
                             Space& space) const {
    const Forest<ParentsInScratch<Space>> forest{{InScratch<Space>(space)}};
    for_each_run(crew.rank(), space, [&](std::uint32_t run, int row) {
      const std::uint32_t root = forest.find(run);
      const std::uint32_t number = space.number_less[root / most_in_row] + root;
      const bool is_guest = run == first_of_row(row) && space.before[row * words] != run;
      if (is_guest) {
        tiles.guests[(band * rows + row) * tiles.columns() + column] = number;
      } else {
        tiles.table.parent[space.number_less[row] + run] = number;
      }
    });
  }
};

/// Index = worker; after UniteInTiles. Each band of tiles has some of the workers.
class UniteAcrossSeams {
 public:
  /// About as many workers as `above` has.
  UniteAcrossSeams(const UniteWithRowAbove& above, std::int64_t ny, const std::uint32_t* guests)
      : m_above(above), m_ny(ny), m_guests(guests) {
    const std::int64_t bands = MaskTiles::bands_of(ny);
    const std::int64_t warps = above.workers / lanes / (bands > 0 ? bands : 1);
    m_of_band = lanes * (warps > 8 ? warps : 8);
    m_above.workers = bands * m_of_band;
  }
  [[nodiscard]] std::int64_t workers() const { return m_above.workers; }

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const RunTable& table = m_above.table;
    if (table.runs() == 0) return;
    const std::int64_t first_row = worker / m_of_band * MaskTiles::rows;
    const std::int64_t rank = worker % m_of_band;
    if (first_row > 0) {
      const std::uint32_t* const before = table.first_in_word + first_row * table.words.per_row;
      m_above.unite_runs(before[0] + rank, before[table.words.per_row], rank % lanes, m_of_band);
    }
    const std::int64_t columns = MaskTiles::columns_of(table.words.per_row);
    const std::int64_t rows =
        m_ny - first_row < MaskTiles::rows ? m_ny - first_row : MaskTiles::rows;
    for (std::int64_t k = rank; k < rows * (columns - 1); k += m_of_band)
      unite_at_column(first_row + k / (columns - 1), 1 + k % (columns - 1), columns);
  }

 private:
  /// What touches across the left edge of a tile's row.
  KOKKOS_FUNCTION void unite_at_column(std::int64_t y, std::int64_t column,
                                       std::int64_t columns) const {
    const RunTable& table = m_above.table;
    const MaskWords& words = table.words;
    const std::int64_t w = column * MaskTiles::words;
    const std::int64_t i = y * words.per_row + w;
    const bool left = words.data[i - 1] >> 63 != 0;
    const bool right = (words.data[i] & 1) != 0;
    if (left && right)
      table.forest().unite(table.first_in_word[i] - 1, m_guests[y * columns + column]);
    if (m_above.reach == 0 || y == 0 || left == right) return;
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

  UniteWithRowAbove m_above;
  std::int64_t m_ny, m_of_band;
  const std::uint32_t* m_guests;
};

}  // namespace kastor::detail

#endif
