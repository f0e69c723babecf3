// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp. Lanes are the compiler's own vectors.

/// The last n % lanes lanes of a vector, all bits set: of what a row of n pixels ends with, those
/// that its whole vectors do not hold.
template <class V>
[[KASTOR_TARGET]] typename V::Counts last_lanes(std::int64_t n) {
  typename V::Counts is_last{};
  for (int k = 0; k < V::lanes; ++k) is_last[k] = k >= V::lanes - n % V::lanes ? -1 : 0;
  return is_last;
}

template <class T>
[[KASTOR_TARGET]] void copy_finite(const HostRows<T>& rows, T* to, HostExtent<T>& result) {
  using V = Lanes<T, KASTOR_VECTOR_BYTES>;
  using Pixels = typename V::Pixels;
  using Counts = typename V::Counts;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  Pixels min = Pixels{} + infinity, max = Pixels{} - infinity;
  Counts count{};
  const Counts is_last = last_lanes<V>(rows.nx);
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
    if (i < rows.nx && rows.nx >= V::lanes) {  // some a second time
      Pixels x;
      std::memcpy(&x, from + rows.nx - V::lanes, sizeof(x));
      to += rows.nx - i;
      const Counts in = (x > -infinity) & (x < infinity);
      count -= in & is_last;
      min = (in & (x < min)) ? x : min;
      max = (in & (x > max)) ? x : max;
      x = in ? x : Pixels{} + nan;
      std::memcpy(to - V::lanes, &x, sizeof(x));
      i = rows.nx;
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

/// Rows as they are.
template <class T>
[[KASTOR_TARGET]] void copy_rows(const HostRows<T>& rows, T* to, HostCopied<T>& result) {
  using V = Lanes<T, KASTOR_VECTOR_BYTES>;
  using Pixels = typename V::Pixels;
  constexpr int ways = 4;
  const Pixels low = Pixels{} + result.clamp_low, high = Pixels{} + result.clamp_high;
  Pixels min = Pixels{} + result.min, max = Pixels{} + result.max;
  Pixels sum[ways] = {}, clamped[ways] = {};
  T rest_sum = 0, rest_clamped = 0;
  const auto is_last = last_lanes<V>(rows.nx);
  for (std::int64_t y = 0; y < rows.ny; ++y) {
    const T* const from = rows.data + y * rows.pitch;
    // What follows: rows are short, and hardware does not guess the next.
    for (std::int64_t x = 0; x < rows.following; x += 64 / static_cast<std::int64_t>(sizeof(T)))
      __builtin_prefetch(from + rows.nx + x, 0, 2);
    std::int64_t i = 0;
    for (; i + ways * V::lanes <= rows.nx; i += ways * V::lanes, to += ways * V::lanes) {
#pragma GCC unroll 4
      for (int k = 0; k < ways; ++k) {
        Pixels x;
        std::memcpy(&x, from + i + k * V::lanes, sizeof(x));
        std::memcpy(to + k * V::lanes, &x, sizeof(x));
        min = x < min ? x : min;
        max = x > max ? x : max;
        sum[k] += x;
        x = x > low ? x : low;
        x = x < high ? x : high;
        clamped[k] += x;
      }
    }
    for (; i + V::lanes <= rows.nx; i += V::lanes, to += V::lanes) {
      Pixels x;
      std::memcpy(&x, from + i, sizeof(x));
      std::memcpy(to, &x, sizeof(x));
      min = x < min ? x : min;
      max = x > max ? x : max;
      sum[0] += x;
      x = x > low ? x : low;
      x = x < high ? x : high;
      clamped[0] += x;
    }
    if (i < rows.nx && rows.nx >= V::lanes) {  // some a second time
      Pixels x;
      std::memcpy(&x, from + rows.nx - V::lanes, sizeof(x));
      to += rows.nx - i;
      std::memcpy(to - V::lanes, &x, sizeof(x));
      min = x < min ? x : min;
      max = x > max ? x : max;
      sum[1] += is_last ? x : Pixels{};
      x = x > low ? x : low;
      x = x < high ? x : high;
      clamped[1] += is_last ? x : Pixels{};
      i = rows.nx;
    }
    for (; i < rows.nx; ++i) {
      T x = from[i];
      *to++ = x;
      result.min = x < result.min ? x : result.min;
      result.max = x > result.max ? x : result.max;
      rest_sum += x;
      x = x > result.clamp_low ? x : result.clamp_low;
      rest_clamped += x < result.clamp_high ? x : result.clamp_high;
    }
  }
  for (int k = 1; k < ways; ++k) sum[0] += sum[k], clamped[0] += clamped[k];
  result.sum += rest_sum;
  result.clamped += rest_clamped;
  for (int i = 0; i < V::lanes; ++i) {
    result.sum += sum[0][i];
    result.clamped += clamped[0][i];
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

/// Appends those of a block whose bits are set.
template <class T>
[[KASTOR_TARGET]] void append(Appender<T>& list, const T* pixels, std::uint64_t bits) {
  if (!list.append(pixels, bits)) [[unlikely]]
    list.n += Vectors<T>::write(list.list + list.n, pixels, bits);
}

template <class T>
[[KASTOR_TARGET]] void split(const HostSplit<T>& at, const T* pixels, std::int64_t blocks,
                             HostCellLists<T>& lists) {
  using V = Vectors<T>;
  const auto centre = V::all(at.centre), far = V::all(at.far);
  const auto near = V::all(at.near), minus_near = V::all(-at.near);
  Appender<T> tails(lists.tails, 0);
  T* window = lists.window;
  std::int64_t all_below = 0;
  if constexpr (requires { V::has_masks; }) {
    auto counts = V::no_counts();
    for (std::int64_t b = 0; b < blocks; ++b, pixels += 64) {
      typename V::Mask is_far[64 / V::lanes];
#pragma GCC unroll 16
      for (int k = 0; k < 64 / V::lanes; ++k) {
        const auto x = V::load(pixels + k * V::lanes);
        const auto off = V::minus(x, centre);
        const auto distance = V::magnitude(off);
        is_far[k] = V::less(far, distance);
        V::count(counts, V::less(off, minus_near));
        window += V::write(window, x, V::less_equal(distance, near));
      }
      append(tails, pixels, V::word(is_far));
    }
    all_below = V::total(counts);
  } else {
    for (std::int64_t b = 0; b < blocks; ++b, pixels += 64) {
      std::uint64_t is_far = 0, is_near = 0, below = 0;
#pragma GCC unroll 16
      for (int k = 0; k < 64; k += V::lanes) {
        const auto x = V::load(pixels + k);
        const auto off = V::minus(x, centre);
        const auto distance = V::magnitude(off);
        is_far |= V::bits(V::less(far, distance)) << k;
        is_near |= V::bits(V::less_equal(distance, near)) << k;
        below |= V::bits(V::less(off, minus_near)) << k;
      }
      all_below += std::popcount(below);
      window += V::write(window, pixels, is_near);
      append(tails, pixels, is_far);
    }
  }
  lists.in_tails = tails.n;
  lists.in_window = window - lists.window;
  lists.below_window = all_below;
}

template <class T>
[[KASTOR_TARGET]] void add_all(const T* pixels, std::int64_t blocks, HostIntervalSums<T>& sums) {
  using V = Vectors<T>;
  typename V::Sums grid(sums.centre, sums.scale);
  for (const T* const end = pixels + 64 * blocks; pixels != end; pixels += 64) {
#pragma GCC unroll 16
    for (int k = 0; k < 64; k += V::lanes) V::add_all(grid, pixels + k);
  }
  sums.count += 64 * blocks;
  sums.sum += V::Sums::total(grid.sum);
  sums.squares += V::Sums::total(grid.squares);
}

template <class T>
[[KASTOR_TARGET]] void add_interval(const T* pixels, std::int64_t blocks,
                                    HostIntervalSums<T>& sums) {
  using V = Vectors<T>;
  const auto low = V::all(sums.low), high = V::all(sums.high);
  const auto middle = V::all(static_cast<T>(sums.centre));
  typename V::Sums grid(sums.centre, sums.scale);
  std::int64_t count = 0, all_below = 0;
  for (std::int64_t b = 0; b < blocks; ++b, pixels += 64) {
    std::uint64_t inside = 0, below = 0;
#pragma GCC unroll 16
    for (int k = 0; k < 64; k += V::lanes) {
      const auto x = V::load(pixels + k);
      const auto in = V::less(V::less(low, x), x, high);
      inside |= V::bits(in) << k;
      below |= V::bits(V::less_equal(x, low)) << k;
      V::add(grid, pixels + k, x, in, middle);
    }
    count += std::popcount(inside);
    all_below += std::popcount(below);
  }
  sums.count += count;
  sums.below += all_below;
  sums.sum += V::Sums::total(grid.sum);
  sums.squares += V::Sums::total(grid.squares);
}

template <class T>
[[KASTOR_TARGET]] void add_leaving(const T* pixels, std::int64_t blocks, HostLeaving<T>& leaving) {
  using V = Vectors<T>;
  const auto from_low = V::all(leaving.from_low), to_low = V::all(leaving.to_low);
  const auto to_high = V::all(leaving.to_high), from_high = V::all(leaving.from_high);
  HostLeaving<T> sums = leaving;
  for (std::int64_t b = 0; b < blocks; ++b, pixels += 64) {
    std::uint64_t below = 0, above = 0;
#pragma GCC unroll 16
    for (int k = 0; k < 64; k += V::lanes) {
      const auto x = V::load(pixels + k);
      below |= V::bits(V::less_equal(V::less(from_low, x), x, to_low)) << k;
      above |= V::bits(V::less_equal(V::less(x, from_high), to_high, x)) << k;
    }
    sums.below += std::popcount(below);
    for (std::uint64_t bits = below | above; bits != 0; bits &= bits - 1) {
      const T x = pixels[std::countr_zero(bits)];
      const double u = (static_cast<double>(x) - sums.centre) * sums.scale;
      sums.sum += std::bit_cast<std::uint64_t>(u + grid_magic);
      sums.squares += std::bit_cast<std::uint64_t>(u * u + grid_magic);
      ++sums.count;
    }
  }
  leaving = sums;
}

template <class T>
[[KASTOR_TARGET]] void take(const T* pixels, std::int64_t blocks, HostTaking<T>& taking, T* taken,
                            std::int64_t room) {
  using V = Vectors<T>;
  const auto low = V::all(taking.low), high = V::all(taking.high);
  const auto middle = V::all(taking.middle);
  std::int64_t all_below = 0, all_below_middle = 0, count = 0;
  for (std::int64_t b = 0; b < blocks; ++b, pixels += 64) {
    std::uint64_t below = 0, below_middle = 0, below_high = 0;
#pragma GCC unroll 16
    for (int k = 0; k < 64; k += V::lanes) {
      const auto x = V::load(pixels + k);
      below |= V::bits(V::less(x, low)) << k;
      below_middle |= V::bits(V::less(x, middle)) << k;
      below_high |= V::bits(V::less(x, high)) << k;
    }
    const std::uint64_t between = below_high & ~below;
    if (count <= room) V::write(taken + count, pixels, between);
    all_below += std::popcount(below);
    all_below_middle += std::popcount(below_middle);
    count += std::popcount(between);
  }
  taking.below = all_below;
  taking.below_middle = all_below_middle;
  taking.count = count;
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
