// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_MAP_WALK_HPP
#define KASTOR_BACKGROUND_MAP_WALK_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/pixel_map.hpp>

namespace kastor::detail {

/// Evaluates a map at one pixel after another, with the same bits as the map itself. What is
/// constant from one node of a surface to the next is cached, so that neighbours in a row are
/// cheap.
template <class Exec, Real T>
class MapWalk {
 public:
  KOKKOS_FUNCTION explicit MapWalk(const PixelMap<Exec, T>& map) : m_map(map) {}

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double operator()(std::int64_t y, std::int64_t x) {
    if (m_map.kind() != PixelMap<Exec, T>::Kind::surface) return m_map(y, x);
    const MeshSurface<Exec>& surface = m_map.surface();
    const auto column = surface.column(x);
    if (y != m_y || column.first != m_first) {
      if (y != m_y) m_row = surface.row(y);
      m_y = y;
      m_first = column.first;
      m_span = surface.between(m_row, column);
    }
    return m_span.at(column);
  }

 private:
  using Surface = MeshSurface<Exec>;
  const PixelMap<Exec, T>& m_map;
  std::int64_t m_y = -1;
  std::int64_t m_first = -1;  ///< node on the left of m_span
  typename Surface::Place m_row;
  typename Surface::Span m_span;
};

}  // namespace kastor::detail

#endif
