// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/threshold_host.hpp>

#include "filled_block.hpp"
#include "plain_vectors.hpp"
#include "prefetch_pixels.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

#define KASTOR_LOOPS "threshold_host_loop.hpp"
#include "loops_at_levels.hpp"
#undef KASTOR_LOOPS

template <class T>
void threshold_blocks(HostLevel level, T low, T high, const T* pixels, std::int64_t blocks,
                      std::uint64_t* words) {
  KASTOR_RETURN_AT_LEVEL(level, threshold_blocks<T>(low, high, pixels, blocks, words));
}

}  // namespace

template <class T>
void threshold_on_host(HostLevel level, T low, T high, const T* pixels, std::int64_t n,
                       std::uint64_t* words) {
  const std::int64_t blocks = n / 64, rest = n % 64;
  threshold_blocks(level, low, high, pixels, blocks, words);
  if (rest == 0) return;
  const auto last = filled_block(pixels + 64 * blocks, rest);
  threshold_blocks(level, low, high, last.data(), 1, words + blocks);
}

template void threshold_on_host<float>(HostLevel, float, float, const float*, std::int64_t,
                                       std::uint64_t*);
template void threshold_on_host<double>(HostLevel, double, double, const double*, std::int64_t,
                                        std::uint64_t*);

}  // namespace kastor::detail
