// SPDX-License-Identifier: Apache-2.0
// Included for each level by the loops that need it.

/// Writes those of 64 pixels whose bits are set, and the rest of a vector; the result is their
/// number.
template <class V, class T>
[[KASTOR_TARGET]] std::int64_t write_many(T* list, const T* pixels, std::uint64_t bits) {
  T* end = list;
  if constexpr (requires { &V::store; }) {
    for (int k = 0; k < 64; k += V::lanes, bits >>= V::lanes)
      end += V::write_compressed(end, pixels + k, bits);
  } else {
    for (; bits != 0; bits &= bits - 1) *end++ = pixels[std::countr_zero(bits)];
  }
  return end - list;
}
