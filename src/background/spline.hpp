// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_SPLINE_HPP
#define KASTOR_BACKGROUND_SPLINE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>

#include "background/mesh.hpp"

/// Computes the second derivatives of two surfaces at their nodes: along y, then along x.
namespace kastor::detail {

/// The second derivative, at one of the nodes, of the natural cubic spline through equidistant
/// values: the solution of d[i-1] + 4 d[i] + d[i+1] = 6 (v[i-1] - 2 v[i] + v[i+1]) with d = 0 at
/// both ends. It is computed from the Green's function q^|i-j| / (2 sqrt 3), q = sqrt 3 - 2, where
/// the right side is continued as an odd function beyond the ends. Values more than 24 nodes away
/// have weights below 2e-14.
struct NaturalSpline {
  static constexpr std::int64_t reach = 24;
  const double* values;
  std::int64_t stride;  ///< distance between successive values [double]
  std::int64_t count;

  [[nodiscard]] KOKKOS_FUNCTION double second_derivative(std::int64_t i) const {
    if (is_end(i)) return 0;
    constexpr double q = -0.26794919243112270647;
    double weight = 0.28867513459481288225;
    double d = weight * right_side(i);
    for (std::int64_t m = 1; m <= reach; ++m) {
      weight *= q;
      d += weight * (right_side(i - m) + right_side(i + m));
    }
    return d;
  }

 private:
  /// The right side of the equation at value i, continued beyond the ends.
  [[nodiscard]] KOKKOS_FUNCTION double right_side(std::int64_t i) const {
    const std::int64_t last = count - 1;
    double sign = 1;
    while (i < 0 || i > last) {
      i = i < 0 ? -i : 2 * last - i;
      sign = -sign;
    }
    return is_end(i) ? 0.0 : sign * (6 * (value(i - 1) - 2 * value(i) + value(i + 1)));
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_end(std::int64_t i) const {
    return i == 0 || i == count - 1;
  }
  [[nodiscard]] KOKKOS_FUNCTION double value(std::int64_t i) const { return values[i * stride]; }
};

/// Second derivatives of one member of the nodes, along the columns or the rows of the mesh. Called
/// once per node of each map.
struct DifferentiateTwice {
  Shape mesh;
  BothNodes nodes;
  bool along_rows;
  double MeshNode::*from;
  double MeshNode::*to;

  [[nodiscard]] std::int64_t size() const { return 2 * mesh.ny * mesh.nx; }
  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    const bool is_level = k < mesh.ny * mesh.nx;
    MeshNode* const map = is_level ? nodes.level : nodes.rms;
    const std::int64_t i = is_level ? k : k - mesh.ny * mesh.nx;
    const std::int64_t y = i / mesh.nx, x = i % mesh.nx;
    constexpr std::int64_t doubles = sizeof(MeshNode) / sizeof(double);
    const NaturalSpline spline{&(map[along_rows ? y * mesh.nx : x].*from),
                               along_rows ? doubles : doubles * mesh.nx,
                               along_rows ? mesh.nx : mesh.ny};
    map[i].*to = spline.second_derivative(along_rows ? x : y);
  }
};

}  // namespace kastor::detail

#endif
