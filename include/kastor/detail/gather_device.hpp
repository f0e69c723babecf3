// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_GATHER_DEVICE_HPP
#define KASTOR_DETAIL_GATHER_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/candidate_mask.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/gather.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/word_sums.hpp>

/// The one read of the image on a device: about as many teams as fit on it at once, each going from
/// tile to tile with its sums in registers and its gathered pixels in a segment of its own, so that
/// no two teams meet at a counter while they read.
namespace kastor::detail {

/// What a team adds up, and all together. Of the sums of more than 64 bits, low has those of the
/// lower 32 bits of the teams' parts, high those of the rest.
struct GatherTotals {
  enum Word { inside, below, sum_low, sum_high, squares_low, squares_high, words };
  std::uint64_t word[words];
  std::uint64_t spike[InsideSums::max_spikes];

  [[nodiscard]] KOKKOS_FUNCTION InsideSums sums() const {
    InsideSums s;
    s.inside = static_cast<std::int64_t>(word[inside]);
    s.below = static_cast<std::int64_t>(word[below]);
    for (int i = 0; i < InsideSums::max_spikes; ++i)
      s.spike[i] = static_cast<std::int64_t>(spike[i]);
    s.sum = joined(word[sum_low], word[sum_high]);
    s.squares = joined(word[squares_low], word[squares_high]);
    return s;
  }
};

/// What the read found in all.
struct GatherResult {
  GatherTotals totals;
  std::uint32_t longest_list, most_candidates;  ///< of a team's segments
};

/// Pixels in a team's segments. Beyond their capacity: pixels were lost.
struct SegmentCounts {
  std::uint32_t gathered, candidates;
};

/// The lists of all teams, one segment after the other.
template <class T>
struct Segmented {
  T* gathered;
  std::int64_t capacity;  ///< of one team's segment
  Candidate<T>* candidates;
  std::int64_t candidate_capacity;
  SegmentCounts* counts;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t gathered_by(int team) const {
    const auto n = static_cast<std::int64_t>(counts[team].gathered);
    return n < capacity ? n : capacity;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t candidates_by(int team) const {
    const auto n = static_cast<std::int64_t>(counts[team].candidates);
    return n < candidate_capacity ? n : candidate_capacity;
  }
};

template <class T, class Exec>
struct GatherByTeams {
  static constexpr int threads = 256;
  static constexpr int pack = PixelPack<T>::size;
  static constexpr int packs = 4;   ///< loaded at once
  static constexpr int rounds = 2;  ///< of loading, in a tile
  static constexpr int per_round = pack * packs;
  static constexpr int per_thread = per_round * rounds;
  static_assert(per_thread <= 32);
  static constexpr int teams_at_once = 6;  ///< on a processor of a device
  static constexpr std::int64_t tile = std::int64_t{threads} * per_thread;
  /// So that a thread's sums fit 64 bits.
  static constexpr std::int64_t most_tiles = std::int64_t{1} << 13;
  using Member = TeamMember<Exec>;
  using Bits = std::uint32_t;  ///< one for each of a thread's pixels of a tile

  /// Which pixels of a tile are to be kept, so that the threads can share what few of them found.
  /// Tiles take two lists and three counters in turn: then one barrier a tile is enough.
  struct ToKeep {
    static constexpr int size = 3072;  ///< of a list; what does not fit is kept by who found it
    std::uint16_t offset[2][size];
    std::uint32_t count[3];
  };
  static_assert(tile <= 65536);

  struct Space {
    std::uint32_t candidates;
    union {
      ToKeep to_keep;
      WordSumSpace<GatherTotals::words, threads> sums;  ///< after the last tile
    };
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;

  Segments<T> tiles;
  std::uint64_t first_pixel;  ///< of the band
  const Brackets<T>* brackets;
  Segmented<T> lists;
  GatherTotals* totals;  ///< of each team
  CandidateMask mask;  ///< which is clear; if there is one, it has the bits of candidates that are
                       ///< certainly above the level, and these are not listed

  struct Sums {
    std::int64_t sum = 0, squares = 0;
    std::int32_t inside = 0;  ///< below 0 if the thread keeps what others found
    std::uint32_t below = 0;
    std::uint32_t spike[InsideSums::max_spikes] = {};
  };
  /// A thread's pixels of a tile. The sums hold multiples of the grid's step, and at most
  /// per_thread of them, so that doubles hold them exactly: integer units of a device are fewer.
  struct TilePart {
    double sum = 0, squares = 0;
    T blank = 0;                ///< NaN if one of them is not finite
    Bits below = 0, above = 0;  ///< inside the edges, on either side of the window
  };
  static_assert(per_thread + grid_magic < 512);

  /// The brackets that the loop needs, in registers.
  struct Rule {
    // Distances of floats from the centre are squared without scaling: neither they nor their
    // squares leave the exponents of a double.
    static constexpr bool scaled = sizeof(T) == 8;
    static constexpr double per_step = 17592186044416.0;  // 2^44

    T low_edge, window_low, window_high, high_edge, centre, candidate, certain;
    double centre_wide, scale, magic, squares_magic;
    double steps, squares_steps;  ///< of the grid, in a unit of the sums
    int spikes;

    KOKKOS_FUNCTION Rule(const Brackets<T>& b, bool marks)
        : low_edge(b.low_edge),
          window_low(b.window_low),
          window_high(b.window_high),
          high_edge(b.high_edge),
          centre(b.centre),
          candidate(b.has_candidate != 0 ? b.candidate : Kokkos::Experimental::infinity_v<T>),
          certain(marks ? b.certain : Kokkos::Experimental::infinity_v<T>),
          centre_wide(b.grid.centre),
          scale(b.grid.scale),
          magic(scaled ? grid_magic : grid_magic / scale),
          squares_magic(scaled ? grid_magic : grid_magic / scale / scale),
          steps(scaled ? per_step : per_step * scale),
          squares_steps(scaled ? per_step : per_step * scale * scale),
          spikes(b.spikes) {}

    [[nodiscard]] KOKKOS_FUNCTION bool inside(T x) const {
      return (x > low_edge) & (x < high_edge);
    }
  };

  /// Adds the pixel of a thread's bit. A number is rounded to the grid by adding the magic number,
  /// or by taking it from that; every other pixel the other way, so that the magic numbers cancel.
  KOKKOS_FUNCTION static void take(const Rule& r, T x, int bit, TilePart& part) {
    const bool inside = r.inside(x);
    const double d = static_cast<double>(inside ? x : r.centre) - r.centre_wide;
    const double u = Rule::scaled ? d * r.scale : d;
    if (bit % 2 == 0) {
      part.sum += r.magic + u;
      part.squares += r.squares_magic + u * u;
    } else {
      part.sum -= r.magic - u;
      part.squares -= r.squares_magic - u * u;
    }
    part.blank = Kokkos::fma(x, T{0}, part.blank);
    if (inside & (x < r.window_low)) part.below |= 1U << bit;
    if (inside & (x > r.window_high)) part.above |= 1U << bit;
  }

  /// Of a tile: bit p * pack + c is pixel (p * threads + rank) * pack + c.
  [[nodiscard]] KOKKOS_FUNCTION static std::uint32_t offset(int bit, int rank) {
    const auto b = static_cast<std::uint32_t>(bit);
    return b / pack * (threads * pack) + static_cast<std::uint32_t>(rank) * pack + b % pack;
  }

  /// A whole tile.
  KOKKOS_FUNCTION static void take_all(const Rule& rule, const T* pixels, int rank,
                                       TilePart& part) {
    // Unrolled, the compiler would load all rounds before it adds the first, and then needs more
    // registers than leave a processor busy.
    KASTOR_KEEP_LOOP
    for (int r = 0; r < rounds; ++r) {
      const auto* from = reinterpret_cast<const PixelPack<T>*>(pixels) + r * packs * threads;
      PixelPack<T> loaded[packs];
      KASTOR_UNROLL
      for (int p = 0; p < packs; ++p) loaded[p] = from[p * threads + rank];
      const Bits below = part.below;
      const Bits above = part.above;
      part.below = part.above = 0;
      KASTOR_UNROLL
      for (int i = 0; i < per_round; ++i) take(rule, loaded[i / pack].pixel[i % pack], i, part);
      part.below = part.below << (r * per_round) | below;
      part.above = part.above << (r * per_round) | above;
    }
  }
  /// Fewer pixels than a tile, or not aligned. Returns the bits of those that are there.
  KOKKOS_FUNCTION static Bits take_some(const Rule& rule, const T* pixels, std::int64_t n, int rank,
                                        TilePart& part) {
    Bits there = 0;
    for (int bit = 0; bit < per_thread; ++bit) {
      const bool is_there = offset(bit, rank) < n;
      if (is_there) there |= Bits{1} << bit;
      // A pixel of the centre adds nothing, and the magic numbers come in pairs.
      take(rule, is_there ? pixels[offset(bit, rank)] : rule.centre, bit, part);
    }
    return there;
  }

  /// Bits of finite pixels among `wanted`.
  [[nodiscard]] KOKKOS_FUNCTION static Bits finite_ones(const T* pixels, Bits wanted, int rank) {
    Bits finite = wanted;
    for (Bits rest = wanted; rest != 0; rest &= rest - 1) {
      const int bit = lowest_one(rest);
      if (!Interval<T>{}.contains(pixels[offset(bit, rank)])) finite &= ~(Bits{1} << bit);
    }
    return finite;
  }
  /// Counts the spikes; the bits of the others. Several pixels are under way at once.
  KOKKOS_FUNCTION Bits count_spikes(const T* pixels, Bits wanted, int rank, Sums& sums) const {
    constexpr int batch = 4;
    const Brackets<T>& b = *brackets;
    KASTOR_KEEP_LOOP
    for (Bits rest = wanted; rest != 0;) {
      T x[batch];
      Bits bit[batch];
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) {
        x[k] = rest != 0 ? pixels[offset(lowest_one(rest), rank)] : T{0};
        bit[k] = rest & (~rest + 1);  // 0 if there is none
        rest &= ~bit[k];
      }
      // Not unrolled: an array that is indexed at run time stays out of the registers.
      KASTOR_KEEP_LOOP
      for (int s = 0; s < b.spikes; ++s) {
        const T spike = b.spike[s];
        Bits same = 0;
        KASTOR_UNROLL
        for (int k = 0; k < batch; ++k) same |= x[k] == spike ? bit[k] : 0;
        sums.spike[s] += ones_in(same);
        wanted &= ~same;
      }
    }
    return wanted;
  }

  /// Where a team keeps pixels.
  struct Kept {
    T* gathered;
    std::uint32_t capacity, candidate_capacity;
    Candidate<T>* candidates;
    std::uint32_t* candidate_count;
    const CandidateMask& mask;

    KOKKOS_FUNCTION Kept(const Segmented<T>& lists, const CandidateMask& m, int team,
                         std::uint32_t* count)
        : gathered(lists.gathered + team * lists.capacity),
          capacity(static_cast<std::uint32_t>(lists.capacity)),
          candidate_capacity(static_cast<std::uint32_t>(lists.candidate_capacity)),
          candidates(lists.candidates + team * lists.candidate_capacity),
          candidate_count(count),
          mask(m) {}

    /// Stores a finite pixel at its place among the gathered; those beyond the edges were counted
    /// as inside.
    KOKKOS_FUNCTION void keep(const Rule& rule, std::uint32_t at, T x, std::uint64_t pixel,
                              Sums& sums) const {
      if (!rule.inside(x)) --sums.inside;
      if (at < capacity) gathered[at] = x;
      if (x > rule.certain) {
        mask.set(static_cast<std::uint32_t>(pixel));
      } else if (x > rule.candidate) {
        const std::uint32_t to = scratch_fetch_add(candidate_count, 1U);
        if (to < candidate_capacity) candidates[to] = {pixel, x};
      }
    }
  };

  /// A tile of a team.
  struct Tile {
    const T* pixels;
    std::uint64_t first_pixel;  ///< of the image
    std::uint32_t count;        ///< of the team's tiles before
  };

  /// Keeps the wanted pixels of all threads. Each gives the number of pixels that the team had
  /// before, and has after it.
  KOKKOS_FUNCTION static void keep(const Member& team, const Rule& rule, const Tile& of,
                                   Bits wanted, ToKeep& to_keep, const Kept& kept,
                                   std::uint32_t& gathered, Sums& sums) {
    const int rank = team.team_rank();
    std::uint16_t* const list = to_keep.offset[of.count % 2];
    std::uint32_t& count = to_keep.count[of.count % 3];
    if (wanted != 0) {
      std::uint32_t at = scratch_fetch_add(&count, ones_in(wanted));
      for (Bits rest = wanted; rest != 0; rest &= rest - 1, ++at) {
        const std::uint32_t i = offset(lowest_one(rest), rank);
        if (at < ToKeep::size) {
          list[at] = static_cast<std::uint16_t>(i);
        } else {
          kept.keep(rule, gathered + at, of.pixels[i], of.first_pixel + i, sums);
        }
      }
    }
    team.team_barrier();
    const std::uint32_t n = count;
    if (rank == 0) to_keep.count[(of.count + 2) % 3] = 0;
    for (auto at = static_cast<std::uint32_t>(rank); at < n && at < ToKeep::size; at += threads) {
      const std::uint32_t i = list[at];
      kept.keep(rule, gathered + at, of.pixels[i], of.first_pixel + i, sums);
    }
    gathered += n;
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (brackets->usable == 0) return;
    auto* const space = scratch_of<Space>(team);
    const int league_rank = team.league_rank();
    const int rank = team.team_rank();
    // Of bands before this one.
    std::uint32_t gathered = lists.counts[league_rank].gathered;
    if (rank == 0) space->candidates = lists.counts[league_rank].candidates;
    if (rank < 3) space->to_keep.count[rank] = 0;
    team.team_barrier();

    const Rule rule(*brackets, mask.words != nullptr && brackets->has_candidate != 0);
    const Kept kept(lists, mask, league_rank, &space->candidates);
    Sums sums;
    const std::int64_t count = tiles.rows.ny * tiles.per_row;
    std::uint32_t mine = 0;
    for (std::int64_t t = league_rank; t < count; t += team.league_size(), ++mine) {
      const T* const pixels = tiles.begin(t);
      const std::int64_t n = tiles.size(t);
      TilePart part;
      Bits there = ~Bits{0} >> (32 - per_thread);
      if (n == tile && reinterpret_cast<std::uintptr_t>(pixels) % 16 == 0) {
        take_all(rule, pixels, rank, part);
      } else {
        there = take_some(rule, pixels, n, rank, part);
      }
      Bits wanted = there & ~(part.below | part.above);
      sums.inside += static_cast<std::int32_t>(ones_in(there));
      if (part.blank != 0) {  // NaN
        const Bits finite = finite_ones(pixels, wanted, rank);
        sums.inside -= static_cast<std::int32_t>(ones_in(wanted & ~finite));
        wanted = finite;
      }
      sums.below += ones_in(there & part.below);
      if (rule.spikes > 0) wanted = count_spikes(pixels, wanted, rank, sums);
      keep(team, rule, {pixels, first_pixel + static_cast<std::uint64_t>(tiles.first_of(t)), mine},
           wanted, space->to_keep, kept, gathered, sums);
      sums.sum += static_cast<std::int64_t>(part.sum * rule.steps);
      sums.squares += static_cast<std::int64_t>(part.squares * rule.squares_steps);
    }
    team.team_barrier();  // what was to be kept is kept
    add_to_totals(TeamCrew<Member>(team), sums, *space, totals[league_rank]);
    if (rank == 0) lists.counts[league_rank] = {gathered, space->candidates};
  }

 private:
  template <class Crew>
  KOKKOS_FUNCTION void add_to_totals(const Crew& crew, const Sums& sums, Space& space,
                                     GatherTotals& mine) const {
    const auto low = [](std::int64_t sum) { return static_cast<std::uint64_t>(sum) & 0xffffffffU; };
    const auto high = [](std::int64_t sum) { return static_cast<std::uint64_t>(sum >> 32); };
    const auto inside = static_cast<std::uint64_t>(std::int64_t{sums.inside});
    const std::uint64_t words[GatherTotals::words] = {
        inside, sums.below, low(sums.sum), high(sums.sum), low(sums.squares), high(sums.squares)};
    add_up_words(crew, space.sums, words,
                 [&mine](int k, std::uint64_t sum) { mine.word[k] += sum; });
    for (int s = 0; s < brackets->spikes; ++s) {
      const std::int64_t sum = crew.sum(std::int64_t{sums.spike[s]});
      if (crew.rank() == 0) mine.spike[s] += static_cast<std::uint64_t>(sum);
    }
  }
};

}  // namespace kastor::detail

#endif
