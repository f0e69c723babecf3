// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_HOST_LISTS_HPP
#define KASTOR_DETAIL_HOST_LISTS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/cell_host.hpp>
#include <kastor/detail/work_shares.hpp>
#include <limits>
#include <string>

/// Lists of pixels that a host looks at again and again, in whole blocks filled up with NaN.
namespace kastor::detail {

/// Pixels that are looked at together.
inline constexpr std::int64_t host_list_part = 4096;
[[nodiscard]] inline std::int64_t list_parts(std::int64_t n) {
  return (n + host_list_part - 1) / host_list_part;
}

/// Asks for pixels: other threads have written them, and their caches answer slowly.
template <class T>
void fetch_pixels(const T* pixels, std::int64_t n) {
  constexpr std::int64_t in_line = 64 / sizeof(T);
  for (std::int64_t i = 0; i < n; i += in_line) __builtin_prefetch(pixels + i, 0, 2);
}
/// Asks for the part behind the first of n pixels.
template <class T>
void fetch_next_part(const T* pixels, std::int64_t n) {
  if (n > host_list_part)
    fetch_pixels(pixels + host_list_part, std::min(n - host_list_part, host_list_part));
}

[[nodiscard]] inline std::int64_t whole_blocks(std::int64_t n) {
  return (n + cell_block - 1) / cell_block * cell_block;
}
/// With NaN up to a whole block.
template <class T>
void fill_block(T* list, std::int64_t n) {
  std::fill(list + n, list + whole_blocks(n), std::numeric_limits<T>::quiet_NaN());
}

/// Places for n more at the end of a list. Exchanges that others may see take longer than all else
/// that is done for a few pixels.
[[nodiscard]] inline std::int64_t claim_places(std::int64_t* next, std::int64_t n, bool alone) {
  if (!alone) return Kokkos::atomic_fetch_add(next, n);
  const std::int64_t at = *next;
  *next += n;
  return at;
}

/// Joins functor(part, value) over all parts of a list: a thread does it alone if they are no more
/// than `few`, for to start others takes longer, and much longer where threads have to share cores.
template <class Exec, class Functor>
[[nodiscard]] typename Functor::value_type reduce_list(const std::string& label, const Exec& space,
                                                       std::int64_t parts, const Functor& functor,
                                                       std::int64_t few = 16) {
  if (parts > few && space.concurrency() > 1) return reduce_indices(label, space, parts, functor);
  typename Functor::value_type value;
  functor.init(value);
  for (std::int64_t part = 0; part < parts; ++part) functor(part, value);
  return value;
}

}  // namespace kastor::detail

#endif
