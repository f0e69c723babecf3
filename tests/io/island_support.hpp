// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_IO_ISLAND_SUPPORT_HPP
#define KASTOR_TESTS_IO_ISLAND_SUPPORT_HPP

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/io/table.hpp>
#include <kastor/island.hpp>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace testing_support {

/// Pixels of a picture made by a test, row by row.
struct Grid {
  std::int64_t ny;
  std::int64_t nx;
  std::vector<double> values;
  Grid(std::int64_t rows, std::int64_t columns)
      : ny(rows), nx(columns), values(static_cast<std::size_t>(rows * columns)) {}
  double& at(std::int64_t y, std::int64_t x) {
    return values[static_cast<std::size_t>(y * nx + x)];
  }
  [[nodiscard]] double at(std::int64_t y, std::int64_t x) const {
    return values[static_cast<std::size_t>(y * nx + x)];
  }
};

/// The island above `threshold` (8-connected) that holds pixel (y, x), measured pixel by pixel;
/// background 0. Without pixels if that one is not above.
inline kastor::Island island_at(const Grid& grid, std::int64_t y, std::int64_t x, double threshold,
                                double rms) {
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  std::vector<std::pair<std::int64_t, std::int64_t>> pixels;
  const auto visit = [&](std::int64_t j, std::int64_t i) {
    if (j < 0 || i < 0 || j >= grid.ny || i >= grid.nx || !(grid.at(j, i) > threshold)) return;
    if (seen.emplace(j, i).second) pixels.emplace_back(j, i);
  };
  visit(y, x);
  for (std::size_t k = 0; k < pixels.size(); ++k) {
    const auto [j, i] = pixels[k];
    for (int dj = -1; dj <= 1; ++dj) {
      for (int di = -1; di <= 1; ++di) visit(j + dj, i + di);
    }
  }
  kastor::Island island{};
  island.id = 1;
  island.x_min = island.y_min = std::numeric_limits<std::int32_t>::max();
  double sx = 0;
  double sy = 0;
  for (const auto& [j, i] : pixels) {
    const double v = grid.at(j, i);
    const auto at_x = static_cast<std::int32_t>(i);
    const auto at_y = static_cast<std::int32_t>(j);
    island.flux_sum += v;
    sx += v * static_cast<double>(i);
    sy += v * static_cast<double>(j);
    if (v > island.flux_peak) {
      island.flux_peak = v;
      island.x_peak = at_x;
      island.y_peak = at_y;
    }
    island.x_min = std::min(island.x_min, at_x);
    island.x_max = std::max(island.x_max, at_x);
    island.y_min = std::min(island.y_min, at_y);
    island.y_max = std::max(island.y_max, at_y);
  }
  island.n_pix = static_cast<std::int64_t>(pixels.size());
  island.raw_sum = island.flux_sum;
  island.x_cen = sx / island.flux_sum;
  island.y_cen = sy / island.flux_sum;
  for (const auto& [j, i] : pixels) {
    const double weight = grid.at(j, i) / island.flux_sum;
    const double dx = static_cast<double>(i) - island.x_cen;
    const double dy = static_cast<double>(j) - island.y_cen;
    island.var_xx += weight * dx * dx;
    island.var_xy += weight * dx * dy;
    island.var_yy += weight * dy * dy;
  }
  island.rms = island.rms_at_peak = rms;
  island.snr_peak = island.flux_peak / rms;
  return island;
}

inline const kastor::io::TableColumn* find_column(const kastor::io::Table& table,
                                                  const std::string& name) {
  for (const auto& column : table.columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

inline double real_value(const kastor::io::Table& table, const std::string& name,
                         std::size_t row = 0) {
  const auto* column = find_column(table, name);
  if (column == nullptr) {
    ADD_FAILURE() << "no column " << name;
    return std::nan("");
  }
  return std::get<std::vector<double>>(column->values).at(row);
}

inline std::int64_t integer_value(const kastor::io::Table& table, const std::string& name,
                                  std::size_t row = 0) {
  return std::get<std::vector<std::int64_t>>(find_column(table, name)->values).at(row);
}

inline std::string text_value(const kastor::io::Table& table, const std::string& name,
                              std::size_t row = 0) {
  return std::get<std::vector<std::string>>(find_column(table, name)->values).at(row);
}

}  // namespace testing_support

#endif
