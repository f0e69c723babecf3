// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_BITS_HPP
#define KASTOR_CORE_BITS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

/// Functions on the bits of words. Kokkos::popcount and its relatives are constexpr and work bit by
/// bit; the builtin forms compile to machine instructions.
namespace kastor::core {

[[nodiscard]] KOKKOS_INLINE_FUNCTION int popcount(std::uint64_t bits) {
  return Kokkos::Experimental::popcount_builtin(bits);
}
/// Index of the lowest set bit; the word must not be 0.
[[nodiscard]] KOKKOS_INLINE_FUNCTION int countr_zero(std::uint64_t bits) {
  return Kokkos::Experimental::countr_zero_builtin(bits);
}
/// The smallest b with n < 2^b, for n >= 0.
[[nodiscard]] KOKKOS_INLINE_FUNCTION int bit_width(std::int64_t n) {
  return 64 - Kokkos::Experimental::countl_zero_builtin(static_cast<std::uint64_t>(n));
}

/// A mask of the lowest `n` bits, 0 <= n <= 64.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t low_bits(std::int64_t n) {
  return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
}

/// Whether any bit in [begin, end) of a row of words is set; begin < end.
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool any_between(const std::uint64_t* words,
                                                      std::int64_t begin, std::int64_t end) {
  const std::int64_t first = begin / 64;
  const std::int64_t last = (end - 1) / 64;
  for (std::int64_t w = first; w <= last; ++w) {
    std::uint64_t bits = words[w];
    if (w == first) bits &= ~std::uint64_t{0} << (begin % 64);
    if (w == last) bits &= low_bits((end - 1) % 64 + 1);
    if (bits != 0) return true;
  }
  return false;
}

}  // namespace kastor::core

#endif
