// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CELL_HOST_HPP
#define KASTOR_DETAIL_CELL_HOST_HPP

#include <cstdint>
#include <kastor/detail/host_level.hpp>
#include <limits>

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

/// What rows are like that are copied as they are. The sums are not exact.
template <class T>
struct HostCopied {
  T clamp_low, clamp_high;
  T min = std::numeric_limits<T>::infinity();
  T max = -std::numeric_limits<T>::infinity();
  T sum = 0;      ///< not finite if a pixel is not
  T clamped = 0;  ///< sum of the pixels that are between the bounds, of the nearest bound if not
};

/// Copies rows to one after the other.
template <class T>
void copy_rows_on_host(HostLevel level, const HostRows<T>& rows, T* to, HostCopied<T>& copied);

/// Copies rows, below 2^30 pixels, to one after the other; NaN in place of infinities. The result
/// is of the finite ones.
template <class T>
HostExtent<T> copy_finite_on_host(HostLevel level, const HostRows<T>& rows, T* to);

/// Of the pixels strictly between the bounds. n: whole blocks, below 2^30.
template <class T>
[[nodiscard]] HostExtent<T> extent_on_host(HostLevel level, T low, T high, const T* pixels,
                                           std::int64_t n);

/// What is set aside, by x - centre, rounded once: the tails, pixels farther off than `far`; and a
/// window, the pixels not farther off than `near`.
template <class T>
struct HostSplit {
  T centre, near, far;
};

/// Room for all pixels and a block more. The order of the pixels is of no consequence.
template <class T>
struct HostCellLists {
  T* tails;
  T* window;
  std::int64_t in_tails = 0, in_window = 0;
  std::int64_t below_window = 0;  ///< pixels below the window
};

/// Fills the lists. n: whole blocks.
template <class T>
void split_on_host(HostLevel level, const HostSplit<T>& split, const T* pixels, std::int64_t n,
                   HostCellLists<T>& lists);

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

/// Adds up n pixels, whole blocks, that are all between the bounds.
template <class T>
void add_all_on_host(HostLevel level, const T* pixels, std::int64_t n, HostIntervalSums<T>& sums);

/// Looks at n pixels, whole blocks.
template <class T>
void add_interval_on_host(HostLevel level, const T* pixels, std::int64_t n,
                          HostIntervalSums<T>& sums);

/// Pixels that a narrower interval leaves out: above `from_low` up to `to_low`, and from `to_high`
/// on below `from_high`.
template <class T>
struct HostLeaving {
  T from_low, to_low, to_high, from_high;
  double centre, scale;
  std::int64_t count = 0;
  std::int64_t below = 0;     ///< those up to to_low
  std::uint64_t sum = 0;      ///< biased once for each
  std::uint64_t squares = 0;  ///< likewise
};

/// Looks at n pixels, whole blocks, few of which leave.
template <class T>
void add_leaving_on_host(HostLevel level, const T* pixels, std::int64_t n, HostLeaving<T>& leaving);

/// Pixels from `low` on and below `high`.
template <class T>
struct HostTaking {
  T low, middle, high;
  std::int64_t below = 0;         ///< pixels below `low`
  std::int64_t below_middle = 0;  ///< pixels below `middle`
  std::int64_t count = 0;
};

/// Copies them, unless they are more than `room`; a block more may be written. n: whole blocks.
template <class T>
void take_on_host(HostLevel level, const T* pixels, std::int64_t n, HostTaking<T>& taking, T* taken,
                  std::int64_t room);

/// Puts some pixels in order. `pixels` has room for a block more, which is overwritten.
template <class T>
void sort_on_host(HostLevel level, T* pixels, int n, T* sorted);

}  // namespace kastor::detail

#endif
