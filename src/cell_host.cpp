// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <kastor/detail/cell_host.hpp>
#include <kastor/detail/grid_magic.hpp>
#include <limits>
#include <type_traits>

#include "plain_vectors.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

template <class T, int Bytes>
struct Lanes {
  static constexpr int lanes = Bytes / sizeof(T);
  using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using Pixels [[gnu::vector_size(Bytes)]] = T;
  using Counts [[gnu::vector_size(Bytes)]] = Int;
};

namespace baseline {
#define KASTOR_TARGET
#define KASTOR_VECTOR_BYTES 16
#include "cell_host_loop.hpp"
#undef KASTOR_TARGET
#undef KASTOR_VECTOR_BYTES
}  // namespace baseline
#if KASTOR_HAS_X86_LEVELS
namespace avx2 {
#define KASTOR_TARGET KASTOR_AVX2
#define KASTOR_VECTOR_BYTES 32
#include "cell_host_loop.hpp"
#undef KASTOR_TARGET
#undef KASTOR_VECTOR_BYTES
}  // namespace avx2
namespace avx512 {
#define KASTOR_TARGET KASTOR_AVX512
#define KASTOR_VECTOR_BYTES 64
#include "cell_host_loop.hpp"
#undef KASTOR_TARGET
#undef KASTOR_VECTOR_BYTES
}  // namespace avx512
#endif

#if KASTOR_HAS_X86_LEVELS
#define KASTOR_AT_LEVEL(CALL)                          \
  if (level == HostLevel::avx512) return avx512::CALL; \
  if (level == HostLevel::avx2) return avx2::CALL;     \
  return baseline::CALL
#else
#define KASTOR_AT_LEVEL(CALL) \
  static_cast<void>(level);   \
  return baseline::CALL
#endif

template <class T>
void extent_at(HostLevel level, T low, T high, const T* pixels, std::int64_t n,
               HostExtent<T>& result) {
  KASTOR_AT_LEVEL(extent<T>(low, high, pixels, n / cell_block, result));
}

}  // namespace

template <class T>
void copy_finite_on_host(HostLevel level, const T* from, std::int64_t n, T* to) {
  KASTOR_AT_LEVEL(copy_finite<T>(from, n, to));
}

template <class T>
HostExtent<T> extent_on_host(HostLevel level, T low, T high, const T* pixels, std::int64_t n) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  HostExtent<T> result{0, infinity, -infinity};
  extent_at(level, low, high, pixels, n, result);
  return result;
}

template <class T>
void count_below_on_host(HostLevel level, const T (&threshold)[3], const T* pixels, std::int64_t n,
                         std::int64_t (&below)[3]) {
  KASTOR_AT_LEVEL(count_below<T>(threshold, pixels, n / cell_block, below));
}

template <class T>
void add_interval_on_host(HostLevel level, const T* pixels, std::int64_t n,
                          HostIntervalSums<T>& sums) {
  KASTOR_AT_LEVEL(add_interval<T>(pixels, n, sums));
}

template <class T>
int take_between_on_host(HostLevel level, T low, T high, const T* pixels, std::int64_t n, T* taken,
                         int room) {
  const std::int64_t blocks = n / cell_block;
#if KASTOR_HAS_X86_LEVELS
  if (level == HostLevel::avx512)
    return avx512::take_between<Avx512<T>>(low, high, pixels, blocks, taken, room);
  if (level == HostLevel::avx2)
    return avx2::take_between<Avx2<T>>(low, high, pixels, blocks, taken, room);
  return baseline::take_between<Sse2<T>>(low, high, pixels, blocks, taken, room);
#else
  static_cast<void>(level);
  return baseline::take_between<Plain<T>>(low, high, pixels, blocks, taken, room);
#endif
}

template <class T>
void sort_on_host(HostLevel level, T* pixels, int n, T* sorted) {
  KASTOR_AT_LEVEL(sort_small<T>(pixels, n, sorted));
}

#define KASTOR_INSTANTIATE(T)                                                                     \
  template void copy_finite_on_host<T>(HostLevel, const T*, std::int64_t, T*);                    \
  template HostExtent<T> extent_on_host<T>(HostLevel, T, T, const T*, std::int64_t);              \
  template void count_below_on_host<T>(HostLevel, const T(&)[3], const T*, std::int64_t,          \
                                       std::int64_t(&)[3]);                                       \
  template void add_interval_on_host<T>(HostLevel, const T*, std::int64_t, HostIntervalSums<T>&); \
  template int take_between_on_host<T>(HostLevel, T, T, const T*, std::int64_t, T*, int);         \
  template void sort_on_host<T>(HostLevel, T*, int, T*);
KASTOR_INSTANTIATE(float)
KASTOR_INSTANTIATE(double)

}  // namespace kastor::detail
