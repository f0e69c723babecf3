// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

/// See mark_on_host; `blocks` times 64 pixels.
template <class T>
[[KASTOR_TARGET]] void mark_blocks(const PatchLimits<T>* limits, const T* pixels,
                                   std::int64_t blocks, std::uint64_t* finite, std::uint64_t* above,
                                   std::uint64_t* below) {
  using V = Vectors<T>;
  const auto infinity = V::all(std::numeric_limits<T>::infinity());
  const auto minus_infinity = V::all(-std::numeric_limits<T>::infinity());
  for (std::int64_t b = 0; b < blocks; ++b, pixels += 64) {
    const auto low = V::all(limits[b].above);
    std::uint64_t f = 0, h = 0;
    prefetch_pixels_after(pixels);
#pragma GCC unroll 16
    for (int k = 0; k < 64; k += V::lanes) {
      const auto x = V::load(pixels + k);
      f |= V::bits(V::less(V::less(minus_infinity, x), x, infinity)) << k;
      h |= V::bits(V::less(low, x)) << k;
    }
    finite[b] = f;
    above[b] = h & f;
    if (below == nullptr) continue;
    const auto high = V::all(limits[b].below);
    std::uint64_t l = 0;
#pragma GCC unroll 16
    for (int k = 0; k < 64; k += V::lanes) l |= V::bits(V::less(V::load(pixels + k), high)) << k;
    below[b] = l & f;
  }
}
