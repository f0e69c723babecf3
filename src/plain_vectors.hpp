// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_PLAIN_VECTORS_HPP
#define KASTOR_SRC_PLAIN_VECTORS_HPP

#include <bit>
#include <cstdint>
#include <cstring>
#include <kastor/detail/grid_magic.hpp>

namespace kastor::detail {

/// What vectors V of T do with a block of 64 pixels.
template <class V, class T>
struct PlainBlocks {
  /// The masks of a block as bits, one a pixel.
  template <class Mask, int N>
  [[gnu::always_inline]] static std::uint64_t word(const Mask (&masks)[N]) {
    std::uint64_t word = 0;
#pragma GCC unroll 32
    for (int k = 0; k < N; ++k) word |= V::bits(masks[k]) << k * (64 / N);
    return word;
  }
  /// Writes the pixels whose bits are set, and the rest of a vector; the result is their number.
  [[gnu::always_inline]] static std::int64_t write(T* list, const T* pixels, std::uint64_t bits) {
    T* end = list;
    for (; bits != 0; bits &= bits - 1) *end++ = pixels[std::countr_zero(bits)];
    return end - list;
  }

 private:
  PlainBlocks() = default;
  friend V;
};

/// See x86_vectors.hpp; the same for any machine, in the compiler's own vectors of 16 bytes.
template <class T>
struct Plain;

struct PlainSums {
  using Doubles [[gnu::vector_size(16)]] = double;
  using Words [[gnu::vector_size(16)]] = std::uint64_t;
  Doubles centre, scale;
  Words sum{}, squares{};

  PlainSums(double c, double s) : centre(Doubles{} + c), scale(Doubles{} + s) {}
  [[gnu::always_inline]] void add(Doubles x) {
    const Doubles u = (x - centre) * scale;
    sum += (Words)(u + grid_magic);
    squares += (Words)(u * u + grid_magic);
  }
  static std::uint64_t total(Words v) { return v[0] + v[1]; }
};

template <class T, class Int>
struct PlainOf : PlainBlocks<Plain<T>, T> {
  using Vector [[gnu::vector_size(16)]] = T;
  using Mask [[gnu::vector_size(16)]] = Int;
  using Sums = PlainSums;
  static constexpr int lanes = 16 / sizeof(T);
  static constexpr bool loads_some = false;

  [[gnu::always_inline]] static Vector all(T x) { return Vector{} + x; }
  [[gnu::always_inline]] static Vector load(const T* p) {
    Vector v;
    std::memcpy(&v, p, sizeof(v));
    return v;
  }
  [[gnu::always_inline]] static T lowest(Vector x) {
    T best = x[0];
    for (int k = 1; k < lanes; ++k) best = x[k] < best ? x[k] : best;
    return best;
  }
  [[gnu::always_inline]] static T highest(Vector x) {
    T best = x[0];
    for (int k = 1; k < lanes; ++k) best = x[k] > best ? x[k] : best;
    return best;
  }
  [[gnu::always_inline]] static Vector minus(Vector a, Vector b) { return a - b; }
  [[gnu::always_inline]] static Vector magnitude(Vector x) { return x < 0 ? -x : x; }
  [[gnu::always_inline]] static Mask less(Vector a, Vector b) { return a < b; }
  [[gnu::always_inline]] static Mask less(Mask among, Vector a, Vector b) {
    return among & (a < b);
  }
  [[gnu::always_inline]] static Mask less_equal(Vector a, Vector b) { return a <= b; }
  [[gnu::always_inline]] static Mask less_equal(Mask among, Vector a, Vector b) {
    return among & (a <= b);
  }
  [[gnu::always_inline]] static Vector choose(Mask mask, Vector x, Vector rest) {
    return mask ? x : rest;
  }
};

template <>
struct Plain<float> : PlainOf<float, std::int32_t> {
  [[gnu::always_inline]] static std::uint64_t bits(Mask m) {
    return static_cast<std::uint32_t>((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8));
  }
  [[gnu::always_inline]] static Mask mask_of(std::uint64_t bits) {
    return ((Mask{} + static_cast<std::int32_t>(bits)) & Mask{1, 2, 4, 8}) != 0;
  }
  using Wide = PlainSums::Doubles;
  [[gnu::always_inline]] static void widen(Vector x, Wide (&halves)[2]) {
    halves[0] = __builtin_convertvector(__builtin_shufflevector(x, x, 0, 1), Wide);
    halves[1] = __builtin_convertvector(__builtin_shufflevector(x, x, 2, 3), Wide);
  }
  [[gnu::always_inline]] static void add(Sums& sums, const float*, Vector x, Mask mask,
                                         Vector middle) {
    const Vector kept = mask ? x : middle;
    using Doubles = PlainSums::Doubles;
    sums.add(__builtin_convertvector(__builtin_shufflevector(kept, kept, 0, 1), Doubles));
    sums.add(__builtin_convertvector(__builtin_shufflevector(kept, kept, 2, 3), Doubles));
  }
  [[gnu::always_inline]] static void add_all(Sums& sums, const float* p) {
    const Vector x = load(p);
    using Doubles = PlainSums::Doubles;
    sums.add(__builtin_convertvector(__builtin_shufflevector(x, x, 0, 1), Doubles));
    sums.add(__builtin_convertvector(__builtin_shufflevector(x, x, 2, 3), Doubles));
  }
};

template <>
struct Plain<double> : PlainOf<double, std::int64_t> {
  [[gnu::always_inline]] static std::uint64_t bits(Mask m) {
    return static_cast<std::uint64_t>((m[0] & 1) | (m[1] & 2));
  }
  [[gnu::always_inline]] static Mask mask_of(std::uint64_t bits) {
    return ((Mask{} + static_cast<std::int64_t>(bits)) & Mask{1, 2}) != 0;
  }
  [[gnu::always_inline]] static void add(Sums& sums, const double*, Vector x, Mask mask,
                                         Vector middle) {
    sums.add(mask ? x : middle);
  }
  [[gnu::always_inline]] static void add_all(Sums& sums, const double* p) { sums.add(load(p)); }
};

}  // namespace kastor::detail

#endif
