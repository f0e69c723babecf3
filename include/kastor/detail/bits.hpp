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

}  // namespace kastor::detail

#endif
