// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

/// See scan_on_host; `blocks` times 64 pixels, and a few NaN and infinities may be left in the
/// tails and among the candidates.
template <class T>
[[KASTOR_TARGET]] void scan_blocks(const HostScan<T>& scan, const T* pixels, std::int64_t blocks,
                                   HostScanSums& sums, HostLists<T>& lists, std::uint64_t* bits) {
  using V = Vectors<T>;
  const auto low = V::all(scan.low_edge), high = V::all(scan.high_edge);
  const auto window_low = V::all(scan.window_low), window_high = V::all(scan.window_high);
  const auto middle = V::all(scan.middle), candidate = V::all(scan.candidate);
  const auto infinity = V::all(std::numeric_limits<T>::infinity());
  const auto minus_infinity = V::all(-std::numeric_limits<T>::infinity());
  typename V::Sums grid(scan.centre, scan.scale);
  Appender<T> tails(lists.tails, lists.in_tails), window(lists.window, lists.in_window);
  std::int64_t all_inside = 0, all_below = 0;
  for (std::int64_t b = 0; b < blocks; ++b, pixels += 64) {
    std::uint64_t inside = 0, below = 0, not_above = 0;
    prefetch_pixels_after(pixels);
#pragma GCC unroll 16
    for (int k = 0; k < 64; k += V::lanes) {
      const auto x = V::load(pixels + k);
      const auto in = V::less(V::less(low, x), x, high);
      inside |= V::bits(in) << k;
      below |= V::bits(V::less(x, window_low)) << k;
      not_above |= V::bits(V::less_equal(x, window_high)) << k;
      V::add(grid, pixels + k, x, in, middle);
    }
    if (bits != nullptr) {
      if constexpr (requires { V::has_masks; }) {
#pragma GCC unroll 16
        for (int k = 0; k < 64; k += V::lanes)
          V::store(bits + b, k, V::less(candidate, V::load(pixels + k)));
      } else {
        std::uint64_t above = 0;
#pragma GCC unroll 16
        for (int k = 0; k < 64; k += V::lanes)
          above |= V::bits(V::less(candidate, V::load(pixels + k))) << k;
        bits[b] = above;
      }
    }
    below &= inside;
    not_above &= inside;
    all_inside += std::popcount(inside);
    all_below += std::popcount(below);
    const std::uint64_t in_window = not_above & ~below;
    if (!window.append(pixels, in_window)) [[unlikely]]
      window.n += V::write(window.list + window.n, pixels, in_window);
    std::uint64_t outside = ~inside;
    if (std::popcount(outside) > Appender<T>::always) [[unlikely]] {  // perhaps a blank region
      std::uint64_t finite = 0;
#pragma GCC unroll 16
      for (int k = 0; k < 64; k += V::lanes) {
        const auto x = V::load(pixels + k);
        finite |= V::bits(V::less(V::less(minus_infinity, x), x, infinity)) << k;
      }
      outside &= finite;
      if (bits != nullptr) bits[b] &= finite;
    }
    if (!tails.append(pixels, outside)) [[unlikely]]
      tails.n += V::write(tails.list + tails.n, pixels, outside);
  }
  sums.inside += all_inside;
  sums.below += all_below;
  sums.sum += V::Sums::total(grid.sum);
  sums.squares += V::Sums::total(grid.squares);
  lists.in_tails = tails.n;
  lists.in_window = window.n;
}
