// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_FIT_REGION_HPP
#define KASTOR_FIT_FIT_REGION_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/elementary.hpp"
#include "core/group.hpp"
#include "core/image_rows.hpp"
#include "core/region.hpp"
#include "fit/ellipse_algebra.hpp"
#include "fit/fit_work.hpp"
#include "fit/group_fitter.hpp"

namespace kastor::detail {

/// A box of pixels, both ends included.
struct RegionBox {
  std::int64_t x_min, x_max, y_min, y_max;
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t width() const { return x_max - x_min + 1; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t height() const { return y_max - y_min + 1; }
};

/// A group on the device: what the host knows of its region.
struct PlacedGroup {
  FitGroup group;
  RegionBox box;            ///< of the region, within the image; empty if it is outside
  std::int32_t stride;      ///< of the rows and columns that are looked at, >= 1
  std::int32_t capacity;    ///< pixels, a multiple of 8
  std::int32_t is_cut;      ///< whether the image ends within its ellipses
  std::int64_t covariance;  ///< where its matrix begins
};

/// What became of a gathering.
struct Gathered {
  int n_pix;
  int stride;
  bool is_near_blank;  ///< a pixel within the ellipses is blank
};

/// Lists the pixels of a group's region in raster order, with what the group is to explain there.
template <class Exec, Real T>
struct FitRegion {
  core::ImageRows<T> image;
  Background<Exec, T> background;
  RunLabels<Exec> labels;
  core::Region usable;
  Side side;
  FitNoise noise;
  const FitComponent* components;
  const Gaussian* fixed;

  KOKKOS_FUNCTION Gathered gather(const core::Group<Exec>& group, const PlacedGroup& placed,
                                  FitWork& work) const {
    Gathered found{0, placed.stride, false};
    if (placed.box.width() <= 0 || placed.box.height() <= 0) return found;
    while (!count(group, placed, work, found)) {
      // Every k-th row and column of what is left.
      int factor = 2;
      while (factor * factor * most_fitted_pixels < found.n_pix) ++factor;
      found.stride *= factor;
      group.barrier();
    }
    const int rows = rows_of(placed, found.stride);
    group.for_each(rows, [&](int row) {
      list(placed, row, found.stride, work, work.of_rows[row], work.of_rows[row + 1]);
    });
    const int padded = (found.n_pix + 7) / 8 * 8;
    group.for_each(padded - found.n_pix, [&](int i) {
      const int at = found.n_pix + i;
      work.x[at] = work.y[at] = 1e9;  // so far away that nothing reaches it
      work.value[at] = 0;
    });
    group.barrier();
    return found;
  }

 private:
  static constexpr std::int32_t blank_bit = 1 << 30;

  [[nodiscard]] KOKKOS_FUNCTION static int rows_of(const PlacedGroup& placed, int stride) {
    return static_cast<int>((placed.box.height() + stride - 1) / stride);
  }

  /// Counts the pixels of each row, and replaces the counts by those before a row. False if there
  /// are too many.
  KOKKOS_FUNCTION bool count(const core::Group<Exec>& group, const PlacedGroup& placed,
                             FitWork& work, Gathered& found) const {
    const int rows = rows_of(placed, found.stride);
    group.for_each(
        rows, [&](int row) { work.of_rows[row] = list(placed, row, found.stride, work, 0, 0); });
    group.barrier();
    int before = 0;
    bool is_near_blank = false;
    // Each thread adds up all rows, and only then one of them writes the sums.
    for (int row = 0; row < rows; ++row) {
      is_near_blank = is_near_blank || (work.of_rows[row] & blank_bit) != 0;
      before += work.of_rows[row] & ~blank_bit;
    }
    group.barrier();
    if (group.rank() == 0) {
      int sum = 0;
      for (int row = 0; row < rows; ++row) {
        const int of_row = work.of_rows[row] & ~blank_bit;
        work.of_rows[row] = sum;
        sum += of_row;
      }
      work.of_rows[rows] = sum;
    }
    group.barrier();
    found.n_pix = before;
    found.is_near_blank = is_near_blank;
    return before <= work.capacity;
  }

  /// Writes the pixels of a row from `begin` to `end`; if that is none, counts them instead, and
  /// sets `blank_bit` if a pixel within the ellipses is blank.
  KOKKOS_FUNCTION std::int32_t list(const PlacedGroup& placed, int row, int stride, FitWork& work,
                                    int begin, int end) const {
    const std::int64_t y = placed.box.y_min + std::int64_t{row} * stride;
    NearbyBackground<Exec, T> nearby(background);
    std::int32_t found = 0;
    std::int32_t blank = 0;
    for (std::int64_t x = placed.box.x_min; x <= placed.box.x_max; x += stride) {
      const Place place = place_of(placed.group, y, x);
      if (place == Place::outside) continue;
      const auto value = static_cast<double>(image.row(y)[x]);
      const LevelAndRms sky = nearby(y, x);
      constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
      if (!(value > -infinity && value < infinity && sky.is_usable() && usable.has(y, x))) {
        if (place == Place::inside) blank = blank_bit;
        continue;
      }
      if (begin + found < end) {
        const int at = begin + found;
        work.x[at] = static_cast<double>(x);
        work.y[at] = static_cast<double>(y);
        work.value[at] = deviation(side, value, sky.level) - neighbours(placed.group, y, x);
      }
      ++found;
    }
    return found | blank;
  }

  enum class Place { outside, inside, of_island };
  [[nodiscard]] KOKKOS_FUNCTION Place place_of(const FitGroup& group, std::int64_t y,
                                               std::int64_t x) const {
    const auto px = static_cast<double>(x);
    const auto py = static_cast<double>(y);
    const double inner = group.radius * group.radius * fwhm_squared_of_sigma;
    const double outer = group.island_radius * group.island_radius * fwhm_squared_of_sigma;
    bool is_inside = false;
    bool is_near = false;
    for (int i = 0; i < group.count; ++i) {
      const Gaussian& start = components[group.first + i].start;
      double square = square_of(start, start, px, py);
      if (noise.has_beam) {
        const double of_beam = square_of(noise.beam, start, px, py);
        square = of_beam < square ? of_beam : square;
      }
      is_inside = is_inside || square <= inner;
      is_near = is_near || square <= outer;
    }
    if (!is_inside && !is_near) return Place::outside;
    if (group.label == 0) return is_inside ? Place::inside : Place::outside;
    const std::uint32_t label = labels.components > 0 ? labels.at(y, x) : 0;
    if (label != 0 && label != group.label) return Place::outside;
    if (is_inside) return Place::inside;
    return is_near && label == group.label ? Place::of_island : Place::outside;
  }
  /// The squared distance from a centre, in standard deviations of a shape.
  [[nodiscard]] KOKKOS_FUNCTION static double square_of(const Gaussian& shape,
                                                        const Gaussian& centre, double px,
                                                        double py) {
    const double s = shape.u * (px - centre.x) + shape.w * (py - centre.y);
    const double z = shape.t * (py - centre.y);
    return s * s + z * z;
  }
  /// The light of the components that are held fixed.
  [[nodiscard]] KOKKOS_FUNCTION double neighbours(const FitGroup& group, std::int64_t y,
                                                  std::int64_t x) const {
    const auto px = static_cast<double>(x);
    const auto py = static_cast<double>(y);
    double sum = 0;
    for (int i = 0; i < group.fixed; ++i) {
      const Gaussian& other = fixed[group.first_fixed + i];
      sum += other.peak * core::exp(-0.5 * square_of(other, other, px, py));
    }
    return sum;
  }
};

}  // namespace kastor::detail

#endif
