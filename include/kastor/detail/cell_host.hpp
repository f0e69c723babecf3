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

/// Copies n pixels; NaN in place of infinities. Any n.
template <class T>
void copy_finite_on_host(HostLevel level, const T* from, std::int64_t n, T* to);

/// Of the pixels strictly between the bounds. n: whole blocks, below 2^30.
template <class T>
[[nodiscard]] HostExtent<T> extent_on_host(HostLevel level, T low, T high, const T* pixels,
                                           std::int64_t n);

/// How many are below each threshold. n: whole blocks, below 2^30.
template <class T>
void count_below_on_host(HostLevel level, const T (&threshold)[3], const T* pixels, std::int64_t n,
                         std::int64_t (&below)[3]);

}  // namespace kastor::detail

#endif
