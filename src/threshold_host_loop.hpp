// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

/// See threshold_on_host; `blocks` times 64 pixels.
template <class T>
[[KASTOR_TARGET]] void threshold_blocks(T low, T high, const T* pixels, std::int64_t blocks,
                                        std::uint64_t* words) {
  using V = Vectors<T>;
  const auto l = V::all(low), h = V::all(high);
  for (std::int64_t b = 0; b < blocks; ++b, pixels += 64) {
    std::uint64_t word = 0;
    prefetch_pixels_after(pixels);
#pragma GCC unroll 16
    for (int k = 0; k < 64; k += V::lanes) {
      const auto x = V::load(pixels + k);
      word |= V::bits(V::less(V::less(l, x), x, h)) << k;
    }
    words[b] = word;
  }
}
