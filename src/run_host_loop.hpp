// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

#include "place_moments.hpp"

/// Of n pixels, at least a vector. The last vector may have pixels of the one before.
template <class T>
[[KASTOR_TARGET]] void extremes_of_many(const T* pixels, std::int64_t n, T& lowest, T& highest) {
  using V = Vectors<T>;
  constexpr int ways = 4;
  typename V::Vector low[ways], high[ways];
  for (int k = 0; k < ways; ++k) low[k] = high[k] = V::load(pixels);
  std::int64_t i = V::lanes;
  for (; i + ways * V::lanes <= n; i += ways * V::lanes) {
#pragma GCC unroll 4
    for (int k = 0; k < ways; ++k) {
      const auto x = V::load(pixels + i + k * V::lanes);
      low[k] = x < low[k] ? x : low[k];
      high[k] = x > high[k] ? x : high[k];
    }
  }
  for (; i < n; i += V::lanes) {
    const auto x = V::load(pixels + (i + V::lanes <= n ? i : n - V::lanes));
    low[0] = x < low[0] ? x : low[0];
    high[0] = x > high[0] ? x : high[0];
  }
  for (int k = 1; k < ways; ++k) {
    low[0] = low[k] < low[0] ? low[k] : low[0];
    high[0] = high[k] > high[0] ? high[k] : high[0];
  }
  lowest = V::lowest(low[0]);
  highest = V::highest(high[0]);
}

/// Of n pixels, fewer than a vector.
template <class T>
[[KASTOR_TARGET, gnu::always_inline]] inline void extremes_of_few(const T* pixels, std::int64_t n,
                                                                  T& lowest, T& highest) {
  using V = Vectors<T>;
  if constexpr (V::loads_some) {
    const auto x = V::load_some(pixels, n, V::all(pixels[0]));
    lowest = V::lowest(x);
    highest = V::highest(x);
  } else {
    lowest = highest = pixels[0];
    for (std::int64_t i = 1; i < n; ++i) {
      lowest = pixels[i] < lowest ? pixels[i] : lowest;
      highest = pixels[i] > highest ? pixels[i] : highest;
    }
  }
}

/// See extremes_on_host.
template <class T>
[[KASTOR_TARGET]] void extremes(ExtremesOfRuns<T>& runs) {
  for (int r = 0; r < runs.used; ++r) {
    if (runs.n[r] < Vectors<T>::lanes) {
      extremes_of_few(runs.pixels[r], runs.n[r], runs.lowest[r], runs.highest[r]);
    } else {
      extremes_of_many(runs.pixels[r], runs.n[r], runs.lowest[r], runs.highest[r]);
    }
  }
}

/// See extremes_and_sums_on_host. The last vector may have pixels of the one before.
template <class T>
[[KASTOR_TARGET]] void extremes_and_sums(SummedRuns<T>& runs) {
  using V = Vectors<T>;
  static_assert(V::lanes <= SummedRuns<T>::fewest);
  for (int r = 0; r < runs.used; ++r) {
    const T* const pixels = runs.pixels[r];
    const std::int64_t n = runs.n[r];
    std::int64_t vectors = n / V::lanes;
    auto low = V::load(pixels), high = low;
    PlaceMoments<T> moments;
    for (std::int64_t i = 0; i < vectors; ++i) {
      const auto x = V::load(pixels + i * V::lanes);
      low = x < low ? x : low;
      high = x > high ? x : high;
      moments.add(x);
    }
    double flux = 0, x_moment = 0;
    if (const std::int64_t rest = n % V::lanes; rest != 0) {
      const auto x = V::load(pixels + n - V::lanes);
      low = x < low ? x : low;
      high = x > high ? x : high;
      if constexpr (V::loads_some) {
        moments.add(V::load_some(pixels + n - rest, rest, V::all(T{0})));
        ++vectors;
      } else {
        const auto new_ones = V::mask_of(~std::uint64_t{0} << (V::lanes - rest));
        moments.add_one(V::choose(new_ones, x, V::all(T{0})), n - V::lanes, flux, x_moment);
      }
    }
    moments.total(0, vectors, flux, x_moment);
    runs.lowest[r] = V::lowest(low);
    runs.highest[r] = V::highest(high);
    runs.flux[r] = flux;
    runs.x_moment[r] = x_moment;
  }
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

using Doubles [[gnu::vector_size(32)]] = double;
using WholeNumbers [[gnu::vector_size(32)]] = std::int64_t;

template <class Vector, class T>
[[KASTOR_TARGET, gnu::always_inline]] inline void read_four(Vector& four, const T* list) {
  std::memcpy(&four, list, sizeof(four));
}

[[KASTOR_TARGET, gnu::always_inline]] inline void read_integers(Doubles& four,
                                                                const std::int32_t* list) {
  using Integers [[gnu::vector_size(16)]] = std::int32_t;
  Integers read;
  read_four(read, list);
  four = __builtin_convertvector(read, Doubles);
}

template <class T>
[[KASTOR_TARGET, gnu::always_inline]] inline void read_pixels(Doubles& four, const T* pixels) {
  if constexpr (Vectors<T>::loads_some) {
    four = Vectors<T>::load_four(pixels);
  } else {
    using Pixels [[gnu::vector_size(4 * sizeof(T))]] = T;
    Pixels read;
    read_four(read, pixels);
    four = __builtin_convertvector(read, Doubles);
  }
}

/// What is added up of four runs: a lane each.
struct FourSums {
  Doubles flux = {}, x_moment = {}, x, scale, scale_more;

  template <class T>
  [[KASTOR_TARGET, gnu::always_inline]] FourSums(const SumsOfRuns<T>& runs, int first) {
    read_integers(x, runs.x + first);
    read_four(scale, runs.scale + first);
    read_four(scale_more, runs.scale_more + first);
  }

  /// The next four pixels of each.
  [[KASTOR_TARGET, gnu::always_inline]] void add(const Doubles (&of_run)[4]) {
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
      x_moment += v * x;
      x += 1;
    }
  }
};

/// Pixels from the i-th of each run on, as far as there are any.
template <class T>
[[KASTOR_TARGET, gnu::always_inline]] inline void add_some(FourSums& sums,
                                                           const SumsOfRuns<T>& runs, int first,
                                                           std::int64_t i) {
  using V = Vectors<T>;
  if constexpr (V::loads_some) {
    const std::int64_t* n = runs.n + first;
    const std::int64_t longest = *std::max_element(n, n + 4);
    for (; i < longest; i += 4) {
      Doubles of_run[4];
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        const std::int64_t begin = std::min(i, n[r]);
        of_run[r] =
            V::load_four(runs.pixels[first + r] + begin, std::min<std::int64_t>(4, n[r] - begin));
      }
      sums.add(of_run);
    }
  } else {
    for (int r = 0; r < 4; ++r) {
      const T* const pixels = runs.pixels[first + r];
      const double scale = runs.scale[first + r], scale_more = runs.scale_more[first + r];
      double flux = sums.flux[r], x_moment = sums.x_moment[r];
      for (std::int64_t k = i; k < runs.n[first + r]; ++k) {
        const double v = static_cast<double>(pixels[k]) * scale * scale_more;
        flux += v;
        x_moment += v * static_cast<double>(runs.x[first + r] + k);
      }
      sums.flux[r] = flux;
      sums.x_moment[r] = x_moment;
    }
  }
}

/// floor(sum * per_unit + 0.5).
[[KASTOR_TARGET, gnu::always_inline]] inline void write_rounded(const Doubles& sum,
                                                                const double* per_unit,
                                                                std::int64_t* list) {
  Doubles x;
  read_four(x, per_unit);
  x = sum * x + 0.5;
  WholeNumbers whole = __builtin_convertvector(x, WholeNumbers);
  whole += __builtin_convertvector(whole, Doubles) > x;
  std::memcpy(list, &whole, sizeof(whole));
}

/// See sum_runs_on_host.
template <class T>
[[KASTOR_TARGET]] void sum_runs(SumsOfRuns<T>& runs) {
  for (int first = 0; first < runs.used; first += 4) {
    const std::int64_t* n = runs.n + first;
    FourSums sums(runs, first);
    const std::int64_t together = *std::min_element(n, n + 4) / 4 * 4;
    for (std::int64_t i = 0; i < together; i += 4) {
      Doubles of_run[4];
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) read_pixels(of_run[r], runs.pixels[first + r] + i);
      sums.add(of_run);
    }
    add_some(sums, runs, first, together);
    write_rounded(sums.flux, runs.flux_per_unit + first, runs.flux + first);
    write_rounded(sums.x_moment, runs.x_per_unit + first, runs.x_moment + first);
    Doubles y;
    read_integers(y, runs.y + first);
    write_rounded(sums.flux * y, runs.y_per_unit + first, runs.y_moment + first);
  }
}
