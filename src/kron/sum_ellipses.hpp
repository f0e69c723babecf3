// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_KRON_SUM_ELLIPSES_HPP
#define KASTOR_KRON_SUM_ELLIPSES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/kron.hpp>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>

#include "core/group.hpp"
#include "core/region.hpp"
#include "islands/nearby_background.hpp"
#include "kron/ellipse.hpp"

namespace kastor::detail {

/// Sums over some rows of an ellipse.
struct EllipseSums {
  double light = 0;  ///< of the deviations
  double other = 0;  ///< of r times the deviations, or of the variances
  std::int64_t n_pix = 0, n_mirrored = 0, n_missing = 0;
  std::int64_t n_dropped = 0;  ///< pixels of dropped islands, which are mirrored or missing

  KOKKOS_FUNCTION void add(const EllipseSums& sums) {
    light += sums.light;
    other += sums.other;
    n_pix += sums.n_pix;
    n_mirrored += sums.n_mirrored;
    n_missing += sums.n_missing;
    n_dropped += sums.n_dropped;
  }
};

/// Measures one ellipse with a group of threads.
template <class Exec, Real T>
struct SumEllipses {
  /// Row i of an ellipse belongs to partial sum i mod 32, on every backend.
  static constexpr int threads = 32;
  static constexpr int scratch_bytes = threads * static_cast<int>(sizeof(EllipseSums));
  Rows<T> image;
  Background<Exec, T> background;
  RunLabels<Exec> above, below;  ///< may be without components
  core::Region region;
  KronParams params;
  const LightEllipse* ellipses;
  KronFlux* fluxes;  ///< their ids, a and b are set

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto* const parts = group.template scratch<EllipseSums>(threads);
    const LightEllipse& ellipse = ellipses[group.index()];
    if (ellipse.label == 0) return;
    group.for_each(threads, [&](int part) {
      parts[part] = sum_rows<false>(ellipse, params.search_radius, part);
    });
    group.barrier();
    const double radius = radius_of(total_of(parts));
    group.barrier();
    group.for_each(threads, [&](int part) { parts[part] = sum_rows<true>(ellipse, radius, part); });
    group.barrier();
    if (group.rank() == 0) write(ellipse, radius, total_of(parts), fluxes[group.index()]);
  }

 private:
  using Nearby = NearbyBackground<Exec, T>;
  struct Pixel {
    double deviation = 0, rms = 0;
    bool is_usable = false;
    bool is_dropped = false;  ///< not usable, but only since it is of a dropped island
  };

  [[nodiscard]] KOKKOS_FUNCTION Pixel pixel(Nearby& nearby, const LightEllipse& ellipse,
                                            std::int64_t y, std::int64_t x) const {
    Pixel here;
    const auto value = static_cast<double>(image.data[y * image.pitch + x]);
    const LevelAndRms sky = nearby(y, x);
    constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
    const bool is_good =
        value > -infinity && value < infinity && sky.is_usable() && region.has(y, x);
    const int owned_by = owner(ellipse, y, x);
    here.is_dropped = is_good && owned_by == 1 && params.mask_dropped;
    here.is_usable = is_good && owned_by != 2 && !here.is_dropped;
    here.deviation = deviation(ellipse.is_below != 0 ? Side::below : Side::above, value, sky.level);
    here.rms = sky.rms;
    return here;
  }
  /// 0: to none of the side but its own island; 1: to a dropped one; 2: to another.
  [[nodiscard]] KOKKOS_FUNCTION static int owner(const RunLabels<Exec>& labels, std::uint32_t own,
                                                 std::int64_t y, std::int64_t x) {
    if (labels.mask.words.data() == nullptr) return 0;
    if (!MaskRow{&labels.mask.words(y, 0)}.test(x)) return 0;
    const std::uint32_t label = labels.components > 0 ? labels.at(y, x) : 0;
    return label == 0 ? 1 : (label == own ? 0 : 2);
  }
  [[nodiscard]] KOKKOS_FUNCTION int owner(const LightEllipse& ellipse, std::int64_t y,
                                          std::int64_t x) const {
    const bool is_below = ellipse.is_below != 0;
    const int up = owner(above, is_below ? 0 : ellipse.label, y, x);
    const int down = owner(below, is_below ? ellipse.label : 0, y, x);
    return up > down ? up : down;
  }

  /// With `is_flux`, missing pixels are replaced and the variances summed; otherwise they take no
  /// part, and r times the deviations is summed.
  template <bool is_flux>
  [[nodiscard]] KOKKOS_FUNCTION EllipseSums sum_rows(const LightEllipse& ellipse, double k,
                                                     int part) const {
    EllipseSums sums;
    Nearby nearby(background);
    const PixelSpan rows = ellipse.rows(k, image.ny);
    for (std::int64_t y = rows.first + part; y <= rows.last; y += threads) {
      const PixelSpan columns = ellipse.columns(k, y, image.nx);
      EllipseSums of_row;
      for (std::int64_t x = columns.first; x <= columns.last; ++x) {
        const double squared = ellipse.squared_radius(y, x);
        if (!(squared <= k * k)) continue;
        ++of_row.n_pix;
        const Pixel here = pixel(nearby, ellipse, y, x);
        if (here.is_usable) {
          of_row.light += here.deviation;
          of_row.other += is_flux ? here.rms * here.rms : Kokkos::sqrt(squared) * here.deviation;
        } else if (!is_flux || !add_mirrored(ellipse, k, y, x, of_row)) {
          ++of_row.n_missing;
        }
        if (here.is_dropped) ++of_row.n_dropped;
      }
      sums.add(of_row);
    }
    return sums;
  }

  /// False if the pixel opposite to (y, x) cannot be used either.
  KOKKOS_FUNCTION bool add_mirrored(const LightEllipse& ellipse, double k, std::int64_t y,
                                    std::int64_t x, EllipseSums& sums) const {
    if (!params.mirror_missing) return false;
    const double opposite_y = Kokkos::floor(2 * ellipse.y - static_cast<double>(y) + 0.5);
    const double opposite_x = Kokkos::floor(2 * ellipse.x - static_cast<double>(x) + 0.5);
    if (!(opposite_y >= 0 && opposite_y < static_cast<double>(image.ny) && opposite_x >= 0 &&
          opposite_x < static_cast<double>(image.nx)))
      return false;
    const auto at_y = static_cast<std::int64_t>(opposite_y);
    const auto at_x = static_cast<std::int64_t>(opposite_x);
    Nearby nearby(background);
    const Pixel there = pixel(nearby, ellipse, at_y, at_x);
    if (!there.is_usable) return false;
    // Twice the same noise has four times its variance, one of which is counted where it lies.
    const bool is_within = ellipse.squared_radius(at_y, at_x) <= k * k;
    sums.light += there.deviation;
    sums.other += (is_within ? 3 : 1) * (there.rms * there.rms);
    ++sums.n_mirrored;
    return true;
  }

  /// In the same order in every thread.
  [[nodiscard]] KOKKOS_FUNCTION static EllipseSums total_of(const EllipseSums* parts) {
    EllipseSums total;
    for (int part = 0; part < threads; ++part) total.add(parts[part]);
    return total;
  }
  [[nodiscard]] KOKKOS_FUNCTION double radius_of(const EllipseSums& total) const {
    double radius = params.min_radius;
    if (total.light > 0 && total.other > 0) {
      const double kron = params.factor * (total.other / total.light);
      radius = kron > radius ? kron : radius;
    }
    const double cap = params.factor * params.search_radius;
    const double most = cap > params.min_radius ? cap : params.min_radius;
    return radius < most ? radius : most;
  }
  KOKKOS_FUNCTION void write(const LightEllipse& ellipse, double radius, const EllipseSums& total,
                             KronFlux& flux) const {
    flux.n_pix = total.n_pix;
    flux.n_mirrored = total.n_mirrored;
    flux.n_missing = total.n_missing;
    const std::int64_t bad = total.n_mirrored + total.n_missing - total.n_dropped;
    std::uint32_t flags = 0;
    if (10 * bad > total.n_pix) flags |= kron_crowded;
    if (ellipse.is_cut(radius, image.ny, image.nx)) flags |= kron_at_edge;
    if (total.n_pix > total.n_missing) {
      flux.flux = ellipse.is_below != 0 ? -total.light : total.light;
      flux.variance = total.other;
      flux.radius = radius;
    } else {
      flags |= kron_no_aperture;
    }
    flux.flags = flags;
  }
};

}  // namespace kastor::detail

#endif
