// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SUM_AND_MAKE_ROWS_HPP
#define KASTOR_DETAIL_SUM_AND_MAKE_ROWS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/make_rows.hpp>
#include <kastor/detail/measure_sources.hpp>
#include <kastor/detail/runs_left.hpp>
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
    auto* const scratch = scratch_of<Source>(team, threads) + team.team_rank() / lanes * lanes;
    sum_runs(worker);
    finish_groups(worker, scratch);
  }

 private:
#ifdef __CUDA_ARCH__
  __device__ void finish_groups(std::int64_t worker, Source* scratch) const {
    const BandRuns<T, Exec>& band = sum_runs.band;
    const RunLoop<Exec> share = band.loop(worker);
    const auto label_at = [&](std::int64_t i) { return i < share.past ? band.label_at(i) : 0; };
    const int lane = this_lane();
    std::uint32_t label = label_at(share.first);  // after the fence the nearest cache is empty
    // What a thread added must be there before it says so, whichever lane says it.
    Kokkos::memory_fence();
    join_lanes();
    SeenRuns seen;
    std::uint32_t done = RunsLeft::none;  // a group whose last run was seen by this lane
    const auto take = [&](std::uint32_t group, std::uint32_t runs) {
      if (band.runs_left.take(group, runs)) done = group;
    };
    KASTOR_KEEP_LOOP
    for (std::int64_t i = share.first; i - lane < share.past; i += share.step) {
      seen.see(RunsLeft::group_of(label), take);
      make_rows(done, lane, scratch);
      label = label_at(i + share.step);
    }
    seen.flush(take);
    make_rows(done, lane, scratch);
  }

  /// All lanes make the rows of each lane's group, which is none afterwards.
  __device__ void make_rows(std::uint32_t& done, int lane, Source* scratch) const {
    join_lanes();
    KASTOR_KEEP_LOOP
    for (std::uint32_t rest = lanes_where(done != RunsLeft::none); rest != 0; rest &= rest - 1) {
      const std::uint32_t group = value_of_lane(done, first_lane_of(rest));
      Kokkos::memory_fence();  // what others added
      join_lanes();
      const std::int64_t first = std::int64_t{group} * lanes;
      const std::int64_t left = make.runs.count() - first;
      const int here = left < lanes ? static_cast<int>(left) : lanes;
      if (lane < here) scratch[lane] = make.take_row(first + lane);
      join_lanes();
      copy_rows(scratch, make.rows + first, here, lane, lanes);
      join_lanes();
    }
    done = RunsLeft::none;
  }
#else
  KOKKOS_FUNCTION void finish_groups(std::int64_t, Source*) const {}
#endif
};

}  // namespace kastor::detail

#endif
