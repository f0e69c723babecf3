// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_SOURCE_CELLS_NAIVE_HPP
#define KASTOR_TESTS_SOURCE_CELLS_NAIVE_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "naive.hpp"

/// The reference of `mask_large_sources`: slow and obvious.
namespace testing_support {

/// The figures of the cells, NaN where a cell is not good.
struct NaiveCells {
  HostGrid<double> level, rms;
};

/// Coordinates of the cells of sky up to `reach` away, in raster order.
[[nodiscard]] inline std::vector<std::pair<std::int64_t, std::int64_t>> sky_around(
    const NaiveCells& cells, const HostMask& source, std::int64_t y, std::int64_t x,
    std::int64_t reach) {
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (std::int64_t v = 0; v < source.ny; ++v) {
    for (std::int64_t u = 0; u < source.nx; ++u) {
      if (std::abs(v - y) <= reach && std::abs(u - x) <= reach && source(v, u) == 0 &&
          !std::isnan(cells.level(v, u)))
        found.emplace_back(v, u);
    }
  }
  return found;
}

[[nodiscard]] inline bool is_beside_source(const HostMask& source, std::int64_t y, std::int64_t x) {
  for (std::int64_t v = 0; v < source.ny; ++v) {
    for (std::int64_t u = 0; u < source.nx; ++u)
      if (std::abs(v - y) <= 1 && std::abs(u - x) <= 1 && source(v, u) != 0) return true;
  }
  return false;
}

[[nodiscard]] inline bool is_source_naive(const NaiveCells& cells, const HostMask& source,
                                          std::int64_t y, std::int64_t x) {
  const auto sky = sky_around(cells, source, y, x, 8);
  if (sky.size() < 8) return false;
  // Median and median - 16 % quantile.
  const auto spread = [&](const HostGrid<double>& figure) {
    std::vector<double> values;
    for (const auto& [v, u] : sky) values.push_back(figure(v, u));
    std::sort(values.begin(), values.end());
    const double median = values[(values.size() - 1) / 2];
    return std::pair(median, median - values[(values.size() - 1) * 16 / 100]);
  };
  const auto [level, level_scatter] = spread(cells.level);
  const auto [rms, rms_scatter] = spread(cells.rms);
  const double excess = cells.level(y, x) - level;
  if (excess > 3 * rms && excess > 5 * level_scatter) return true;
  return is_beside_source(source, y, x) &&
         (excess > 5 * level_scatter || cells.rms(y, x) - rms > 5 * rms_scatter);
}

[[nodiscard]] inline HostMask source_cells_naive(const NaiveCells& cells) {
  HostMask source(cells.level.ny, cells.level.nx);
  for (int round = 0; round < 9; ++round) {
    HostMask next = source;
    for (std::int64_t y = 0; y < source.ny; ++y) {
      for (std::int64_t x = 0; x < source.nx; ++x) {
        if (source(y, x) != 0 || std::isnan(cells.level(y, x))) continue;
        const bool grows = round == 8;
        next(y, x) =
            (grows ? is_beside_source(source, y, x) : is_source_naive(cells, source, y, x)) ? 1 : 0;
      }
    }
    source = next;
  }
  return source;
}

/// Least squares by elimination, with pivots.
[[nodiscard]] inline double plane_naive(const NaiveCells& cells, const HostMask& source,
                                        const HostGrid<double>& figure, std::int64_t y,
                                        std::int64_t x) {
  std::int64_t nearest = 1;
  while (sky_around(cells, source, y, x, nearest).empty()) ++nearest;
  std::array<std::array<double, 4>, 3> m{};
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const auto& [v, u] : sky_around(cells, source, y, x, 2 * nearest + 2)) {
    const std::array<double, 4> row = {1, static_cast<double>(u - x), static_cast<double>(v - y),
                                       figure(v, u)};
    const double weight = std::pow(row[1] * row[1] + row[2] * row[2], -2);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j) m[i][j] += weight * row[i] * row[j];
    low = std::min(low, row[3]);
    high = std::max(high, row[3]);
  }
  // No plane: all of them are in one row of the mesh.
  if (source.ny == 1) return m[0][3] / m[0][0];
  for (std::size_t i = 3; i-- > 0;) {  // the constant last
    std::size_t pivot = i;
    for (std::size_t k = 0; k < i; ++k)
      if (std::abs(m[k][i]) > std::abs(m[pivot][i])) pivot = k;
    std::swap(m[i], m[pivot]);
    for (std::size_t k = 0; k < 3; ++k) {
      if (k == i) continue;
      const double factor = m[k][i] / m[i][i];
      for (std::size_t j = 0; j < 4; ++j) m[k][j] -= factor * m[i][j];
    }
  }
  return std::clamp(m[0][3] / m[0][0], low, high);
}

/// Masks and bridges; returns the number of cells found.
inline std::int64_t mask_large_sources_naive(NaiveCells& cells) {
  const HostMask source = source_cells_naive(cells);
  const auto found = std::count(source.values.begin(), source.values.end(), std::uint8_t{1});
  const auto good = std::count_if(cells.level.values.begin(), cells.level.values.end(),
                                  [](double level) { return !std::isnan(level); });
  if (found > good / 2) return found;
  const NaiveCells before = cells;
  for (std::int64_t y = 0; y < source.ny; ++y) {
    for (std::int64_t x = 0; x < source.nx; ++x) {
      if (source(y, x) == 0) continue;
      cells.level(y, x) = plane_naive(before, source, before.level, y, x);
      cells.rms(y, x) = plane_naive(before, source, before.rms, y, x);
    }
  }
  return found;
}

}  // namespace testing_support

#endif
