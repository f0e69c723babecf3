// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_BACKGROUND_MESH_HPP
#define KASTOR_DETAIL_BACKGROUND_MESH_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>

/// From the figures of the cells to the nodes of two surfaces. One call of a kernel a node, but for
/// the columns, and for splines: of these a call each, on hosts a call a line of nodes.
namespace kastor::detail {

struct CellValue {
  double level, rms;
};

/// Of all cells.
struct CellCounts {
  std::int64_t valid;  ///< cells with enough good pixels
  std::int64_t good;   ///< pixels

  KOKKOS_FUNCTION CellCounts& operator+=(const CellCounts& other) {
    valid += other.valid;
    good += other.good;
    return *this;
  }
};

/// How far it is to the nearest valid cell of the column, upwards and downwards; -1: there is none.
struct ColumnDistances {
  std::int32_t* up;
  std::int32_t* down;
};

/// One column.
struct MeasureColumn {
  const CellCounts* counts;
  Shape mesh;
  const std::uint8_t* valid;
  ColumnDistances distances;

  KOKKOS_FUNCTION void operator()(std::int64_t x) const {
    if (counts->valid == mesh.ny * mesh.nx) return;
    std::int32_t d = -1;
    for (std::int64_t y = 0; y < mesh.ny; ++y) {
      const std::int64_t i = y * mesh.nx + x;
      d = valid[i] != 0 ? 0 : (d < 0 ? d : d + 1);
      distances.up[i] = d;
    }
    d = -1;
    for (std::int64_t y = mesh.ny - 1; y >= 0; --y) {
      const std::int64_t i = y * mesh.nx + x;
      d = valid[i] != 0 ? 0 : (d < 0 ? d : d + 1);
      distances.down[i] = d;
    }
  }
};

/// A cell that is not valid takes the mean of its nearest valid ones, by the distance of their
/// centres in cells; columns from left to right, within a column the upper one first.
struct FillCell {
  const CellCounts* counts;
  Shape mesh;
  ColumnDistances distances;
  CellValue* cells;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (counts->valid == mesh.ny * mesh.nx || distances.up[i] == 0) return;
    const std::int64_t y = i / mesh.nx, x = i % mesh.nx;
    constexpr std::int64_t none = std::int64_t{1} << 62;
    std::int64_t best = none;
    for (std::int64_t dx = 0; dx < mesh.nx && dx * dx <= best; ++dx) {
      best = nearer(best, dx, i - dx, x - dx);
      best = nearer(best, dx, i + dx, x + dx);
    }
    if (best == none) {
      cells[i].level = cells[i].rms = Kokkos::Experimental::quiet_NaN_v<double>;
      return;
    }
    double level = 0, rms = 0, n = 0;
    const auto add = [&](std::int64_t from) {
      level += cells[from].level;
      rms += cells[from].rms;
      n += 1;
    };
    std::int64_t widest = 0;
    while ((widest + 1) * (widest + 1) <= best) ++widest;
    const std::int64_t begin = x > widest ? x - widest : 0;
    const std::int64_t end = x + widest < mesh.nx ? x + widest + 1 : mesh.nx;
    for (std::int64_t column = begin; column < end; ++column) {
      const std::int64_t rest = best - (column - x) * (column - x);
      const std::int64_t at = y * mesh.nx + column;
      const std::int64_t up = distances.up[at], down = distances.down[at];
      if (up >= 0 && up * up == rest) add(at - up * mesh.nx);
      if (down > 0 && down * down == rest) add(at + down * mesh.nx);
    }
    cells[i].level = level / n;
    cells[i].rms = rms / n;
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t nearer(std::int64_t best, std::int64_t dx,
                                                    std::int64_t at, std::int64_t column) const {
    if (column < 0 || column >= mesh.nx) return best;
    const std::int64_t up = distances.up[at], down = distances.down[at];
    if (up >= 0 && dx * dx + up * up < best) best = dx * dx + up * up;
    if (down >= 0 && dx * dx + down * down < best) best = dx * dx + down * down;
    return best;
  }
};

/// Two maps of nodes.
struct BothNodes {
  MeshNode* level;
  MeshNode* rms;
};

/// The median of a node's surroundings; the window shrinks symmetrically at the edges, so it always
/// has a middle.
struct FilterNode {
  Shape mesh;
  Shape half;  ///< of the window, without the middle
  const CellValue* cells;
  BothNodes nodes;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / mesh.nx, x = i % mesh.nx;
    const Shape around{least(half.ny, y, mesh.ny - 1 - y), least(half.nx, x, mesh.nx - 1 - x)};
    nodes.level[i] = MeshNode{median(i, around, &CellValue::level), 0, 0, 0};
    nodes.rms[i] = MeshNode{median(i, around, &CellValue::rms), 0, 0, 0};
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION static std::int64_t least(std::int64_t a, std::int64_t b,
                                                          std::int64_t c) {
    const std::int64_t ab = a < b ? a : b;
    return ab < c ? ab : c;
  }
  [[nodiscard]] KOKKOS_FUNCTION double median(std::int64_t i, const Shape& around,
                                              double CellValue::*figure) const {
    const std::int64_t height = 2 * around.ny + 1, width = 2 * around.nx + 1;
    const CellValue* first = cells + i - around.ny * mesh.nx - around.nx;
    if (height == 3 && width == 3) return median_of_nine(first, figure);
    return median_of_any(first, height, width, figure);
  }

  KOKKOS_FUNCTION static void put_in_order(double& a, double& b) {
    const double lesser = b < a ? b : a;
    b = b < a ? a : b;
    a = lesser;
  }
  /// With every column in order, 5 of the 9 are not above the median of these three: the largest of
  /// the smallest, the median of the middles, the smallest of the largest; and 5 are not below it.
  [[nodiscard]] KOKKOS_FUNCTION double median_of_nine(const CellValue* first,
                                                      double CellValue::*figure) const {
    double v[3][3];
    for (int x = 0; x < 3; ++x) {
      for (int y = 0; y < 3; ++y) v[y][x] = first[y * mesh.nx + x].*figure;
      put_in_order(v[0][x], v[1][x]);
      put_in_order(v[1][x], v[2][x]);
      put_in_order(v[0][x], v[1][x]);
    }
    double largest = v[0][0] < v[0][1] ? v[0][1] : v[0][0];
    largest = largest < v[0][2] ? v[0][2] : largest;
    double smallest = v[2][1] < v[2][0] ? v[2][1] : v[2][0];
    smallest = v[2][2] < smallest ? v[2][2] : smallest;
    return median_of_three(largest, median_of_three(v[1][0], v[1][1], v[1][2]), smallest);
  }
  [[nodiscard]] KOKKOS_FUNCTION static double median_of_three(double a, double b, double c) {
    put_in_order(a, b);
    put_in_order(b, c);
    put_in_order(a, b);
    return b;
  }

  /// Without a copy: the value that has as many below as above it, by counting.
  [[nodiscard]] KOKKOS_FUNCTION double median_of_any(const CellValue* first, std::int64_t height,
                                                     std::int64_t width,
                                                     double CellValue::*figure) const {
    const std::int64_t middle = height * width / 2;
    for (std::int64_t a = 0; a < height * width; ++a) {
      const double value = first[a / width * mesh.nx + a % width].*figure;
      std::int64_t below = 0, equal = 0;
      for (std::int64_t v = 0; v < height; ++v) {
        for (std::int64_t u = 0; u < width; ++u) {
          const double other = first[v * mesh.nx + u].*figure;
          below += other < value ? 1 : 0;
          equal += other == value ? 1 : 0;
        }
      }
      if (below <= middle && middle < below + equal) return value;
    }
    return Kokkos::Experimental::quiet_NaN_v<double>;  // no cell is valid
  }
};

inline constexpr std::int64_t doubles_of_node = sizeof(MeshNode) / sizeof(double);

/// The second derivative of the natural cubic spline through equidistant values, at one of them:
/// the solution of d[i-1] + 4 d[i] + d[i+1] = 6 (v[i-1] - 2 v[i] + v[i+1]), d = 0 at both ends, by
/// its Green's function q^|i-j| / (2 sqrt 3) with q = sqrt 3 - 2, the right side continued oddly
/// beyond the ends. What lies more than 24 values off counts for less than 2e-14.
struct NaturalSpline {
  static constexpr std::int64_t reach = 24;
  const double* values;
  std::int64_t stride;  ///< in doubles
  std::int64_t count;

  [[nodiscard]] KOKKOS_FUNCTION double second_derivative(std::int64_t i) const {
    if (i == 0 || i == count - 1) return 0;
    double weight = first_weight;
    double d = weight * bend(i);
    Walk left(*this, i, -1), right(*this, i, 1);
    KASTOR_UNROLL_BY_4
    for (std::int64_t m = 1; m <= reach; ++m) {
      weight *= q;
      d += weight * (left.next() + right.next());
    }
    return d;
  }

  /// Host: the same for all of them, side by side: calls write(i, derivative).
  template <class Write>
  void for_each_second_derivative(const Write& write) const {
    constexpr std::int64_t block = 32;
    if (count < 2) {
      if (count == 1) write(0, 0.0);
      return;
    }
    for (std::int64_t first = 0; first < count; first += block) {
      const std::int64_t n = first + block < count ? block : count - first;
      double right[block + 2 * reach], d[block];
      for (std::int64_t k = 0; k < n + 2 * reach; ++k) right[k] = continued(first - reach + k);
      const double* const middle = right + reach;
      double weight = first_weight;
      for (std::int64_t k = 0; k < n; ++k) d[k] = weight * middle[k];
      for (std::int64_t m = 1; m <= reach; ++m) {
        weight *= q;
        for (std::int64_t k = 0; k < n; ++k) d[k] += weight * (middle[k - m] + middle[k + m]);
      }
      for (std::int64_t k = 0; k < n; ++k)
        write(first + k, first + k == 0 || first + k == count - 1 ? 0.0 : d[k]);
    }
  }

 private:
  static constexpr double q = -0.26794919243112270647;
  static constexpr double first_weight = 0.28867513459481288225;

  [[nodiscard]] KOKKOS_FUNCTION double value(std::int64_t i) const { return values[i * stride]; }
  [[nodiscard]] KOKKOS_FUNCTION static double bend(double before, double here, double after) {
    return 6 * (before - 2 * here + after);
  }
  [[nodiscard]] KOKKOS_FUNCTION double bend(std::int64_t i) const {
    return bend(value(i - 1), value(i), value(i + 1));
  }
  [[nodiscard]] KOKKOS_FUNCTION double continued(std::int64_t i) const {
    const std::int64_t last = count - 1;
    double sign = 1;
    while (i < 0 || i > last) {
      i = i < 0 ? -i : 2 * last - i;
      sign = -sign;
    }
    return i == 0 || i == last ? 0.0 : sign * bend(i);
  }
  /// `continued`, step by step from a value between the ends on: reads each value once.
  class Walk {
   public:
    KOKKOS_FUNCTION Walk(const NaturalSpline& line, std::int64_t from, std::int64_t step)
        : m_line(line),
          m_at(from),
          m_step(step),
          m_here(line.value(from)),
          m_ahead(line.value(from + step)) {}

    [[nodiscard]] KOKKOS_FUNCTION double next() {
      const double behind = m_here;
      m_at += m_step;
      m_here = m_ahead;
      if (m_at > 0 && m_at < m_line.count - 1) {
        m_ahead = m_line.value(m_at + m_step);
        return m_sign *
               (m_step > 0 ? bend(behind, m_here, m_ahead) : bend(m_ahead, m_here, behind));
      }
      m_ahead = behind;
      m_step = -m_step;
      m_sign = -m_sign;
      return 0;
    }

   private:
    const NaturalSpline& m_line;
    std::int64_t m_at, m_step;
    double m_here, m_ahead;
    double m_sign = 1;
  };
};

/// Derivatives along y, then along x. Devices: a thread a derivative; hosts: a thread a line.
struct BendAlongY {
  static constexpr std::int64_t derivatives = 2;  ///< of a node
  Shape mesh;
  BothNodes nodes;

  [[nodiscard]] std::int64_t lines() const { return mesh.nx; }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    KOKKOS_IF_ON_HOST((bend_column(nodes.level, i); bend_column(nodes.rms, i);))
    KOKKOS_IF_ON_DEVICE((const std::int64_t count = mesh.ny * mesh.nx;
                         bend(i < count ? nodes.level : nodes.rms, i % count);))
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION NaturalSpline column(const MeshNode* map, std::int64_t x) const {
    return {&map[x].value, mesh.nx * doubles_of_node, mesh.ny};
  }
  KOKKOS_FUNCTION void bend(MeshNode* map, std::int64_t i) const {
    map[i].d2y = column(map, i % mesh.nx).second_derivative(i / mesh.nx);
  }
  void bend_column(MeshNode* map, std::int64_t x) const {
    column(map, x).for_each_second_derivative(
        [&](std::int64_t y, double d) { map[y * mesh.nx + x].d2y = d; });
  }
};

struct BendAlongX {
  static constexpr std::int64_t derivatives = 4;  ///< of a node
  Shape mesh;
  BothNodes nodes;

  [[nodiscard]] std::int64_t lines() const { return mesh.ny; }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    KOKKOS_IF_ON_HOST((bend_row(nodes.level, i); bend_row(nodes.rms, i);))
    KOKKOS_IF_ON_DEVICE((const std::int64_t count = mesh.ny * mesh.nx;
                         const std::int64_t d = i / count;
                         bend(d < 2 ? nodes.level : nodes.rms, i % count, d % 2 == 1);))
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION NaturalSpline line(const double* values) const {
    return {values, doubles_of_node, mesh.nx};
  }
  KOKKOS_FUNCTION void bend(MeshNode* map, std::int64_t i, bool of_d2y) const {
    const std::int64_t x = i % mesh.nx;
    const MeshNode* row = map + (i - x);
    const double d = line(of_d2y ? &row->d2y : &row->value).second_derivative(x);
    (of_d2y ? map[i].d2x2y : map[i].d2x) = d;
  }
  void bend_row(MeshNode* map, std::int64_t y) const {
    MeshNode* row = map + y * mesh.nx;
    line(&row->value).for_each_second_derivative([&](std::int64_t x, double d) { row[x].d2x = d; });
    line(&row->d2y).for_each_second_derivative([&](std::int64_t x, double d) { row[x].d2x2y = d; });
  }
};

}  // namespace kastor::detail

#endif
