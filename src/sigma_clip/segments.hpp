// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_SEGMENTS_HPP
#define KASTOR_SIGMA_CLIP_SEGMENTS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/intrinsics.hpp"

namespace kastor::detail {

/// The memory in which a group puts the pixels that it gathers from the image, in any order: those
/// of the window from the front, those of the tails from the back.
template <class T>
struct Segment {
  enum List { window, tails, lists };

  T* values;
  std::int64_t capacity;
  /// (lists) number of pixels of each list, including those that did not fit.
  std::uint32_t* counts;

  /// How many pixels it would have to hold. If they exceed the capacity, pixels were lost.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t wanted() const {
    return std::int64_t{counts[window]} + counts[tails];
  }
  /// Stores pixel `i` of a list. If pixels are lost, one may overwrite a pixel of the other list.
  KOKKOS_FUNCTION void put(List list, std::uint32_t i, T x) const {
    if (i >= capacity) return;
    core::relaxed_store(values + (list == window ? std::int64_t{i} : capacity - 1 - i), x);
  }
  /// Size of a list; 0 if the segment lost pixels.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t size(List list) const {
    return wanted() <= capacity ? counts[list] : 0;
  }
  /// The first of a list's pixels, which are contiguous.
  [[nodiscard]] KOKKOS_FUNCTION const T* begin(List list) const {
    return list == window ? values : values + capacity - size(tails);
  }
};

/// The segments of all groups.
template <class T>
struct Segments {
  T* values;
  std::int64_t capacity;  ///< pixels that fit into a segment
  std::uint32_t* counts;  ///< (Segment::lists x segments)
  std::int64_t segments;

  [[nodiscard]] KOKKOS_FUNCTION Segment<T> operator[](std::int64_t i) const {
    return {values + i * capacity, capacity, counts + Segment<T>::lists * i};
  }
};

}  // namespace kastor::detail

#endif
