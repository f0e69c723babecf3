// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_UNITE_DEVICE_HPP
#define KASTOR_DETAIL_UNITE_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/run_table.hpp>
#include <kastor/detail/union_find.hpp>
#include <kastor/label.hpp>

namespace kastor::detail {

/// Devices: the runs of the row above that touch a run are consecutive, and the mask tells which.
/// How many begin before a word is known of those that are not 0.
struct UniteWithRowAbove {
  RunTable table;
  std::int64_t workers;
  std::int64_t nx;
  std::int32_t reach;  ///< 0: edges only, 1: corners too

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    unite_runs(worker, table.runs(), worker % lanes, workers);
  }
  /// Every `step`-th of the runs before `past`. All lanes of a warp must call it, each with a run
  /// of its own, so far behind the first one's.
  KOKKOS_FUNCTION void unite_runs(std::int64_t first, std::int64_t past, std::int64_t lane,
                                  std::int64_t step) const {
    for (std::int64_t run = first; run - lane < past; run += step) {
      const Touched above = run < past ? touched_above(run) : Touched{0, 0};
      if (above.first != above.past)
        table.forest().unite_with_smaller(static_cast<std::uint32_t>(run), above.first);
      unite_others(static_cast<std::uint32_t>(run), above);
    }
  }

 private:
  struct Touched {
    std::uint32_t first, past;
  };

  [[nodiscard]] KOKKOS_FUNCTION Touched touched_above(std::int64_t run) const {
    const std::int64_t y = table.row[run];
    if (y == 0) return {0, 0};
    const std::int64_t left = table.begin[run] > reach ? table.begin[run] - reach : 0;
    const std::int64_t last = std::int64_t{table.end[run]} - 1 + reach;
    const std::int64_t right = last < nx ? last : nx - 1;
    const MaskRow above{table.words.data + (y - 1) * table.words.per_row};
    const std::uint32_t* first_in_word = table.first_in_word + (y - 1) * table.words.per_row;
    std::int64_t w = left / 64, last_w = right / 64;
    while (w <= last_w && above.words[w] == 0) ++w;
    if (w > last_w) return {0, 0};
    while (above.words[last_w] == 0) --last_w;
    const std::int64_t from = w == left / 64 ? left : 64 * w;
    const std::int64_t up_to = last_w == right / 64 ? right : 64 * last_w + 63;
    const std::uint32_t past = first_in_word[last_w] + above.starts_up_to(up_to);
    const std::uint32_t begun = first_in_word[w] + above.starts_up_to(from);
    return {begun - (above.test(from) ? 1 : 0), past};
  }

#ifdef __CUDA_ARCH__
  /// With those that it touches besides the first. Their paths to the roots are of any length, and
  /// the lanes of a warp wait for the longest: so the pairs of all lanes are shared among them.
  __device__ void unite_others(std::uint32_t run, const Touched& above) const {
    const std::uint32_t others = above.first == above.past ? 0 : above.past - above.first - 1;
    join_lanes();
    if (lanes_where(others != 0) == 0) return;
    const int lane = this_lane();
    const std::uint32_t up_to = sum_up_to_lane(others, lane);
    const std::uint32_t pairs = value_of_lane(up_to, lanes - 1);
    KASTOR_KEEP_LOOP
    for (auto p = static_cast<std::uint32_t>(lane); p - static_cast<std::uint32_t>(lane) < pairs;
         p += lanes) {
      int from = 0;  // the lane whose pair it is
      KASTOR_UNROLL
      for (int step = lanes / 2; step > 0; step /= 2)
        if (value_of_lane(up_to, from + step - 1) <= p) from += step;
      const std::uint32_t whose = value_of_lane(run, from);
      const std::uint32_t behind = value_of_lane(up_to, from) - p;
      const std::uint32_t past = value_of_lane(above.past, from);
      if (p < pairs) table.forest().unite(whose, past - behind);
      join_lanes();
    }
  }
#else
  KOKKOS_FUNCTION void unite_others(std::uint32_t run, const Touched& above) const {
    for (std::uint32_t other = above.first + 1; other < above.past; ++other)
      table.forest().unite(run, other);
  }
#endif
};

}  // namespace kastor::detail

#endif
