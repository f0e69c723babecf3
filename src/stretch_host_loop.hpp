// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

#include "place_moments.hpp"

/// See sum_stretch_on_host.
template <class T>
[[KASTOR_TARGET]] SumsOfStretch<T> sum_stretch(const Stretch<T>& stretch) {
  using V = Vectors<T>;
  SumsOfStretch<T> found{};
  for (std::int64_t r = 0; r < stretch.runs; ++r) {
    const std::int32_t n = stretch.end[r] - stretch.begin[r];
    found.n_pix += n;
    found.longest_run = std::max(found.longest_run, n);
  }
  const std::int64_t first = stretch.begin[0], last = stretch.end[stretch.runs - 1] - 1;
  const auto bits_of_word = [&](std::int64_t w) {
    std::uint64_t bits = stretch.words[w];
    if (w == first / 64) bits &= ~std::uint64_t{0} << first % 64;
    if (w == last / 64) bits &= ~std::uint64_t{0} >> (63 - last % 64);
    return bits;
  };
  const auto one = V::all(stretch.pixels[first]), zero = V::all(T{0});
  auto low = one, high = one;
  PlaceMoments<T> moments;
  // The last word of the row may have fewer pixels.
  const std::int64_t past = std::min(last / 64 + 1, stretch.nx / 64);
  for (std::int64_t w = first / 64; w < past; ++w) {
    const std::uint64_t bits = bits_of_word(w);
#pragma GCC unroll 4
    for (int k = 0; k < 64; k += V::lanes) {
      const auto mask = V::mask_of(bits >> k);
      const auto pixels = V::load(stretch.pixels + 64 * w + k);
      const auto x = V::choose(mask, pixels, one);
      low = x < low ? x : low;
      high = x > high ? x : high;
      moments.add(V::choose(mask, pixels, zero));
    }
  }
  found.lowest = V::lowest(low);
  found.highest = V::highest(high);
  moments.total(first / 64 * 64, (past - first / 64) * (64 / V::lanes), found.flux, found.x_moment);
  if (past <= last / 64) {
    for (std::uint64_t bits = bits_of_word(past); bits != 0; bits &= bits - 1) {
      const std::int64_t x = 64 * past + std::countr_zero(bits);
      const T pixel = stretch.pixels[x];
      found.lowest = std::min(found.lowest, pixel);
      found.highest = std::max(found.highest, pixel);
      if constexpr (sizeof(T) == sizeof(float)) {
        found.flux += static_cast<double>(pixel);
        found.x_moment += static_cast<double>(pixel) * static_cast<double>(x);
      }
    }
  }
  return found;
}
