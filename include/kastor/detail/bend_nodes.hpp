// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_BEND_NODES_HPP
#define KASTOR_DETAIL_BEND_NODES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/background_mesh.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>

/// The derivatives of two surfaces at their nodes: along y, then along x.
namespace kastor::detail {

/// The second derivative of the natural cubic spline through equidistant values, at one of them:
/// the solution of d[i-1] + 4 d[i] + d[i+1] = 6 (v[i-1] - 2 v[i] + v[i+1]), d = 0 at both ends, by
/// its Green's function q^|i-j| / (2 sqrt 3) with q = sqrt 3 - 2, the right side continued oddly
/// beyond the ends. What lies more than 24 values off counts for less than 2e-14.
struct NaturalSpline {
  static constexpr std::int64_t reach = 24;
  const double* values;
  std::int64_t stride;  ///< in doubles
  std::int64_t count;

  /// Of value i, continued beyond the ends.
  [[nodiscard]] KOKKOS_FUNCTION double right_side(std::int64_t i) const {
    const std::int64_t last = count - 1;
    double sign = 1;
    while (i < 0 || i > last) {
      if (last == 0) return 0;
      i = i < 0 ? -i : 2 * last - i;
      sign = -sign;
    }
    return is_end(i) ? 0.0 : sign * bend(i);
  }
  /// `right_sides`: those of value i and of `reach` values on each side of it.
  [[nodiscard]] KOKKOS_FUNCTION double second_derivative(std::int64_t i,
                                                         const double* right_sides) const {
    if (is_end(i)) return 0;
    double weight = first_weight;
    double d = weight * right_sides[reach];
    KASTOR_UNROLL
    for (std::int64_t m = 1; m <= reach; ++m) {
      weight *= q;
      d += weight * (right_sides[reach - m] + right_sides[reach + m]);
    }
    return d;
  }

  /// Host: the same for all of them, side by side: calls write(i, derivative).
  template <class Write>
  void for_each_second_derivative(const Write& write) const {
    constexpr std::int64_t block = 32;
    for (std::int64_t first = 0; first < count; first += block) {
      const std::int64_t n = first + block < count ? block : count - first;
      double right[block + 2 * reach], d[block];
      for (std::int64_t k = 0; k < n + 2 * reach; ++k) right[k] = right_side(first - reach + k);
      const double* const middle = right + reach;
      double weight = first_weight;
      for (std::int64_t k = 0; k < n; ++k) d[k] = weight * middle[k];
      for (std::int64_t m = 1; m <= reach; ++m) {
        weight *= q;
        for (std::int64_t k = 0; k < n; ++k) d[k] += weight * (middle[k - m] + middle[k + m]);
      }
      for (std::int64_t k = 0; k < n; ++k) write(first + k, is_end(first + k) ? 0.0 : d[k]);
    }
  }

 private:
  static constexpr double q = -0.26794919243112270647;
  static constexpr double first_weight = 0.28867513459481288225;

  [[nodiscard]] KOKKOS_FUNCTION bool is_end(std::int64_t i) const {
    return i == 0 || i == count - 1;
  }
  [[nodiscard]] KOKKOS_FUNCTION double value(std::int64_t i) const { return values[i * stride]; }
  [[nodiscard]] KOKKOS_FUNCTION double bend(std::int64_t i) const {
    return 6 * (value(i - 1) - 2 * value(i) + value(i + 1));
  }
};

/// Which nodes are one line, and which derivatives follow from which figures.
struct BendAlongY {
  static constexpr bool is_along_rows = false;
  static constexpr int fields = 1;
  Shape mesh;
  BothNodes nodes;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t lines() const { return mesh.nx; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t along() const { return mesh.ny; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t node(std::int64_t line, std::int64_t i) const {
    return i * mesh.nx + line;
  }
  [[nodiscard]] KOKKOS_FUNCTION static double MeshNode::*from(int) { return &MeshNode::value; }
  [[nodiscard]] KOKKOS_FUNCTION static double MeshNode::*to(int) { return &MeshNode::d2y; }
};
struct BendAlongX {
  static constexpr bool is_along_rows = true;
  static constexpr int fields = 2;
  Shape mesh;
  BothNodes nodes;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t lines() const { return mesh.ny; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t along() const { return mesh.nx; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t node(std::int64_t line, std::int64_t i) const {
    return line * mesh.nx + i;
  }
  [[nodiscard]] KOKKOS_FUNCTION static double MeshNode::*from(int field) {
    return field == 0 ? &MeshNode::value : &MeshNode::d2y;
  }
  [[nodiscard]] KOKKOS_FUNCTION static double MeshNode::*to(int field) {
    return field == 0 ? &MeshNode::d2x : &MeshNode::d2x2y;
  }
};

/// The figures of a line of nodes from which a field of derivatives follows.
template <class Bend>
[[nodiscard]] KOKKOS_FUNCTION NaturalSpline spline(const Bend& bend, const MeshNode* map,
                                                   std::int64_t line, int field) {
  constexpr auto doubles = static_cast<std::int64_t>(sizeof(MeshNode) / sizeof(double));
  return {&(map[bend.node(line, 0)].*Bend::from(field)),
          doubles * (bend.node(line, 1) - bend.node(line, 0)), bend.along()};
}

/// Hosts: all nodes of a line.
template <class Bend>
struct BendLine {
  Bend bend;

  KOKKOS_FUNCTION void operator()(std::int64_t line) const {
    KOKKOS_IF_ON_HOST((bend_line(bend.nodes.level, line); bend_line(bend.nodes.rms, line);))
    KOKKOS_IF_ON_DEVICE(((void)line;))
  }

 private:
  void bend_line(MeshNode* map, std::int64_t line) const {
    for (int field = 0; field < Bend::fields; ++field)
      spline(bend, map, line, field).for_each_second_derivative([&](std::int64_t i, double d) {
        map[bend.node(line, i)].*Bend::to(field) = d;
      });
  }
};

/// Devices: a team takes a tile of nodes, a thread each, and has all right sides that count for
/// them in its scratch memory, for each is needed 49 times.
template <class Exec, class Bend>
struct BendTiles {
  static constexpr int threads = 256;
  static constexpr int teams_at_once = 4;
  static constexpr int lines = 8;   ///< of a tile
  static constexpr int along = 32;  ///< nodes of a line
  static_assert(lines * along == threads);
  static constexpr auto reach = static_cast<int>(NaturalSpline::reach);
  static constexpr int needed = along + 2 * reach;
  /// So that threads side by side meet in no bank of the scratch memory, in either direction.
  static constexpr int pitch = needed + 2;
  static constexpr int scratch_bytes = lines * pitch * static_cast<int>(sizeof(double)) + 16;
  Bend bend;

  [[nodiscard]] KOKKOS_FUNCTION int tiles_across() const {
    return static_cast<int>((bend.lines() + lines - 1) / lines);
  }
  [[nodiscard]] KOKKOS_FUNCTION int tiles_along() const {
    return static_cast<int>((bend.along() + along - 1) / along);
  }
  [[nodiscard]] int teams() const { return 2 * Bend::fields * tiles_across() * tiles_along(); }

  KOKKOS_FUNCTION void operator()(const TeamMember<Exec>& team) const {
    auto* const right = scratch_of<double>(team, lines * pitch);
    const int tile = team.league_rank() / (2 * Bend::fields);
    const int which = team.league_rank() % (2 * Bend::fields);
    MeshNode* const map = which % 2 == 0 ? bend.nodes.level : bend.nodes.rms;
    const int field = which / 2;
    const std::int64_t first_line = std::int64_t{tile % tiles_across()} * lines;
    const std::int64_t first = std::int64_t{tile / tiles_across()} * along;

    for (int k = team.team_rank(); k < lines * needed; k += threads) {
      const int line = line_of(k, needed), i = place_of(k, needed);
      if (first_line + line < bend.lines() && first + i < bend.along() + 2 * reach)
        right[line * pitch + i] =
            spline(bend, map, first_line + line, field).right_side(first + i - reach);
    }
    team.team_barrier();
    const int line = line_of(team.team_rank(), along), i = place_of(team.team_rank(), along);
    if (first_line + line >= bend.lines() || first + i >= bend.along()) return;
    map[bend.node(first_line + line, first + i)].*Bend::to(field) =
        spline(bend, map, first_line + line, field)
            .second_derivative(first + i, right + line * pitch + i);
  }

 private:
  /// Threads side by side have nodes side by side.
  [[nodiscard]] KOKKOS_FUNCTION static int line_of(int k, int in_line) {
    return Bend::is_along_rows ? k / in_line : k % lines;
  }
  [[nodiscard]] KOKKOS_FUNCTION static int place_of(int k, int in_line) {
    return Bend::is_along_rows ? k % in_line : k / lines;
  }
};

}  // namespace kastor::detail

#endif
