// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_MEASURE_MAKE_SOURCE_ROWS_HPP
#define KASTOR_MEASURE_MAKE_SOURCE_ROWS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/catalogue.hpp>

#include "core/fixed_point.hpp"
#include "core/group.hpp"
#include "measure/source_runs.hpp"
#include "measure/source_sums.hpp"

namespace kastor::detail {

/// Turns sums into rows, which may be in host memory. Resets the sums for the next call.
template <class Exec, class T>
struct MakeSourceRows {
  static constexpr int threads = 64;
  static constexpr int scratch_bytes = threads * static_cast<int>(sizeof(Source));
  SourceRuns runs;
  SourceTotals<T>* totals;
  Source* rows;
  const std::uint32_t* kept = nullptr;  ///< the component of each row; null: all, in order
  std::int64_t before = 0;              ///< sources with smaller ids

  /// No more groups than keep a device busy; each group loops over the rows.
  [[nodiscard]] std::int64_t groups(const Exec& space) const {
    return std::min((runs.components + threads - 1) / threads,
                    std::int64_t{16} * core::multiprocessor_count(space));
  }

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto* const made = group.template scratch<Source>(threads);
    const std::int64_t count = runs.count();
    for (std::int64_t first = group.index() * threads; first < count;
         first += group.count() * threads) {
      const int n = count - first < threads ? static_cast<int>(count - first) : threads;
      group.for_each(n, [&](int i) {
        const std::int64_t component = kept != nullptr ? kept[first + i] : first + i;
        made[i] = row_of(component);
        made[i].id = before + first + i + 1;
        totals[component] = SourceTotals<T>();
      });
      group.barrier();
      group.copy(made, rows + first, n);
      group.barrier();
    }
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION Source row_of(std::int64_t i) const {
    const SourceExtents<T>& extents = totals[i].extents;
    const SourceSums& sums = totals[i].sums;
    const std::int32_t y_min = runs.y_min(i);
    const SourceGrid<T> grid(extents, y_min);
    const double flux = sums.flux.total(grid.flux_bits);
    const double nan = Kokkos::Experimental::quiet_NaN_v<double>;
    Source row;
    row.x_cen = flux == 0 ? nan : extents.x_min + sums.x_moment.total(grid.x_bits) / flux;
    row.y_cen = flux == 0 ? nan : y_min + sums.y_moment.total(grid.y_bits) / flux;
    row.flux_sum = core::scale_by_power_of_two(flux, grid.pixel);
    row.flux_peak = static_cast<double>(core::value_of<T>(extents.peak));
    row.x_peak = PixelPlace::x(sums.peak_at);
    row.y_peak = PixelPlace::y(sums.peak_at);
    row.n_pix = static_cast<std::int64_t>(extents.n_pix);
    row.x_min = extents.x_min;
    row.x_max = extents.x_max;
    row.y_min = y_min;
    row.y_max = extents.y_max;
    return row;
  }
};

}  // namespace kastor::detail

#endif
