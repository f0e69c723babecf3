// SPDX-License-Identifier: Apache-2.0
// Included for each level by the loops that need it.

/// The masks of a block, one bit a pixel.
template <class V>
[[KASTOR_TARGET]] inline std::uint64_t word_of(const typename V::Mask (&masks)[64 / V::lanes]) {
  if constexpr (requires { &V::store; }) {
    return V::bits(masks);
  } else {
    std::uint64_t word = 0;
#pragma GCC unroll 32
    for (int k = 0; k < 64 / V::lanes; ++k) word |= V::bits(masks[k]) << k * V::lanes;
    return word;
  }
}
