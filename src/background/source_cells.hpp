// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_SOURCE_CELLS_HPP
#define KASTOR_BACKGROUND_SOURCE_CELLS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>

#include "background/mesh.hpp"
#include "core/atomics.hpp"
#include "core/interval.hpp"
#include "core/intrinsics.hpp"
#include "core/ordered_key.hpp"

/// Finds the cells of a mesh that sources larger than a cell cover, and interpolates across them.
/// The kernels are called once per cell. A cell that is not valid is never one of them.
namespace kastor::detail {

/// The rule, which `kastor::BackgroundEstimator` documents.
struct SourceCellRule {
  static constexpr std::int64_t reach = 8;  ///< half width of the neighbourhood [cells]
  static constexpr std::int64_t least = 8;  ///< cells of sky that a neighbourhood must have
  static constexpr double contrast = 3;     ///< of a seed's level over the sky [rms of the sky]
  static constexpr double scatters = 5;     ///< of a level or rms over that of the sky
  static constexpr int rounds = 8;          ///< of the search
};

/// Cells of the mesh within some distance of a cell, along either axis.
struct CellWindow {
  std::int64_t top, bottom, left, right;  ///< ends inside
  KOKKOS_FUNCTION CellWindow(const Shape& mesh, std::int64_t i, std::int64_t reach) {
    const std::int64_t y = i / mesh.nx, x = i % mesh.nx;
    top = y > reach ? y - reach : 0;
    left = x > reach ? x - reach : 0;
    bottom = y + reach < mesh.ny ? y + reach : mesh.ny - 1;
    right = x + reach < mesh.nx ? x + reach : mesh.nx - 1;
  }
  /// Calls `visit(cell)` in raster order.
  template <class Visit>
  KOKKOS_FUNCTION void each(const Shape& mesh, const Visit& visit) const {
    for (std::int64_t y = top; y <= bottom; ++y)
      for (std::int64_t x = left; x <= right; ++x) visit(y * mesh.nx + x);
  }
};

/// Which cells are sky: valid, and not covered by a source.
struct SkyCells {
  Shape mesh;
  const CellValue* values;
  const std::uint8_t* valid;
  const std::uint8_t* source;

  [[nodiscard]] KOKKOS_FUNCTION bool is_sky(std::int64_t i) const {
    return valid[i] != 0 && source[i] == 0;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool touches_source(std::int64_t i) const {
    bool touches = false;
    CellWindow(mesh, i, 1).each(mesh, [&](std::int64_t k) { touches = touches || source[k] != 0; });
    return touches;
  }

  /// How many cells of sky of a window pass a test.
  template <class Test>
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count_if(const CellWindow& window,
                                                      const Test& test) const {
    std::int64_t n = 0;
    window.each(mesh, [&](std::int64_t k) { n += is_sky(k) && test(values[k]) ? 1 : 0; });
    return n;
  }

  /// The figure of rank `rank` of the `count` cells of sky of a window, from 0. Halves the range of
  /// the values, whose ends are always values of cells; keeps no copy.
  [[nodiscard]] KOKKOS_FUNCTION double ranked(const CellWindow& window, std::int64_t rank,
                                              double CellValue::*figure) const {
    double low = Kokkos::Experimental::infinity_v<double>, high = -low;
    window.each(mesh, [&](std::int64_t k) {
      if (!is_sky(k)) return;
      const double value = values[k].*figure;
      low = value < low ? value : low;
      high = value > high ? value : high;
    });
    while (low < high) {
      double middle = core::midpoint(low, high);
      if (!(middle < high)) middle = low;
      std::int64_t not_above = 0;
      double below = low, above = high;  // the nearest values on either side of the middle
      window.each(mesh, [&](std::int64_t k) {
        if (!is_sky(k)) return;
        const double value = values[k].*figure;
        if (value > middle) {
          above = value < above ? value : above;
        } else {
          ++not_above;
          below = value > below ? value : below;
        }
      });
      if (rank < not_above) {
        high = below;
      } else {
        low = above;
      }
    }
    return low;
  }
};

struct ClearMark {
  std::uint8_t* marks;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { marks[i] = 0; }
};

/// One round of the search: marks cells from the marks of the round before. A mark is the number of
/// the round that set it. A quantile is a cell's figure, and the rounding of a - b, a x b is
/// monotonic in b; so whether an inequality holds for a quantile is known from the number of cells
/// for which it holds, without ranking them.
struct FindSourceCells {
  CellCounts* counts;
  SkyCells cells;
  std::uint8_t* found;
  int round;  ///< from 1

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    // If the round before found nothing, both arrays of marks are the same already.
    if (core::relaxed_load(&counts->rounds) < round - 1) return;
    found[i] = cells.source[i];
    if (cells.source[i] != 0 || cells.valid[i] == 0 || !may_be_source(i)) return;
    found[i] = static_cast<std::uint8_t>(round);
    core::atomic_raise(&counts->rounds, round);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION bool may_be_source(std::int64_t i) const {
    // The sky is neither below the lowest level nor quieter than the lowest rms: most cells of most
    // images are decided here.
    const bool may_be_seed = cells.values[i].level - core::value_of<double>(counts->lowest_level) >
                             SourceCellRule::contrast * core::value_of<double>(counts->lowest_rms);
    const bool touches = round > 1 && cells.touches_source(i);
    if (!may_be_seed && !touches) return false;
    const CellWindow window(cells.mesh, i, SourceCellRule::reach);
    return sky_has_changed(window) && is_source(i, window, touches);
  }

  /// Whether the round before has taken a cell from the sky of the window; if not, its verdict
  /// stays.
  [[nodiscard]] KOKKOS_FUNCTION bool sky_has_changed(const CellWindow& window) const {
    if (round == 1) return true;
    bool changed = false;
    window.each(cells.mesh,
                [&](std::int64_t k) { changed = changed || cells.source[k] == round - 1; });
    return changed;
  }

  [[nodiscard]] KOKKOS_FUNCTION bool is_source(std::int64_t i, const CellWindow& window,
                                               bool touches) const {
    using Rule = SourceCellRule;
    const CellValue& cell = cells.values[i];
    std::int64_t sky = 0;
    double least_rms = Kokkos::Experimental::infinity_v<double>;
    window.each(cells.mesh, [&](std::int64_t k) {
      if (!cells.is_sky(k)) return;
      ++sky;
      least_rms = cells.values[k].rms < least_rms ? cells.values[k].rms : least_rms;
    });
    if (sky < Rule::least) return false;
    // One scatter below the median: the lower side has no sources.
    const std::int64_t half = (sky - 1) / 2, lower = (sky - 1) * 4 / 25;
    // A seed is that far above the median, hence above more than half of the cells.
    const double least_excess = Rule::contrast * least_rms;
    if (!touches && cells.count_if(window, [&](const CellValue& other) {
          return cell.level - other.level > least_excess;
        }) <= half)
      return false;
    const double level = cells.ranked(window, half, &CellValue::level);
    const double excess = cell.level - level;
    const bool stands_out = cells.count_if(window, [&](const CellValue& other) {
      return !(excess > Rule::scatters * (level - other.level));
    }) <= lower;
    if (stands_out && (touches || cells.count_if(window, [&](const CellValue& other) {
          return excess > Rule::contrast * other.rms;
        }) > half))
      return true;
    if (!touches) return false;
    const double rms = cells.ranked(window, half, &CellValue::rms);
    const double louder = cell.rms - rms;
    return cells.count_if(window, [&](const CellValue& other) {
      return !(louder > Rule::scatters * (rms - other.rms));
    }) <= lower;
  }
};

/// Marks the valid cells around those that were found, whose pixels may hold the wings of the
/// source, and counts all.
struct GrowSourceCells {
  CellCounts* counts;
  SkyCells cells;
  std::uint8_t* grown;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const bool is_source = cells.valid[i] != 0 && cells.touches_source(i);
    grown[i] = is_source ? 1 : 0;
    if (is_source) core::atomic_add(&counts->source, std::int64_t{1});
  }
};

/// Gives a marked cell the value there of a plane through the sky around it: least squares with
/// weights 1 / d^4, d the distance of a cell, among the cells up to about twice as far away as the
/// nearest. It does not leave the range of their values. Does nothing if more than half of the
/// valid cells are marked.
struct BridgeSourceCell {
  const CellCounts* counts;
  SkyCells cells;
  CellValue* values;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (cells.source[i] == 0 || !is_bridged(*counts)) return;
    const std::int64_t reach = 2 * distance_of_sky(i) + 2;
    const CellWindow window(cells.mesh, i, reach);
    values[i] = {plane_at(i, window, &CellValue::level), plane_at(i, window, &CellValue::rms)};
  }

  [[nodiscard]] KOKKOS_FUNCTION static bool is_bridged(const CellCounts& counts) {
    return counts.source <= counts.valid / 2;
  }

 private:
  /// Along the axis where it is larger.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t distance_of_sky(std::int64_t i) const {
    const std::int64_t all = cells.mesh.ny > cells.mesh.nx ? cells.mesh.ny : cells.mesh.nx;
    for (std::int64_t d = 1; d < all; ++d) {
      bool found = false;
      const CellWindow window(cells.mesh, i, d);
      window.each(cells.mesh, [&](std::int64_t k) { found = found || cells.is_sky(k); });
      if (found) return d;
    }
    return all;
  }

  [[nodiscard]] KOKKOS_FUNCTION double plane_at(std::int64_t i, const CellWindow& window,
                                                double CellValue::*figure) const {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0, v = 0, vx = 0, vy = 0;
    double low = Kokkos::Experimental::infinity_v<double>, high = -low;
    window.each(cells.mesh, [&](std::int64_t k) {
      if (!cells.is_sky(k)) return;
      const double value = cells.values[k].*figure;
      const std::int64_t rows = k / cells.mesh.nx - i / cells.mesh.nx;
      const std::int64_t columns = k % cells.mesh.nx - i % cells.mesh.nx;
      const auto y = static_cast<double>(rows), x = static_cast<double>(columns);
      const double square = x * x + y * y, w = 1 / (square * square);
      n += w;
      sx += w * x;
      sy += w * y;
      sxx += w * x * x;
      sxy += w * x * y;
      syy += w * y * y;
      v += w * value;
      vx += w * x * value;
      vy += w * y * value;
      low = value < low ? value : low;
      high = value > high ? value : high;
    });
    // Cramer's rule. A determinant near 0: all the cells lie on one line.
    const double a = sxx * syy - sxy * sxy, b = sx * syy - sxy * sy, c = sx * sxy - sxx * sy;
    const double determinant = n * a - sx * b + sy * c;
    const double value =
        determinant > 1e-9 * n * sxx * syy ? (v * a - vx * b + vy * c) / determinant : v / n;
    return value < low ? low : (value > high ? high : value);
  }
};

}  // namespace kastor::detail

#endif
