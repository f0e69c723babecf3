// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <kastor/detail/threshold_host.hpp>
#include <limits>

#include "plain_vectors.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

namespace baseline {
#define KASTOR_TARGET
#include "threshold_host_loop.hpp"
#undef KASTOR_TARGET
}  // namespace baseline
#if KASTOR_HAS_X86_LEVELS
namespace avx2 {
#define KASTOR_TARGET KASTOR_AVX2
#include "threshold_host_loop.hpp"
#undef KASTOR_TARGET
}  // namespace avx2
namespace avx512 {
#define KASTOR_TARGET KASTOR_AVX512
#include "threshold_host_loop.hpp"
#undef KASTOR_TARGET
}  // namespace avx512
#endif

template <class T>
using ThresholdBlocks = void (*)(T, T, const T*, std::int64_t, std::uint64_t*);

template <class T>
ThresholdBlocks<T> threshold_blocks_at(HostLevel level) {
#if KASTOR_HAS_X86_LEVELS
  if (level == HostLevel::avx512) return avx512::threshold_blocks<Avx512<T>, T>;
  if (level == HostLevel::avx2) return avx2::threshold_blocks<Avx2<T>, T>;
  return baseline::threshold_blocks<Sse2<T>, T>;
#else
  static_cast<void>(level);
  return baseline::threshold_blocks<Plain<T>, T>;
#endif
}

}  // namespace

template <class T>
void threshold_on_host(HostLevel level, T low, T high, const T* pixels, std::int64_t n,
                       std::uint64_t* words) {
  const ThresholdBlocks<T> threshold_blocks = threshold_blocks_at<T>(level);
  const std::int64_t blocks = n / 64, rest = n % 64;
  threshold_blocks(low, high, pixels, blocks, words);
  if (rest == 0) return;
  T last[64];
  std::fill(std::copy_n(pixels + 64 * blocks, rest, last), last + 64,
            std::numeric_limits<T>::quiet_NaN());
  threshold_blocks(low, high, last, 1, words + blocks);
}

template void threshold_on_host<float>(HostLevel, float, float, const float*, std::int64_t,
                                       std::uint64_t*);
template void threshold_on_host<double>(HostLevel, double, double, const double*, std::int64_t,
                                        std::uint64_t*);

}  // namespace kastor::detail
