// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/mark_host.hpp>
#include <limits>

#include "filled_block.hpp"
#include "plain_vectors.hpp"
#include "prefetch_pixels.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

#define KASTOR_LOOPS "mark_host_loop.hpp"
#include "loops_at_levels.hpp"
#undef KASTOR_LOOPS

template <class T>
void mark_blocks(HostLevel level, const PatchLimits<T>* limits, const T* pixels,
                 std::int64_t blocks, std::uint64_t* finite, std::uint64_t* above,
                 std::uint64_t* below) {
  KASTOR_RETURN_AT_LEVEL(level, mark_blocks<T>(limits, pixels, blocks, finite, above, below));
}

}  // namespace

template <class T>
void mark_on_host(HostLevel level, const PatchLimits<T>* limits, const T* pixels, std::int64_t n,
                  std::uint64_t* finite, std::uint64_t* above, std::uint64_t* below) {
  const std::int64_t blocks = n / 64, rest = n % 64;
  mark_blocks(level, limits, pixels, blocks, finite, above, below);
  if (rest == 0) return;
  const auto last = filled_block(pixels + 64 * blocks, rest);
  mark_blocks(level, limits + blocks, last.data(), 1, finite + blocks, above + blocks,
              below == nullptr ? nullptr : below + blocks);
}

template void mark_on_host<float>(HostLevel, const PatchLimits<float>*, const float*, std::int64_t,
                                  std::uint64_t*, std::uint64_t*, std::uint64_t*);
template void mark_on_host<double>(HostLevel, const PatchLimits<double>*, const double*,
                                   std::int64_t, std::uint64_t*, std::uint64_t*, std::uint64_t*);

}  // namespace kastor::detail
