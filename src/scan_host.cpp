// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <kastor/detail/scan_host.hpp>
#include <limits>
namespace kastor::detail {
template <class T>
void scan_on_host(HostLevel, const HostScan<T>& s, const T* pixels, std::int64_t n,
                  HostScanSums& sums, HostLists<T>& lists, std::uint64_t* bits) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  if (bits) for (std::int64_t i = 0; i < (n + 63) / 64; ++i) bits[i] = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T x = pixels[i];
    const bool in = x > s.low_edge && x < s.high_edge;
    const double u = ((in ? static_cast<double>(x) : s.centre) - s.centre) * s.scale;
    sums.sum += std::bit_cast<std::uint64_t>(u + 384.0);
    sums.squares += std::bit_cast<std::uint64_t>(u * u + 384.0);
    sums.inside += in;
    sums.below += in && x < s.window_low;
    if (in && x >= s.window_low && x <= s.window_high) lists.window[lists.in_window++] = x;
    if (!in && x > -inf && x < inf) lists.tails[lists.in_tails++] = x;
    if (bits && x > s.candidate && x < inf) bits[i / 64] |= std::uint64_t{1} << (i % 64);
  }
}
template void scan_on_host<float>(HostLevel, const HostScan<float>&, const float*, std::int64_t, HostScanSums&, HostLists<float>&, std::uint64_t*);
template void scan_on_host<double>(HostLevel, const HostScan<double>&, const double*, std::int64_t, HostScanSums&, HostLists<double>&, std::uint64_t*);
}
