// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MAP_BOUNDS_HPP
#define KASTOR_DETAIL_MAP_BOUNDS_HPP

#include <cstdint>
#include <kastor/detail/map_along_row.hpp>
#include <kastor/pixel_map.hpp>

/// What a map cannot leave within a patch of pixels, so that most pixels are judged without
/// evaluating it.
namespace kastor::detail {

/// Pixels, both ends inside.
struct Patch {
  std::int64_t y_first, y_last, x_first, x_last;
};

/// Arithmetic of intervals. `size` bounds the magnitude of every number that takes part in an
/// evaluation: so many roundings, each of at most 2^-53 of it, are all that computed numbers can be
/// off.
struct Bounds {
  double low = 0;
  double high = 0;
  double size = 0;

  [[nodiscard]] KOKKOS_FUNCTION static Bounds of(double value) {
    return {value, value, Kokkos::fabs(value)};
  }
  KOKKOS_FUNCTION void hull(const Bounds& other) {
    low = other.low < low ? other.low : low;
    high = other.high > high ? other.high : high;
    widen(other.size);
  }
  KOKKOS_FUNCTION void raise_to(const Bounds& other) {
    low = other.low > low ? other.low : low;
    high = other.high > high ? other.high : high;
    widen(other.size);
  }
  /// A NaN stays.
  KOKKOS_FUNCTION void widen(double other_size) {
    if (!(other_size <= size) && size == size) size = other_size;
  }
  /// If not, low and high mean nothing.
  [[nodiscard]] KOKKOS_FUNCTION bool finite() const { return size < 1e300; }
};

/// The weights of a cubic (`MeshSurface::Place::cubic`) for t from one number to another: s and t
/// themselves at both ends, between which they are linear, and the ranges of p = s^3 - s and q =
/// t^3 - t, whose extremes lie at the ends or at -+1/sqrt(3), where they are +-2/sqrt(27).
class CubicWeights {
 public:
  KOKKOS_FUNCTION CubicWeights(double t0, double t1) : m_t0(t0), m_t1(t1) {
    range_of_cubic(1 - t1, 1 - t0, m_p_low, m_p_high);
    range_of_cubic(t0, t1, m_q_low, m_q_high);
    m_s_size = larger(Kokkos::fabs(1 - t0), Kokkos::fabs(1 - t1));
    m_t_size = larger(Kokkos::fabs(t0), Kokkos::fabs(t1));
  }

  /// Of s a + t b + (p a'' + q b'') / 6 for these numbers.
  [[nodiscard]] KOKKOS_FUNCTION Bounds cubic(double a, double b, double d2a, double d2b) const {
    const double at_0 = (1 - m_t0) * a + m_t0 * b;
    const double at_1 = (1 - m_t1) * a + m_t1 * b;
    const double pa = m_p_low * d2a, pb = m_p_high * d2a;
    const double qa = m_q_low * d2b, qb = m_q_high * d2b;
    Bounds result;
    result.low = smaller(at_0, at_1) + sixth * (smaller(pa, pb) + smaller(qa, qb));
    result.high = larger(at_0, at_1) + sixth * (larger(pa, pb) + larger(qa, qb));
    result.size = size_of(Kokkos::fabs(a), Kokkos::fabs(b), Kokkos::fabs(d2a), Kokkos::fabs(d2b));
    return result;
  }
  /// The same for any a, b, a'', b'' within their bounds. The first half
  /// is linear in t and in a, b: its extremes lie at the ends of all three.
  [[nodiscard]] KOKKOS_FUNCTION Bounds cubic(const Bounds& a, const Bounds& b, const Bounds& d2a,
                                             const Bounds& d2b) const {
    Bounds result = linear_at(m_t0, a, b);
    result.hull(linear_at(m_t1, a, b));
    double low = 0;
    double high = 0;
    add_product(m_p_low, m_p_high, d2a, low, high);
    add_product(m_q_low, m_q_high, d2b, low, high);
    result.low += sixth * low;
    result.high += sixth * high;
    result.size = size_of(a.size, b.size, d2a.size, d2b.size);
    return result;
  }

 private:
  /// A product instead of a quotient: a device divides in some 20 instructions. One rounding more.
  static constexpr double sixth = 1.0 / 6;

  [[nodiscard]] KOKKOS_FUNCTION double size_of(double a, double b, double d2a, double d2b) const {
    return m_s_size * a + m_t_size * b +
           sixth * ((m_s_size * m_s_size + 1) * m_s_size * d2a +
                    (m_t_size * m_t_size + 1) * m_t_size * d2b);
  }
  [[nodiscard]] KOKKOS_FUNCTION static double larger(double a, double b) { return a > b ? a : b; }
  [[nodiscard]] KOKKOS_FUNCTION static double smaller(double a, double b) { return a < b ? a : b; }

  /// Of x^3 - x, slightly too wide.
  KOKKOS_FUNCTION static void range_of_cubic(double x0, double x1, double& low, double& high) {
    constexpr double near_extreme = 0.57;
    constexpr double beyond_extreme = 0.58;
    constexpr double extreme = 0.385;
    const double at_0 = x0 * x0 * x0 - x0;
    const double at_1 = x1 * x1 * x1 - x1;
    low = smaller(at_0, at_1);
    high = larger(at_0, at_1);
    if (x0 < beyond_extreme && x1 > near_extreme) low = smaller(low, -extreme);
    if (x0 < -near_extreme && x1 > -beyond_extreme) high = larger(high, extreme);
  }
  [[nodiscard]] KOKKOS_FUNCTION static Bounds linear_at(double t, const Bounds& a,
                                                        const Bounds& b) {
    const double s = 1 - t;
    return {(s > 0 ? s * a.low : s * a.high) + (t > 0 ? t * b.low : t * b.high),
            (s > 0 ? s * a.high : s * a.low) + (t > 0 ? t * b.high : t * b.low), 0};
  }
  KOKKOS_FUNCTION static void add_product(double w_low, double w_high, const Bounds& x, double& low,
                                          double& high) {
    const double a = w_low * x.low;
    const double b = w_low * x.high;
    const double c = w_high * x.low;
    const double d = w_high * x.high;
    low += smaller(smaller(a, b), smaller(c, d));
    high += larger(larger(a, b), larger(c, d));
  }

  double m_t0, m_t1;
  double m_p_low = 0, m_p_high = 0;  ///< of s^3 - s
  double m_q_low = 0, m_q_high = 0;  ///< of t^3 - t
  double m_s_size, m_t_size;
};

/// Along one axis: the pixels of a patch from one node to the next.
template <class Exec>
struct NodeSteps {
  using Place = typename MeshSurface<Exec>::Place;
  Place begin;
  Place end;

  /// Places of pixels are monotone, computed ones too.
  [[nodiscard]] KOKKOS_FUNCTION CubicWeights weights(std::int64_t node) const {
    return CubicWeights(node == begin.first ? begin.t : 0, node == end.first ? end.t : 1);
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t next(std::int64_t node) const {
    return node + (begin.second - begin.first);
  }
};

/// Of a surface between two rows of nodes, in a column of them.
struct BoundsOfColumn {
  Bounds values;
  Bounds second;  ///< derivatives along x
  Bounds half;    ///< of the nodes' values

  template <class Exec>
  KOKKOS_FUNCTION BoundsOfColumn(const MeshSurface<Exec>& surface, const CubicWeights& along_y,
                                 std::int64_t j, std::int64_t next_j, std::int64_t i) {
    const MeshNode& a = surface.nodes(j, i);
    const MeshNode& b = surface.nodes(next_j, i);
    values = along_y.cubic(a.value, b.value, a.d2y, b.d2y);
    second = along_y.cubic(a.d2x, b.d2x, a.d2x2y, b.d2x2y);
    half = Bounds::of(0.5 * a.value);
    half.hull(Bounds::of(0.5 * b.value));
  }
};

/// Of N surfaces over one mesh. First along y and then along x, as the surfaces themselves. An
/// evaluation takes fewer than 100 operations, and so do its bounds: 2^-44 of `size` covers the
/// roundings of both.
template <int N, class Exec>
KOKKOS_FUNCTION void bound(const MeshSurface<Exec>* const (&surfaces)[N], const Patch& patch,
                           Bounds (&results)[N]) {
  const MeshSurface<Exec>& mesh = *surfaces[0];
  const NodeSteps<Exec> rows{mesh.row(patch.y_first), mesh.row(patch.y_last)};
  const NodeSteps<Exec> columns{mesh.column(patch.x_first), mesh.column(patch.x_last)};
  bool any = false;
  for (std::int64_t i = columns.begin.first; i <= columns.end.first; ++i) {
    const CubicWeights along_x = columns.weights(i);
    for (std::int64_t j = rows.begin.first; j <= rows.end.first; ++j) {
      const CubicWeights along_y = rows.weights(j);
      for (int n = 0; n < N; ++n) {
        const MeshSurface<Exec>& surface = *surfaces[n];
        const BoundsOfColumn left(surface, along_y, j, rows.next(j), i);
        const BoundsOfColumn right(surface, along_y, j, rows.next(j), columns.next(i));
        Bounds here = along_x.cubic(left.values, right.values, left.second, right.second);
        if (surface.positive) {
          Bounds least = left.half;
          least.hull(right.half);
          here.raise_to(least);
        }
        if (any) {
          results[n].hull(here);
        } else {
          results[n] = here;
        }
      }
      any = true;
    }
  }
  for (Bounds& result : results) {
    const double slack = result.size * 0x1p-44;
    result.low -= slack;
    result.high += slack;
  }
}

template <class Exec>
[[nodiscard]] KOKKOS_FUNCTION Bounds bounds_of(const MeshSurface<Exec>& surface,
                                               const Patch& patch) {
  const MeshSurface<Exec>* const surfaces[] = {&surface};
  Bounds result[1];
  bound(surfaces, patch, result);
  return result[0];
}

template <class Exec, Real T>
[[nodiscard]] KOKKOS_FUNCTION Bounds bounds_of(const PixelMap<Exec, T>& map, const Patch& patch) {
  using Kind = typename PixelMap<Exec, T>::Kind;
  if (map.kind() == Kind::surface) return bounds_of(map.surface(), patch);
  if (map.kind() == Kind::constant) return Bounds::of(map.constant());
  return Bounds::of(Kokkos::Experimental::quiet_NaN_v<double>);  // the image is read but once
}

struct BackgroundBounds {
  Bounds level, rms;
};

template <class Exec, Real T>
[[nodiscard]] KOKKOS_FUNCTION BackgroundBounds bounds_of(const Background<Exec, T>& background,
                                                         const Patch& patch) {
  using Kind = typename PixelMap<Exec, T>::Kind;
  if (background.level.kind() == Kind::surface && background.rms.kind() == Kind::surface &&
      have_one_mesh(background.level.surface(), background.rms.surface())) {
    const MeshSurface<Exec>* const surfaces[] = {&background.level.surface(),
                                                 &background.rms.surface()};
    Bounds both[2];
    bound(surfaces, patch, both);
    return {both[0], both[1]};
  }
  return {bounds_of(background.level, patch), bounds_of(background.rms, patch)};
}

}  // namespace kastor::detail

#endif
