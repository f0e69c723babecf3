// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_MIDPOINT_HPP
#define KASTOR_SIGMA_CLIP_MIDPOINT_HPP

#include <Kokkos_Core.hpp>

namespace kastor::detail {

/// The mean of two middle pixels without overflow.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double midpoint(double a, double b) {
  if (a == b) return a;
  const bool safe = Kokkos::fabs(a) < 1e300 && Kokkos::fabs(b) < 1e300;
  return safe ? (a + b) * 0.5 : a * 0.5 + b * 0.5;
}

}  // namespace kastor::detail

#endif
