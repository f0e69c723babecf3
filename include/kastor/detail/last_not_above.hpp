// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LAST_NOT_ABOVE_HPP
#define KASTOR_DETAIL_LAST_NOT_ABOVE_HPP

#include <Kokkos_Core.hpp>

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

}  // namespace kastor::detail

#endif
