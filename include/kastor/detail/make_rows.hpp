// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MAKE_ROWS_HPP
#define KASTOR_DETAIL_MAKE_ROWS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/measured_runs.hpp>
#include <kastor/detail/team_launcher.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/work_shares.hpp>

/// From sums to rows that the host reads.
namespace kastor::detail {

/// `Make`: with `Row`, `runs`, `rows` and `take_row(i)`, as MakeRows.
template <class Make, class Exec>
struct MakeRowsInParts {
  Make make;
  std::int64_t workers;

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const RunLoop<Exec> loop(worker, workers, 0, make.runs.count());
    for (std::int64_t i = loop.first; i < loop.past; i += loop.step)
      make.rows[i] = make.take_row(i);
  }
};

/// Copies rows from scratch memory, by `threads` of which this is one. Rows go to the host's
/// memory, so neighbouring threads must write neighbouring bytes.
template <class Row>
KOKKOS_FUNCTION void copy_rows(const Row* from, Row* to, int rows, int rank, int threads) {
  constexpr int words = sizeof(Row) % 16 == 0 ? 2 : 1;
  struct alignas(8 * words) Piece {
    std::uint64_t word[words];
  };
  static_assert(sizeof(Row) % sizeof(Piece) == 0);
  constexpr int pieces = static_cast<int>(sizeof(Row) / sizeof(Piece));
  const auto* const pieces_from = reinterpret_cast<const Piece*>(from);
  auto* const pieces_to = reinterpret_cast<Piece*>(to);
  for (int p = rank; p < rows * pieces; p += threads) pieces_to[p] = pieces_from[p];
}

/// A team makes its rows in scratch memory and copies them from there.
template <class Make, class Exec>
struct MakeRowsByTeams {
  using Row = typename Make::Row;
  static constexpr int threads = 64;
  static constexpr int teams_at_once = 16;
  static constexpr int scratch_bytes = threads * static_cast<int>(sizeof(Row)) + 16;
  using Member = TeamMember<Exec>;

  Make make;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    auto* const scratch = scratch_of<Row>(team, threads);
    const std::int64_t count = make.runs.count();
    const std::int64_t step = std::int64_t{team.league_size()} * threads;
    for (std::int64_t first = std::int64_t{team.league_rank()} * threads; first < count;
         first += step) {
      const std::int64_t i = first + team.team_rank();
      const auto here = static_cast<int>(count - first < threads ? count - first : threads);
      if (i < count) scratch[team.team_rank()] = make.take_row(i);
      team.team_barrier();
      copy_rows(scratch, make.rows + first, here, team.team_rank(), threads);
      team.team_barrier();
    }
  }
};

template <class Exec, class Make>
void enqueue_rows(const Exec& space, const char* label, std::int64_t most_rows, const Make& make) {
  const std::int64_t workers = measuring_workers(space, most_rows);
  if constexpr (is_host_space_v<Exec>) {
    for_each_index(label, space, workers, MakeRowsInParts<Make, Exec>{make, workers});
  } else {
    using ByTeams = MakeRowsByTeams<Make, Exec>;
    const std::int64_t teams = (workers + ByTeams::threads - 1) / ByTeams::threads;
    TeamLauncher<Exec>{space}(label, static_cast<int>(teams), ByTeams{make});
  }
}

}  // namespace kastor::detail

#endif
