// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APERTURE_SUM_APERTURES_HPP
#define KASTOR_APERTURE_SUM_APERTURES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/aperture.hpp>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>

#include "aperture/circle_overlap.hpp"
#include "core/group.hpp"
#include "core/region.hpp"
#include "islands/nearby_background.hpp"

namespace kastor::detail {

/// Sums over some rows of an aperture.
struct ApertureSums {
  double light = 0;
  double variance = 0;
  double area = 0;
  std::int64_t n_missing = 0;

  KOKKOS_FUNCTION void add(const ApertureSums& sums) {
    light += sums.light;
    variance += sums.variance;
    area += sums.area;
    n_missing += sums.n_missing;
  }
};

/// Measures one aperture with a group of threads.
template <class Exec, Real T>
struct SumApertures {
  /// Row i of an aperture belongs to partial sum i mod 32, on every backend.
  static constexpr int threads = 32;
  static constexpr int scratch_bytes = threads * static_cast<int>(sizeof(ApertureSums));
  Rows<T> image;
  Background<Exec, T> background;
  core::Region region;
  const AperturePosition* positions;
  const double* radii;
  std::int64_t radius_count;
  ApertureFlux* fluxes;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto* const parts = group.template scratch<ApertureSums>(threads);
    const AperturePosition& at = positions[group.index() / radius_count];
    const double radius = radii[group.index() % radius_count];
    group.for_each(threads, [&](int part) { parts[part] = sum_rows(at, radius, part); });
    group.barrier();
    if (group.rank() == 0) write(at, radius, parts, fluxes[group.index()]);
  }

 private:
  /// The pixels from `first` to `last` along an axis of n pixels that reach into low..high; none
  /// if `last` is smaller.
  struct Reach {
    std::int64_t first = 0, last = -1;

    KOKKOS_FUNCTION Reach(double low, double high, std::int64_t n) {
      const double from = Kokkos::floor(low + 0.5);
      const double to = Kokkos::ceil(high - 0.5);
      if (!(from < static_cast<double>(n)) || !(to >= 0)) return;
      first = from > 0 ? static_cast<std::int64_t>(from) : 0;
      last = to < static_cast<double>(n - 1) ? static_cast<std::int64_t>(to) : n - 1;
    }
  };

  [[nodiscard]] KOKKOS_FUNCTION ApertureSums sum_rows(const AperturePosition& at, double radius,
                                                      int part) const {
    ApertureSums sums;
    NearbyBackground<Exec, T> nearby(background);
    const Reach rows(at.y - radius, at.y + radius, image.ny);
    for (std::int64_t y = rows.first + part; y <= rows.last; y += threads) {
      const double dy = static_cast<double>(y) - at.y;
      const double away = dy < 0 ? -dy : dy;
      const double nearest = away > 0.5 ? away - 0.5 : 0;
      if (nearest >= radius) continue;
      const double half = Kokkos::sqrt((radius - nearest) * (radius + nearest));
      const Reach columns(at.x - half, at.x + half, image.nx);
      ApertureSums of_row;
      for (std::int64_t x = columns.first; x <= columns.last; ++x) {
        const double weight = circle_overlap(static_cast<double>(x) - at.x, dy, radius);
        if (weight > 0) add_pixel(nearby, y, x, weight, of_row);
      }
      sums.add(of_row);
    }
    return sums;
  }

  KOKKOS_FUNCTION void add_pixel(NearbyBackground<Exec, T>& nearby, std::int64_t y, std::int64_t x,
                                 double weight, ApertureSums& sums) const {
    constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
    const auto value = static_cast<double>(image.data[y * image.pitch + x]);
    const LevelAndRms sky = nearby(y, x);
    if (value > -infinity && value < infinity && sky.is_usable() && region.has(y, x)) {
      sums.light += weight * (value - sky.level);
      sums.variance += weight * (sky.rms * sky.rms);
      sums.area += weight;
    } else {
      ++sums.n_missing;
    }
  }

  KOKKOS_FUNCTION void write(const AperturePosition& at, double radius, const ApertureSums* parts,
                             ApertureFlux& flux) const {
    ApertureSums total;
    for (int part = 0; part < threads; ++part) total.add(parts[part]);
    std::uint32_t flags = 0;
    const bool is_within = at.x - radius >= -0.5 && at.y - radius >= -0.5 &&
                           at.x + radius <= static_cast<double>(image.nx) - 0.5 &&
                           at.y + radius <= static_cast<double>(image.ny) - 0.5;
    if (!is_within) flags |= aperture_at_edge;
    if (total.n_missing > 0) flags |= aperture_missing;
    const bool has_pixels = total.area > 0;
    if (!has_pixels) flags |= aperture_no_pixels;
    constexpr double nan = Kokkos::Experimental::quiet_NaN_v<double>;
    flux = {has_pixels ? total.light : nan, has_pixels ? total.variance : nan, total.area,
            total.n_missing, flags};
  }
};

}  // namespace kastor::detail

#endif
