// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CELL_HOST_HPP
#define KASTOR_DETAIL_CELL_HOST_HPP

#include <cstdint>
#include <kastor/detail/host_level.hpp>

/// What a host does with all pixels of a cell. Knows nothing of Kokkos, so that it is always
/// compiled as plain C++, for several instruction sets; the same answers from all of them.
namespace kastor::detail {

/// Pixels come in blocks of so many.
inline constexpr std::int64_t cell_block = 64;

/// Count and extremes: infinities if there is none.
template <class T>
struct HostExtent {
  std::int64_t count = 0;
  T min, max;
};

/// Some rows; `following` pixels after each will be asked for next.
template <class T>
struct HostRows {
  const T* data;
  std::int64_t ny, nx, pitch;
  std::int64_t following;
};

/// Copies rows, below 2^30 pixels, to one after the other; NaN in place of infinities. The result
/// is of the finite ones.
template <class T>
HostExtent<T> copy_finite_on_host(HostLevel level, const HostRows<T>& rows, T* to);

/// Of the pixels strictly between the bounds. n: whole blocks, below 2^30.
template <class T>
[[nodiscard]] HostExtent<T> extent_on_host(HostLevel level, T low, T high, const T* pixels,
                                           std::int64_t n);

/// How many are below each threshold. n: whole blocks, below 2^30.
template <class T>
void count_below_on_host(HostLevel level, const T (&threshold)[3], const T* pixels, std::int64_t n,
                         std::int64_t (&below)[3]);

/// Pixels strictly between the bounds, and their u = (x - centre) * scale on the grid.
template <class T>
struct HostIntervalSums {
  T low, high;
  double centre, scale;
  std::int64_t count = 0;
  std::int64_t below = 0;     ///< pixels up to `low`
  std::uint64_t sum = 0;      ///< biased once for every pixel looked at
  std::uint64_t squares = 0;  ///< likewise
};

/// Looks at n pixels, any n.
template <class T>
void add_interval_on_host(HostLevel level, const T* pixels, std::int64_t n,
                          HostIntervalSums<T>& sums);

/// Copies the pixels strictly between the bounds; at most `room` of them, and 4 more places are
/// written. n: whole blocks. The result is their number.
template <class T>
[[nodiscard]] int take_between_on_host(HostLevel level, T low, T high, const T* pixels,
                                       std::int64_t n, T* taken, int room);

/// Puts some pixels in order. `pixels` has room for a block more, which is overwritten.
template <class T>
void sort_on_host(HostLevel level, T* pixels, int n, T* sorted);

}  // namespace kastor::detail

#endif
