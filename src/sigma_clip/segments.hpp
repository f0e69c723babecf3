// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_SEGMENTS_HPP
#define KASTOR_SIGMA_CLIP_SEGMENTS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/intrinsics.hpp"

namespace kastor::detail {

/// Where a group that reads the image puts the pixels that it gathers, in no order: those of the
/// window from the front, those of the tails from the back.
template <class T>
struct Segment {
  enum List { window, tails, lists };

  T* values;
  std::int64_t capacity;
  std::uint32_t* counts;  ///< (lists) pixels of each list, those without room too

  /// How many pixels it would have to hold. Beyond the capacity, pixels were lost.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t wanted() const {
    return std::int64_t{counts[window]} + counts[tails];
  }
  /// Pixel `i` of a list. Where pixels are lost, one may overwrite another of the other list.
  KOKKOS_FUNCTION void put(List list, std::uint32_t i, T x) const {
    if (i >= capacity) return;
    core::relaxed_store(values + (list == window ? std::int64_t{i} : capacity - 1 - i), x);
  }
  /// Of a segment that lost pixels both lists are empty.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t size(List list) const {
    return wanted() <= capacity ? counts[list] : 0;
  }
  /// The pixels of a list lie side by side.
  [[nodiscard]] KOKKOS_FUNCTION const T* begin(List list) const {
    return list == window ? values : values + capacity - size(tails);
  }
};

/// The segments of all groups.
template <class T>
struct Segments {
  T* values;
  std::int64_t capacity;  ///< of a segment
  std::uint32_t* counts;  ///< (Segment::lists x segments)
  std::int64_t segments;

  [[nodiscard]] KOKKOS_FUNCTION Segment<T> operator[](std::int64_t i) const {
    return {values + i * capacity, capacity, counts + Segment<T>::lists * i};
  }
};

}  // namespace kastor::detail

#endif
