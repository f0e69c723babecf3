// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_INTERVAL_HPP
#define KASTOR_CORE_INTERVAL_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/ordered_key.hpp"

namespace kastor::core {

/// Pixels strictly between two bounds. NaN is in no interval. Infinities are not in the default
/// interval, which therefore holds exactly the finite pixels.
template <class T>
struct Interval {
  T low = -Kokkos::Experimental::infinity_v<T>;
  T high = Kokkos::Experimental::infinity_v<T>;

  [[nodiscard]] KOKKOS_FUNCTION bool contains(T x) const { return (x > low) & (x < high); }
};

template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_finite(T x) {
  return Interval<T>{}.contains(x);
}

/// The largest number below x, for x > -infinity.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T next_below(T x) {
  using Bits = Key<T>;
  if (x == T{0}) return -Kokkos::bit_cast<T>(Bits{1});
  const Bits bits = Kokkos::bit_cast<Bits>(x);
  return Kokkos::bit_cast<T>(static_cast<Bits>(x > T{0} ? bits - 1 : bits + 1));
}
/// The smallest number above x, for x < infinity.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T next_above(T x) {
  return -next_below(-x);
}

/// The pixels x with low < x < high, for bounds in double. Bounds are rounded outwards, so that the
/// comparison of pixels remains exact.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION Interval<T> interval_between(double low, double high) {
  T l = static_cast<T>(low);
  T h = static_cast<T>(high);
  if (static_cast<double>(l) > low) l = next_below(l);
  if (static_cast<double>(h) < high) h = next_above(h);
  return {l, h};
}
/// The bound b in T such that a pixel x is above `level` exactly if x > b.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T bound_below(double level) {
  return interval_between<T>(level, Kokkos::Experimental::infinity_v<double>).low;
}

/// Turns -0 into +0.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T without_sign_of_zero(T x) {
  return x + T{0};
}

/// The mean of two numbers, without overflow.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double midpoint(double a, double b) {
  if (a == b) return a;
  const bool safe = Kokkos::fabs(a) < 1e300 && Kokkos::fabs(b) < 1e300;
  return safe ? (a + b) * 0.5 : a * 0.5 + b * 0.5;
}

/// Count, minimum and maximum of some pixels.
template <class T>
struct MinMaxCount {
  std::int64_t count = 0;
  T min = Kokkos::Experimental::infinity_v<T>;
  T max = -Kokkos::Experimental::infinity_v<T>;

  KOKKOS_FUNCTION MinMaxCount& operator+=(const MinMaxCount& other) {
    count += other.count;
    min = other.min < min ? other.min : min;
    max = other.max > max ? other.max : max;
    return *this;
  }
};

}  // namespace kastor::core

#endif
