// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

/// See mark_on_host; `blocks` times 64 pixels.
template <class T>
[[KASTOR_TARGET]] void mark_blocks(const PatchLimits<T>* limits, const T* pixels,
                                   std::int64_t blocks, std::uint64_t* finite, std::uint64_t* above,
                                   std::uint64_t* below) {
  using V = Vectors<T>;
  const auto infinity = V::all(std::numeric_limits<T>::infinity());
  for (std::int64_t b = 0; b < blocks; ++b, pixels += 64) {
    const auto low = V::all(limits[b].above);
    typename V::Mask is_finite[64 / V::lanes], is_above[64 / V::lanes];
    prefetch_pixels_after(pixels);
#pragma GCC unroll 16
    for (int k = 0; k < 64 / V::lanes; ++k) {
      const auto x = V::load(pixels + k * V::lanes);
      is_finite[k] = V::less(V::magnitude(x), infinity);
      is_above[k] = V::less(is_finite[k], low, x);
    }
    finite[b] = V::word(is_finite);
    above[b] = V::word(is_above);
    if (below == nullptr) continue;
    const auto high = V::all(limits[b].below);
#pragma GCC unroll 16
    for (int k = 0; k < 64 / V::lanes; ++k)
      is_above[k] = V::less(is_finite[k], V::load(pixels + k * V::lanes), high);
    below[b] = V::word(is_above);
  }
}
