// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_BITS_HPP
#define KASTOR_DETAIL_BITS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

/// Kokkos::popcount and its like may be used in constant expressions, and therefore go bit by bit:
/// these are the machine's instructions.
namespace kastor::detail {

[[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint32_t ones_in(std::uint64_t bits) {
  return static_cast<std::uint32_t>(Kokkos::Experimental::popcount_builtin(bits));
}
/// Of bits that are not all 0.
[[nodiscard]] KOKKOS_INLINE_FUNCTION int lowest_one(std::uint64_t bits) {
  return Kokkos::Experimental::countr_zero_builtin(bits);
}

/// The place of a one that has `before` ones below it, of bits that have as many and one more.
[[nodiscard]] KOKKOS_INLINE_FUNCTION int place_of_one(std::uint64_t bits, std::uint32_t before) {
  int place = 0;
  for (int half = 32; half > 0; half /= 2) {
    const std::uint32_t below = ones_in(bits >> place & ((std::uint64_t{1} << half) - 1));
    const bool is_above = before >= below;
    before -= is_above ? below : 0;
    place += is_above ? half : 0;
  }
  return place;
}

/// Whether one of the bits from `begin` to before `end` of a row of words is 1; begin < end.
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool any_one_between(const std::uint64_t* words,
                                                          std::int64_t begin, std::int64_t end) {
  const std::uint64_t from = ~std::uint64_t{0} << (begin % 64);
  const std::uint64_t up_to = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
  const std::int64_t first = begin / 64;
  const std::int64_t last = (end - 1) / 64;
  if (first == last) return (words[first] & from & up_to) != 0;
  std::uint64_t any = (words[first] & from) | (words[last] & up_to);
  for (std::int64_t w = first + 1; w < last; ++w) any |= words[w];
  return any != 0;
}
/// The same for bits that are 0.
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool any_zero_between(const std::uint64_t* words,
                                                           std::int64_t begin, std::int64_t end) {
  const std::uint64_t from = ~std::uint64_t{0} << (begin % 64);
  const std::uint64_t up_to = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
  const std::int64_t first = begin / 64;
  const std::int64_t last = (end - 1) / 64;
  if (first == last) return (~words[first] & from & up_to) != 0;
  std::uint64_t any = (~words[first] & from) | (~words[last] & up_to);
  for (std::int64_t w = first + 1; w < last; ++w) any |= ~words[w];
  return any != 0;
}

}  // namespace kastor::detail

#endif
