// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SCAN_HOST_HPP
#define KASTOR_DETAIL_SCAN_HOST_HPP

#include <cstdint>
#include <kastor/detail/host_level.hpp>

/// The read of the image that clipping and finding need, on a host. Knows nothing of Kokkos, so
/// that it is always compiled as plain C++, for several instruction sets.
namespace kastor::detail {

/// Where pixels go: those strictly between the edges are inside and go to the sums; of these, the
/// ones from `window_low` to `window_high` also to the window; finite ones that are not inside to
/// the tails; NaN and infinities nowhere. low_edge < window_low <= window_high < high_edge.
template <class T>
struct HostScan {
  T low_edge, high_edge;
  T window_low, window_high;
  T middle;              ///< an inside pixel whose u is 0: the centre
  double centre, scale;  ///< u = (x - centre) * scale, |u| <= 1 inside; a power of two
  T candidate;           ///< finite pixels above it are candidates
};

/// What was found, added up.
struct HostScanSums {
  std::int64_t inside = 0;
  std::int64_t below = 0;  ///< inside pixels below the window
  /// Of u over the inside pixels on the grid, biased once for every pixel scanned, inside or not.
  std::uint64_t sum = 0;
  std::uint64_t squares = 0;  ///< of u * u likewise
};

/// Room for as many pixels as are scanned, behind those listed before, and 16 more.
template <class T>
struct HostLists {
  T* tails;
  T* window;
  std::int64_t in_tails = 0;
  std::int64_t in_window = 0;
};

/// Scans n pixels, and adds to the sums and lists. The sums hold for up to 2^18 pixels. `bits`:
/// null, or ceil(n / 64) words that are overwritten: bit i % 64 of word i / 64 says whether pixel i
/// is a candidate, bits beyond n are 0. The same result at every level, but for the order within
/// the lists.
template <class T>
void scan_on_host(HostLevel level, const HostScan<T>& scan, const T* pixels, std::int64_t n,
                  HostScanSums& sums, HostLists<T>& lists, std::uint64_t* bits);

}  // namespace kastor::detail

#endif
