// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LANES_HPP
#define KASTOR_DETAIL_LANES_HPP

#include <cstdint>
#include <kastor/detail/pixel_pack.hpp>
#include <type_traits>

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
/// The value of the lane so many above, of any plain type of whole words; a lane's own where there
/// is none.
template <class V>
[[nodiscard]] __device__ V value_from_above(const V& value, int distance) {
  static_assert(std::is_trivially_copyable_v<V> && sizeof(V) % sizeof(std::uint32_t) == 0);
  constexpr int words = sizeof(V) / sizeof(std::uint32_t);
  std::uint32_t word[words];
  memcpy(word, &value, sizeof(V));
  KASTOR_UNROLL
  for (int w = 0; w < words; ++w) word[w] = __shfl_down_sync(~0U, word[w], distance);
  V other;
  memcpy(&other, word, sizeof(V));
  return other;
}

}  // namespace kastor::detail
#endif

#endif
