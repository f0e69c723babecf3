// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <kastor/detail/scan_host.hpp>
#include <limits>

#if defined(__x86_64__) && defined(__GNUC__)
#if !defined(__clang__)  // GCC 12 warns of its own intrinsics, which begin from undefined registers
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#define KASTOR_HAS_X86_LEVELS 1
#else
#define KASTOR_HAS_X86_LEVELS 0
#endif

namespace kastor::detail {
namespace {

/// See detail/fixed_point.hpp: the low bits of this sum are u in units of 2^-44.
constexpr double grid_magic = 384.0;

template <class T>
[[gnu::always_inline]] inline bool is_below(const HostScan<T> s, T x) {
  return (x > s.low_edge) & (x < s.window_low);
}
template <class T>
[[gnu::always_inline]] inline bool is_above(const HostScan<T> s, T x) {
  return (x > s.window_high) & (x < s.high_edge);
}

/// A loop without branches: it vectorises.
template <class T>
[[gnu::always_inline]] inline void add_core(const HostScan<T> scan, const T* pixels, std::int64_t n,
                                            HostScanSums& sums) {
  std::uint64_t s = 0, q = 0;
  std::uint32_t below = 0, above = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T x = pixels[i];
    const bool b = is_below(scan, x);
    const bool a = is_above(scan, x);
    const T kept = b | a ? x : scan.middle;
    const double u = (static_cast<double>(kept) - scan.centre) * scan.scale;
    s += std::bit_cast<std::uint64_t>(u + grid_magic);
    q += std::bit_cast<std::uint64_t>(u * u + grid_magic);
    below += b ? 1U : 0U;
    above += a ? 1U : 0U;
  }
  sums.sum += s;
  sums.squares += q;
  sums.below += below;
  sums.above += above;
}

/// Values, not references: a store to a list could otherwise change a bound, for all that the
/// compiler knows.
template <class T>
[[gnu::always_inline]] inline void gather_one(const HostScan<T> scan, T x, HostLists<T>& lists) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const bool in_window = (x >= scan.window_low) & (x <= scan.window_high);
  lists.window[lists.in_window] = x;
  lists.in_window += in_window ? 1 : 0;
  lists.tails[lists.in_tails] = x;
  lists.in_tails += !in_window & (x > -infinity) & (x < infinity) ? 1 : 0;
}

/// 64 pixels at a time to a mask of those outside the core: bytes first, which vectorises on any
/// instruction set; then eight bytes to eight bits by one multiplication.
template <class T>
[[gnu::always_inline]] inline void gather(const HostScan<T> scan, const T* pixels, std::int64_t n,
                                          HostLists<T>& all) {
  HostLists<T> lists = all;
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    std::uint8_t outside[64];
    for (int k = 0; k < 64; ++k) {
      const T x = pixels[i + k];
      outside[k] = is_below(scan, x) | is_above(scan, x) ? 0 : 1;
    }
    std::uint64_t bits = 0;
    for (int group = 0; group < 8; ++group) {
      std::uint64_t eight = 0;
      for (int k = 0; k < 8; ++k)
        eight |= static_cast<std::uint64_t>(outside[8 * group + k]) << (8 * k);
      bits |= (eight * 0x0102040810204080U >> 56) << (8 * group);
    }
    for (; bits != 0; bits &= bits - 1) gather_one(scan, pixels[i + std::countr_zero(bits)], lists);
  }
  for (; i < n; ++i) {
    const T x = pixels[i];
    if (!(is_below(scan, x) | is_above(scan, x))) gather_one(scan, x, lists);
  }
  all = lists;
}

template <class T>
[[gnu::always_inline]] inline void scan_any(const HostScan<T>& scan, const T* pixels,
                                            std::int64_t n, HostScanSums& sums,
                                            HostLists<T>& lists) {
  add_core(scan, pixels, n, sums);
  gather(scan, pixels, n, lists);
}

template <class T>
void scan_baseline(const HostScan<T>& scan, const T* pixels, std::int64_t n, HostScanSums& sums,
                   HostLists<T>& lists) {
  scan_any(scan, pixels, n, sums, lists);
}

#if KASTOR_HAS_X86_LEVELS

template <class T>
[[gnu::target("avx2,popcnt,bmi")]] void scan_avx2(const HostScan<T>& scan, const T* pixels,
                                                  std::int64_t n, HostScanSums& sums,
                                                  HostLists<T>& lists) {
  scan_any(scan, pixels, n, sums, lists);
}

// With AVX-512 a comparison is a mask and a masked vector is stored compressed, so one loop does
// all.
#define KASTOR_AVX512 gnu::target("avx512f,avx512dq,avx512vl,avx512bw,popcnt,bmi")

/// Eight of the core's pixels, as doubles, on the grid.
struct GridSums {
  __m512i sum, squares;
};
[[KASTOR_AVX512, gnu::always_inline]] inline void add_eight(GridSums& g, __m512d x, __m512d centre,
                                                            __m512d scale) {
  const __m512d u = _mm512_mul_pd(_mm512_sub_pd(x, centre), scale);
  const __m512d magic = _mm512_set1_pd(grid_magic);
  g.sum = _mm512_add_epi64(g.sum, _mm512_castpd_si512(_mm512_add_pd(u, magic)));
  g.squares =
      _mm512_add_epi64(g.squares, _mm512_castpd_si512(_mm512_add_pd(_mm512_mul_pd(u, u), magic)));
}

/// Modulo 2^64, which the intrinsic for it does in signed numbers.
[[KASTOR_AVX512, gnu::always_inline]] inline std::uint64_t sum_of_lanes(__m512i v) {
  alignas(64) std::uint64_t lanes[8];
  _mm512_store_si512(lanes, v);
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : lanes) sum += lane;
  return sum;
}

[[KASTOR_AVX512]] void scan_avx512(const HostScan<float>& scan, const float* pixels, std::int64_t n,
                                   HostScanSums& sums, HostLists<float>& lists) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const __m512 low = _mm512_set1_ps(scan.low_edge), high = _mm512_set1_ps(scan.high_edge);
  const __m512 window_low = _mm512_set1_ps(scan.window_low);
  const __m512 window_high = _mm512_set1_ps(scan.window_high);
  const __m512 middle = _mm512_set1_ps(scan.middle);
  const __m512d centre = _mm512_set1_pd(scan.centre), scale = _mm512_set1_pd(scan.scale);
  GridSums grid{_mm512_setzero_si512(), _mm512_setzero_si512()};
  std::int64_t below = 0, above = 0;
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m512 x = _mm512_loadu_ps(pixels + i);
    const __mmask16 b =
        _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(x, low, _CMP_GT_OQ), x, window_low, _CMP_LT_OQ);
    const __mmask16 a = _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(x, high, _CMP_LT_OQ), x,
                                                window_high, _CMP_GT_OQ);
    const auto core = static_cast<__mmask16>(a | b);
    const __m512 kept = _mm512_mask_blend_ps(core, middle, x);
    add_eight(grid, _mm512_cvtps_pd(_mm512_castps512_ps256(kept)), centre, scale);
    add_eight(grid, _mm512_cvtps_pd(_mm512_extractf32x8_ps(kept, 1)), centre, scale);
    below += __builtin_popcount(b);
    above += __builtin_popcount(a);
    const auto outside = static_cast<__mmask16>(~core);
    if (outside == 0) continue;
    const __mmask16 w = _mm512_mask_cmp_ps_mask(
        _mm512_mask_cmp_ps_mask(outside, x, window_low, _CMP_GE_OQ), x, window_high, _CMP_LE_OQ);
    _mm512_storeu_ps(lists.window + lists.in_window, _mm512_maskz_compress_ps(w, x));
    lists.in_window += __builtin_popcount(w);
    const __mmask16 t =
        _mm512_mask_cmp_ps_mask(static_cast<__mmask16>(outside & ~w), _mm512_abs_ps(x),
                                _mm512_set1_ps(infinity), _CMP_LT_OQ);
    _mm512_storeu_ps(lists.tails + lists.in_tails, _mm512_maskz_compress_ps(t, x));
    lists.in_tails += __builtin_popcount(t);
  }
  sums.sum += sum_of_lanes(grid.sum);
  sums.squares += sum_of_lanes(grid.squares);
  sums.below += below;
  sums.above += above;
  scan_any(scan, pixels + i, n - i, sums, lists);
}

[[KASTOR_AVX512]] void scan_avx512(const HostScan<double>& scan, const double* pixels,
                                   std::int64_t n, HostScanSums& sums, HostLists<double>& lists) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const __m512d low = _mm512_set1_pd(scan.low_edge), high = _mm512_set1_pd(scan.high_edge);
  const __m512d window_low = _mm512_set1_pd(scan.window_low);
  const __m512d window_high = _mm512_set1_pd(scan.window_high);
  const __m512d middle = _mm512_set1_pd(scan.middle);
  const __m512d centre = _mm512_set1_pd(scan.centre), scale = _mm512_set1_pd(scan.scale);
  GridSums grid{_mm512_setzero_si512(), _mm512_setzero_si512()};
  std::int64_t below = 0, above = 0;
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m512d x = _mm512_loadu_pd(pixels + i);
    const __mmask8 b =
        _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(x, low, _CMP_GT_OQ), x, window_low, _CMP_LT_OQ);
    const __mmask8 a = _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(x, high, _CMP_LT_OQ), x,
                                               window_high, _CMP_GT_OQ);
    const auto core = static_cast<__mmask8>(a | b);
    add_eight(grid, _mm512_mask_blend_pd(core, middle, x), centre, scale);
    below += __builtin_popcount(b);
    above += __builtin_popcount(a);
    const auto outside = static_cast<__mmask8>(~core);
    if (outside == 0) continue;
    const __mmask8 w = _mm512_mask_cmp_pd_mask(
        _mm512_mask_cmp_pd_mask(outside, x, window_low, _CMP_GE_OQ), x, window_high, _CMP_LE_OQ);
    _mm512_storeu_pd(lists.window + lists.in_window, _mm512_maskz_compress_pd(w, x));
    lists.in_window += __builtin_popcount(w);
    const __mmask8 t =
        _mm512_mask_cmp_pd_mask(static_cast<__mmask8>(outside & ~w), _mm512_abs_pd(x),
                                _mm512_set1_pd(infinity), _CMP_LT_OQ);
    _mm512_storeu_pd(lists.tails + lists.in_tails, _mm512_maskz_compress_pd(t, x));
    lists.in_tails += __builtin_popcount(t);
  }
  sums.sum += sum_of_lanes(grid.sum);
  sums.squares += sum_of_lanes(grid.squares);
  sums.below += below;
  sums.above += above;
  scan_any(scan, pixels + i, n - i, sums, lists);
}

#endif

}  // namespace

template <class T>
void scan_on_host(HostLevel level, const HostScan<T>& scan, const T* pixels, std::int64_t n,
                  HostScanSums& sums, HostLists<T>& lists) {
#if KASTOR_HAS_X86_LEVELS
  if (level == HostLevel::avx512) return scan_avx512(scan, pixels, n, sums, lists);
  if (level == HostLevel::avx2) return scan_avx2(scan, pixels, n, sums, lists);
#endif
  scan_baseline(scan, pixels, n, sums, lists);
}

template void scan_on_host<float>(HostLevel, const HostScan<float>&, const float*, std::int64_t,
                                  HostScanSums&, HostLists<float>&);
template void scan_on_host<double>(HostLevel, const HostScan<double>&, const double*, std::int64_t,
                                   HostScanSums&, HostLists<double>&);

}  // namespace kastor::detail
