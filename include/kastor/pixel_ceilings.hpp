// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PIXEL_CEILINGS_HPP
#define KASTOR_PIXEL_CEILINGS_HPP

#include <cstdint>
#include <kastor/image.hpp>

namespace kastor {

/// For every pixel of an image a number that it does not exceed, shared by some neighbours: the
/// largest of them, or infinity where one of them may be blank. Who looks for bright pixels in the
/// same image need not read the others once more.
///
/// `BackgroundEstimator` leaves them until its next call, on devices, of images of floats in one
/// band, of so many cells that each is a warp's (some thousand), 64 pixels wide and 32 or 64 high,
/// in rows that begin at multiples of 16 bytes, without excluded pixels and with a kappa of at
/// least 2.4. `IslandFinder` makes use of them if it is not asked for negative islands and no map
/// is an image; its results are the same in any case. Of other pixels than those that they were
/// left of, ceilings are wrong, and so are the islands.
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
