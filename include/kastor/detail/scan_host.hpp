// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SCAN_HOST_HPP
#define KASTOR_DETAIL_SCAN_HOST_HPP

#include <cstdint>
#include <kastor/detail/host_level.hpp>

/// The read of the image that clipping needs, on a host. Knows nothing of Kokkos, so that it is
/// always compiled as plain C++, for several instruction sets.
namespace kastor::detail {

/// Where pixels go: strictly between `low_edge` and `window_low`, or `window_high` and `high_edge`,
/// to the core's sums; from `window_low` to `window_high` to the window; finite ones beyond the
/// edges to the tails; the others nowhere.
template <class T>
struct HostScan {
  T low_edge, window_low, window_high, high_edge;
  T middle;  ///< a pixel value of the window: the centre of the sums
  double centre, scale;
};

/// What was found, added up.
struct HostScanSums {
  std::int64_t below = 0;  ///< core pixels below the window
  std::int64_t above = 0;  ///< core pixels above it
  std::uint64_t sum =
      0;  ///< of (x - centre) * scale over the core on the grid, biased once a pixel
  std::uint64_t squares = 0;  ///< of its squares
};

/// Room for as many pixels as are scanned, and 16 more.
template <class T>
struct HostLists {
  T* tails;
  T* window;
  std::int64_t in_tails = 0;
  std::int64_t in_window = 0;
};

/// Scans n pixels. The sums hold for up to 2^18 of them. The same result at every level, but for
/// the order within the lists.
template <class T>
void scan_on_host(HostLevel level, const HostScan<T>& scan, const T* pixels, std::int64_t n,
                  HostScanSums& sums, HostLists<T>& lists);

}  // namespace kastor::detail

#endif
