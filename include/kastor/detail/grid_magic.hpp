// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_GRID_MAGIC_HPP
#define KASTOR_DETAIL_GRID_MAGIC_HPP

#include <cstdint>

/// What code with and without Kokkos must agree on to add up on the same grid: see
/// detail/fixed_point.hpp.
namespace kastor::detail {

/// A number u with |u| < 128 is rounded to a multiple of 2^-44 by adding 1.5 x 2^8: the low bits of
/// the sum are the integer (a well-known trick; one addition instead of a conversion, and it
/// vectorises everywhere).
inline constexpr int grid_bits = 44;
inline constexpr double grid_magic = 384.0;
inline constexpr std::int64_t grid_magic_bits = 0x4078000000000000;

/// At most so many terms of |u| <= 1 fit one 64-bit sum.
inline constexpr std::int64_t max_grid_terms = std::int64_t{1} << 18;

}  // namespace kastor::detail

#endif
