// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LANES_HPP
#define KASTOR_DETAIL_LANES_HPP

#include <kastor/detail/pixel_pack.hpp>

/// What the threads of a warp of CUDA hand each other from register to register.
#ifdef __CUDA_ARCH__
namespace kastor::detail {

inline constexpr int lanes = 32;

/// After loops that lanes left at different times: they go on one by one otherwise.
__device__ inline void join_lanes() { __syncwarp(); }

/// The sum of the values of a lane and those below. All lanes must call it.
template <class V>
[[nodiscard]] __device__ V sum_up_to_lane(V value, int lane) {
  KASTOR_UNROLL
  for (int step = 1; step < lanes; step *= 2) {
    const V other = __shfl_up_sync(~0U, value, step);
    value += lane >= step ? other : V{0};
  }
  return value;
}
template <class V>
[[nodiscard]] __device__ V value_of_lane(V value, int lane) {
  return __shfl_sync(~0U, value, lane);
}

}  // namespace kastor::detail
#endif

#endif
