// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <kastor/detail/grid_magic.hpp>
#include <kastor/detail/scan_host.hpp>
#include <kastor/detail/threshold_host.hpp>
#include <limits>
#include <type_traits>

#include "appender.hpp"
#include "filled_block.hpp"
#include "plain_vectors.hpp"
#include "prefetch_pixels.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

#define KASTOR_LOOPS "scan_host_loop.hpp"
#include "loops_at_levels.hpp"
#undef KASTOR_LOOPS

template <class T>
void scan_blocks(HostLevel level, const HostScan<T>& scan, const T* pixels, std::int64_t blocks,
                 HostScanSums& sums, HostLists<T>& lists, std::uint64_t* bits) {
  KASTOR_RETURN_AT_LEVEL(level, scan_blocks<T>(scan, pixels, blocks, sums, lists, bits));
}

/// Nearly always; without a branch a pixel.
template <class T>
bool are_finite(const T* pixels, const T* end) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto exponent = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  Bits others = 0;
  for (; pixels != end; ++pixels)
    others |= (std::bit_cast<Bits>(*pixels) & exponent) == exponent ? Bits{1} : Bits{0};
  return others == 0;
}

}  // namespace

template <class T>
void scan_on_host(HostLevel level, const HostScan<T>& scan, const T* pixels, std::int64_t n,
                  HostScanSums& sums, HostLists<T>& lists, std::uint64_t* bits) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const auto finite = [](T x) { return (x > -infinity) & (x < infinity); };
  const std::int64_t blocks = n / 64, rest = n % 64;

  T* const tails = lists.tails + lists.in_tails;
  scan_blocks(level, scan, pixels, blocks, sums, lists, bits);
  T* const tails_end = lists.tails + lists.in_tails;
  T* const finite_end = are_finite(tails, tails_end)
                            ? tails_end
                            : std::remove_if(tails, tails_end, [&](T x) { return !finite(x); });
  lists.in_tails = finite_end - lists.tails;
  if (finite_end != tails_end && bits != nullptr)  // seldom
    threshold_on_host(level, scan.candidate, infinity, pixels, 64 * blocks, bits);
  if (rest == 0) return;

  const auto last = filled_block(pixels + 64 * blocks, rest);
  T last_tails[64 + 16], last_window[64 + 16];
  HostLists<T> last_lists{last_tails, last_window};
  scan_blocks(level, scan, last.data(), 1, sums, last_lists, nullptr);
  const auto bias =
      static_cast<std::uint64_t>(64 - rest) * static_cast<std::uint64_t>(grid_magic_bits);
  sums.sum -= bias;
  sums.squares -= bias;
  lists.in_tails =
      std::copy_if(last_tails, last_tails + last_lists.in_tails, finite_end, finite) - lists.tails;
  std::copy_n(last_window, last_lists.in_window, lists.window + lists.in_window);
  lists.in_window += last_lists.in_window;
  if (bits != nullptr)
    threshold_on_host(level, scan.candidate, infinity, pixels + 64 * blocks, rest, bits + blocks);
}

template void scan_on_host<float>(HostLevel, const HostScan<float>&, const float*, std::int64_t,
                                  HostScanSums&, HostLists<float>&, std::uint64_t*);
template void scan_on_host<double>(HostLevel, const HostScan<double>&, const double*, std::int64_t,
                                   HostScanSums&, HostLists<double>&, std::uint64_t*);

}  // namespace kastor::detail
