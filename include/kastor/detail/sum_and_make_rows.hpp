// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SUM_AND_MAKE_ROWS_HPP
#define KASTOR_DETAIL_SUM_AND_MAKE_ROWS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/make_rows.hpp>
#include <kastor/detail/measure_sources.hpp>
#include <kastor/detail/team_scratch.hpp>

/// The second sweep of a device, which makes the rows as soon as their sums are known: so they
/// cross to the host while other runs are still added up.
namespace kastor::detail {

/// Components are counted in groups of neighbours. Whoever adds the last of a group's runs makes
/// its rows. `find_extents` counted the runs; in the end `runs_left` is zero again.
template <class T, class Exec>
struct SumRunsAndMakeRows {
  using Member = TeamMember<Exec>;
  static constexpr int threads = 128;
  static constexpr int teams_at_once = 5;
  static constexpr int squad = 32;
  static constexpr int scratch_bytes = threads * static_cast<int>(sizeof(Source)) + 16;

  SumRuns<T, Exec> sum_runs;
  MakeRows<T> make;

  /// As many teams as have so many threads.
  [[nodiscard]] static int teams(std::int64_t workers) {
    return static_cast<int>((workers + threads - 1) / threads);
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t worker =
        std::int64_t{team.league_rank()} * threads + static_cast<std::int64_t>(team.team_rank());
    auto* const scratch = scratch_of<Source>(team, threads) + team.team_rank() / squad * squad;
    sum_runs(worker);
    finish_groups(worker, scratch);
  }

 private:
#ifdef __CUDA_ARCH__
  __device__ void finish_groups(std::int64_t worker, Source* scratch) const {
    const BandRuns<T, Exec>& band = sum_runs.band;
    // What a thread added must be there before it says so, whichever lane says it.
    Kokkos::memory_fence();
    join_lanes();
    const int lane = this_lane();
    const RunLoop<Exec> share = band.loop(worker);
    KASTOR_KEEP_LOOP
    for (std::int64_t i = share.first; i - lane < share.past; i += share.step) {
      const std::uint32_t label = i < share.past ? band.label_at(i) : 0;
      const std::uint32_t group = RunsLeft::group_of(label);
      const std::uint32_t alike = __match_any_sync(~0U, label == 0 ? RunsLeft::none : group);
      bool is_last = false;
      if (label != 0 && lane == __ffs(static_cast<int>(alike)) - 1)
        is_last = band.runs_left.take(group, static_cast<std::uint32_t>(__popc(alike)));
      KASTOR_KEEP_LOOP
      for (std::uint32_t rest = lanes_where(is_last); rest != 0; rest &= rest - 1)
        make_rows(value_of_lane(group, __ffs(static_cast<int>(rest)) - 1), lane, scratch);
    }
  }

  /// By all lanes.
  __device__ void make_rows(std::uint32_t group, int lane, Source* scratch) const {
    Kokkos::memory_fence();  // what others added
    const std::int64_t first = std::int64_t{group} * RunsLeft::in_group;
    const std::int64_t count = make.runs.count();
    const std::int64_t past =
        first + RunsLeft::in_group < count ? first + RunsLeft::in_group : count;
    KASTOR_KEEP_LOOP
    for (std::int64_t i = first; i < past; i += squad) {
      if (i + lane < past) scratch[lane] = make.take_row(i + lane);
      join_lanes();
      copy_rows(scratch, make.rows + i, static_cast<int>(past - i < squad ? past - i : squad), lane,
                squad);
      join_lanes();
    }
  }
#else
  KOKKOS_FUNCTION void finish_groups(std::int64_t, Source*) const {}
#endif
};

}  // namespace kastor::detail

#endif
