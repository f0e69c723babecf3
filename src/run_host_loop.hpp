// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

/// Of `vectors` whole vectors, at least one.
template <class T>
[[KASTOR_TARGET]] void extremes(const T* pixels, std::int64_t vectors, RunExtremes<T>& result) {
  using Pixels [[gnu::vector_size(KASTOR_VECTOR_BYTES)]] = T;
  constexpr int lanes = KASTOR_VECTOR_BYTES / sizeof(T);
  constexpr int ways = 4;
  Pixels lowest[ways], highest[ways];
  for (int k = 0; k < ways; ++k) {
    std::memcpy(&lowest[k], pixels, sizeof(Pixels));
    highest[k] = lowest[k];
  }
  std::int64_t i = 0;
  for (; i + ways <= vectors; i += ways) {
#pragma GCC unroll 4
    for (int k = 0; k < ways; ++k) {
      Pixels x;
      std::memcpy(&x, pixels + (i + k) * lanes, sizeof(x));
      lowest[k] = x < lowest[k] ? x : lowest[k];
      highest[k] = x > highest[k] ? x : highest[k];
    }
  }
  for (; i < vectors; ++i) {
    Pixels x;
    std::memcpy(&x, pixels + i * lanes, sizeof(x));
    lowest[0] = x < lowest[0] ? x : lowest[0];
    highest[0] = x > highest[0] ? x : highest[0];
  }
  for (int k = 0; k < ways; ++k) {
    for (int lane = 0; lane < lanes; ++lane) {
      result.lowest = std::min<T>(result.lowest, lowest[k][lane]);
      result.highest = std::max<T>(result.highest, highest[k][lane]);
    }
  }
}

/// The place of the first block of 64 that has the value; `blocks`: none has.
template <class T>
[[KASTOR_TARGET]] std::int64_t block_with(T value, const T* pixels, std::int64_t blocks,
                                          std::uint64_t& bits) {
  using V = Vectors<T>;
  const auto v = V::all(value);
  for (std::int64_t b = 0; b < blocks; ++b) {
    bits = 0;
#pragma GCC unroll 16
    for (int k = 0; k < 64; k += V::lanes) {
      const auto x = V::load(pixels + 64 * b + k);
      bits |= V::bits(V::less_equal(V::less_equal(x, v), v, x)) << k;
    }
    if (bits != 0) return b;
  }
  return blocks;
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
