// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_RASTER_WALK_HPP
#define KASTOR_CORE_RASTER_WALK_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

namespace kastor::core {

/// n / by for numbers that are not negative. On a device, a 32-bit division takes a fraction of the
/// time of a 64-bit one.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t quotient(std::int64_t n, std::int64_t by) {
  if (((n | by) >> 32) == 0) return static_cast<std::uint32_t>(n) / static_cast<std::uint32_t>(by);
  return n / by;
}

/// Walks through the places (y, x) of a raster in row order, a constant number of places at a time:
/// a thread's share of them, without a division for each. `Index` must be able to count all places.
template <class Index = std::int64_t>
class RasterWalk {
 public:
  /// Starts at place `first` of rows of `width` places, and advances by `step` places.
  KOKKOS_FUNCTION RasterWalk(Index first, std::type_identity_t<Index> step,
                             std::type_identity_t<Index> width)
      : m_width(width),
        m_y(static_cast<Index>(quotient(first, width))),
        m_x(first - m_y * width),
        m_step_y(static_cast<Index>(quotient(step, width))),
        m_step_x(step - m_step_y * width) {}

  [[nodiscard]] KOKKOS_FUNCTION Index y() const { return m_y; }
  [[nodiscard]] KOKKOS_FUNCTION Index x() const { return m_x; }
  KOKKOS_FUNCTION void step() {
    m_y += m_step_y;
    m_x += m_step_x;
    if (m_x >= m_width) {
      m_x -= m_width;
      ++m_y;
    }
  }

 private:
  Index m_width;
  Index m_y, m_x;
  Index m_step_y, m_step_x;
};

}  // namespace kastor::core

#endif
