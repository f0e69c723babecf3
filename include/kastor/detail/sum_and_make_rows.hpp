// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SUM_AND_MAKE_ROWS_HPP
#define KASTOR_DETAIL_SUM_AND_MAKE_ROWS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/few_runs.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/measure_sources.hpp>
#include <kastor/detail/pixels_of_lanes.hpp>
#include <kastor/detail/seen_runs.hpp>
#include <kastor/detail/team_launcher.hpp>
#include <kastor/detail/team_scratch.hpp>

/// The second sweep of a device, which makes each row as soon as its sums are known: so rows cross
/// to the host while other components are still measured.
namespace kastor::detail {

/// A component of few runs is measured by some lanes, a run each, in both sweeps at once. Of other
/// components `find_extents` found the extents and counted the runs; whoever adds the last one
/// makes the row.
/// `ReadsLines`: where runs are long, a warp reads lines of them.
template <class T, class Exec, bool ReadsLines>
struct SumRunsAndMakeRows {
  using Member = TeamMember<Exec>;
  static constexpr int threads = 128;
  static constexpr int warps = threads / lanes;
  static constexpr int teams_at_once = 5;
  /// Of a warp: for rows, or in their place for lines.
  static constexpr int warp_bytes =
      std::max(lanes * static_cast<int>(sizeof(Source)), ReadsLines ? PixelsOfLanes<T>::bytes : 0);
  static constexpr int scratch_bytes = warps * warp_bytes + 16;

  SumRuns<T, Exec> sum_runs;
  MakeRows<T> make;

  /// For so many workers, but no more than a device holds at once.
  [[nodiscard]] static int teams(const Exec& space, std::int64_t workers) {
    const std::int64_t most = processors_of(space) * teams_at_once;
    return static_cast<int>(std::min(most, (workers + threads - 1) / threads));
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int warp = team.team_rank() / lanes;
    const std::int64_t which =
        sum_runs.band.runs.are_long() ? spread(warp, team) : in_order(warp, team);
    const std::int64_t worker = which * lanes + team.team_rank() % lanes;
    unsigned char* const of_warp =
        scratch_of<unsigned char>(team, warps * warp_bytes) + warp * warp_bytes;
    auto* const scratch = reinterpret_cast<Source*>(of_warp);
    measure_few(worker, scratch);
    if (!sum_by_lines(worker, of_warp)) sum_runs(worker);
    finish_others(worker, scratch);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION static int in_order(int warp, const Member& team) {
    return team.league_rank() * warps + warp;
  }
  /// Long runs are few, as a rule: the first warps of all teams share them.
  [[nodiscard]] KOKKOS_FUNCTION static int spread(int warp, const Member& team) {
    return warp * team.league_size() + team.league_rank();
  }

#ifdef __CUDA_ARCH__
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr int in_group = FewRuns::most;   ///< lanes that measure a component
  static constexpr int groups = lanes / in_group;  ///< of a warp
  static constexpr int most_rows = 16;  ///< whole lines of memory, which cross the fastest

  /// The last warps begin, for the first ones have most to do with the other components.
  __device__ void measure_few(std::int64_t worker, Source* scratch) const {
    const FewRuns& few = make.runs.few;
    if (few.room == 0) return;
    const int lane = this_lane();
    const std::int64_t found = make.runs.count();
    const std::int64_t count = found < few.room ? found : few.room;
    const std::int64_t all_warps = sum_runs.band.workers / lanes;
    const int rows = count > all_warps * groups ? most_rows : groups;
    KASTOR_KEEP_LOOP
    for (std::int64_t first = (all_warps - 1 - worker / lanes) * rows; first < count;
         first += all_warps * rows) {
      const std::int64_t mine = first + lane;
      std::uint32_t runs = lane < rows && mine < count ? few.counted[mine] : 0;
      if (runs > FewRuns::most) runs = 0;
      KASTOR_KEEP_LOOP
      for (int part = 0; part < rows; part += groups)
        measure_by_groups(first, part + lane / in_group, runs, scratch);
      write_rows(scratch, rows, runs > 0 ? static_cast<std::uint32_t>(mine) : none);
    }
  }

  /// A group's component is so far behind the first one; how many runs it has says that lane.
  __device__ void measure_by_groups(std::int64_t first, int which, std::uint32_t runs_of_lane,
                                    Source* scratch) const {
    const FewRuns& few = make.runs.few;
    const auto in_turn = static_cast<std::uint32_t>(this_lane() % in_group);
    const bool has_run = in_turn < value_of_lane(runs_of_lane, which);
    if (lanes_where(has_run) == 0) return;
    const std::int64_t i = first + which;
    const Source row = measured_by_group(
        i, has_run ? make.runs.run(few.run[i * FewRuns::most + in_turn]) : Run{}, has_run);
    if (in_turn == 0) scratch[which] = row;
  }

  struct Extents : FindExtents<T, Exec>::Part {
    std::int32_t y_min;
    __device__ void join(const Extents& other) {
      FindExtents<T, Exec>::Part::join(other);
      y_min = other.y_min < y_min ? other.y_min : y_min;
    }
  };

  /// Component `i`, of which each lane of a group has a run or none.
  __device__ Source measured_by_group(std::int64_t i, const Run& run, bool has_run) const {
    using Find = FindExtents<T, Exec>;
    using Sum = SumRuns<T, Exec>;
    const T* const pixels = sum_runs.band.row_of(run.row);
    Extents extents{has_run ? Find::of(run, pixels) : Find::Part::none(),
                    has_run ? run.row : Kokkos::Experimental::finite_max_v<std::int32_t>};
    join_beside<in_group>(extents);
    Component<T> c{};
    static_cast<RunExtents&>(c) = extents;
    c.peak = extents.peak;
    c.magnitude = extents.magnitude;
    const ComponentFrame<T> frame(c, extents.y_min);
    auto sums = has_run ? Sum::of(run, pixels, frame) : Sum::Part::none();
    join_beside<in_group>(sums);
    c.flux = sums.flux;
    c.x_moment = sums.x_moment;
    c.y_moment = sums.y_moment;
    c.peak_at = sums.peak_at;
    return MakeRows<T>::row_of(i, c, extents.y_min);
  }

  __device__ void finish_others(std::int64_t worker, Source* scratch) const {
    const BandRuns<T, Exec>& band = sum_runs.band;
    const RunLoop<Exec> share = band.loop(worker);
    std::uint32_t last = band.no_label;
    const int lane = this_lane();
    std::uint32_t first[1];
    band.labels_at(share.first, share, last, first);  // the fence empties the nearest cache
    // What a thread added must be there before it says so, whichever lane says it.
    Kokkos::memory_fence();
    join_lanes();
    SeenRuns seen;
    std::uint32_t done = none;  // a component whose last run was seen by this lane
    const auto take = [&](std::uint32_t of, std::uint32_t runs) {
      if (Kokkos::atomic_fetch_sub(&band.components[of - 1].runs_left, runs) == runs) done = of - 1;
    };
    constexpr int at_once =
        4;  // labels that are under way, but for the first, which often is alone
    std::uint32_t label[at_once] = {first[0]};
    int under_way = 1;
    KASTOR_KEEP_LOOP
    for (std::int64_t i = share.first; i - lane < share.past;) {
      KASTOR_KEEP_LOOP
      for (int n = 0; n < under_way; ++n) {
        seen.see(label[0], take);
        make_rows(done, lane, scratch);
        KASTOR_UNROLL
        for (int k = 1; k < at_once; ++k) label[k - 1] = label[k];
      }
      i += under_way * share.step;
      under_way = at_once;
      if (i - lane < share.past) band.labels_at(i, share, last, label);
    }
    seen.flush(take);
    make_rows(done, lane, scratch);
  }

  /// Of each lane's component, which is none afterwards.
  __device__ void make_rows(std::uint32_t& done, int lane, Source* scratch) const {
    join_lanes();
    if (lanes_where(done != none) == 0) return;
    Kokkos::memory_fence();  // what others added
    if (done != none) scratch[lane] = make.take_row(done);
    write_rows(scratch, lanes, done);
    done = none;
  }

  /// Row r of the scratch memory is that of the component of lane r, unless that is none.
  /// Neighbouring lanes write neighbouring bytes, for they go to the host's memory.
  __device__ void write_rows(const Source* scratch, int rows, std::uint32_t component) const {
    using Piece = std::uint64_t;
    constexpr int of_row = sizeof(Source) / sizeof(Piece);
    static_assert(of_row * sizeof(Piece) == sizeof(Source));
    join_lanes();
    KASTOR_KEEP_LOOP
    for (int p = this_lane(); p - this_lane() < rows * of_row; p += lanes) {
      const int row = p / of_row;
      const std::uint32_t to = value_of_lane(component, row);
      if (p >= rows * of_row || to == none) continue;
      reinterpret_cast<Piece*>(make.rows + to)[p % of_row] =
          reinterpret_cast<const Piece*>(scratch)[p];
    }
    join_lanes();
  }

  /// False: runs are too short for that, the image is too wide, or lines are not read at all.
  [[nodiscard]] __device__ bool sum_by_lines(std::int64_t worker, unsigned char* of_warp) const {
    if constexpr (ReadsLines) {
      const MeasuredRuns& runs = sum_runs.band.runs;
      if (!runs.are_long() || runs.nx > SumsOfLongRun<T>::most_columns) return false;
      sum_runs.sum_together(worker, PixelsOfLanes<T>(of_warp));
    }
    return ReadsLines;
  }
#else
  KOKKOS_FUNCTION void measure_few(std::int64_t, Source*) const {}
  [[nodiscard]] KOKKOS_FUNCTION bool sum_by_lines(std::int64_t, unsigned char*) const {
    return false;
  }
  KOKKOS_FUNCTION void finish_others(std::int64_t, Source*) const {}
#endif
};

}  // namespace kastor::detail

#endif
