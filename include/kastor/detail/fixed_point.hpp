// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_FIXED_POINT_HPP
#define KASTOR_DETAIL_FIXED_POINT_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/grid_magic.hpp>

/// Sums that do not depend on the order of their terms: each term is rounded once to an integer
/// multiple of a grid step, and integers are added. Order-free sums are the same for every thread
/// count, backend and split of an image.
namespace kastor::detail {

/// Two's complement 128-bit integer, enough of it to add up.
struct Int128 {
  std::uint64_t low = 0;
  std::int64_t high = 0;

  KOKKOS_FUNCTION void add(std::int64_t value) {
    low += static_cast<std::uint64_t>(value);
    high += (value >> 63) + (low < static_cast<std::uint64_t>(value) ? 1 : 0);
  }
  KOKKOS_FUNCTION Int128& operator+=(const Int128& other) {
    low += other.low;
    high += other.high + (low < other.low ? 1 : 0);
    return *this;
  }
  KOKKOS_FUNCTION Int128& operator-=(const Int128& other) {
    high -= other.high + (low < other.low ? 1 : 0);
    low -= other.low;
    return *this;
  }
  [[nodiscard]] KOKKOS_FUNCTION double to_double() const {
    std::uint64_t l = low;
    auto h = static_cast<std::uint64_t>(high);
    const bool negative = high < 0;
    if (negative) {
      l = ~l + 1;
      h = ~h + (l == 0 ? 1 : 0);
    }
    const double magnitude =
        static_cast<double>(h) * 18446744073709551616.0 + static_cast<double>(l);
    return negative ? -magnitude : magnitude;
  }
};

/// A sum from that of its parts' lower 32 bits and that of the rest.
[[nodiscard]] KOKKOS_INLINE_FUNCTION Int128 joined(std::uint64_t low, std::uint64_t high) {
  Int128 sum{high << 32, static_cast<std::int64_t>(high) >> 32};
  sum += Int128{low, 0};
  return sum;
}

/// 2^exponent for -1022 <= exponent <= 1023.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double power_of_two(int exponent) {
  return Kokkos::bit_cast<double>(static_cast<std::int64_t>(exponent + 1023) << 52);
}

/// value x 2^exponent in two exact steps, for |exponent| <= 2000.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double scale_by_power_of_two(double value, int exponent) {
  const int half = exponent / 2;
  return value * power_of_two(half) * power_of_two(exponent - half);
}

/// The floor of a number below 2^63 in size.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double floor_of(double x) {
  double whole = 0;
  KOKKOS_IF_ON_DEVICE((whole = Kokkos::floor(x);))
  // A call without SSE4. Numbers from 2^53 on are whole.
  KOKKOS_IF_ON_HOST(
      (whole = static_cast<double>(static_cast<std::int64_t>(x)); whole -= whole > x ? 1 : 0;))
  return whole;
}

/// The same as an integer.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t whole_floor_of(double x) {
#ifdef __CUDA_ARCH__
  return __double2ll_rd(x);
#else
  return static_cast<std::int64_t>(floor_of(x));
#endif
}

/// The smallest e with |value| < 2^e; 0 for zero.
[[nodiscard]] KOKKOS_INLINE_FUNCTION int exponent_above(double value) {
  const auto field = [](double v) {
    return static_cast<int>((Kokkos::bit_cast<std::uint64_t>(v) >> 52) & 0x7ff);
  };
  if (value == 0) return 0;
  return field(value) != 0 ? field(value) - 1022 : field(value * power_of_two(64)) - 1022 - 64;
}

/// u in units of 2^-44, plus the bits of the magic number.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t to_grid_biased(double u) {
  return Kokkos::bit_cast<std::uint64_t>(u + grid_magic);
}
/// Takes the bias of `terms` calls of to_grid_biased off their sum (all modulo 2^64).
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t unbias(std::uint64_t sum, std::int64_t terms) {
  return static_cast<std::int64_t>(sum - static_cast<std::uint64_t>(terms) *
                                             static_cast<std::uint64_t>(grid_magic_bits));
}

/// What the first limb leaves over, scaled for a second one: together they resolve 2^-88.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double grid_remainder(double u) {
  return (u - ((u + grid_magic) - grid_magic)) * 17592186044416.0;
}

/// Maps pixels to u = (x - centre) / 2^exponent, |u| <= 1, in two exact steps so that no exponent
/// overflows.
struct Grid {
  double centre_scaled = 0;
  double scale = 1;
  double scale_more = 1;
  double centre = 0;
  int exponent = 0;

  Grid() = default;
  /// For pixels with |x - centre| <= bound.
  KOKKOS_FUNCTION Grid(double middle, double low, double high) : centre(middle) {
    // Halves, so that the distance of two huge pixels does not overflow.
    const double half = Kokkos::fmax(Kokkos::fabs(0.5 * low - 0.5 * centre),
                                     Kokkos::fabs(0.5 * high - 0.5 * centre));
    exponent = half > 0 ? exponent_above(half) + 1 : 0;
    const int first = exponent < -1000 ? 1000 : (exponent > 1000 ? -1000 : -exponent);
    scale = power_of_two(first);
    scale_more = power_of_two(-exponent - first);
    centre_scaled = centre * scale * scale_more;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool single_step() const { return scale_more == 1.0; }
  [[nodiscard]] KOKKOS_FUNCTION double map(double x) const {
    return x * scale * scale_more - centre_scaled;
  }
};

}  // namespace kastor::detail

#endif
