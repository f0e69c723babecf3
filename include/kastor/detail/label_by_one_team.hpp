// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LABEL_BY_ONE_TEAM_HPP
#define KASTOR_DETAIL_LABEL_BY_ONE_TEAM_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/label_device.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/unite_device.hpp>

namespace kastor::detail {

/// From numbered runs to labels in one kernel, for so few runs that their forest fits the scratch
/// memory of a team: there a step from parent to parent takes a tenth of the time, and three
/// kernels become one. Of more runs it labels none: the caller will label again, by many teams.
template <class Exec>
struct LabelByOneTeam {
  using Member = TeamMember<Exec>;
  static constexpr int threads = 512;
  static constexpr int teams_at_once = 1;
  static constexpr std::int64_t most_runs = 4096;

  struct Space {
    std::uint32_t parent[most_runs];
    std::uint32_t rank[most_runs];
    SumsBeforeSpace<std::uint64_t, 1, threads> sums;
    std::uint32_t first_listed;
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;

  RunTable table;
  std::int64_t ny, nx;
  std::int32_t reach;  ///< 0: edges only, 1: corners too
  int word_parts;      ///< that the pixels were counted in

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Space& space = *scratch_of<Space>(team);
    const TeamCrew<Member> crew(team);
    RunTable near = table;
    near.parent = space.parent;
    near.rank = space.rank;
    const std::int64_t found = table.runs();
    const std::int64_t runs = found <= most_runs ? found : 0;

    for (std::int64_t run = crew.rank(); run < runs; run += threads)
      space.parent[run] = static_cast<std::uint32_t>(run);
    if (crew.rank() == 0) table.counts->labelled_runs = 0;
    crew.barrier();
    if (runs > 0) UniteWithRowAbove{near, threads, nx, reach}(crew.rank());
    crew.barrier();
    if (table.pixels_of_set != nullptr) {
      const CountPixels<Exec> sets{near, threads, ny, nx};
      sets.count(RunLoop<Exec>(crew.rank(), threads, 0, runs));
      crew.barrier();
    }
    const RankedRoots roots = rank_roots<1>(crew, space.sums, near, 0, runs);
    crew.barrier();
    for (std::int64_t t = 0; t < runs; t += threads) {
      const std::int64_t run = t + crew.rank();
      const bool has_label =
          run < runs &&
          near.label_run(run, near.forest().find(static_cast<std::uint32_t>(run)), 0) != 0;
      if (table.labelled != nullptr)
        list_labelled(crew, space.sums, space.first_listed, near, run, has_label);
    }
    publish_counts(crew, space.sums, table, word_parts, roots);
  }
};

}  // namespace kastor::detail

#endif
