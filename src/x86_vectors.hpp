// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_X86_VECTORS_HPP
#define KASTOR_SRC_X86_VECTORS_HPP

#include <cstdint>
#include <kastor/detail/grid_magic.hpp>
#include <kastor/detail/host_level.hpp>

#if KASTOR_HAS_X86_LEVELS
#if !defined(__clang__)  // GCC 12 warns of its own intrinsics, which begin from undefined registers
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

/// Vectors of pixels at the levels of x86, float and double alike: comparisons that end as bits,
/// and sums of pixels on the grid. No product is fused with a sum, but one by a power of two, which
/// is exact: the bits are those of plain C++.
namespace kastor::detail {

#define KASTOR_AVX2 gnu::target("avx2,popcnt,bmi")
#define KASTOR_AVX512 gnu::target("avx512f,avx512dq,avx512vl,avx512bw,popcnt,bmi")
#define KASTOR_AVX2_INLINE KASTOR_AVX2, gnu::always_inline
#define KASTOR_AVX512_INLINE KASTOR_AVX512, gnu::always_inline

/// Modulo 2^64, which the intrinsics for it do in signed numbers.
template <int Lanes>
[[gnu::always_inline]] inline std::uint64_t sum_of_lanes(const std::uint64_t (&of_lane)[Lanes]) {
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : of_lane) sum += lane;
  return sum;
}

/// Sums of u = (x - centre) * scale, and of its squares, biased once a lane.
struct Sse2Sums {
  __m128d centre, scale;
  __m128i sum, squares;

  Sse2Sums(double c, double s)
      : centre(_mm_set1_pd(c)),
        scale(_mm_set1_pd(s)),
        sum(_mm_setzero_si128()),
        squares(_mm_setzero_si128()) {}
  [[gnu::always_inline]] void add(__m128d x) {
    const __m128d u = _mm_mul_pd(_mm_sub_pd(x, centre), scale);
    const __m128d magic = _mm_set1_pd(grid_magic);
    sum = _mm_add_epi64(sum, _mm_castpd_si128(_mm_add_pd(u, magic)));
    squares = _mm_add_epi64(squares, _mm_castpd_si128(_mm_add_pd(_mm_mul_pd(u, u), magic)));
  }
  static std::uint64_t total(__m128i v) {
    alignas(16) std::uint64_t of_lane[2];
    _mm_store_si128(reinterpret_cast<__m128i*>(of_lane), v);
    return sum_of_lanes(of_lane);
  }
};

/// What every x86-64 has.
template <class T>
struct Sse2;

template <>
struct Sse2<float> : PlainBlocks<Sse2<float>, float> {
  using Vector = __m128;
  using Mask = __m128;
  using Sums = Sse2Sums;
  static constexpr int lanes = 4;
  static constexpr bool loads_some = false;

  [[gnu::always_inline]] static Vector all(float x) { return _mm_set1_ps(x); }
  [[gnu::always_inline]] static Vector load(const float* p) { return _mm_loadu_ps(p); }
  [[gnu::always_inline]] static float lowest(Vector x) {
    x = _mm_min_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_min_ss(x, _mm_shuffle_ps(x, x, 1)));
  }
  [[gnu::always_inline]] static float highest(Vector x) {
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_shuffle_ps(x, x, 1)));
  }
  [[gnu::always_inline]] static Vector minus(Vector a, Vector b) { return _mm_sub_ps(a, b); }
  [[gnu::always_inline]] static Vector magnitude(Vector x) { return _mm_andnot_ps(all(-0.0F), x); }
  [[gnu::always_inline]] static Mask less(Vector a, Vector b) { return _mm_cmplt_ps(a, b); }
  [[gnu::always_inline]] static Mask less(Mask among, Vector a, Vector b) {
    return _mm_and_ps(among, _mm_cmplt_ps(a, b));
  }
  [[gnu::always_inline]] static Mask less_equal(Vector a, Vector b) { return _mm_cmple_ps(a, b); }
  [[gnu::always_inline]] static Mask less_equal(Mask among, Vector a, Vector b) {
    return _mm_and_ps(among, _mm_cmple_ps(a, b));
  }
  [[gnu::always_inline]] static std::uint64_t bits(Mask mask) {
    return static_cast<std::uint32_t>(_mm_movemask_ps(mask));
  }
  /// The mask whose bits these are; more may be set.
  [[gnu::always_inline]] static Mask mask_of(std::uint64_t bits) {
    const __m128i of_lane = _mm_set_epi32(8, 4, 2, 1);
    const __m128i all = _mm_set1_epi32(static_cast<int>(bits));
    return _mm_castsi128_ps(_mm_cmpeq_epi32(_mm_and_si128(all, of_lane), of_lane));
  }
  /// The pixels of the mask, in place of those of `rest`.
  [[gnu::always_inline]] static Vector choose(Mask mask, Vector x, Vector rest) {
    return _mm_or_ps(_mm_and_ps(mask, x), _mm_andnot_ps(mask, rest));
  }
  using Wide = __m128d;
  [[gnu::always_inline]] static void widen(Vector x, Wide (&halves)[2]) {
    halves[0] = _mm_cvtps_pd(x);
    halves[1] = _mm_cvtps_pd(_mm_movehl_ps(x, x));
  }
  /// The pixels of the mask, in place of the others `middle`.
  [[gnu::always_inline]] static void add(Sums& sums, const float*, Vector x, Mask mask,
                                         Vector middle) {
    const __m128 kept = _mm_or_ps(_mm_and_ps(mask, x), _mm_andnot_ps(mask, middle));
    sums.add(_mm_cvtps_pd(kept));
    sums.add(_mm_cvtps_pd(_mm_movehl_ps(kept, kept)));
  }
  [[gnu::always_inline]] static void add_all(Sums& sums, const float* p) {
    const __m128 x = load(p);
    sums.add(_mm_cvtps_pd(x));
    sums.add(_mm_cvtps_pd(_mm_movehl_ps(x, x)));
  }
};

template <>
struct Sse2<double> : PlainBlocks<Sse2<double>, double> {
  using Vector = __m128d;
  using Mask = __m128d;
  using Sums = Sse2Sums;
  static constexpr int lanes = 2;
  static constexpr bool loads_some = false;

  [[gnu::always_inline]] static Vector all(double x) { return _mm_set1_pd(x); }
  [[gnu::always_inline]] static Vector load(const double* p) { return _mm_loadu_pd(p); }
  [[gnu::always_inline]] static double lowest(Vector x) {
    return _mm_cvtsd_f64(_mm_min_sd(x, _mm_unpackhi_pd(x, x)));
  }
  [[gnu::always_inline]] static double highest(Vector x) {
    return _mm_cvtsd_f64(_mm_max_sd(x, _mm_unpackhi_pd(x, x)));
  }
  [[gnu::always_inline]] static Vector minus(Vector a, Vector b) { return _mm_sub_pd(a, b); }
  [[gnu::always_inline]] static Vector magnitude(Vector x) { return _mm_andnot_pd(all(-0.0), x); }
  [[gnu::always_inline]] static Mask less(Vector a, Vector b) { return _mm_cmplt_pd(a, b); }
  [[gnu::always_inline]] static Mask less(Mask among, Vector a, Vector b) {
    return _mm_and_pd(among, _mm_cmplt_pd(a, b));
  }
  [[gnu::always_inline]] static Mask less_equal(Vector a, Vector b) { return _mm_cmple_pd(a, b); }
  [[gnu::always_inline]] static Mask less_equal(Mask among, Vector a, Vector b) {
    return _mm_and_pd(among, _mm_cmple_pd(a, b));
  }
  [[gnu::always_inline]] static std::uint64_t bits(Mask mask) {
    return static_cast<std::uint32_t>(_mm_movemask_pd(mask));
  }
  [[gnu::always_inline]] static Mask mask_of(std::uint64_t bits) {
    const __m128i of_lane = _mm_set_epi32(2, 2, 1, 1);
    const __m128i all = _mm_set1_epi32(static_cast<int>(bits));
    return _mm_castsi128_pd(_mm_cmpeq_epi32(_mm_and_si128(all, of_lane), of_lane));
  }
  [[gnu::always_inline]] static Vector choose(Mask mask, Vector x, Vector rest) {
    return _mm_or_pd(_mm_and_pd(mask, x), _mm_andnot_pd(mask, rest));
  }
  [[gnu::always_inline]] static void add(Sums& sums, const double*, Vector x, Mask mask,
                                         Vector middle) {
    sums.add(_mm_or_pd(_mm_and_pd(mask, x), _mm_andnot_pd(mask, middle)));
  }
  [[gnu::always_inline]] static void add_all(Sums& sums, const double* p) { sums.add(load(p)); }
};

struct Avx2Sums {
  __m256d centre, scale;
  __m256i sum, squares;

  [[KASTOR_AVX2_INLINE]] Avx2Sums(double c, double s)
      : centre(_mm256_set1_pd(c)),
        scale(_mm256_set1_pd(s)),
        sum(_mm256_setzero_si256()),
        squares(_mm256_setzero_si256()) {}
  [[KASTOR_AVX2_INLINE]] void add(__m256d x) {
    const __m256d u = _mm256_mul_pd(_mm256_sub_pd(x, centre), scale);
    const __m256d magic = _mm256_set1_pd(grid_magic);
    sum = _mm256_add_epi64(sum, _mm256_castpd_si256(_mm256_add_pd(u, magic)));
    squares =
        _mm256_add_epi64(squares, _mm256_castpd_si256(_mm256_add_pd(_mm256_mul_pd(u, u), magic)));
  }
  [[KASTOR_AVX2_INLINE]] static std::uint64_t total(__m256i v) {
    alignas(32) std::uint64_t of_lane[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(of_lane), v);
    return sum_of_lanes(of_lane);
  }
};

/// Of these, `lanes` from before the n-th are a mask of the first n.
alignas(64) inline constexpr std::int32_t ones_and_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
alignas(64) inline constexpr std::int64_t wide_ones_and_zeros[8] = {-1, -1, -1, -1};

/// See PlainBlocks.
template <class V, class T>
struct Avx2Blocks {
  static constexpr bool loads_some = true;

  template <class Mask, int N>
  [[KASTOR_AVX2_INLINE]] static std::uint64_t word(const Mask (&masks)[N]) {
    std::uint64_t word = 0;
#pragma GCC unroll 16
    for (int k = 0; k < N; ++k) word |= V::bits(masks[k]) << k * (64 / N);
    return word;
  }
  [[KASTOR_AVX2_INLINE]] static std::int64_t write(T* list, const T* pixels, std::uint64_t bits) {
    T* end = list;
    for (; bits != 0; bits &= bits - 1) *end++ = pixels[std::countr_zero(bits)];
    return end - list;
  }

 private:
  Avx2Blocks() = default;
  friend V;
};

template <class T>
struct Avx2;

template <>
struct Avx2<float> : Avx2Blocks<Avx2<float>, float> {
  using Vector = __m256;
  using Mask = __m256;
  using Sums = Avx2Sums;
  static constexpr int lanes = 8;

  [[KASTOR_AVX2_INLINE]] static Vector all(float x) { return _mm256_set1_ps(x); }
  [[KASTOR_AVX2_INLINE]] static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  /// The first n, in place of those of `rest`.
  [[KASTOR_AVX2_INLINE]] static Vector load_some(const float* p, std::int64_t n, Vector rest) {
    const __m256i mask =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones_and_zeros + 8 - n));
    return _mm256_blendv_ps(rest, _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
  }
  [[KASTOR_AVX2_INLINE]] static __m256d load_four(const float* p) {
    return _mm256_cvtps_pd(_mm_loadu_ps(p));
  }
  /// The first n of four, and zeros.
  [[KASTOR_AVX2_INLINE]] static __m256d load_four(const float* p, std::int64_t n) {
    return _mm256_cvtps_pd(_mm_maskload_ps(
        p, _mm_loadu_si128(reinterpret_cast<const __m128i*>(ones_and_zeros + 8 - n))));
  }
  [[KASTOR_AVX2_INLINE]] static float lowest(Vector x) {
    return Sse2<float>::lowest(_mm_min_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1)));
  }
  [[KASTOR_AVX2_INLINE]] static float highest(Vector x) {
    return Sse2<float>::highest(_mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1)));
  }
  [[KASTOR_AVX2_INLINE]] static Vector minus(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
  [[KASTOR_AVX2_INLINE]] static Vector magnitude(Vector x) {
    return _mm256_andnot_ps(all(-0.0F), x);
  }
  [[KASTOR_AVX2_INLINE]] static Mask less(Vector a, Vector b) {
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
  }
  [[KASTOR_AVX2_INLINE]] static Mask less(Mask among, Vector a, Vector b) {
    return _mm256_and_ps(among, less(a, b));
  }
  [[KASTOR_AVX2_INLINE]] static Mask less_equal(Vector a, Vector b) {
    return _mm256_cmp_ps(a, b, _CMP_LE_OQ);
  }
  [[KASTOR_AVX2_INLINE]] static Mask less_equal(Mask among, Vector a, Vector b) {
    return _mm256_and_ps(among, _mm256_cmp_ps(a, b, _CMP_LE_OQ));
  }
  [[KASTOR_AVX2_INLINE]] static std::uint64_t bits(Mask mask) {
    return static_cast<std::uint32_t>(_mm256_movemask_ps(mask));
  }
  [[KASTOR_AVX2_INLINE]] static Mask mask_of(std::uint64_t bits) {
    const __m256i of_lane = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    const __m256i all = _mm256_set1_epi32(static_cast<int>(bits));
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(all, of_lane), of_lane));
  }
  [[KASTOR_AVX2_INLINE]] static Vector choose(Mask mask, Vector x, Vector rest) {
    return _mm256_blendv_ps(rest, x, mask);
  }
  using Wide = __m256d;
  [[KASTOR_AVX2_INLINE]] static void widen(Vector x, Wide (&halves)[2]) {
    halves[0] = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
    halves[1] = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
  }
  [[KASTOR_AVX2_INLINE]] static void add(Sums& sums, const float*, Vector x, Mask mask,
                                         Vector middle) {
    const __m256 kept = _mm256_blendv_ps(middle, x, mask);
    sums.add(_mm256_cvtps_pd(_mm256_castps256_ps128(kept)));
    sums.add(_mm256_cvtps_pd(_mm256_extractf128_ps(kept, 1)));
  }
  [[KASTOR_AVX2_INLINE]] static void add_all(Sums& sums, const float* p) {
    sums.add(_mm256_cvtps_pd(_mm_loadu_ps(p)));
    sums.add(_mm256_cvtps_pd(_mm_loadu_ps(p + 4)));
  }
};

template <>
struct Avx2<double> : Avx2Blocks<Avx2<double>, double> {
  using Vector = __m256d;
  using Mask = __m256d;
  using Sums = Avx2Sums;
  static constexpr int lanes = 4;

  [[KASTOR_AVX2_INLINE]] static Vector all(double x) { return _mm256_set1_pd(x); }
  [[KASTOR_AVX2_INLINE]] static Vector load(const double* p) { return _mm256_loadu_pd(p); }
  [[KASTOR_AVX2_INLINE]] static Vector load_four(const double* p) { return load(p); }
  [[KASTOR_AVX2_INLINE]] static Vector load_four(const double* p, std::int64_t n) {
    return _mm256_maskload_pd(p, first_lanes(n));
  }
  [[KASTOR_AVX2_INLINE]] static Vector load_some(const double* p, std::int64_t n, Vector rest) {
    return _mm256_blendv_pd(rest, load_four(p, n), _mm256_castsi256_pd(first_lanes(n)));
  }
  [[KASTOR_AVX2_INLINE]] static __m256i first_lanes(std::int64_t n) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(wide_ones_and_zeros + 4 - n));
  }
  [[KASTOR_AVX2_INLINE]] static double lowest(Vector x) {
    return Sse2<double>::lowest(_mm_min_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1)));
  }
  [[KASTOR_AVX2_INLINE]] static double highest(Vector x) {
    return Sse2<double>::highest(
        _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1)));
  }
  [[KASTOR_AVX2_INLINE]] static Vector minus(Vector a, Vector b) { return _mm256_sub_pd(a, b); }
  [[KASTOR_AVX2_INLINE]] static Vector magnitude(Vector x) {
    return _mm256_andnot_pd(all(-0.0), x);
  }
  [[KASTOR_AVX2_INLINE]] static Mask less(Vector a, Vector b) {
    return _mm256_cmp_pd(a, b, _CMP_LT_OQ);
  }
  [[KASTOR_AVX2_INLINE]] static Mask less(Mask among, Vector a, Vector b) {
    return _mm256_and_pd(among, less(a, b));
  }
  [[KASTOR_AVX2_INLINE]] static Mask less_equal(Vector a, Vector b) {
    return _mm256_cmp_pd(a, b, _CMP_LE_OQ);
  }
  [[KASTOR_AVX2_INLINE]] static Mask less_equal(Mask among, Vector a, Vector b) {
    return _mm256_and_pd(among, _mm256_cmp_pd(a, b, _CMP_LE_OQ));
  }
  [[KASTOR_AVX2_INLINE]] static std::uint64_t bits(Mask mask) {
    return static_cast<std::uint32_t>(_mm256_movemask_pd(mask));
  }
  [[KASTOR_AVX2_INLINE]] static Mask mask_of(std::uint64_t bits) {
    const __m256i of_lane = _mm256_set_epi64x(8, 4, 2, 1);
    const __m256i all = _mm256_set1_epi64x(static_cast<std::int64_t>(bits));
    return _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(all, of_lane), of_lane));
  }
  [[KASTOR_AVX2_INLINE]] static Vector choose(Mask mask, Vector x, Vector rest) {
    return _mm256_blendv_pd(rest, x, mask);
  }
  [[KASTOR_AVX2_INLINE]] static void add(Sums& sums, const double*, Vector x, Mask mask,
                                         Vector middle) {
    sums.add(_mm256_blendv_pd(middle, x, mask));
  }
  [[KASTOR_AVX2_INLINE]] static void add_all(Sums& sums, const double* p) { sums.add(load(p)); }
};

struct Avx512Sums {
  __m512d scale, minus_centre;  ///< in units of the grid
  __m512i sum, squares;

  [[KASTOR_AVX512_INLINE]] Avx512Sums(double c, double s)
      : scale(_mm512_set1_pd(s)),
        minus_centre(_mm512_set1_pd(-c * s)),
        sum(_mm512_setzero_si512()),
        squares(_mm512_setzero_si512()) {}
  /// u is 0 where the mask is. The scale is a power of two, so that x * scale - centre * scale,
  /// rounded once, is (x - centre) * scale.
  [[KASTOR_AVX512_INLINE]] void add(__mmask8 mask, __m512d x) {
    add_mapped(_mm512_maskz_fmadd_pd(mask, x, scale, minus_centre));
  }
  [[KASTOR_AVX512_INLINE]] void add(__m512d x) {
    add_mapped(_mm512_fmadd_pd(x, scale, minus_centre));
  }
  [[KASTOR_AVX512_INLINE]] void add_mapped(__m512d u) {
    const __m512d magic = _mm512_set1_pd(grid_magic);
    sum = _mm512_add_epi64(sum, _mm512_castpd_si512(_mm512_add_pd(u, magic)));
    squares =
        _mm512_add_epi64(squares, _mm512_castpd_si512(_mm512_add_pd(_mm512_mul_pd(u, u), magic)));
  }
  [[KASTOR_AVX512_INLINE]] static std::uint64_t total(__m512i v) {
    alignas(64) std::uint64_t of_lane[8];
    _mm512_store_si512(of_lane, v);
    return sum_of_lanes(of_lane);
  }
};

/// See PlainBlocks.
template <class V, class T>
struct Avx512Blocks {
  /// Pixels can be written, counted and marked by a mask.
  static constexpr bool has_masks = true;
  static constexpr bool loads_some = true;

  [[KASTOR_AVX512_INLINE]] static std::uint64_t word(const __mmask16 (&masks)[4]) {
    return _mm512_kunpackd(_mm512_kunpackw(masks[3], masks[2]),
                           _mm512_kunpackw(masks[1], masks[0]));
  }
  [[KASTOR_AVX512_INLINE]] static std::uint64_t word(const __mmask8 (&masks)[8]) {
    std::uint64_t word = 0;
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) word |= static_cast<std::uint64_t>(masks[k]) << 8 * k;
    return word;
  }
  [[KASTOR_AVX512_INLINE]] static std::int64_t write(T* list, const T* pixels, std::uint64_t bits) {
    T* end = list;
    for (int k = 0; k < 64; k += V::lanes, bits >>= V::lanes)
      end += V::write(end, V::load(pixels + k), static_cast<typename V::Mask>(bits));
    return end - list;
  }
  /// x plus the place of each bit, and something behind them: in all no more than 48 entries.
  [[KASTOR_AVX512_INLINE]] static void write_places(std::int32_t* list, std::int32_t x,
                                                    std::uint64_t bits) {
    __m512i places =
        _mm512_add_epi32(_mm512_set1_epi32(x),
                         _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    for (int k = 0; k < 64; k += 16, bits >>= 16) {
      const auto mask = static_cast<__mmask16>(bits);
      _mm512_storeu_si512(list, _mm512_maskz_compress_epi32(mask, places));
      list += __builtin_popcount(mask);
      places = _mm512_add_epi32(places, _mm512_set1_epi32(16));
    }
  }

 private:
  Avx512Blocks() = default;
  friend V;
};

template <class T>
struct Avx512;

template <>
struct Avx512<float> : Avx512Blocks<Avx512<float>, float> {
  using Vector = __m512;
  using Mask = __mmask16;
  using Sums = Avx512Sums;
  static constexpr int lanes = 16;

  [[KASTOR_AVX512_INLINE]] static Vector all(float x) { return _mm512_set1_ps(x); }
  [[KASTOR_AVX512_INLINE]] static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  [[KASTOR_AVX512_INLINE]] static Vector load_some(const float* p, std::int64_t n, Vector rest) {
    return _mm512_mask_loadu_ps(rest, static_cast<Mask>((1U << n) - 1), p);
  }
  [[KASTOR_AVX512_INLINE]] static __m256d load_four(const float* p) {
    return _mm256_cvtps_pd(_mm_loadu_ps(p));
  }
  [[KASTOR_AVX512_INLINE]] static __m256d load_four(const float* p, std::int64_t n) {
    return _mm256_cvtps_pd(_mm_maskz_loadu_ps(static_cast<__mmask8>((1U << n) - 1), p));
  }
  [[KASTOR_AVX512_INLINE]] static float lowest(Vector x) { return _mm512_reduce_min_ps(x); }
  [[KASTOR_AVX512_INLINE]] static float highest(Vector x) { return _mm512_reduce_max_ps(x); }
  [[KASTOR_AVX512_INLINE]] static Vector minus(Vector a, Vector b) { return _mm512_sub_ps(a, b); }
  [[KASTOR_AVX512_INLINE]] static Vector magnitude(Vector x) { return _mm512_abs_ps(x); }
  [[KASTOR_AVX512_INLINE]] static Mask less(Vector a, Vector b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
  }
  [[KASTOR_AVX512_INLINE]] static Mask less(Mask among, Vector a, Vector b) {
    return _mm512_mask_cmp_ps_mask(among, a, b, _CMP_LT_OQ);
  }
  [[KASTOR_AVX512_INLINE]] static Mask less_equal(Vector a, Vector b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
  }
  [[KASTOR_AVX512_INLINE]] static Mask less_equal(Mask among, Vector a, Vector b) {
    return _mm512_mask_cmp_ps_mask(among, a, b, _CMP_LE_OQ);
  }
  using Counts = __m512i;
  [[KASTOR_AVX512_INLINE]] static Counts no_counts() { return _mm512_setzero_si512(); }
  /// One more in the lanes of the mask.
  [[KASTOR_AVX512_INLINE]] static void count(Counts& counts, Mask mask) {
    counts = _mm512_mask_sub_epi32(counts, mask, counts, _mm512_set1_epi32(-1));
  }
  [[KASTOR_AVX512_INLINE]] static std::int64_t total(Counts counts) {
    return _mm512_reduce_add_epi32(counts);
  }
  using Avx512Blocks::write;
  /// The pixels of the mask; the result is their number.
  [[KASTOR_AVX512_INLINE]] static int write(float* to, Vector x, Mask mask) {
    _mm512_storeu_ps(to, _mm512_maskz_compress_ps(mask, x));
    return __builtin_popcount(mask);
  }
  [[KASTOR_AVX512_INLINE]] static std::uint64_t bits(Mask mask) { return mask; }
  [[KASTOR_AVX512_INLINE]] static Mask mask_of(std::uint64_t bits) {
    return static_cast<Mask>(bits);
  }
  [[KASTOR_AVX512_INLINE]] static Vector choose(Mask mask, Vector x, Vector rest) {
    return _mm512_mask_mov_ps(rest, mask, x);
  }
  using Wide = __m512d;
  [[KASTOR_AVX512_INLINE]] static void widen(Vector x, Wide (&halves)[2]) {
    halves[0] = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
    halves[1] = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
  }
  /// From bit k of the word on: a store of a mask keeps busy ports free.
  [[KASTOR_AVX512_INLINE]] static void store(std::uint64_t* word, int k, Mask mask) {
    __builtin_memcpy(reinterpret_cast<char*>(word) + k / 8, &mask, sizeof(mask));
  }
  /// Loaded again: a conversion from memory leaves out a shuffle.
  [[KASTOR_AVX512_INLINE]] static void add(Sums& sums, const float* p, Vector, Mask mask, Vector) {
    sums.add(static_cast<__mmask8>(mask), _mm512_cvtps_pd(_mm256_loadu_ps(p)));
    sums.add(static_cast<__mmask8>(_kshiftri_mask16(mask, 8)),
             _mm512_cvtps_pd(_mm256_loadu_ps(p + 8)));
  }
  [[KASTOR_AVX512_INLINE]] static void add_all(Sums& sums, const float* p) {
    sums.add(_mm512_cvtps_pd(_mm256_loadu_ps(p)));
    sums.add(_mm512_cvtps_pd(_mm256_loadu_ps(p + 8)));
  }
};

template <>
struct Avx512<double> : Avx512Blocks<Avx512<double>, double> {
  using Vector = __m512d;
  using Mask = __mmask8;
  using Sums = Avx512Sums;
  static constexpr int lanes = 8;

  [[KASTOR_AVX512_INLINE]] static Vector all(double x) { return _mm512_set1_pd(x); }
  [[KASTOR_AVX512_INLINE]] static Vector load(const double* p) { return _mm512_loadu_pd(p); }
  [[KASTOR_AVX512_INLINE]] static Vector load_some(const double* p, std::int64_t n, Vector rest) {
    return _mm512_mask_loadu_pd(rest, static_cast<Mask>((1U << n) - 1), p);
  }
  [[KASTOR_AVX512_INLINE]] static __m256d load_four(const double* p) { return _mm256_loadu_pd(p); }
  [[KASTOR_AVX512_INLINE]] static __m256d load_four(const double* p, std::int64_t n) {
    return _mm256_maskz_loadu_pd(static_cast<__mmask8>((1U << n) - 1), p);
  }
  [[KASTOR_AVX512_INLINE]] static double lowest(Vector x) { return _mm512_reduce_min_pd(x); }
  [[KASTOR_AVX512_INLINE]] static double highest(Vector x) { return _mm512_reduce_max_pd(x); }
  [[KASTOR_AVX512_INLINE]] static Vector minus(Vector a, Vector b) { return _mm512_sub_pd(a, b); }
  [[KASTOR_AVX512_INLINE]] static Vector magnitude(Vector x) { return _mm512_abs_pd(x); }
  [[KASTOR_AVX512_INLINE]] static Mask less(Vector a, Vector b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
  }
  [[KASTOR_AVX512_INLINE]] static Mask less(Mask among, Vector a, Vector b) {
    return _mm512_mask_cmp_pd_mask(among, a, b, _CMP_LT_OQ);
  }
  [[KASTOR_AVX512_INLINE]] static Mask less_equal(Vector a, Vector b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
  }
  [[KASTOR_AVX512_INLINE]] static Mask less_equal(Mask among, Vector a, Vector b) {
    return _mm512_mask_cmp_pd_mask(among, a, b, _CMP_LE_OQ);
  }
  using Counts = __m512i;
  [[KASTOR_AVX512_INLINE]] static Counts no_counts() { return _mm512_setzero_si512(); }
  /// One more in the lanes of the mask.
  [[KASTOR_AVX512_INLINE]] static void count(Counts& counts, Mask mask) {
    counts = _mm512_mask_sub_epi64(counts, mask, counts, _mm512_set1_epi64(-1));
  }
  [[KASTOR_AVX512_INLINE]] static std::int64_t total(Counts counts) {
    return _mm512_reduce_add_epi64(counts);
  }
  using Avx512Blocks::write;
  /// The pixels of the mask; the result is their number.
  [[KASTOR_AVX512_INLINE]] static int write(double* to, Vector x, Mask mask) {
    _mm512_storeu_pd(to, _mm512_maskz_compress_pd(mask, x));
    return __builtin_popcount(mask);
  }
  [[KASTOR_AVX512_INLINE]] static std::uint64_t bits(Mask mask) { return mask; }
  [[KASTOR_AVX512_INLINE]] static Mask mask_of(std::uint64_t bits) {
    return static_cast<Mask>(bits);
  }
  [[KASTOR_AVX512_INLINE]] static Vector choose(Mask mask, Vector x, Vector rest) {
    return _mm512_mask_mov_pd(rest, mask, x);
  }
  /// From bit k of the word on: a store of a mask keeps busy ports free.
  [[KASTOR_AVX512_INLINE]] static void store(std::uint64_t* word, int k, Mask mask) {
    __builtin_memcpy(reinterpret_cast<char*>(word) + k / 8, &mask, sizeof(mask));
  }
  [[KASTOR_AVX512_INLINE]] static void add(Sums& sums, const double*, Vector x, Mask mask, Vector) {
    sums.add(mask, x);
  }
  [[KASTOR_AVX512_INLINE]] static void add_all(Sums& sums, const double* p) { sums.add(load(p)); }
};

}  // namespace kastor::detail

#endif
#endif
