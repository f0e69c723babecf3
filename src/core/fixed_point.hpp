// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_FIXED_POINT_HPP
#define KASTOR_CORE_FIXED_POINT_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

/// Sums that do not depend on the order of their terms: each term is rounded once to an integer
/// multiple of a grid step, and the integers are added. So the sums are the same for any number of
/// threads, any backend and any split of an image.
namespace kastor::core {

/// Two's complement 128-bit integer, with the operations that sums need.
struct Int128 {
  std::uint64_t low = 0;
  std::int64_t high = 0;

  KOKKOS_FUNCTION void add(std::int64_t value) {
    *this += Int128{static_cast<std::uint64_t>(value), value >> 63};
  }
  KOKKOS_FUNCTION Int128& operator+=(const Int128& other) {
    low += other.low;
    add_to_high(static_cast<std::uint64_t>(other.high) + (low < other.low ? 1 : 0));
    return *this;
  }
  KOKKOS_FUNCTION Int128& operator-=(const Int128& other) {
    add_to_high(~static_cast<std::uint64_t>(other.high) + (low < other.low ? 0 : 1));
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

 private:
  /// Adds modulo 2^64, as two's complement requires.
  KOKKOS_FUNCTION void add_to_high(std::uint64_t value) {
    high = static_cast<std::int64_t>(static_cast<std::uint64_t>(high) + value);
  }
};

/// The lower 32 bits of a sum, and the rest. Both can be added up over many sums and then combined
/// by `joined`.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t lower_part(const Int128& sum) {
  return static_cast<std::int64_t>(sum.low & 0xffffffffU);
}
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t upper_part(const Int128& sum) {
  return static_cast<std::int64_t>(sum.low >> 32 | static_cast<std::uint64_t>(sum.high) << 32);
}
/// The sum of terms, from the sum of their lower parts and the sum of their upper parts.
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

/// The floor of a number whose magnitude is below 2^63.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t floor_to_integer(double x) {
  return static_cast<std::int64_t>(Kokkos::floor(x));
}

/// The smallest e with |value| < 2^e; 0 for zero.
[[nodiscard]] KOKKOS_INLINE_FUNCTION int exponent_above(double value) {
  const auto field = [](double v) {
    return static_cast<int>((Kokkos::bit_cast<std::uint64_t>(v) >> 52) & 0x7ff);
  };
  if (value == 0) return 0;
  return field(value) != 0 ? field(value) - 1022 : field(value * power_of_two(64)) - 1022 - 64;
}

/// A number u with |u| < 128 is rounded to a multiple of 2^-44 by adding 1.5 x 2^8: the low bits of
/// the sum are then the integer. This well-known trick takes one addition instead of a conversion,
/// and it vectorises everywhere.
inline constexpr int grid_bits = 44;
inline constexpr double grid_magic = 384.0;
inline constexpr std::int64_t grid_magic_bits = 0x4078000000000000;
/// Up to this many terms with |u| <= 1 fit into one 64-bit sum.
inline constexpr std::int64_t max_grid_terms = std::int64_t{1} << 18;

/// u in units of 2^-44, plus the bits of the magic number.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t to_grid_biased(double u) {
  return Kokkos::bit_cast<std::uint64_t>(u + grid_magic);
}
/// Removes the bias of `terms` calls of to_grid_biased from their sum (modulo 2^64).
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t unbias(std::uint64_t sum, std::int64_t terms) {
  return static_cast<std::int64_t>(sum - static_cast<std::uint64_t>(terms) *
                                             static_cast<std::uint64_t>(grid_magic_bits));
}

/// What rounding to the grid leaves of u, scaled for a second limb; together they resolve 2^-88.
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
  /// For pixels from `low` to `high`; distances are measured from `middle`.
  KOKKOS_FUNCTION Grid(double middle, double low, double high) : centre(middle) {
    // Half distances, so that the distance between two huge pixels does not overflow.
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

}  // namespace kastor::core

#endif
