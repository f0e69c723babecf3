// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_RANDOM_NORMAL_HPP
#define KASTOR_CORE_RANDOM_NORMAL_HPP

#include "core/elementary.hpp"
#include "core/random.hpp"

namespace kastor::core {

namespace impl {

template <int N>
[[nodiscard]] KOKKOS_INLINE_FUNCTION double polynomial(const double (&coefficients)[N], double x) {
  double sum = coefficients[N - 1];
  for (int i = N - 2; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

}  // namespace impl

/// The quantile function of the standard normal distribution for 0 < p < 1: algorithm AS 241,
/// PPND7 (Wichura, Applied Statistics 37, 477, 1988), relative accuracy 1e-7.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double normal_quantile(double p) {
  constexpr double a[] = {3.3871327179, 50.434271938, 159.29113202, 59.109374720};
  constexpr double b[] = {1.0, 17.895169469, 78.757757664, 67.187563600};
  constexpr double c[] = {1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103};
  constexpr double d[] = {1.0, 0.73700164250, 0.12021132975};
  constexpr double e[] = {6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997};
  constexpr double f[] = {1.0, 0.24197894225, 0.012258202635};
  const double q = p - 0.5;
  if (q > -0.425 && q < 0.425) {
    const double r = 0.180625 - q * q;
    return q * impl::polynomial(a, r) / impl::polynomial(b, r);
  }
  double r = Kokkos::sqrt(-log(q < 0 ? p : 1 - p));
  if (r <= 5) {
    r -= 1.6;
    r = impl::polynomial(c, r) / impl::polynomial(d, r);
  } else {
    r -= 5;
    r = impl::polynomial(e, r) / impl::polynomial(f, r);
  }
  return q < 0 ? -r : r;
}

/// Normal with mean 0 and standard deviation 1, tails included.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double random_normal(std::uint64_t seed,
                                                          std::uint64_t counter) {
  // The middles of 2^53 intervals: never 0 or 1.
  const std::uint64_t bits = random_bits(seed, counter) >> 12;
  return normal_quantile((static_cast<double>(bits) + 0.5) * 0x1p-52);
}

}  // namespace kastor::core

#endif
