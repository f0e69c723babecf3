// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SCAN_HOST_HPP
#define KASTOR_DETAIL_SCAN_HOST_HPP

#include <cstdint>
#include <kastor/detail/host_level.hpp>

/// The read of the image that clipping needs, on a host. Knows nothing of Kokkos, so that it is
/// always compiled as plain C++, for several instruction sets.
namespace kastor::detail {

template <class T>
struct HostScan {
  T low_edge, high_edge;
  T window_low, window_high;
  T middle;
  double centre, scale;
  T candidate;
};
struct HostScanSums {
  std::int64_t inside = 0;
  std::int64_t below = 0;
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;
};
template <class T>
struct HostLists {
  T* tails;
  T* window;
  std::int64_t in_tails = 0;
  std::int64_t in_window = 0;
};
template <class T>
void scan_on_host(HostLevel level, const HostScan<T>& scan, const T* pixels, std::int64_t n,
                  HostScanSums& sums, HostLists<T>& lists, std::uint64_t* bits);

}  // namespace kastor::detail

#endif
