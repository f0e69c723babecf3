// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_RANDOM_POISSON_HPP
#define KASTOR_CORE_RANDOM_POISSON_HPP

#include "core/elementary.hpp"
#include "core/random_normal.hpp"

namespace kastor::core {

namespace impl {

/// log(k!) for a whole k >= 0: Stirling's series from 16 on.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double log_factorial(double k) {
  double product = 1;
  double n = k + 1;
  for (; n < 16; n += 1) product *= n;
  const double inverse = 1 / n;
  const double square = inverse * inverse;
  const double series =
      inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
  constexpr double half_log_two_pi = 0.91893853320467274;
  return (n - 0.5) * log(n) - n + half_log_two_pi + series - log(product);
}

/// Counts up the distribution until it passes a uniform number.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double poisson_by_inversion(double mean, double uniform) {
  double probability = exp(-mean);
  double sum = probability;
  double k = 0;
  while (uniform >= sum && k < 200) {  // 10^-20 is left beyond
    k += 1;
    probability *= mean / k;
    sum += probability;
  }
  return k;
}

}  // namespace impl

/// Poisson: inversion for means below 30; the transformed rejection PTRS (Hormann, Insurance:
/// Mathematics and Economics 12, 39, 1993) up to 10^12; beyond, where its logarithms would round
/// too much, a normal number.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double random_poisson(double mean, std::uint64_t seed,
                                                           std::uint64_t counter) {
  if (!(mean > 0)) return 0;
  const std::uint64_t stream = random_bits(seed, counter);
  if (mean < 30) return impl::poisson_by_inversion(mean, random_uniform(stream, 0));
  if (mean > 1e12) return Kokkos::floor(mean + Kokkos::sqrt(mean) * random_normal(stream, 0) + 0.5);
  const double b = 0.931 + 2.53 * Kokkos::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double narrow = 0.9277 - 3.6224 / (b - 2);
  const double log_mean = log(mean);
  for (std::uint64_t attempt = 0; attempt < 1000; ++attempt) {
    const double u = random_uniform(stream, 2 * attempt) - 0.5;
    const double v = random_uniform(stream, 2 * attempt + 1);
    const double distance = 0.5 - (u < 0 ? -u : u);
    if (!(distance > 0) || !(v > 0)) continue;
    const double k = Kokkos::floor((2 * a / distance + b) * u + mean + 0.43);
    if (distance >= 0.07 && v <= narrow) return k;
    if (k < 0 || (distance < 0.013 && v > distance)) continue;
    if (log(v * inverse_alpha / (a / (distance * distance) + b)) <=
        k * log_mean - mean - impl::log_factorial(k))
      return k;
  }
  return Kokkos::floor(mean);  // after 1000 rejections, of which each has a probability below 0.3
}

}  // namespace kastor::core

#endif
