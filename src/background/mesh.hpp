// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_MESH_HPP
#define KASTOR_BACKGROUND_MESH_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>

/// Turns the level and noise of the cells into the nodes of two surfaces. The kernels are called
/// once per node, except for that of the columns: once per column.
namespace kastor::detail {

struct CellValue {
  double level, rms;
};

/// Counts over all cells.
struct CellCounts {
  std::int64_t valid = 0;   ///< cells with enough good pixels
  std::int64_t good = 0;    ///< good pixels
  std::int64_t source = 0;  ///< cells that large sources cover
  int rounds = 0;           ///< the last round of the search for them that found any, from 1
  // Of the valid cells, as `core::key_of` has them.
  std::uint64_t lowest_level = ~std::uint64_t{0};
  std::uint64_t lowest_rms = ~std::uint64_t{0};
};

struct ClearCounts {
  CellCounts* counts;
  KOKKOS_FUNCTION void operator()(std::int64_t) const { *counts = CellCounts{}; }
};

/// Distance to the nearest valid cell of the same column, upwards and downwards; -1 if there is
/// none.
struct ColumnDistances {
  std::int32_t* up;
  std::int32_t* down;
};

/// Handles one column. Does nothing if all cells are valid.
struct MeasureColumn {
  const CellCounts* counts;
  Shape mesh;
  const std::uint8_t* valid;
  ColumnDistances distances;

  KOKKOS_FUNCTION void operator()(std::int64_t x) const {
    if (counts->valid == mesh.ny * mesh.nx) return;
    std::int32_t d = -1;
    for (std::int64_t y = 0; y < mesh.ny; ++y) distances.up[at(y, x)] = d = next(d, at(y, x));
    d = -1;
    for (std::int64_t y = mesh.ny; y-- > 0;) distances.down[at(y, x)] = d = next(d, at(y, x));
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t at(std::int64_t y, std::int64_t x) const {
    return y * mesh.nx + x;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t next(std::int32_t d, std::int64_t i) const {
    return valid[i] != 0 ? 0 : (d < 0 ? d : d + 1);
  }
};

/// Fills a cell that is not valid with the mean of its nearest valid cells. The distance is between
/// centres, in units of cells. The order of the sum is fixed: columns from left to right, and
/// within a column first the cell above.
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

/// The nodes of both maps.
struct BothNodes {
  MeshNode* level;
  MeshNode* rms;
};

/// The median of the cells around a node. The window shrinks symmetrically at the edges, so that it
/// always has a central cell.
struct FilterNode {
  Shape mesh;
  Shape half;  ///< half extents of the window, without the central cell
  const CellValue* cells;
  BothNodes nodes;
  double rms_factor;  ///< the noise is multiplied by it

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / mesh.nx, x = i % mesh.nx;
    const Shape around{least(half.ny, y, mesh.ny - 1 - y), least(half.nx, x, mesh.nx - 1 - x)};
    nodes.level[i] = MeshNode{median(i, around, &CellValue::level), 0, 0, 0};
    nodes.rms[i] = MeshNode{rms_factor * median(i, around, &CellValue::rms), 0, 0, 0};
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
  /// Once every column is sorted, the median of nine is the median of three values: the largest of
  /// the minima, the median of the medians, the smallest of the maxima.
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

  /// Finds by counting the value that has as many values below as above it; needs no copy.
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

}  // namespace kastor::detail

#endif
