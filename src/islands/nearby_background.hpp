// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLANDS_NEARBY_BACKGROUND_HPP
#define KASTOR_ISLANDS_NEARBY_BACKGROUND_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/pixel_map.hpp>

namespace kastor::detail {

/// Evaluates a map at one pixel after another, with the same bits as the map itself. What is
/// constant along a row between two nodes of a surface is cached, so that neighbours take a
/// fraction of the time.
template <class Exec, Real T>
class NearbyMap {
 public:
  using Map = PixelMap<Exec, T>;
  using Place = typename MeshSurface<Exec>::Place;

  KOKKOS_FUNCTION explicit NearbyMap(const Map& map) : m_map(map) {}

  [[nodiscard]] KOKKOS_FUNCTION bool is_surface() const {
    return m_map.kind() == Map::Kind::surface;
  }
  /// The position of column x on a surface.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION Place column(std::int64_t x) const {
    return m_map.surface().column(x);
  }
  /// `column`: the position of column x, if the map is a surface.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double operator()(std::int64_t y, std::int64_t x,
                                                              const Place& column) {
    if (is_surface()) return of_surface(y, column);
    if (m_map.kind() == Map::Kind::constant) return m_map.constant();
    return static_cast<double>(m_map.image()(y, x));
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION double operator()(std::int64_t y, std::int64_t x) {
    return (*this)(y, x, is_surface() ? column(x) : Place());
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION double of_surface(std::int64_t y, const Place& column) {
    const MeshSurface<Exec>& surface = m_map.surface();
    if (y != m_y || column.first != m_first) {
      m_y = y;
      m_first = column.first;
      m_span = surface.between(surface.row(y), column);
    }
    return m_span.at(column);
  }

  const Map& m_map;
  std::int64_t m_y = -1;
  std::int64_t m_first = -1;  ///< node on the left of m_span
  typename MeshSurface<Exec>::Span m_span;
};

struct LevelAndRms {
  double level, rms;

  /// Whether a pixel there can be used; otherwise it is blank.
  [[nodiscard]] KOKKOS_FUNCTION bool is_usable() const {
    constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
    return level > -infinity && level < infinity && rms > 0 && rms < infinity;
  }
};

/// Evaluates both maps of a background.
template <class Exec, Real T>
class NearbyBackground {
 public:
  KOKKOS_FUNCTION explicit NearbyBackground(const Background<Exec, T>& background)
      : m_level(background.level), m_rms(background.rms) {
    const auto &level = background.level.surface(), &rms = background.rms.surface();
    m_share_columns = m_level.is_surface() && m_rms.is_surface() &&
                      level.cell_width == rms.cell_width &&
                      level.nodes.extent(1) == rms.nodes.extent(1);
  }

  [[nodiscard]] KOKKOS_FUNCTION LevelAndRms operator()(std::int64_t y, std::int64_t x) {
    if (!m_share_columns) return {m_level(y, x), m_rms(y, x)};
    const auto column = m_level.column(x);
    return {m_level(y, x, column), m_rms(y, x, column)};
  }

 private:
  NearbyMap<Exec, T> m_level, m_rms;
  bool m_share_columns;  ///< the maps have the same columns, as those of one estimate do
};

/// The side of the background on which islands lie.
enum class Side { above, below };

/// The distance of a pixel from the level, positive on the given side.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double deviation(Side side, double value, double level) {
  return side == Side::above ? value - level : level - value;
}

}  // namespace kastor::detail

#endif
