// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_BYTE_ORDER_HPP
#define KASTOR_SRC_IO_FITS_BYTE_ORDER_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kastor::io::detail {

template <std::size_t Size>
struct UnsignedOfSize;
template <>
struct UnsignedOfSize<1> {
  using type = std::uint8_t;
};
template <>
struct UnsignedOfSize<2> {
  using type = std::uint16_t;
};
template <>
struct UnsignedOfSize<4> {
  using type = std::uint32_t;
};
template <>
struct UnsignedOfSize<8> {
  using type = std::uint64_t;
};

/// Converts a word between FITS' byte order, the most significant byte first, and that of the
/// machine.
template <class Word>
[[nodiscard]] constexpr Word big_endian(Word word) {
  if constexpr (std::endian::native == std::endian::big || sizeof(Word) == 1) return word;
  if constexpr (sizeof(Word) == 2) return __builtin_bswap16(word);
  if constexpr (sizeof(Word) == 4) return __builtin_bswap32(word);
  if constexpr (sizeof(Word) == 8) return __builtin_bswap64(word);
}

/// Loads the number that FITS stores at `bytes`.
template <class T>
[[nodiscard]] T load_big_endian(const std::byte* bytes) {
  typename UnsignedOfSize<sizeof(T)>::type word;
  std::memcpy(&word, bytes, sizeof word);
  return std::bit_cast<T>(big_endian(word));
}

/// Stores a number at `bytes` in FITS' byte order.
template <class T>
void store_big_endian(T value, std::byte* bytes) {
  const auto word = big_endian(std::bit_cast<typename UnsignedOfSize<sizeof(T)>::type>(value));
  std::memcpy(bytes, &word, sizeof word);
}

}  // namespace kastor::io::detail

#endif
