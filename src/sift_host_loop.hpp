// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

/// See sift_on_host; `blocks` times 64 pixels.
template <class T>
[[KASTOR_TARGET]] void sift_blocks(const TailBounds<T>& bounds, const T* pixels,
                                   std::int64_t blocks, SiftedTails<T>& sifted) {
  using V = Vectors<T>;
  const auto centre = V::all(bounds.centre);
  const auto low = V::all(bounds.low[0]), lower = V::all(bounds.low[1]);
  const auto high = V::all(bounds.high[0]), higher = V::all(bounds.high[1]);
  constexpr int lists = SiftedTails<T>::lists;
  T* end[lists];
  for (int i = 0; i < lists; ++i) end[i] = sifted.list[i];
  for (std::int64_t b = 0; b < blocks; ++b, pixels += 64) {
    std::uint64_t below = 0, up_to_low = 0, up_to_lower = 0;
    std::uint64_t above = 0, from_high = 0, from_higher = 0;
#pragma GCC unroll 16
    for (int k = 0; k < 64; k += V::lanes) {
      const auto x = V::load(pixels + k);
      below |= V::bits(V::less(x, centre)) << k;
      up_to_low |= V::bits(V::less_equal(x, low)) << k;
      up_to_lower |= V::bits(V::less_equal(x, lower)) << k;
      above |= V::bits(V::less_equal(centre, x)) << k;
      from_high |= V::bits(V::less_equal(high, x)) << k;
      from_higher |= V::bits(V::less_equal(higher, x)) << k;
    }
    const std::uint64_t in_list[lists] = {below & ~up_to_low, up_to_low & ~up_to_lower,
                                          above & ~from_high, from_high & ~from_higher,
                                          up_to_lower | from_higher};
    for (int i = 0; i < lists; ++i) end[i] += V::write(end[i], pixels, in_list[i]);
  }
  for (int i = 0; i < lists; ++i) sifted.n[i] = end[i] - sifted.list[i];
}
