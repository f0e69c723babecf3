// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_PACK_BITS_HPP
#define KASTOR_DETAIL_PACK_BITS_HPP

#include <cstdint>

namespace kastor::detail {

/// Bit k of the result says whether `test(pixels[k])`, for 64 pixels, on hosts: bytes first, which
/// vectorises on any instruction set; then eight bytes to eight bits by one multiplication that
/// moves byte k to bit 56 + k. Inlined, for the instruction set of the caller.
template <class T, class Test>
[[nodiscard, gnu::always_inline]] inline std::uint64_t pack_bits(const T* pixels,
                                                                 const Test& test) {
  std::uint8_t bytes[64];
  for (int i = 0; i < 64; ++i) bytes[i] = test(pixels[i]) ? 1 : 0;
  std::uint64_t word = 0;
  for (int group = 0; group < 8; ++group) {
    std::uint64_t eight = 0;
    for (int k = 0; k < 8; ++k)
      eight |= static_cast<std::uint64_t>(bytes[8 * group + k]) << (8 * k);
    word |= (eight * 0x0102040810204080U >> 56) << (8 * group);
  }
  return word;
}

}  // namespace kastor::detail

#endif
