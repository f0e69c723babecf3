// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MAP_ALONG_ROW_HPP
#define KASTOR_DETAIL_MAP_ALONG_ROW_HPP

#include <kastor/pixel_map.hpp>

namespace kastor::detail {

/// A map's values along one row, in the bits of the map itself; what is the same from one node of a
/// surface to the next is kept. For pixels near one another, in any order.
template <class Exec, Real T>
class MapAlongRow {
 public:
  using Map = PixelMap<Exec, T>;
  using Surface = MeshSurface<Exec>;

  KOKKOS_FUNCTION MapAlongRow(const Map& map, std::int64_t y) : m_map(map), m_y(y) {
    if (map.kind() == Map::Kind::surface) m_row = map.surface().row(y);
  }

  [[nodiscard]] KOKKOS_FUNCTION double operator()(std::int64_t x) {
    if (m_map.kind() == Map::Kind::constant) return m_map.constant();
    if (m_map.kind() == Map::Kind::image) return static_cast<double>(m_map.image()(m_y, x));
    return at(m_map.surface().column(x));
  }

  /// Whether a column has one place in the surfaces of both.
  [[nodiscard]] KOKKOS_FUNCTION bool shares_columns(const MapAlongRow& other) const {
    if (m_map.kind() != Map::Kind::surface || other.m_map.kind() != Map::Kind::surface)
      return false;
    const Surface& a = m_map.surface();
    const Surface& b = other.m_map.surface();
    return a.cell_width == b.cell_width && a.nodes.extent(1) == b.nodes.extent(1);
  }
  /// Of a surface.
  [[nodiscard]] KOKKOS_FUNCTION double at(const typename Surface::Place& column) {
    if (column.first != m_first) {
      m_first = column.first;
      m_span = m_map.surface().between(m_row, column);
    }
    return m_span.at(column);
  }

 private:
  const Map& m_map;
  std::int64_t m_y;
  typename Surface::Place m_row;
  std::int64_t m_first = -1;  ///< node on the left of m_span
  typename Surface::Span m_span;
};

/// The deviation of pixels from a background, positive on the side that is asked for.
enum class Side { above, below };

[[nodiscard]] KOKKOS_INLINE_FUNCTION double deviation(Side side, double value, double level) {
  return side == Side::above ? value - level : level - value;
}

}  // namespace kastor::detail

#endif
