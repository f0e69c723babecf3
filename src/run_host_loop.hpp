// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

/// See extremes_on_host. The last vector may have pixels of the one before.
template <class T>
[[KASTOR_TARGET]] RunExtremes<T> extremes(const T* pixels, std::int64_t n) {
  using Pixels [[gnu::vector_size(KASTOR_VECTOR_BYTES)]] = T;
  constexpr int lanes = KASTOR_VECTOR_BYTES / sizeof(T);
  constexpr int ways = 4;
  RunExtremes<T> result{pixels[0], pixels[0]};
  if (n < lanes) {
    for (std::int64_t i = 1; i < n; ++i) {
      result.lowest = pixels[i] < result.lowest ? pixels[i] : result.lowest;
      result.highest = pixels[i] > result.highest ? pixels[i] : result.highest;
    }
    return result;
  }
  Pixels lowest[ways], highest[ways];
  for (int k = 0; k < ways; ++k) lowest[k] = highest[k] = Pixels{} + pixels[0];
  std::int64_t i = 0;
  for (; i + ways * lanes <= n; i += ways * lanes) {
#pragma GCC unroll 4
    for (int k = 0; k < ways; ++k) {
      Pixels x;
      std::memcpy(&x, pixels + i + k * lanes, sizeof(x));
      lowest[k] = x < lowest[k] ? x : lowest[k];
      highest[k] = x > highest[k] ? x : highest[k];
    }
  }
  for (; i < n; i += lanes) {
    Pixels x;
    std::memcpy(&x, pixels + (i + lanes <= n ? i : n - lanes), sizeof(x));
    lowest[0] = x < lowest[0] ? x : lowest[0];
    highest[0] = x > highest[0] ? x : highest[0];
  }
  for (int k = 1; k < ways; ++k) {
    lowest[0] = lowest[k] < lowest[0] ? lowest[k] : lowest[0];
    highest[0] = highest[k] > highest[0] ? highest[k] : highest[0];
  }
  for (int lane = 0; lane < lanes; ++lane) {
    result.lowest = lowest[0][lane] < result.lowest ? lowest[0][lane] : result.lowest;
    result.highest = highest[0][lane] > result.highest ? highest[0][lane] : result.highest;
  }
  return result;
}

/// See find_on_host. The last vector may have pixels of the one before.
template <class T>
[[KASTOR_TARGET]] std::int64_t find(T value, const T* pixels, std::int64_t n) {
  using V = Vectors<T>;
  if (n < V::lanes) {
    for (std::int64_t i = 0; i < n; ++i)
      if (pixels[i] == value) return i;
    return -1;
  }
  const auto v = V::all(value);
  for (std::int64_t i = 0; i < n; i += V::lanes) {
    const std::int64_t at = i + V::lanes <= n ? i : n - V::lanes;
    const auto x = V::load(pixels + at);
    const std::uint64_t bits = V::bits(V::less_equal(V::less_equal(x, v), v, x));
    if (bits != 0) return at + std::countr_zero(bits);
  }
  return -1;
}

/// See take_out_on_host; `blocks` times 64 pixels.
template <class T>
[[KASTOR_TARGET]] std::int64_t take_out(const T* values, int of_values, T* pixels,
                                        std::int64_t blocks, std::int64_t* counts) {
  using V = Vectors<T>;
  T* kept = pixels;
  for (std::int64_t b = 0; b < blocks; ++b) {
    // A copy, since what is kept may be written over the block.
    T block[64];
    std::memcpy(block, pixels + 64 * b, sizeof(block));
    std::uint64_t others = ~std::uint64_t{0};
    for (int i = 0; i < of_values; ++i) {
      const auto v = V::all(values[i]);
      std::uint64_t same = 0;
#pragma GCC unroll 16
      for (int k = 0; k < 64; k += V::lanes) {
        const auto x = V::load(block + k);
        same |= V::bits(V::less_equal(V::less_equal(x, v), v, x)) << k;
      }
      counts[i] += std::popcount(same);
      others &= ~same;
    }
    if (others != 0) kept += V::write(kept, block, others);
  }
  return kept - pixels;
}

/// The first n pixels of all four, a multiple of 4. Lanes are runs.
template <class T>
[[KASTOR_TARGET]] void sum_side_by_side(FourRuns<T>& runs, std::int64_t n) {
  using Pixels [[gnu::vector_size(4 * sizeof(T))]] = T;
  using Doubles [[gnu::vector_size(32)]] = double;
  Doubles flux, moment, x, scale, scale_more;
  std::memcpy(&flux, runs.flux, sizeof(flux));
  std::memcpy(&moment, runs.x_moment, sizeof(moment));
  std::memcpy(&x, runs.x, sizeof(x));
  std::memcpy(&scale, runs.scale, sizeof(scale));
  std::memcpy(&scale_more, runs.scale_more, sizeof(scale_more));
  for (std::int64_t i = 0; i < n; i += 4) {
    Doubles of_run[4];
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      Pixels pixels;
      std::memcpy(&pixels, runs.pixels[r] + i, sizeof(pixels));
      of_run[r] = __builtin_convertvector(pixels, Doubles);
    }
    const Doubles even_low = __builtin_shufflevector(of_run[0], of_run[1], 0, 4, 2, 6);
    const Doubles odd_low = __builtin_shufflevector(of_run[0], of_run[1], 1, 5, 3, 7);
    const Doubles even_high = __builtin_shufflevector(of_run[2], of_run[3], 0, 4, 2, 6);
    const Doubles odd_high = __builtin_shufflevector(of_run[2], of_run[3], 1, 5, 3, 7);
    const Doubles of_column[4] = {__builtin_shufflevector(even_low, even_high, 0, 1, 4, 5),
                                  __builtin_shufflevector(odd_low, odd_high, 0, 1, 4, 5),
                                  __builtin_shufflevector(even_low, even_high, 2, 3, 6, 7),
                                  __builtin_shufflevector(odd_low, odd_high, 2, 3, 6, 7)};
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const Doubles v = of_column[k] * scale * scale_more;
      flux += v;
      moment += v * x;
      x += 1;
    }
  }
  std::memcpy(runs.flux, &flux, sizeof(flux));
  std::memcpy(runs.x_moment, &moment, sizeof(moment));
}
