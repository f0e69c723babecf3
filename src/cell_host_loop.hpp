// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp. Lanes are the compiler's own vectors.

template <class T>
[[KASTOR_TARGET]] void copy_finite(const HostRows<T>& rows, T* to, HostExtent<T>& result) {
  using V = Lanes<T, KASTOR_VECTOR_BYTES>;
  using Pixels = typename V::Pixels;
  using Counts = typename V::Counts;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  Pixels min = Pixels{} + infinity, max = Pixels{} - infinity;
  Counts count{};
  for (std::int64_t y = 0; y < rows.ny; ++y) {
    const T* const from = rows.data + y * rows.pitch;
    // What follows: rows are short, and hardware does not guess the next.
    for (std::int64_t x = 0; x < rows.following; x += 64 / static_cast<std::int64_t>(sizeof(T)))
      __builtin_prefetch(from + rows.nx + x, 0, 2);
    std::int64_t i = 0;
    for (; i + V::lanes <= rows.nx; i += V::lanes, to += V::lanes) {
      Pixels x;
      std::memcpy(&x, from + i, sizeof(x));
      const Counts in = (x > -infinity) & (x < infinity);
      count -= in;
      min = (in & (x < min)) ? x : min;
      max = (in & (x > max)) ? x : max;
      x = in ? x : Pixels{} + nan;
      std::memcpy(to, &x, sizeof(x));
    }
    for (; i < rows.nx; ++i) {
      const T x = from[i];
      const bool in = (x > -infinity) & (x < infinity);
      *to++ = in ? x : nan;
      result.count += in;
      result.min = in && x < result.min ? x : result.min;
      result.max = in && x > result.max ? x : result.max;
    }
  }
  for (int i = 0; i < V::lanes; ++i) {
    result.count += count[i];
    result.min = min[i] < result.min ? min[i] : result.min;
    result.max = max[i] > result.max ? max[i] : result.max;
  }
}

template <class T>
[[KASTOR_TARGET]] void extent(T low, T high, const T* pixels, std::int64_t blocks,
                              HostExtent<T>& result) {
  using V = Lanes<T, KASTOR_VECTOR_BYTES>;
  using Pixels = typename V::Pixels;
  using Counts = typename V::Counts;
  Pixels min = Pixels{} + result.min, max = Pixels{} + result.max;
  Counts count{};
  for (const T* const end = pixels + 64 * blocks; pixels != end; pixels += V::lanes) {
    Pixels x;
    std::memcpy(&x, pixels, sizeof(x));
    const Counts in = (x > low) & (x < high);
    count -= in;
    min = (in & (x < min)) ? x : min;
    max = (in & (x > max)) ? x : max;
  }
  for (int i = 0; i < V::lanes; ++i) {
    result.count += count[i];
    result.min = min[i] < result.min ? min[i] : result.min;
    result.max = max[i] > result.max ? max[i] : result.max;
  }
}

template <class T>
[[KASTOR_TARGET]] void count_below(const T (&threshold)[3], const T* pixels, std::int64_t blocks,
                                   std::int64_t (&below)[3]) {
  using V = Lanes<T, KASTOR_VECTOR_BYTES>;
  using Pixels = typename V::Pixels;
  using Counts = typename V::Counts;
  const T a = threshold[0], b = threshold[1], c = threshold[2];
  Counts in_a{}, in_b{}, in_c{};
  for (const T* const end = pixels + 64 * blocks; pixels != end; pixels += V::lanes) {
    Pixels x;
    std::memcpy(&x, pixels, sizeof(x));
    in_a -= x < a;
    in_b -= x < b;
    in_c -= x < c;
  }
  for (std::int64_t& n : below) n = 0;
  for (int i = 0; i < V::lanes; ++i) {
    below[0] += in_a[i];
    below[1] += in_b[i];
    below[2] += in_c[i];
  }
}

template <class T>
[[KASTOR_TARGET]] void add_interval(const T* pixels, std::int64_t n, HostIntervalSums<T>& sums) {
  const T low = sums.low, high = sums.high;
  const double centre = sums.centre, scale = sums.scale;
  std::int64_t count = 0, below = 0;
  std::uint64_t sum = 0, squares = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T x = pixels[i];
    const bool in = (x > low) & (x < high);
    const double u = (static_cast<double>(in ? x : static_cast<T>(centre)) - centre) * scale;
    count += in;
    below += x <= low;
    sum += std::bit_cast<std::uint64_t>(u + grid_magic);
    squares += std::bit_cast<std::uint64_t>(u * u + grid_magic);
  }
  sums.count += count;
  sums.below += below;
  sums.sum += sum;
  sums.squares += squares;
}

template <class T>
[[KASTOR_TARGET]] int take_between(T low, T high, const T* pixels, std::int64_t blocks, T* taken,
                                   int room) {
  using V = Vectors<T>;
  const auto l = V::all(low), h = V::all(high);
  int n = 0;
  for (std::int64_t b = 0; b < blocks; ++b, pixels += 64) {
    std::uint64_t bits = 0;
#pragma GCC unroll 16
    for (int k = 0; k < 64; k += V::lanes) {
      const auto x = V::load(pixels + k);
      bits |= V::bits(V::less(V::less(l, x), x, h)) << k;
    }
    // A few at most: four in any case, rather than mispredict the end of a loop.
    const int found = std::popcount(bits);
    if (found > 4) [[unlikely]] {
      for (; bits != 0 && n < room; bits &= bits - 1) taken[n++] = pixels[std::countr_zero(bits)];
      continue;
    }
    for (int k = 0; k < 4; ++k, bits &= bits - 1)
      taken[n + k] = pixels[std::countr_zero(bits | std::uint64_t{1} << 63)];
    n = n + found < room ? n + found : room;
  }
  return n;
}

/// Counts for each how many are below; equal ones follow.
template <class T>
[[KASTOR_TARGET]] void sort_small(T* pixels, int n, T* sorted) {
  using V = Lanes<T, KASTOR_VECTOR_BYTES>;
  using Pixels = typename V::Pixels;
  using Counts = typename V::Counts;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (int i = n; i % V::lanes != 0; ++i) pixels[i] = infinity;
  for (int i = 0; i < n; ++i) sorted[i] = infinity;
  for (int i = 0; i < n; i += V::lanes) {
    Pixels mine;
    std::memcpy(&mine, pixels + i, sizeof(mine));
    Counts place{};
    for (int j = 0; j < n; ++j) place -= pixels[j] < mine;
    for (int k = 0; k < V::lanes && i + k < n; ++k) sorted[place[k]] = mine[k];
  }
  for (int i = 1; i < n; ++i)
    if (sorted[i] == infinity) sorted[i] = sorted[i - 1];
}
