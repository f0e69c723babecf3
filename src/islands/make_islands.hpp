// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLANDS_MAKE_ISLANDS_HPP
#define KASTOR_ISLANDS_MAKE_ISLANDS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/island.hpp>
#include <kastor/pixel_map.hpp>

#include "core/fixed_point.hpp"
#include "core/group.hpp"
#include "islands/island_sums.hpp"
#include "islands/sum_islands.hpp"

/// Turns sums into rows that the host reads. Resets the sums for the next call.
namespace kastor::detail {

template <class Exec, Real T>
struct MakeIslands {
  static constexpr int threads = 64;
  static constexpr int scratch_bytes = threads * static_cast<int>(sizeof(Island));
  LabelledRuns runs;
  IslandSums* islands;
  Island* rows;
  Background<Exec, T> background;
  Side side;
  std::int32_t first_row;  ///< row of the image that is row 0 of the runs

  [[nodiscard]] std::int64_t groups() const { return (runs.island_room + threads - 1) / threads; }

  /// Rows are made in scratch memory first, since access to host memory is slow.
  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto* const made = group.template scratch<Island>(threads);
    const std::int64_t first = group.index() * threads;
    const std::int64_t rest = runs.islands() - first;
    if (rest <= 0) return;
    const int n = rest < threads ? static_cast<int>(rest) : threads;
    group.for_each(n, [&](int i) {
      made[i] = row_of(first + i);
      islands[first + i] = IslandSums();
    });
    group.barrier();
    group.copy(made, rows + first, n);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION Island row_of(std::int64_t i) const {
    const IslandSums sums = islands[i];
    const std::int32_t y_min = runs.y_min(i);
    const AboutPeak about(sums.extents, sums.fluxes.peak, y_min);
    Island row{};
    row.id = i + 1;
    row.n_pix = sums.extents.n_pix;
    row.x_min = sums.extents.x_min;
    row.x_max = sums.extents.x_max;
    // The rows are those of the image before they enter a double: its bits are those of the image.
    row.y_min = first_row + y_min;
    row.y_max = first_row + sums.extents.y_max;
    row.x_peak = about.x;
    row.y_peak = first_row + about.y;
    row.flags = sums.extents.flags | (side == Side::below ? island_negative : 0U);
    measure_fluxes(sums, about, row);
    measure_shape(sums, about, row);
    return row;
  }

  [[nodiscard]] KOKKOS_FUNCTION static double nan() {
    return Kokkos::Experimental::quiet_NaN_v<double>;
  }
  [[nodiscard]] KOKKOS_FUNCTION static double checked(double figure, Island& row) {
    if (Kokkos::isfinite(figure)) return figure;
    row.flags |= island_overflow;
    return nan();
  }

  KOKKOS_FUNCTION void measure_fluxes(const IslandSums& sums, const AboutPeak& about,
                                      Island& row) const {
    const int bits = about.bits;
    const IslandExtents& largest = sums.extents;
    const double sign = side == Side::above ? 1 : -1;
    const auto n = static_cast<double>(largest.n_pix);
    const auto total = [&](const FineSum& sum, const Largest& of) {
      return core::scale_by_power_of_two(sum.total(bits), of.exponent());
    };
    row.flux_peak = checked(sign * largest.peak.value(), row);
    row.flux_sum =
        largest.finite() ? checked(sign * total(sums.fluxes.flux, largest.deviation), row) : nan();
    row.raw_sum = checked(total(sums.fluxes.raw, largest.value), row);
    row.snr_peak = checked(largest.snr.value(), row);
    // Divide before scaling: so the mean never overflows.
    row.background =
        core::scale_by_power_of_two(sums.fluxes.level.total(bits) / n, largest.level.exponent());
    row.rms = core::scale_by_power_of_two(Kokkos::sqrt(sums.fluxes.squared_rms.total(bits) / n),
                                          largest.rms.exponent());
    row.rms_at_peak = background.rms(about.y, about.x);
    row.background_at_peak = background.level(about.y, about.x);
  }

  KOKKOS_FUNCTION void measure_shape(const IslandSums& sums, const AboutPeak& about,
                                     Island& row) const {
    row.x_cen = row.y_cen = row.var_xx = row.var_xy = row.var_yy = nan();
    const int bits = about.bits;
    const double flux = sums.fluxes.flux.total(bits);
    if (!sums.extents.finite() || !(flux > 0)) {
      row.flags |= island_no_centre | island_no_shape;
      return;
    }
    const IslandMoments& moments = sums.moments;
    const double x = moments.x.total(bits + about.x_bits) / flux;
    const double y = moments.y.total(bits + about.y_bits) / flux;
    const double xx = moments.xx.total(bits + 2 * about.x_bits) / flux - x * x;
    const double yy = moments.yy.total(bits + 2 * about.y_bits) / flux - y * y;
    // Deviations of both signs may balance anywhere. A centre outside of the island's box is none.
    const auto is_beyond = [](double offset, std::int32_t at, std::int32_t low, std::int32_t high) {
      return !(offset >= low - at && offset <= high - at);
    };
    if (is_beyond(x, about.x, row.x_min, row.x_max) ||
        is_beyond(y, row.y_peak, row.y_min, row.y_max)) {
      row.flags |= island_no_centre | island_no_shape;
      return;
    }
    row.x_cen = static_cast<double>(about.x) + x;
    row.y_cen = static_cast<double>(row.y_peak) + y;
    row.var_xx = xx > 0 ? xx : 0;
    row.var_yy = yy > 0 ? yy : 0;
    row.var_xy = moments.xy.total(bits + about.x_bits + about.y_bits) / flux - x * y;
    // Pixels on a line, in any direction: apart from rounding, the determinant is 0.
    const double product = row.var_xx * row.var_yy;
    if (!(product - row.var_xy * row.var_xy > 1e-12 * product)) row.flags |= island_no_shape;
  }
};

}  // namespace kastor::detail

#endif
