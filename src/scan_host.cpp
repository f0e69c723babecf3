// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <kastor/detail/grid_magic.hpp>
#include <kastor/detail/scan_host.hpp>
#include <kastor/detail/threshold_host.hpp>
#include <limits>

#include "plain_vectors.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

/// A list under construction. Copies, not references: a store to the list could otherwise change
/// them, for all that the compiler knows.
template <class T>
struct Appender {
  T* list;
  std::int64_t n;

  Appender(T* l, std::int64_t in_list) : list(l), n(in_list) {}

  /// Appends those of 64 pixels whose bits are set: usually a few, so four are written in any case
  /// rather than mispredict the end of a loop.
  [[gnu::always_inline]] void append(const T* pixels, std::uint64_t bits) {
    constexpr int always = 4;
    const int found = std::popcount(bits);
    T* end = list + n;
    for (int k = 0; k < always; ++k, bits &= bits - 1)
      end[k] = pixels[std::countr_zero(bits | std::uint64_t{1} << 63)];
    n += found;
    if (found > always) [[unlikely]] {
      for (end += always; bits != 0; bits &= bits - 1) *end++ = pixels[std::countr_zero(bits)];
    }
  }
};

namespace plain {
#define KASTOR_TARGET
#include "scan_host_loop.hpp"
#undef KASTOR_TARGET
}  // namespace plain
#if KASTOR_HAS_X86_LEVELS
namespace avx2 {
#define KASTOR_TARGET KASTOR_AVX2
#include "scan_host_loop.hpp"
#undef KASTOR_TARGET
}  // namespace avx2
namespace avx512 {
#define KASTOR_TARGET KASTOR_AVX512
#include "scan_host_loop.hpp"
#undef KASTOR_TARGET
}  // namespace avx512
#endif

template <class T>
using ScanBlocks = void (*)(const HostScan<T>&, const T*, std::int64_t, HostScanSums&,
                            HostLists<T>&, std::uint64_t*);

template <class T>
ScanBlocks<T> scan_blocks_at(HostLevel level) {
#if KASTOR_HAS_X86_LEVELS
  if (level == HostLevel::avx512) return avx512::scan_blocks<Avx512<T>, T>;
  if (level == HostLevel::avx2) return avx2::scan_blocks<Avx2<T>, T>;
#endif
  return plain::scan_blocks<Plain<T>, T>;
}

}  // namespace

template <class T>
void scan_on_host(HostLevel level, const HostScan<T>& scan, const T* pixels, std::int64_t n,
                  HostScanSums& sums, HostLists<T>& lists, std::uint64_t* bits) {
  const std::int64_t tails_before = lists.in_tails;
  const ScanBlocks<T> scan_blocks = scan_blocks_at<T>(level);
  const std::int64_t blocks = n / 64, rest = n % 64;
  scan_blocks(scan, pixels, blocks, sums, lists, bits);
  if (rest != 0) {
    // Filled up with NaN, which the list of tails then ends with.
    T last[64], last_tails[64 + 16], last_window[64 + 16];
    std::fill(std::copy_n(pixels + 64 * blocks, rest, last), last + 64,
              std::numeric_limits<T>::quiet_NaN());
    HostLists<T> last_lists{last_tails, last_window};
    scan_blocks(scan, last, 1, sums, last_lists, bits == nullptr ? nullptr : bits + blocks);
    const std::int64_t in_tails = last_lists.in_tails - (64 - rest);
    std::copy_n(last_tails, in_tails, lists.tails + lists.in_tails);
    std::copy_n(last_window, last_lists.in_window, lists.window + lists.in_window);
    lists.in_tails += in_tails;
    lists.in_window += last_lists.in_window;
    const auto bias =
        static_cast<std::uint64_t>(64 - rest) * static_cast<std::uint64_t>(grid_magic_bits);
    sums.sum -= bias;
    sums.squares -= bias;
  }

  // So far the tails have all that is not inside. Seldom there are NaN and infinities among them.
  constexpr T infinity = std::numeric_limits<T>::infinity();
  T* const tails_end = lists.tails + lists.in_tails;
  T* const finite_end = std::remove_if(lists.tails + tails_before, tails_end,
                                       [](T x) { return !((x > -infinity) & (x < infinity)); });
  lists.in_tails = finite_end - lists.tails;
  if (finite_end != tails_end && bits != nullptr)
    threshold_on_host(level, scan.candidate, infinity, pixels, n, bits);
}

template void scan_on_host<float>(HostLevel, const HostScan<float>&, const float*, std::int64_t,
                                  HostScanSums&, HostLists<float>&, std::uint64_t*);
template void scan_on_host<double>(HostLevel, const HostScan<double>&, const double*, std::int64_t,
                                   HostScanSums&, HostLists<double>&, std::uint64_t*);

}  // namespace kastor::detail
