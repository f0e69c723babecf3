// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <kastor/detail/mark_host.hpp>
#include <limits>

#include "plain_vectors.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

namespace baseline {
#define KASTOR_TARGET
#include "mark_host_loop.hpp"
#undef KASTOR_TARGET
}  // namespace baseline
#if KASTOR_HAS_X86_LEVELS
namespace avx2 {
#define KASTOR_TARGET KASTOR_AVX2
#include "mark_host_loop.hpp"
#undef KASTOR_TARGET
}  // namespace avx2
namespace avx512 {
#define KASTOR_TARGET KASTOR_AVX512
#include "mark_host_loop.hpp"
#undef KASTOR_TARGET
}  // namespace avx512
#endif

template <class T>
using MarkBlocks = void (*)(const PatchLimits<T>*, const T*, std::int64_t, std::uint64_t*,
                            std::uint64_t*, std::uint64_t*);

template <class T>
MarkBlocks<T> mark_blocks_at(HostLevel level) {
#if KASTOR_HAS_X86_LEVELS
  if (level == HostLevel::avx512) return avx512::mark_blocks<Avx512<T>, T>;
  if (level == HostLevel::avx2) return avx2::mark_blocks<Avx2<T>, T>;
  return baseline::mark_blocks<Sse2<T>, T>;
#else
  static_cast<void>(level);
  return baseline::mark_blocks<Plain<T>, T>;
#endif
}

}  // namespace

template <class T>
void mark_on_host(HostLevel level, const PatchLimits<T>* limits, const T* pixels, std::int64_t n,
                  std::uint64_t* finite, std::uint64_t* above, std::uint64_t* below) {
  const MarkBlocks<T> mark_blocks = mark_blocks_at<T>(level);
  const std::int64_t blocks = n / 64, rest = n % 64;
  mark_blocks(limits, pixels, blocks, finite, above, below);
  if (rest == 0) return;
  T last[64];
  std::fill(std::copy_n(pixels + 64 * blocks, rest, last), last + 64,
            std::numeric_limits<T>::quiet_NaN());
  mark_blocks(limits + blocks, last, 1, finite + blocks, above + blocks, below + blocks);
}

template void mark_on_host<float>(HostLevel, const PatchLimits<float>*, const float*, std::int64_t,
                                  std::uint64_t*, std::uint64_t*, std::uint64_t*);
template void mark_on_host<double>(HostLevel, const PatchLimits<double>*, const double*,
                                   std::int64_t, std::uint64_t*, std::uint64_t*, std::uint64_t*);

}  // namespace kastor::detail
