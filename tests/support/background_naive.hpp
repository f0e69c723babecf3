// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_BACKGROUND_NAIVE_HPP
#define KASTOR_TESTS_BACKGROUND_NAIVE_HPP

#include <algorithm>
#include <cmath>
#include <kastor/background.hpp>
#include <limits>
#include <vector>

#include "naive.hpp"
#include "source_cells_naive.hpp"

/// The reference of kastor::BackgroundEstimator: slow and obvious.
namespace testing_support {

struct NaiveMesh {
  HostGrid<double> level, rms;  ///< nodes; NaN if no cell is valid
  std::int64_t good = 0;
  std::int64_t filled = 0;
  std::int64_t source_cells = 0;
};

/// A cell's own figures; NaN if it has too few good pixels.
template <class T>
void naive_cell(const HostImage<T>& image, const HostMask& exclude, std::int64_t j, std::int64_t i,
                const kastor::BackgroundParams& params, NaiveMesh& mesh) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::int64_t top = j * params.cell_height, left = i * params.cell_width;
  const std::int64_t bottom = std::min(image.ny, top + params.cell_height);
  const std::int64_t right = std::min(image.nx, left + params.cell_width);
  std::vector<double> pixels;
  for (std::int64_t y = top; y < bottom; ++y) {
    for (std::int64_t x = left; x < right; ++x) {
      if (std::isfinite(image(y, x)) && (exclude.values.empty() || exclude(y, x) == 0))
        pixels.push_back(static_cast<double>(image(y, x)));
    }
  }
  std::sort(pixels.begin(), pixels.end());
  const std::int64_t all = (bottom - top) * (right - left);
  const auto good = static_cast<std::int64_t>(pixels.size());
  mesh.good += good;
  mesh.level(j, i) = mesh.rms(j, i) = nan;
  if (good == 0 ||
      static_cast<double>(good) < params.min_good_fraction * static_cast<double>(all)) {
    ++mesh.filled;
    return;
  }
  const kastor::Statistics s = sigma_clip_naive(pixels, all, params.clip).clipped;
  const bool shift = params.estimate == kastor::BackgroundEstimate::mode &&
                     std::fabs(s.mean - s.median) < 0.3 * s.std;
  mesh.level(j, i) = shift ? 2.5 * s.median - 1.5 * s.mean : s.median;
  mesh.rms(j, i) = s.std;
}

/// Cells without figures take the mean of the nearest that have some.
[[nodiscard]] inline HostGrid<double> fill_naive(const HostGrid<double>& cells) {
  HostGrid<double> result = cells;
  for (std::int64_t y = 0; y < cells.ny; ++y) {
    for (std::int64_t x = 0; x < cells.nx; ++x) {
      if (!std::isnan(cells(y, x))) continue;
      std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
      double sum = 0, count = 0;
      for (std::int64_t v = 0; v < cells.ny; ++v) {
        for (std::int64_t u = 0; u < cells.nx; ++u) {
          const std::int64_t distance = (v - y) * (v - y) + (u - x) * (u - x);
          if (std::isnan(cells(v, u)) || distance > nearest) continue;
          if (distance < nearest) sum = count = 0;
          nearest = distance;
          sum += cells(v, u);
          ++count;
        }
      }
      if (count > 0) result(y, x) = sum / count;
    }
  }
  return result;
}

/// Median in a window that shrinks symmetrically at the edges.
[[nodiscard]] inline HostGrid<double> filter_naive(const HostGrid<double>& cells, int height,
                                                   int width) {
  HostGrid<double> result = cells;
  for (std::int64_t y = 0; y < cells.ny; ++y) {
    for (std::int64_t x = 0; x < cells.nx; ++x) {
      const std::int64_t v = std::min({std::int64_t{height / 2}, y, cells.ny - 1 - y});
      const std::int64_t u = std::min({std::int64_t{width / 2}, x, cells.nx - 1 - x});
      std::vector<double> around;
      for (std::int64_t b = y - v; b <= y + v; ++b)
        for (std::int64_t a = x - u; a <= x + u; ++a) around.push_back(cells(b, a));
      std::sort(around.begin(), around.end());
      result(y, x) = around[around.size() / 2];
    }
  }
  return result;
}

template <class T>
[[nodiscard]] NaiveMesh background_naive(const HostImage<T>& image, const HostMask& exclude,
                                         const kastor::BackgroundParams& params) {
  NaiveMesh mesh;
  mesh.level = mesh.rms = HostGrid<double>((image.ny - 1) / params.cell_height + 1,
                                           (image.nx - 1) / params.cell_width + 1);
  for (std::int64_t j = 0; j < mesh.level.ny; ++j)
    for (std::int64_t i = 0; i < mesh.level.nx; ++i) naive_cell(image, exclude, j, i, params, mesh);
  if (params.mask_large_sources) {
    NaiveCells cells{mesh.level, mesh.rms};
    mesh.source_cells = mask_large_sources_naive(cells);
    mesh.level = cells.level;
    mesh.rms = cells.rms;
  }
  for (HostGrid<double>* map : {&mesh.level, &mesh.rms}) {
    *map = fill_naive(*map);
    if (mesh.filled < map->ny * map->nx)
      *map = filter_naive(*map, params.filter_height, params.filter_width);
  }
  return mesh;
}

/// Second derivatives of the natural cubic spline through equidistant values (elimination of a
/// tridiagonal system).
[[nodiscard]] inline std::vector<double> spline_naive(const std::vector<double>& v) {
  const std::size_t n = v.size();
  std::vector<double> d(n, 0.0), upper(n, 0.0), right(n, 0.0);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double pivot = 4 - upper[i - 1];
    upper[i] = 1 / pivot;
    right[i] = (6 * (v[i - 1] - 2 * v[i] + v[i + 1]) - right[i - 1]) / pivot;
  }
  for (std::size_t i = n < 2 ? 0 : n - 1; i-- > 1;) d[i] = right[i] - upper[i] * d[i + 1];
  return d;
}

/// The natural cubic spline through values at 0, 1, 2, ..., the outermost cubics going on.
[[nodiscard]] inline double spline_value_naive(const std::vector<double>& v, double at) {
  if (v.size() == 1) return v[0];
  const std::vector<double> d = spline_naive(v);
  const double last = static_cast<double>(v.size()) - 2;
  const auto i = static_cast<std::size_t>(std::clamp(std::floor(at), 0.0, last));
  const double t = at - static_cast<double>(i), s = 1 - t;
  return s * v[i] + t * v[i + 1] + ((s * s * s - s) * d[i] + (t * t * t - t) * d[i + 1]) / 6;
}

/// The bicubic spline at a pixel: along y for every column of nodes, then along x.
[[nodiscard]] inline double surface_naive(const HostGrid<double>& nodes, double cell_height,
                                          double cell_width, std::int64_t y, std::int64_t x) {
  const double v = (static_cast<double>(y) + 0.5) / cell_height - 0.5;
  const double u = (static_cast<double>(x) + 0.5) / cell_width - 0.5;
  std::vector<double> row;
  for (std::int64_t i = 0; i < nodes.nx; ++i) {
    std::vector<double> column;
    for (std::int64_t j = 0; j < nodes.ny; ++j) column.push_back(nodes(j, i));
    row.push_back(spline_value_naive(column, v));
  }
  return spline_value_naive(row, u);
}

}  // namespace testing_support

#endif
