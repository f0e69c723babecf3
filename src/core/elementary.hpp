// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_ELEMENTARY_HPP
#define KASTOR_CORE_ELEMENTARY_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <numbers>

/// Elementary functions of additions, products and divisions alone. The maths libraries of a CPU
/// and of a device differ in the last bit; these give the same bits everywhere.
namespace kastor::core {

namespace impl {

// The logarithm of 2 in two parts. The first one ends with 11 zeros: its multiples are exact.
inline constexpr double ln2_high = 0x1.62e42fefa3800p-1;  // NOLINT(modernize-use-std-numbers)
inline constexpr double ln2_low = 0x1.ef35793c76730p-45;

}  // namespace impl

/// The natural logarithm of a normal number above 0, within 2 units in the last place.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double log(double x) {
  const auto bits = Kokkos::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  double m = Kokkos::bit_cast<double>((bits & 0xfffffffffffffU) | 0x3ff0000000000000U);
  if (m > std::numbers::sqrt2) {
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 artanh s, with |s| < 0.172.
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double series = 0;
  for (int k = 21; k >= 3; k -= 2) series = square * (series + 1.0 / k);
  const auto e = static_cast<double>(exponent);
  return e * impl::ln2_high + (2 * s + (2 * s * series + e * impl::ln2_low));
}

/// e^x, within 2 units in the last place; 0 below -708, infinite above 709.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double exp(double x) {
  if (!(x >= -708)) return x < -708 ? 0 : x;  // x: not a number
  if (x > 709) return Kokkos::bit_cast<double>(std::uint64_t{0x7ff0000000000000U});
  const auto k = static_cast<std::int64_t>(x * std::numbers::log2e + (x < 0 ? -0.5 : 0.5));
  const auto multiple = static_cast<double>(k);
  const double r = (x - multiple * impl::ln2_high) - multiple * impl::ln2_low;  // |r| < 0.35
  double series = 1;
  for (int n = 14; n >= 1; --n) series = 1 + series * r / n;
  const auto scale = Kokkos::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
  return series * scale;
}

}  // namespace kastor::core

#endif
