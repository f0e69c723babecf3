// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LANES_HPP
#define KASTOR_DETAIL_LANES_HPP

#include <cstdint>
#include <kastor/detail/pixel_pack.hpp>
#include <type_traits>

/// What the threads of a warp of CUDA hand each other from register to register.
namespace kastor::detail {

inline constexpr int lanes = 32;

#ifdef __CUDA_ARCH__
[[nodiscard]] __device__ inline int this_lane() {
  int lane = 0;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
/// The lanes for which something is so; all must ask.
[[nodiscard]] __device__ inline std::uint32_t lanes_where(bool is_so) {
  return __ballot_sync(~0U, is_so);
}
/// Of some, of which there is one at least.
[[nodiscard]] __device__ inline int first_lane_of(std::uint32_t some) {
  return __ffs(static_cast<int>(some)) - 1;
}
[[nodiscard]] __device__ inline bool is_so_for_all_lanes(bool is_so) {
  return __all_sync(~0U, is_so) != 0;
}
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
/// A value of any plain type, each word of which `exchange` turns into another lane's.
template <class V, class Exchange>
[[nodiscard]] __device__ V exchanged(const V& value, const Exchange& exchange) {
  static_assert(std::is_trivially_copyable_v<V>);
  constexpr int words = (sizeof(V) + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t);
  std::uint32_t word[words] = {};
  memcpy(word, &value, sizeof(V));
  KASTOR_UNROLL
  for (int w = 0; w < words; ++w) word[w] = exchange(word[w]);
  V other;
  memcpy(&other, word, sizeof(V));
  return other;
}
template <class V>
[[nodiscard]] __device__ V value_of_lane(const V& value, int lane) {
  return exchanged(value, [=](std::uint32_t w) { return __shfl_sync(~0U, w, lane); });
}
/// Of the lane so many above; a lane's own where there is none.
template <class V>
[[nodiscard]] __device__ V value_from_above(const V& value, int distance) {
  return exchanged(value, [=](std::uint32_t w) { return __shfl_down_sync(~0U, w, distance); });
}
/// Of the lane whose number differs in these bits.
template <class V>
[[nodiscard]] __device__ V value_from_across(const V& value, int bits) {
  return exchanged(value, [=](std::uint32_t w) { return __shfl_xor_sync(~0U, w, bits); });
}

/// Joins the values of each `Of` lanes side by side by their `join(other)`, whose order must not
/// matter; each gets the result. All lanes must call it.
template <int Of, class V>
__device__ void join_beside(V& value) {
  KASTOR_KEEP_LOOP
  for (int bits = Of / 2; bits > 0; bits /= 2) value.join(value_from_across(value, bits));
}

/// Joins the values of all lanes, which must call it together; each gets the result. One
/// instruction for 32 bits, where shuffles take ten that wait for each other.
struct JoinLanes {
#if __CUDA_ARCH__ < 800
  static constexpr bool is_there = false;
#else
  static constexpr bool is_there = true;
  __device__ void add(std::uint32_t& value) const { value = __reduce_add_sync(~0U, value); }
  __device__ void add(int& value) const { value = __reduce_add_sync(~0U, value); }
  /// In three parts that do not overflow.
  __device__ void add(std::int64_t& value) const {
    constexpr int bits = 22;
    const auto all = static_cast<std::uint64_t>(value);
    constexpr std::uint32_t part = (1U << bits) - 1;
    auto low = static_cast<std::uint32_t>(all) & part;
    auto middle = static_cast<std::uint32_t>(all >> bits) & part;
    auto high = static_cast<std::uint32_t>(all >> 2 * bits);
    add(low);
    add(middle);
    add(high);
    value = static_cast<std::int64_t>(low + (std::uint64_t{middle} << bits) +
                                      (std::uint64_t{high} << 2 * bits));
  }
  __device__ void least(float& value) const {
    value = of_order(__reduce_min_sync(~0U, order_of(value)));
  }
  __device__ void greatest(float& value) const {
    value = of_order(__reduce_max_sync(~0U, order_of(value)));
  }

 private:
  /// An integer that is greater for a greater float.
  [[nodiscard]] __device__ static int order_of(float value) {
    const int bits = __float_as_int(value);
    return bits ^ (bits >> 31 & 0x7fffffff);
  }
  [[nodiscard]] __device__ static float of_order(int order) {
    return __int_as_float(order ^ (order >> 31 & 0x7fffffff));
  }
#endif
};
#endif

}  // namespace kastor::detail

#endif
