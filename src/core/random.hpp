// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_RANDOM_HPP
#define KASTOR_CORE_RANDOM_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

/// Counter-based random numbers: a number depends only on (seed, counter), so any thread on any
/// backend computes the same one.
namespace kastor::core {

/// 64 well-mixed bits of a counter: the output function of SplitMix64 (Steele, Lea and Flood,
/// OOPSLA 2014), applied twice.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t random_bits(std::uint64_t seed,
                                                               std::uint64_t counter) {
  std::uint64_t z = seed * 0x9e3779b97f4a7c15U + counter;
  for (int round = 0; round < 2; ++round) {
    z += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
  }
  return z;
}

/// Uniform in [0, 1), a multiple of 2^-53.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double random_uniform(std::uint64_t seed,
                                                           std::uint64_t counter) {
  return static_cast<double>(random_bits(seed, counter) >> 11) * 0x1p-53;
}

/// Mean 0, standard deviation 1, bell-shaped: the sum of four uniform 16-bit integers, which is
/// exact. Smoothing with the beam adds up many of these numbers, which makes the noise nearly
/// normal.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double random_bell(std::uint64_t seed, std::uint64_t counter) {
  const std::uint64_t bits = random_bits(seed, counter);
  const auto sum = static_cast<std::int64_t>((bits & 0xffff) + ((bits >> 16) & 0xffff) +
                                             ((bits >> 32) & 0xffff) + (bits >> 48));
  return static_cast<double>(sum - 131070) * 2.6428997921303014e-05;  // 1 / sqrt(4 (2^32 - 1) / 12)
}

}  // namespace kastor::core

#endif
