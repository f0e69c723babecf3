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

/// See find_not_above_on_host; `blocks` times 64 pixels.
template <class T>
[[KASTOR_TARGET]] std::int64_t not_above_blocks(T bound, const T* pixels, std::int64_t blocks,
                                                const std::uint64_t* words, MarkedBits* found) {
  using V = Vectors<T>;
  const auto b = V::all(bound);
  std::int64_t n = 0;
  constexpr std::int64_t some = 8;
  for (std::int64_t w = 0; w < blocks; ++w) {
    if (w % some == 0 && w + some <= blocks) {
      std::uint64_t any = 0;
      for (std::int64_t k = 0; k < some; ++k) any |= words[w + k];
      if (any == 0) {
        w += some - 1;
        continue;
      }
    }
    if (words[w] == 0) continue;
    std::uint64_t above = 0;
#pragma GCC unroll 16
    for (int k = 0; k < 64; k += V::lanes)
      above |= V::bits(V::less(b, V::load(pixels + 64 * w + k))) << k;
    found[n] = {w, words[w] & ~above};
    n += found[n].bits != 0 ? 1 : 0;
  }
  return n;
}
