// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SUMS_BEFORE_HPP
#define KASTOR_DETAIL_SUMS_BEFORE_HPP

#include <Kokkos_Core.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/pixel_pack.hpp>

/// Sums over the threads of lower rank through a team's scratch memory: Kokkos' team scan takes
/// several times as long.
namespace kastor::detail {

/// K sums of V.
template <class V, int K, int Threads>
struct SumsBeforeSpace {
  static constexpr int group = 16;
  static constexpr int groups = Threads / group;
  static_assert(Threads % group == 0 && K * groups <= Threads);
  V value[K][groups * (group + 1)];  ///< groups apart, so that they lie in other banks
  V part[K][groups];
  V all[K];  ///< the sums over all threads, once `sums_before` is done
};

/// Replaces each value by the sum of those of the threads before. All must call it; others may use
/// the space after the next barrier.
template <class V, int K, int Threads, class Member>
KOKKOS_FUNCTION void sums_before(const TeamCrew<Member>& crew,
                                 SumsBeforeSpace<V, K, Threads>& space, V (&values)[K]) {
  using Space = SumsBeforeSpace<V, K, Threads>;
  const int rank = crew.rank();
  const int at = rank + rank / Space::group;
  KASTOR_UNROLL
  for (int k = 0; k < K; ++k) space.value[k][at] = values[k];
  crew.barrier();
  if (rank < K * Space::groups) {
    const int k = rank / Space::groups;
    const int g = rank % Space::groups;
    V* of_group = &space.value[k][g * (Space::group + 1)];
    V sum = 0;
    KASTOR_UNROLL
    for (int i = 0; i < Space::group; ++i) {
      const V next = of_group[i];
      of_group[i] = sum;
      sum += next;
    }
    space.part[k][g] = sum;
  }
  crew.barrier();
  if (rank < K) {
    V sum = 0;
    KASTOR_UNROLL
    for (int g = 0; g < Space::groups; ++g) {
      const V next = space.part[rank][g];
      space.part[rank][g] = sum;
      sum += next;
    }
    space.all[rank] = sum;
  }
  crew.barrier();
  KASTOR_UNROLL
  for (int k = 0; k < K; ++k) values[k] = space.part[k][rank / Space::group] + space.value[k][at];
}
template <class V, int K, int Threads>
KOKKOS_FUNCTION void sums_before(const Alone&, SumsBeforeSpace<V, K, Threads>& space,
                                 V (&values)[K]) {
  for (int k = 0; k < K; ++k) {
    space.all[k] = values[k];
    values[k] = 0;
  }
}

/// The sum over all threads.
template <class V, int Threads, class Crew>
[[nodiscard]] KOKKOS_FUNCTION V sum_of_all(const Crew& crew, SumsBeforeSpace<V, 1, Threads>& space,
                                           V value) {
  V values[1] = {value};
  sums_before(crew, space, values);
  return space.all[0];
}

}  // namespace kastor::detail

#endif
