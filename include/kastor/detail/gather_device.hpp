// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_GATHER_DEVICE_HPP
#define KASTOR_DETAIL_GATHER_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/gather.hpp>
#include <kastor/detail/pixel_pack.hpp>

/// The one read of the image on a device: about as many teams as fit on it at once, each going from
/// tile to tile with its sums in registers and its gathered pixels in a segment of its own, so that
/// no two teams meet at a counter while they read.
namespace kastor::detail {

/// What all teams add up. Of the sums of more than 64 bits, low has those of the lower 32 bits of
/// the teams' parts, high those of the rest.
struct GatherTotals {
  std::uint64_t inside, below;
  std::uint64_t sum_low, sum_high, squares_low, squares_high;
  std::uint64_t spike[InsideSums::max_spikes];

  [[nodiscard]] KOKKOS_FUNCTION InsideSums sums() const {
    InsideSums s;
    s.inside = static_cast<std::int64_t>(inside);
    s.below = static_cast<std::int64_t>(below);
    for (int i = 0; i < InsideSums::max_spikes; ++i)
      s.spike[i] = static_cast<std::int64_t>(spike[i]);
    s.sum = joined(sum_low, sum_high);
    s.squares = joined(squares_low, squares_high);
    return s;
  }
};

/// Where a pixel above the candidate level lies.
template <class T>
struct Candidate {
  std::uint64_t pixel;  ///< y * nx + x
  T value;
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
  static constexpr int packs = 4;   ///< loaded before the first is looked at
  static constexpr int rounds = 2;  ///< of loading, in a tile
  static constexpr int per_thread = pack * packs * rounds;
  static_assert(per_thread <= 32);
  static constexpr std::int64_t tile = std::int64_t{threads} * per_thread;
  static constexpr int scratch_bytes = sizeof(SegmentCounts) + 8;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  Segments<T> tiles;
  std::uint64_t first_pixel;  ///< of the band
  const Brackets<T>* brackets;
  Segmented<T> lists;
  GatherTotals* totals;

  struct Sums {
    Int128 sum, squares;
    std::int64_t inside = 0, below = 0;
    std::uint32_t spike[InsideSums::max_spikes] = {};
  };
  /// Of a few pixels: what is added up are multiples of 2^-44 of at most 1, so that doubles hold
  /// the sums exactly, and floats the numbers. Integer units of a device are fewer.
  struct TileSums {
    double sum = 0, squares = 0;
    float inside = 0, below = 0;
  };
  /// The brackets that the loop needs, in registers.
  struct Rule {
    T low_edge, window_low, window_high, high_edge, centre;
    double centre_wide, scale;
  };

  /// Adds a pixel; true if it has to be kept.
  KOKKOS_FUNCTION static bool take(const Rule& r, T x, TileSums& s) {
    const bool inside = (x > r.low_edge) & (x < r.high_edge);
    const bool below = inside & (x < r.window_low);
    const double u = (static_cast<double>(inside ? x : r.centre) - r.centre_wide) * r.scale;
    s.sum += (u + grid_magic) - grid_magic;
    s.squares += (u * u + grid_magic) - grid_magic;
    if (inside) s.inside += 1.0F;
    if (below) s.below += 1.0F;
    const bool finite = Kokkos::fabs(x) < Kokkos::Experimental::infinity_v<T>;
    return inside ? !below & (x <= r.window_high) : finite;
  }

  /// Stores pixels of a tile: bit p * pack + c of `wanted` is pixel (p * threads + rank) * pack +
  /// c.
  KOKKOS_FUNCTION void keep(const T* pixels, std::uint64_t first, std::uint32_t wanted, int rank,
                            int team, SegmentCounts* mine, Sums& sums) const {
    const auto offset = [rank](int bit) {
      return (bit / pack * threads + rank) * pack + bit % pack;
    };
    const Brackets<T>& b = *brackets;
    if (b.spikes > 0) {
      for (std::uint32_t rest = wanted; rest != 0; rest &= rest - 1) {
        const int bit = lowest_one(rest);
        const T x = pixels[offset(bit)];
        bool spike = false;
        // Not unrolled: an array that is indexed at run time stays out of the registers.
        for (int s = 0; s < b.spikes; ++s) {
          const bool same = x == b.spike[s];
          sums.spike[s] += same ? 1 : 0;
          spike |= same;
        }
        if (spike) wanted &= ~(1U << bit);
      }
      if (wanted == 0) return;
    }
    std::int64_t at = Kokkos::atomic_fetch_add(&mine->gathered, ones_in(wanted));
    for (std::uint32_t rest = wanted; rest != 0; rest &= rest - 1, ++at) {
      const int i = offset(lowest_one(rest));
      const T x = pixels[i];
      if (at < lists.capacity) lists.gathered[team * lists.capacity + at] = x;
      if (b.has_candidate != 0 && x > b.candidate) {
        const std::int64_t to = Kokkos::atomic_fetch_add(&mine->candidates, 1U);
        if (to < lists.candidate_capacity)
          lists.candidates[team * lists.candidate_capacity + to] = {
              first + static_cast<std::uint64_t>(i), x};
      }
    }
  }

  template <class Crew>
  KOKKOS_FUNCTION static void add(const Crew& crew, std::int64_t part, std::uint64_t* total) {
    const std::int64_t sum = crew.sum(part);
    if (crew.rank() == 0) Kokkos::atomic_add(total, static_cast<std::uint64_t>(sum));
  }
  template <class Crew>
  KOKKOS_FUNCTION static void add(const Crew& crew, const Int128& part, std::uint64_t* low,
                                  std::uint64_t* high) {
    add(crew, static_cast<std::int64_t>(part.low & 0xffffffffU), low);
    add(crew,
        static_cast<std::int64_t>((part.low >> 32) | (static_cast<std::uint64_t>(part.high) << 32)),
        high);
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (brackets->usable == 0) return;
    const int bytes = sizeof(SegmentCounts);  // is taken by reference
    auto* mine = static_cast<SegmentCounts*>(team.team_scratch(0).get_shmem_aligned(bytes, 8));
    const int league_rank = team.league_rank();
    const int rank = team.team_rank();
    if (rank == 0) *mine = lists.counts[league_rank];
    team.team_barrier();

    const Rule rule{brackets->low_edge,  brackets->window_low, brackets->window_high,
                    brackets->high_edge, brackets->centre,     brackets->grid.centre,
                    brackets->grid.scale};
    Sums sums;
    const std::int64_t count = tiles.rows.ny * tiles.per_row;
    for (std::int64_t t = league_rank; t < count; t += team.league_size()) {
      const T* pixels = tiles.begin(t);
      const std::int64_t n = tiles.size(t);
      const std::uint64_t first = first_pixel + static_cast<std::uint64_t>(tiles.first_of(t));
      TileSums s;
      std::uint32_t wanted = 0;
      if (n == tile && reinterpret_cast<std::uintptr_t>(pixels) % 16 == 0) {
        KASTOR_UNROLL
        for (int r = 0; r < rounds; ++r) {
          const auto* from = reinterpret_cast<const PixelPack<T>*>(pixels) + r * packs * threads;
          PixelPack<T> loaded[packs];
          KASTOR_UNROLL
          for (int p = 0; p < packs; ++p) loaded[p] = from[p * threads + rank];
          KASTOR_UNROLL
          for (int i = 0; i < packs * pack; ++i) {
            if (take(rule, loaded[i / pack].pixel[i % pack], s))
              wanted |= 1U << (r * packs * pack + i);
          }
        }
      } else {
        for (int bit = 0; bit < per_thread; ++bit) {
          const std::int64_t i = (bit / pack * threads + rank) * pack + bit % pack;
          if (i < n && take(rule, pixels[i], s)) wanted |= 1U << bit;
        }
      }
      if (wanted != 0) keep(pixels, first, wanted, rank, league_rank, mine, sums);
      constexpr double per_step = 17592186044416.0;  // 2^44
      sums.sum.add(static_cast<std::int64_t>(s.sum * per_step));
      sums.squares.add(static_cast<std::int64_t>(s.squares * per_step));
      sums.inside += static_cast<std::int64_t>(s.inside);
      sums.below += static_cast<std::int64_t>(s.below);
    }
    const TeamCrew<Member> crew(team);
    add(crew, sums.sum, &totals->sum_low, &totals->sum_high);
    add(crew, sums.squares, &totals->squares_low, &totals->squares_high);
    add(crew, sums.inside, &totals->inside);
    add(crew, sums.below, &totals->below);
    for (int s = 0; s < brackets->spikes; ++s)
      add(crew, static_cast<std::int64_t>(sums.spike[s]), &totals->spike[s]);
    team.team_barrier();
    if (rank == 0) lists.counts[league_rank] = *mine;
  }
};

}  // namespace kastor::detail

#endif
