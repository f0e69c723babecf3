// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SUMS_BEFORE_HPP
#define KASTOR_DETAIL_SUMS_BEFORE_HPP

#include <Kokkos_Core.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/pixel_pack.hpp>

/// Sums over the threads of lower rank of a team. On CUDA Kokkos' team scan takes several times as
/// long.
namespace kastor::detail {

/// K sums of V.
template <class V, int K, int Threads>
struct SumsBeforeSpace {
  static constexpr int warps = Threads / lanes;
  static_assert(Threads % lanes == 0 && warps <= lanes);
  V part[K][warps];
};

#ifdef __CUDA_ARCH__
/// By warps: few instructions, which counts where they run once and have to be fetched first.
template <class V, int K, int Threads, class Member>
__device__ void sums_before_by_lanes(const TeamCrew<Member>& crew,
                                     SumsBeforeSpace<V, K, Threads>& space, V (&values)[K],
                                     V (&all)[K]) {
  constexpr int warps = SumsBeforeSpace<V, K, Threads>::warps;
  const int lane = crew.rank() % lanes;
  const int warp = crew.rank() / lanes;
  V up_to_here[K];
  join_lanes();
  KASTOR_UNROLL
  for (int k = 0; k < K; ++k) {
    up_to_here[k] = sum_up_to_lane(values[k], lane);
    if (lane == lanes - 1) space.part[k][warp] = up_to_here[k];
  }
  crew.barrier();
  KASTOR_UNROLL
  for (int k = 0; k < K; ++k) {
    const V up_to_warp = sum_up_to_lane(lane < warps ? space.part[k][lane] : V{0}, lane);
    const V before = value_of_lane(up_to_warp, warp > 0 ? warp - 1 : 0);
    all[k] = value_of_lane(up_to_warp, lanes - 1);
    values[k] = up_to_here[k] - values[k] + (warp > 0 ? before : V{0});
  }
  crew.barrier();
}
#endif

/// Replaces each value by the sum of those of the threads before, and gives everyone the sums over
/// all. All must call it; others may use the space after the next barrier.
template <class V, int K, int Threads, class Member>
KOKKOS_FUNCTION void sums_before(const TeamCrew<Member>& crew,
                                 SumsBeforeSpace<V, K, Threads>& space, V (&values)[K],
                                 V (&all)[K]) {
#ifdef __CUDA_ARCH__
  sums_before_by_lanes(crew, space, values, all);
#else
  for (int k = 0; k < K; ++k) {
    const V mine = values[k];
    values[k] = crew.sum_before(mine);
    if (crew.rank() == crew.size() - 1) space.part[k][0] = values[k] + mine;
  }
  crew.barrier();
  for (int k = 0; k < K; ++k) all[k] = space.part[k][0];
#endif
}
/// The same for those who know the sums over all.
template <class V, int K, int Threads, class Crew>
KOKKOS_FUNCTION void sums_before(const Crew& crew, SumsBeforeSpace<V, K, Threads>& space,
                                 V (&values)[K]) {
  V all[K];
  sums_before(crew, space, values, all);
}

/// The sum over all threads.
template <class V, int Threads, class Crew>
[[nodiscard]] KOKKOS_FUNCTION V sum_of_all(const Crew& crew, SumsBeforeSpace<V, 1, Threads>& space,
                                           V value) {
  V values[1] = {value};
  V all[1];
  sums_before(crew, space, values, all);
  return all[0];
}

}  // namespace kastor::detail

#endif
