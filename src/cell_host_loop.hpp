// SPDX-License-Identifier: Apache-2.0
// Included once for each level, with its attribute as KASTOR_TARGET: attributes of a template
// cannot depend on its arguments; and with the size of its vectors, the compiler's own, as
// KASTOR_VECTOR_BYTES.

template <class T>
[[KASTOR_TARGET]] void copy_finite(const T* from, std::int64_t n, T* to) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  for (std::int64_t i = 0; i < n; ++i) {
    const T x = from[i];
    to[i] = (x > -infinity) & (x < infinity) ? x : nan;
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
    min = in & (x < min) ? x : min;
    max = in & (x > max) ? x : max;
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
