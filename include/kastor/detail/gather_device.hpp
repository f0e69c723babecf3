// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_GATHER_DEVICE_HPP
#define KASTOR_DETAIL_GATHER_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/gather.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <string>

/// The one read of the image on a device: about as many teams as fit on it at once, each going from
/// tile to tile with its sums in registers and its gathered pixels in a segment of its own, so that
/// no two teams meet at a counter while they read.
namespace kastor::detail {

/// What all teams add up. Of the sums of more than 64 bits, low has those of the lower 32 bits of
/// the teams' parts, high those of the rest.
struct GatherTotals {
  std::uint64_t below, above, window;
  std::uint64_t sum_low, sum_high, squares_low, squares_high;
};

/// Pixels in a team's segments. Beyond their capacity: pixels were lost.
struct SegmentCounts {
  std::uint32_t tails, window;
};

[[nodiscard]] inline Int128 joined(std::uint64_t low, std::uint64_t high) {
  Int128 sum{high << 32, static_cast<std::int64_t>(high) >> 32};
  sum += Int128{low, 0};
  return sum;
}

template <class T, class Exec>
struct GatherByTeams {
  static constexpr int threads = 256;
  static constexpr int pack = PixelPack<T>::size;
  static constexpr int packs = 4;  ///< loaded before the first is looked at
  static constexpr std::int64_t tile = std::int64_t{threads} * pack * packs;
  static constexpr int scratch_bytes = sizeof(SegmentCounts) + 8;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  Segments<T> tiles;
  GatherOutsideCore<T, Exec> rule;
  T* tails;
  T* window;
  std::int64_t capacity;  ///< of one team's segment of either list
  SegmentCounts* counts;
  GatherTotals* totals;

  struct Sums {
    std::uint64_t sum = 0, squares = 0;  // biased
    std::int64_t below = 0, window = 0, terms = 0;
  };

  KOKKOS_FUNCTION void keep(T x, T* segment, std::uint32_t* count) const {
    const std::uint32_t at = Kokkos::atomic_fetch_add(count, 1U);
    if (at < capacity) segment[at] = x;
  }

  KOKKOS_FUNCTION void take(T x, std::int64_t segment, SegmentCounts* mine, Sums& s) const {
    if (rule.in_core(x)) {
      const double u = (static_cast<double>(x) - rule.centre) * rule.scale;
      s.sum += to_grid_biased(u);
      s.squares += to_grid_biased(u * u);
      ++s.terms;
      s.below += x < rule.brackets.window_low ? 1 : 0;
    } else if (rule.in_window(x)) {
      ++s.window;
      if (!rule.brackets.window_is_one_value()) keep(x, window + segment, &mine->window);
    } else if (Interval<T>{}.contains(x)) {
      keep(x, tails + segment, &mine->tails);
    }
  }

  KOKKOS_FUNCTION static void add(const Member& team, std::int64_t part, std::uint64_t* total) {
    std::int64_t sum = part;
    team.team_reduce(Kokkos::Sum<std::int64_t>(sum));
    if (team.team_rank() == 0) Kokkos::atomic_add(total, static_cast<std::uint64_t>(sum));
  }
  KOKKOS_FUNCTION static void add(const Member& team, const Int128& part, std::uint64_t* low,
                                  std::uint64_t* high) {
    add(team, static_cast<std::int64_t>(part.low & 0xffffffffU), low);
    add(team,
        static_cast<std::int64_t>((part.low >> 32) | (static_cast<std::uint64_t>(part.high) << 32)),
        high);
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t segment = team.league_rank() * capacity;
    const int bytes = sizeof(SegmentCounts);  // is taken by reference
    auto* mine = static_cast<SegmentCounts*>(team.team_scratch(0).get_shmem_aligned(bytes, 8));
    if (team.team_rank() == 0) *mine = counts[team.league_rank()];
    team.team_barrier();

    Int128 sum, squares;
    std::int64_t below = 0, core = 0, in_window = 0;
    const std::int64_t count = tiles.rows.ny * tiles.per_row;
    for (std::int64_t t = team.league_rank(); t < count; t += team.league_size()) {
      const T* pixels = tiles.begin(t);
      const std::int64_t n = tiles.size(t);
      Sums s;
      if (n == tile && reinterpret_cast<std::uintptr_t>(pixels) % 16 == 0) {
        PixelPack<T> loaded[packs];
        KASTOR_UNROLL
        for (int p = 0; p < packs; ++p)
          loaded[p] = reinterpret_cast<const PixelPack<T>*>(pixels)[p * threads + team.team_rank()];
        KASTOR_UNROLL
        for (int p = 0; p < packs; ++p) {
          KASTOR_UNROLL
          for (int c = 0; c < pack; ++c) take(loaded[p].pixel[c], segment, mine, s);
        }
      } else {
        for (std::int64_t i = team.team_rank(); i < n; i += threads)
          take(pixels[i], segment, mine, s);
      }
      sum.add(unbias(s.sum, s.terms));
      squares.add(unbias(s.squares, s.terms));
      below += s.below;
      core += s.terms;
      in_window += s.window;
    }
    add(team, sum, &totals->sum_low, &totals->sum_high);
    add(team, squares, &totals->squares_low, &totals->squares_high);
    add(team, below, &totals->below);
    add(team, core - below, &totals->above);
    add(team, in_window, &totals->window);
    team.team_barrier();
    if (team.team_rank() == 0) counts[team.league_rank()] = *mine;
  }
};

/// Moves the teams' segments together.
template <class T, class Exec>
struct JoinSegments {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  const T* segments;
  std::int64_t capacity;
  const std::int64_t* offsets;  ///< one more than segments
  T* joined;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t begin = offsets[team.league_rank()];
    const std::int64_t n = offsets[team.league_rank() + 1] - begin;
    for (std::int64_t i = team.team_rank(); i < n; i += team.team_size())
      joined[begin + i] = segments[team.league_rank() * capacity + i];
  }
};

/// Owns the segments; repeated use on images of one size allocates nothing.
template <class Exec, class T>
class TeamGatherer {
 public:
  explicit TeamGatherer(const Exec& space)
      : m_space(space),
        // Half of what the device holds, for the registers' sake; odd, so that the tiles of a team
        // do not lie below each other in an image as wide as a power of two.
        m_teams((std::max(2, space.concurrency() / (2 * Gather::threads)) - 1) | 1),
        m_totals(
            Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::sigma_clip::totals")),
        m_counts("kastor::sigma_clip::segment_counts", space, m_teams),
        m_tail_offsets("kastor::sigma_clip::tail_offsets", space, m_teams + 1),
        m_window_offsets("kastor::sigma_clip::window_offsets", space, m_teams + 1) {}

  void reserve(std::int64_t pixels) {
    // A whole tile more, since a small image may be no more than a tile a team.
    const std::int64_t wanted = pixels / (8 * m_teams) + Gather::tile;
    if (wanted <= m_capacity) return;
    m_capacity = wanted;
    for (auto* list : {&m_tails, &m_window}) {
      *list = {};
      *list = Values<T, Exec>(
          Kokkos::view_alloc(m_space, Kokkos::WithoutInitializing, "kastor::sigma_clip::segments"),
          static_cast<std::size_t>(m_capacity * m_teams));
    }
  }

  /// Does what `GatherOutsideCore` does pixel by pixel. False, and nothing is gathered, if a
  /// segment was too short. Fences.
  [[nodiscard]] bool operator()(Bands<T, Exec> bands, const GatherOutsideCore<T, Exec>& rule,
                                CoreSums& core, std::uint64_t& in_tails) {
    Kokkos::deep_copy(m_space, m_counts.device, SegmentCounts{0, 0});
    Kokkos::deep_copy(m_space, m_totals, GatherTotals{});
    for (const auto& band : bands) {
      const Segments<T> tiles(rows_of<T, Exec>(band), Gather::tile);
      if (tiles.count() == 0) continue;
      Kokkos::parallel_for("kastor::sigma_clip::gather",
                           Policy(m_space, m_teams, Gather::threads)
                               .set_scratch_size(0, Kokkos::PerTeam(Gather::scratch_bytes)),
                           Gather{tiles, rule, m_tails.data(), m_window.data(), m_capacity,
                                  m_counts.device.data(), m_totals.data()});
    }
    GatherTotals totals{};
    Kokkos::deep_copy(m_space, totals, m_totals);
    Kokkos::deep_copy(m_space, m_counts.host, m_counts.device);
    m_space.fence("kastor::sigma_clip::gather");
    core.below = static_cast<std::int64_t>(totals.below);
    core.above = static_cast<std::int64_t>(totals.above);
    core.window = static_cast<std::int64_t>(totals.window);
    core.sum = joined(totals.sum_low, totals.sum_high);
    core.squares = joined(totals.squares_low, totals.squares_high);

    std::int64_t tails_so_far = 0;
    std::int64_t window_so_far = 0;
    for (int team = 0; team < m_teams; ++team) {
      const SegmentCounts& n = m_counts.host(team);
      if (n.tails > m_capacity || n.window > m_capacity) return false;
      m_tail_offsets.host(team) = tails_so_far;
      m_window_offsets.host(team) = window_so_far;
      tails_so_far += n.tails;
      window_so_far += n.window;
    }
    m_tail_offsets.host(m_teams) = tails_so_far;
    m_window_offsets.host(m_teams) = window_so_far;
    in_tails = static_cast<std::uint64_t>(tails_so_far);
    if (in_tails > rule.tails.values.extent(0) ||
        static_cast<std::uint64_t>(window_so_far) > rule.window.values.extent(0)) {
      return false;
    }
    join("kastor::sigma_clip::join_tails", m_tails, m_tail_offsets, rule.tails.values);
    join("kastor::sigma_clip::join_window", m_window, m_window_offsets, rule.window.values);
    return true;
  }

 private:
  using Gather = GatherByTeams<T, Exec>;
  using Policy = Kokkos::TeamPolicy<Exec>;

  /// A list and its copy on the host.
  template <class V>
  struct Mirrored {
    Kokkos::View<V*, typename Exec::memory_space> device;
    Kokkos::View<V*, Kokkos::HostSpace> host;
    Mirrored(const std::string& label, const Exec& space, int n)
        : device(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label),
                 static_cast<std::size_t>(n)),
          host(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
               static_cast<std::size_t>(n)) {}
  };

  void join(const std::string& label, const Values<T, Exec>& segments,
            const Mirrored<std::int64_t>& offsets, const Values<T, Exec>& list) const {
    Kokkos::deep_copy(m_space, offsets.device, offsets.host);
    Kokkos::parallel_for(
        label, Policy(m_space, m_teams, Gather::threads),
        JoinSegments<T, Exec>{segments.data(), m_capacity, offsets.device.data(), list.data()});
  }

  Exec m_space;
  int m_teams;
  Kokkos::View<GatherTotals, typename Exec::memory_space> m_totals;
  Mirrored<SegmentCounts> m_counts;
  Mirrored<std::int64_t> m_tail_offsets, m_window_offsets;
  std::int64_t m_capacity = 0;
  Values<T, Exec> m_tails, m_window;
};

/// In the place of a TeamGatherer on hosts, where a thread goes through whole stretches of pixels.
struct NoTeamGatherer {
  template <class Exec>
  explicit NoTeamGatherer(const Exec&) {}
};

}  // namespace kastor::detail

#endif
