// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLANDS_MAP_BOUNDS_HPP
#define KASTOR_ISLANDS_MAP_BOUNDS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/pixel_map.hpp>

#include "core/interval.hpp"
#include "core/ordered_key.hpp"

/// Bounds of a map within a patch of pixels, so that most pixels are classified without evaluating
/// it.
namespace kastor::detail {

/// Like fmax and fmin, which on a CPU are function calls because of NaN.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double larger(double a, double b) { return a > b ? a : b; }
[[nodiscard]] KOKKOS_INLINE_FUNCTION double smaller(double a, double b) { return a < b ? a : b; }

/// A rectangle of pixels, both ends included.
struct Patch {
  std::int64_t y_first, y_last, x_first, x_last;
};

/// Bounds of the computed values of a map, including rounding.
struct Bounds {
  double low = Kokkos::Experimental::infinity_v<double>;
  double high = -Kokkos::Experimental::infinity_v<double>;
  bool known = false;  ///< if false, low and high have no meaning

  KOKKOS_FUNCTION void include(double value) {
    low = smaller(low, value);
    high = larger(high, value);
  }
};

/// A patch along one axis: the positions of its first and last pixel, and of the nodes in between.
/// Between two successive positions a surface is a single cubic. The computed positions of pixels
/// are monotone, too.
template <class Exec>
class PlacesOfPatch {
 public:
  using Place = typename MeshSurface<Exec>::Place;

  KOKKOS_FUNCTION PlacesOfPatch(const Place& first, const Place& last)
      : m_first(first), m_last(last) {
    const std::int64_t steps = last.first - first.first;
    const double most = larger(1 - first.t, last.t);
    step = steps == 0 ? last.t - first.t : (steps == 1 ? most : larger(most, 1.0));
    const double beyond = larger(0.0, larger(-first.t, last.t - 1));
    linear = 1 + 2 * beyond;
    cubic = 0.125 + beyond * (1 + beyond) * (1 + beyond);
  }

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const {
    return m_last.first - m_first.first + 2;
  }
  [[nodiscard]] KOKKOS_FUNCTION Place operator[](std::int64_t i) const {
    if (i == 0) return m_first;
    if (i == count() - 1) return m_last;
    Place node;
    node.first = m_first.first + i;
    node.second = node.first + 1;
    return node;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t first_node() const { return m_first.first; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t last_node() const { return m_last.second; }

  double step;    ///< largest distance between successive positions [cell]
  double linear;  ///< upper bound of |s| + |t| over all pixels, see `MeshSurface::Place::cubic`
  double cubic;   ///< upper bound of (|s^3 - s| + |t^3 - t|) / 6 over all pixels

 private:
  Place m_first, m_last;
};

/// Extremes of the nodes around a patch.
struct NodesOfPatch {
  double value_min = Kokkos::Experimental::infinity_v<double>;
  double value_max = -Kokkos::Experimental::infinity_v<double>;
  double d2x = 0;  ///< largest |d2x|; likewise below
  double d2y = 0;
  double d2x2y = 0;
  double sum = 0;  ///< sum of all magnitudes; not finite if one of them is not

  KOKKOS_FUNCTION void include(const MeshNode& node) {
    value_min = smaller(value_min, node.value);
    value_max = larger(value_max, node.value);
    d2x = larger(d2x, Kokkos::fabs(node.d2x));
    d2y = larger(d2y, Kokkos::fabs(node.d2y));
    d2x2y = larger(d2x2y, Kokkos::fabs(node.d2x2y));
    sum += Kokkos::fabs(node.value) + Kokkos::fabs(node.d2x) + Kokkos::fabs(node.d2y) +
           Kokkos::fabs(node.d2x2y);
  }
};

/// In a rectangle of w x h cells without a node inside, a surface f differs by at most w^2/8
/// max|f_xx| + h^2/8 max|f_yy| from the bilinear surface through its corners, which lies between
/// the corner values. Along x, f_xx is linear between two values, each of which is a cubic along y
/// through d2x and d2x2y. So both maxima are bounded by the largest weights times the largest
/// nodes. An evaluation has fewer than 100 roundings, each of at most 2^-53 of the largest number
/// in it; a margin of 2^-42 of that number is more than enough.
template <class Exec>
[[nodiscard]] KOKKOS_FUNCTION Bounds bounds_of(const MeshSurface<Exec>& surface,
                                               const Patch& patch) {
  const PlacesOfPatch<Exec> rows(surface.row(patch.y_first), surface.row(patch.y_last));
  const PlacesOfPatch<Exec> columns(surface.column(patch.x_first), surface.column(patch.x_last));
  NodesOfPatch nodes;
  for (std::int64_t j = rows.first_node(); j <= rows.last_node(); ++j) {
    for (std::int64_t i = columns.first_node(); i <= columns.last_node(); ++i)
      nodes.include(surface.nodes(j, i));
  }
  const double size =
      nodes.sum * (rows.linear + 6 * rows.cubic) * (columns.linear + 6 * columns.cubic);
  if (!(size < 1e300)) return {};

  Bounds bounds;
  bounds.known = true;
  for (std::int64_t j = 0; j < rows.count(); ++j) {
    for (std::int64_t i = 0; i < columns.count(); ++i) {
      const auto column = columns[i];
      const auto span = surface.between(rows[j], column);
      bounds.include(column.cubic(span.left, span.right, span.left_d2, span.right_d2));
    }
  }
  const double f_xx = columns.linear * (rows.linear * nodes.d2x + rows.cubic * nodes.d2x2y);
  const double f_yy = rows.linear * (columns.linear * nodes.d2y + columns.cubic * nodes.d2x2y);
  const double slack = 0.125 * (columns.step * columns.step * f_xx + rows.step * rows.step * f_yy);
  bounds.low -= slack;
  bounds.high += slack;
  if (surface.positive) {
    bounds.low = larger(bounds.low, 0.5 * nodes.value_min);
    bounds.high = larger(bounds.high, 0.5 * nodes.value_max);
  }
  bounds.low -= 0x1p-42 * size;
  bounds.high += 0x1p-42 * size;
  return bounds;
}

/// Bounds of the pixels of an image. As ordered keys, NaN lies beyond both infinities.
template <class Exec, Real T>
[[nodiscard]] KOKKOS_FUNCTION Bounds bounds_of(const ConstImage<T, Exec>& image,
                                               const Patch& patch) {
  core::Key<T> low = ~core::Key<T>{0}, high = 0;
  for (std::int64_t y = patch.y_first; y <= patch.y_last; ++y) {
    const T* const row = &image(y, 0);
    for (std::int64_t x = patch.x_first; x <= patch.x_last; ++x) {
      const core::Key<T> key = core::key_of(row[x]);
      low = key < low ? key : low;
      high = key > high ? key : high;
    }
  }
  Bounds bounds;
  bounds.low = static_cast<double>(core::value_of<T>(low));
  bounds.high = static_cast<double>(core::value_of<T>(high));
  bounds.known = core::is_finite(bounds.low) && core::is_finite(bounds.high);
  return bounds;
}

template <class Exec, Real T>
[[nodiscard]] KOKKOS_FUNCTION Bounds bounds_of(const PixelMap<Exec, T>& map, const Patch& patch) {
  using Kind = typename PixelMap<Exec, T>::Kind;
  if (map.kind() == Kind::surface) return bounds_of(map.surface(), patch);
  if (map.kind() == Kind::image) return bounds_of<Exec, T>(map.image(), patch);
  return {map.constant(), map.constant(), core::is_finite(map.constant())};
}

}  // namespace kastor::detail

#endif
