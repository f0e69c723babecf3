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

template <class T>
std::int64_t not_above_at(HostLevel level, T bound, const T* pixels, std::int64_t blocks,
                          const std::uint64_t* words, MarkedBits* found) {
  KASTOR_RETURN_AT_LEVEL(level, not_above_blocks<T>(bound, pixels, blocks, words, found));
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

template <class T>
std::int64_t find_not_above_on_host(HostLevel level, T bound, const T* pixels, std::int64_t n,
                                    const std::uint64_t* words, MarkedBits* found) {
  const std::int64_t blocks = n / 64, rest = n % 64;
  std::int64_t count = not_above_at(level, bound, pixels, blocks, words, found);
  if (rest == 0 || words[blocks] == 0) return count;
  std::uint64_t bits = 0;
  for (std::int64_t k = 0; k < rest; ++k)
    bits |= std::uint64_t{pixels[64 * blocks + k] > bound ? 0U : 1U} << k;
  found[count] = {blocks, words[blocks] & bits};
  return count + (found[count].bits != 0 ? 1 : 0);
}

#define KASTOR_INSTANTIATE(T)                                                                  \
  template void threshold_on_host<T>(HostLevel, T, T, const T*, std::int64_t, std::uint64_t*); \
  template std::int64_t find_not_above_on_host<T>(HostLevel, T, const T*, std::int64_t,        \
                                                  const std::uint64_t*, MarkedBits*);
KASTOR_INSTANTIATE(float)
KASTOR_INSTANTIATE(double)

}  // namespace kastor::detail
