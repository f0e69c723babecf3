// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

/// See scan_on_host; `blocks` times 64 pixels, and a few NaN and infinities may be left in the
/// tails and among the candidates. All pixels of a block with few outside the edges go to the sums,
/// which saves a choice for each; then what those of the tails added, whatever it is, is taken off
/// again.
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
  const std::int64_t first_tail = tails.n;
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
        const auto is_finite = V::less(V::less(minus_infinity, x), x, infinity);
        finite |= V::bits(is_finite) << k;
        V::add(grid, pixels + k, x, is_finite, middle);
      }
      outside &= finite;
      if (bits != nullptr) bits[b] &= finite;
    } else {
#pragma GCC unroll 16
      for (int k = 0; k < 64; k += V::lanes) V::add_all(grid, pixels + k);
    }
    if (!tails.append(pixels, outside)) [[unlikely]]
      tails.n += V::write(tails.list + tails.n, pixels, outside);
  }
  sums.inside += all_inside;
  sums.below += all_below;
  // Modulo 2^64, so that nothing is lost; each term has its bias.
  typename V::Sums beyond(scan.centre, scan.scale);
  std::fill_n(tails.list + tails.n, V::lanes, scan.middle);
  std::uint64_t terms = 0;
  for (std::int64_t i = first_tail; i < tails.n; i += V::lanes, terms += V::lanes)
    V::add_all(beyond, tails.list + i);
  const std::uint64_t bias = terms * static_cast<std::uint64_t>(grid_magic_bits);
  sums.sum += V::Sums::total(grid.sum) - V::Sums::total(beyond.sum) + bias;
  sums.squares += V::Sums::total(grid.squares) - V::Sums::total(beyond.squares) + bias;
  lists.in_tails = tails.n;
  lists.in_window = window.n;
}
