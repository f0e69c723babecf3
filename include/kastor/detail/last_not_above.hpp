// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LAST_NOT_ABOVE_HPP
#define KASTOR_DETAIL_LAST_NOT_ABOVE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/lanes.hpp>

namespace kastor::detail {

/// The place of the last of n ascending values that is not above x; 0 if all are. Plain halving:
/// steps towards a guessed place, with branches, took a GPU's single thread longer.
template <class V, class X>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int last_not_above(const V* values, int n, X x) {
  int low = 0;
  int high = n;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (static_cast<X>(values[middle]) <= x ? low : high) = middle;
  }
  return low;
}

/// The same where all lanes of a warp ask for the same: on CUDA they search together, and each step
/// leaves a 32nd. No branches, which would take longer than what they leave out.
template <class V>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int last_not_above_by_lanes(const V* values, int n, V x) {
#ifdef __CUDA_ARCH__
  const int lane = this_lane();
  int low = 0;
  while (n > 1) {
    const int step = (n + lanes - 1) / lanes, at = lane * step;
    const V value = values[low + (at < n ? at : 0)];
    const bool is_not_above = (lane == 0) | ((at < n) & (value <= x));
    const int before = (__popc(lanes_where(is_not_above)) - 1) * step;
    low += before;
    n = n - before < step ? n - before : step;
  }
  return low;
#else
  return last_not_above(values, n, x);
#endif
}

/// The same where it probably is near a place: one step if it is, for a warp looks at 32 places.
template <class V>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int last_not_above_near(const V* values, int n, V x,
                                                             [[maybe_unused]] int place) {
#ifdef __CUDA_ARCH__
  if (n >= lanes) {
    int first = place - lanes / 2;
    first = first < 0 ? 0 : (first < n - lanes ? first : n - lanes);
    const std::uint32_t not_above = lanes_where(values[first + this_lane()] <= x);
    if (not_above != 0 && not_above != ~0U) return first + __popc(not_above) - 1;
  }
#endif
  return last_not_above_by_lanes(values, n, x);
}

}  // namespace kastor::detail

#endif
