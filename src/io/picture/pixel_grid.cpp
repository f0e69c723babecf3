// SPDX-License-Identifier: Apache-2.0
#include "io/picture/pixel_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace kastor::io::picture {
namespace {

// Thinner strips cannot be seen.
constexpr int k_thinnest = 24;

std::int64_t blocks_of(std::int64_t pixels, std::int64_t block) {
  return (pixels + block - 1) / block;
}

template <class T>
std::vector<double> means(const GridOf<T>& pixels, std::int64_t block_x, std::int64_t block_y) {
  // Wide enough for the sum over a block of the largest pixels.
  using Sum = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  const std::int64_t columns = blocks_of(pixels.nx, block_x);
  const std::int64_t rows = blocks_of(pixels.ny, block_y);
  std::vector<double> result(static_cast<std::size_t>(rows * columns));
  std::vector<Sum> sums(static_cast<std::size_t>(columns));
  std::vector<std::int64_t> counts(static_cast<std::size_t>(columns));
  auto out = result.begin();
  for (std::int64_t row = 0; row < rows; ++row) {
    std::fill(sums.begin(), sums.end(), Sum{0});
    std::fill(counts.begin(), counts.end(), 0);
    for (std::int64_t y = row * block_y; y < std::min(pixels.ny, (row + 1) * block_y); ++y) {
      const T* line = pixels.row(y);
      std::size_t column = 0;
      for (std::int64_t first = 0; first < pixels.nx; first += block_x, ++column) {
        for (std::int64_t x = first; x < std::min(pixels.nx, first + block_x); ++x) {
          if (!std::isfinite(line[x])) continue;
          sums[column] += static_cast<Sum>(line[x]);
          ++counts[column];
        }
      }
    }
    for (std::size_t column = 0; column < sums.size(); ++column, ++out) {
      *out = counts[column] > 0
                 ? static_cast<double>(sums[column] / static_cast<Sum>(counts[column]))
                 : std::numeric_limits<double>::quiet_NaN();
    }
  }
  return result;
}

}  // namespace

Sampling sampling_of(std::int64_t nx, std::int64_t ny, int size) {
  Sampling sampling;
  const std::int64_t block = std::max<std::int64_t>(1, blocks_of(std::max(nx, ny), size));
  sampling.block_x = std::min(nx, block);
  sampling.block_y = std::min(ny, block);
  const auto columns = static_cast<int>(blocks_of(nx, block));
  const auto rows = static_cast<int>(blocks_of(ny, block));
  const int zoom = std::max(1, size / std::max(columns, rows));
  const int thinnest = std::min(k_thinnest, size);
  const auto zoom_of = [&](int blocks) { return std::max(zoom, (thinnest + blocks - 1) / blocks); };
  sampling.zoom_x = zoom_of(columns);
  sampling.zoom_y = zoom_of(rows);
  sampling.width = columns * sampling.zoom_x;
  sampling.height = rows * sampling.zoom_y;
  return sampling;
}

std::vector<double> block_means(const PixelGrid& pixels, const Sampling& sampling) {
  return std::visit(
      [&](const auto& grid) { return means(grid, sampling.block_x, sampling.block_y); }, pixels);
}

}  // namespace kastor::io::picture
