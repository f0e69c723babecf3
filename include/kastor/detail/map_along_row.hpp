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
  using Place = typename Surface::Place;

  KOKKOS_FUNCTION MapAlongRow(const Map& map, std::int64_t y) : m_map(map), m_y(y) {
    if (map.kind() == Map::Kind::surface) m_row = map.surface().row(y);
  }

  /// `column`: of x in the map's surface; of no consequence if it is none.
  [[nodiscard]] KOKKOS_FUNCTION double operator()(std::int64_t x, const Place& column) {
    if (m_map.kind() == Map::Kind::constant) return m_map.constant();
    if (m_map.kind() == Map::Kind::image) return static_cast<double>(m_map.image()(m_y, x));
    if (column.first != m_first) {
      m_first = column.first;
      m_span = m_map.surface().between(m_row, column);
    }
    return m_span.at(column);
  }
  [[nodiscard]] KOKKOS_FUNCTION double operator()(std::int64_t x) { return (*this)(x, column(x)); }
  [[nodiscard]] KOKKOS_FUNCTION Place column(std::int64_t x) const {
    return m_map.kind() == Map::Kind::surface ? m_map.surface().column(x) : Place{};
  }
  /// Whether a column has one place in the surfaces of both.
  [[nodiscard]] KOKKOS_FUNCTION bool shares_columns(const MapAlongRow& other) const {
    if (m_map.kind() != Map::Kind::surface || other.m_map.kind() != Map::Kind::surface)
      return false;
    const Surface& a = m_map.surface();
    const Surface& b = other.m_map.surface();
    return a.cell_width == b.cell_width && a.nodes.extent(1) == b.nodes.extent(1);
  }

 private:
  const Map& m_map;
  std::int64_t m_y;
  Place m_row;
  std::int64_t m_first = -1;  ///< node on the left of m_span
  typename Surface::Span m_span;
};

struct LevelAndRms {
  double level, rms;
};

/// Both maps of a background along one row.
template <class Exec, Real T>
class BackgroundAlongRow {
 public:
  KOKKOS_FUNCTION BackgroundAlongRow(const Background<Exec, T>& background, std::int64_t y)
      : m_level(background.level, y),
        m_rms(background.rms, y),
        m_shares_columns(m_level.shares_columns(m_rms)) {}

  [[nodiscard]] KOKKOS_FUNCTION LevelAndRms operator()(std::int64_t x) {
    const auto column = m_level.column(x);
    const double level = m_level(x, column);
    return {level, m_rms(x, m_shares_columns ? column : m_rms.column(x))};
  }

 private:
  MapAlongRow<Exec, T> m_level, m_rms;
  bool m_shares_columns;
};

/// Whether both have nodes at the same places.
template <class Exec>
[[nodiscard]] KOKKOS_FUNCTION bool have_one_mesh(const MeshSurface<Exec>& a,
                                                 const MeshSurface<Exec>& b) {
  return a.cell_height == b.cell_height && a.cell_width == b.cell_width &&
         a.nodes.extent(0) == b.nodes.extent(0) && a.nodes.extent(1) == b.nodes.extent(1);
}

/// Both maps at one pixel, in their own bits. Where they have one mesh, the places in it are found
/// but once.
template <class Exec, Real T>
[[nodiscard]] KOKKOS_FUNCTION LevelAndRms both_at(const Background<Exec, T>& background,
                                                  std::int64_t y, std::int64_t x) {
  using Kind = typename PixelMap<Exec, T>::Kind;
  const PixelMap<Exec, T>& level = background.level;
  const PixelMap<Exec, T>& rms = background.rms;
  if (level.kind() != Kind::surface || rms.kind() != Kind::surface ||
      !have_one_mesh(level.surface(), rms.surface()))
    return {level(y, x), rms(y, x)};
  const auto row = level.surface().row(y);
  const auto column = level.surface().column(x);
  return {level.surface().between(row, column).at(column),
          rms.surface().between(row, column).at(column)};
}

/// The deviation of pixels from a background, positive on the side that is asked for.
enum class Side { above, below };

[[nodiscard]] KOKKOS_INLINE_FUNCTION double deviation(Side side, double value, double level) {
  return side == Side::above ? value - level : level - value;
}

}  // namespace kastor::detail

#endif
