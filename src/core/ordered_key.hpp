// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_ORDERED_KEY_HPP
#define KASTOR_CORE_ORDERED_KEY_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

namespace kastor::core {

template <class T>
using Key = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Maps a number to an unsigned integer such that the order is kept (-0 just below +0).
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION Key<T> key_of(T x) {
  using K = Key<T>;
  constexpr int sign = 8 * static_cast<int>(sizeof(T)) - 1;
  const K bits = Kokkos::bit_cast<K>(x);
  return bits ^ (static_cast<K>(K{0} - (bits >> sign)) | (K{1} << sign));
}
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T value_of(Key<T> key) {
  using K = Key<T>;
  constexpr int sign = 8 * static_cast<int>(sizeof(T)) - 1;
  return Kokkos::bit_cast<T>(static_cast<K>(key ^ (((key >> sign) - K{1}) | (K{1} << sign))));
}

}  // namespace kastor::core

#endif
