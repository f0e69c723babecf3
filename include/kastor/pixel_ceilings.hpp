// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PIXEL_CEILINGS_HPP
#define KASTOR_PIXEL_CEILINGS_HPP

#include <cstdint>
#include <kastor/image.hpp>

namespace kastor {

/// For every pixel of an image a number that it does not exceed, shared by some neighbours: the
/// largest of them, or infinity where one of them may be blank. `BackgroundEstimator` leaves them
/// of the image that it has read, on devices and for some shapes; who looks for bright pixels in
/// the same image need not read the others once more. Shallow: the View belongs to whoever made it.
template <class Exec, Real T>
struct PixelCeilings {
  std::int64_t ny = 0;  ///< of the image; 0: nothing is known
  std::int64_t nx = 0;  ///< of the image
  /// `detail::CeilingsOfCells` says in which order.
  Kokkos::View<const T*, typename Exec::memory_space> values;

  /// Whether nothing is known.
  [[nodiscard]] bool empty() const { return ny == 0; }
};

}  // namespace kastor

#endif
