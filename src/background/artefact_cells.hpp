// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_ARTEFACT_CELLS_HPP
#define KASTOR_BACKGROUND_ARTEFACT_CELLS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>

#include "background/map_walk.hpp"
#include "core/launch.hpp"
#include "core/raster_walk.hpp"

/// The noise below the background in cells around bright sources, and the map that is raised by it.
namespace kastor::detail {

/// An image in square cells; the last ones of a row or column may be smaller.
struct ArtefactCells {
  Shape image, mesh;
  std::int64_t side = 1;  ///< [pixel]

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const { return mesh.ny * mesh.nx; }
  /// The end of cell i along an axis of n pixels.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t past(std::int64_t i, std::int64_t n) const {
    return (i + 1) * side < n ? (i + 1) * side : n;
  }
};

/// What a cell is needed for.
enum class ArtefactCellUse : std::uint8_t { none, neighbour, near };

/// Sum of the pixels below the background.
struct BelowSum {
  /// Sum of (level - value) / rms in units of 2^-20; at most 2^30 for a pixel.
  std::int64_t depth = 0;
  std::int64_t pixels = 0;
};

struct ClearBelow {
  BelowSum* sums;
  KOKKOS_FUNCTION void operator()(std::int64_t cell) const { sums[cell] = {}; }
};

/// Adds the pixels of one band to the sums of a cell. Called once per cell; bands follow each
/// other.
template <class Exec, class T>
struct SumBelow {
  ArtefactCells cells;
  Rows<T> rows;
  std::int64_t first_row;  ///< of the band, in the image
  Background<Exec, T> background;
  const std::uint64_t* region;  ///< null: all pixels
  std::int64_t words_per_row;
  const ArtefactCellUse* uses;
  BelowSum* sums;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    if (uses[cell] == ArtefactCellUse::none) return;
    const std::int64_t j = cell / cells.mesh.nx, i = cell % cells.mesh.nx;
    const std::int64_t top = j * cells.side < first_row ? first_row : j * cells.side;
    const std::int64_t end = cells.past(j, cells.image.ny);
    const std::int64_t bottom = end < first_row + rows.ny ? end : first_row + rows.ny;
    const std::int64_t right = cells.past(i, cells.image.nx);
    MapWalk<Exec, T> level(background.level), rms(background.rms);
    BelowSum sum = sums[cell];
    for (std::int64_t y = top; y < bottom; ++y) {
      for (std::int64_t x = i * cells.side; x < right; ++x) {
        if (region != nullptr && (region[y * words_per_row + x / 64] >> (x % 64) & 1) == 0)
          continue;
        add(static_cast<double>(rows.data[(y - first_row) * rows.pitch + x]), level(y, x),
            rms(y, x), sum);
      }
    }
    sums[cell] = sum;
  }

 private:
  KOKKOS_FUNCTION static void add(double value, double level, double rms, BelowSum& sum) {
    constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
    constexpr double most = 1024.0, unit = 1048576.0;
    const double below = level - value;
    if (!(below > 0 && below < infinity && rms > 0 && rms < infinity)) return;
    const double depth = below / rms;
    const double nearest = Kokkos::floor((depth < most ? depth : most) * unit + 0.5);
    sum.depth += static_cast<std::int64_t>(nearest);
    sum.pixels += 1;
  }
};

/// The factor of a cell: that of the quietest of the four windows of 2 x 2 cells it lies in.
struct RaiseCell {
  ArtefactCells cells;
  const ArtefactCellUse* uses;
  const BelowSum* sums;
  double* factors;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    factors[cell] = 1;
    if (uses[cell] != ArtefactCellUse::near) return;
    const std::int64_t j = cell / cells.mesh.nx, i = cell % cells.mesh.nx;
    double least = -1;
    for (std::int64_t y = j - 1; y <= j; ++y) {
      for (std::int64_t x = i - 1; x <= i; ++x) {
        const double mean = mean_depth(y, x);
        if (mean >= 0 && (least < 0 || mean < least)) least = mean;
      }
    }
    constexpr double root_half_pi = 1.2533141373155003;
    if (root_half_pi * least > 1) factors[cell] = root_half_pi * least;
  }

 private:
  /// The mean over the window from cell (j, i) on; -1 if too few of its pixels are below.
  [[nodiscard]] KOKKOS_FUNCTION double mean_depth(std::int64_t j, std::int64_t i) const {
    BelowSum sum;
    for (std::int64_t y = j; y <= j + 1; ++y) {
      for (std::int64_t x = i; x <= i + 1; ++x) {
        if (y < 0 || x < 0 || y >= cells.mesh.ny || x >= cells.mesh.nx) continue;
        sum.depth += sums[y * cells.mesh.nx + x].depth;
        sum.pixels += sums[y * cells.mesh.nx + x].pixels;
      }
    }
    if (2 * sum.pixels < cells.side * cells.side) return -1;  // 1/8 of a window
    constexpr double unit = 1.0 / 1048576.0;
    return static_cast<double>(sum.depth) * unit / static_cast<double>(sum.pixels);
  }
};

/// What the map has in raised pixels. Any order of the pixels gives the same.
struct RaisedPixels {
  std::int64_t count = 0;
  double largest = 1;  ///< factor
  KOKKOS_FUNCTION RaisedPixels& operator+=(const RaisedPixels& other) {
    count += other.count;
    if (other.largest > largest) largest = other.largest;
    return *this;
  }
};

/// Writes the raised map, and counts the pixels with a higher noise than before. Called once per
/// worker.
template <class Exec, class T>
struct WriteRaised {
  using value_type = RaisedPixels;
  ArtefactCells cells;
  PixelMap<Exec, T> rms;
  const double* factors;
  T* raised;
  std::int64_t workers;

  KOKKOS_FUNCTION void operator()(std::int64_t worker, RaisedPixels& pixels) const {
    const std::int64_t nx = cells.image.nx;
    const core::Share<Exec> share(worker, workers, 0, cells.image.ny * nx);
    core::RasterWalk<> walk(share.first, share.step, nx);
    MapWalk<Exec, T> map(rms);
    for (std::int64_t at = share.first; at < share.past; at += share.step) {
      const double before = map(walk.y(), walk.x()), times = factor(walk.y(), walk.x());
      raised[at] = static_cast<T>(before * times);
      if (raised[at] > static_cast<T>(before)) pixels += RaisedPixels{1, times};
      walk.step();
    }
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION double factor(std::int64_t y, std::int64_t x) const {
    using Place = typename MeshSurface<Exec>::Place;
    const Place v(y, cells.side, cells.mesh.ny), u(x, cells.side, cells.mesh.nx);
    const double* const above = factors + v.first * cells.mesh.nx;
    const double* const below = factors + v.second * cells.mesh.nx;
    // Far from bright sources the factor is 1 to the bit.
    if (above[u.first] == 1 && above[u.second] == 1 && below[u.first] == 1 && below[u.second] == 1)
      return 1;
    return v.linear(u.linear(above[u.first], above[u.second]),
                    u.linear(below[u.first], below[u.second]));
  }
};

}  // namespace kastor::detail

#endif
