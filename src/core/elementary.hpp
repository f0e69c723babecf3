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

/// e^x, within a unit in the last place; 0 below -708, infinite above 709. It has no branch and no
/// division, so that a CPU computes several at once. x = k ln 2 + r with |r| <= ln(2) / 2, k by
/// adding and subtracting 1.5 x 2^52, and e^r = 1 + r + r^2 P(r) with the polynomial of degree 10
/// of the least relative error (Remez).
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double exp(double x) {
  constexpr double shift = 0x1.8p52;
  const double shifted = x * std::numbers::log2e + shift;
  const double k = shifted - shift;
  // The logarithm of 2 in two parts; multiples of the first one are exact.
  constexpr double ln2_head = 0x1.62e42feep-1;  // NOLINT(modernize-use-std-numbers)
  const double r = (x - k * ln2_head) - k * 0x1.a39ef35793c76p-33;
  double p = 0x1.1e3d363777afdp-29;
  p = p * r + 0x1.af6bda6f08e53p-26;
  p = p * r + 0x1.27e5b43338336p-22;
  p = p * r + 0x1.71ddf0286088fp-19;
  p = p * r + 0x1.a01a01369fc84p-16;
  p = p * r + 0x1.a01a01b37b409p-13;
  p = p * r + 0x1.6c16c16c30438p-10;
  p = p * r + 0x1.111111110ec65p-7;
  p = p * r + 0x1.5555555555503p-5;
  p = p * r + 0x1.555555555555bp-3;
  p = p * r + 0x1p-1;
  const double power = 1 + (r + (r * r) * p);
  // The low bits of `shifted` are k: they are added to the exponent.
  const double scaled = Kokkos::bit_cast<double>(Kokkos::bit_cast<std::uint64_t>(power) +
                                                 (Kokkos::bit_cast<std::uint64_t>(shifted) << 52));
  const double bounded = x < -708 ? 0 : scaled;
  return x > 709 ? Kokkos::bit_cast<double>(std::uint64_t{0x7ff0000000000000U}) : bounded;
}

}  // namespace kastor::core

#endif
