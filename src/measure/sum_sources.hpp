// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_MEASURE_SUM_SOURCES_HPP
#define KASTOR_MEASURE_SUM_SOURCES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/fixed_point.hpp"
#include "core/interval.hpp"
#include "core/ordered_key.hpp"
#include "core/pixel_row.hpp"
#include "measure/source_runs.hpp"
#include "measure/source_sums.hpp"

/// The sweeps over the runs of components. The first finds extents and largest pixels, which set
/// the grids; the second computes the sums and finds the peak.
namespace kastor::detail {

template <class Exec, class T, class Pixels = SomeBands<T>>
struct FindSourceExtents {
  using Part = SourceExtents<T>;
  SourceSweep<Exec, T, Pixels> sweep;

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    SourceTotals<T>* const totals = sweep.totals;
    const auto add = [totals](std::uint32_t label, const Part& part) {
      part.add_to(totals[label - 1].extents);
    };
    sweep.template add_parts<Part>(worker, add, part_of);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION static Part part_of(const SourceRun& run, const T* row) {
    constexpr core::Key<T> all_but_sign = ~core::Key<T>{0} >> 1;
    core::Key<T> peak = 0, magnitude = 0;
    core::for_each_in_order(row + run.begin, run.end - run.begin, [&](T pixel) {
      // On integers, since their maximum vectorises.
      const core::Key<T> key = core::key_of(pixel);
      const core::Key<T> size = Kokkos::bit_cast<core::Key<T>>(pixel) & all_but_sign;
      peak = key > peak ? key : peak;
      magnitude = size > magnitude ? size : magnitude;
    });
    Part part;
    part.n_pix = static_cast<std::uint64_t>(run.end - run.begin);
    part.x_min = run.begin;
    part.x_max = run.end - 1;
    part.y_max = run.y;
    part.longest_run = run.end - run.begin;
    part.peak = core::key_of(core::without_sign_of_zero(core::value_of<T>(peak)));
    part.magnitude = magnitude;
    return part;
  }
};

/// Adds up the pixels of a run from left to right, scaled so that the largest pixel of the
/// component is about 1, and each pixel times its distance from a column. The scalings are by
/// powers of two and therefore exact.
template <class T>
class ScaledSums {
 public:
  KOKKOS_FUNCTION ScaledSums(int exponent, std::int32_t distance)
      : m_first(core::power_of_two(first_of(exponent))),
        m_second(core::power_of_two(exponent - first_of(exponent))),
        m_distance(static_cast<double>(distance)) {}

  KOKKOS_FUNCTION void take(T pixel) {
    double v = static_cast<double>(pixel) * m_first;
    if constexpr (!is_one_product) v *= m_second;
    m_flux += v;
    m_moment += v * m_distance;
    m_distance += 1;
  }
  [[nodiscard]] KOKKOS_FUNCTION double flux() const { return m_flux; }
  [[nodiscard]] KOKKOS_FUNCTION double moment() const { return m_moment; }

 private:
  /// Exponents of floats are so small that the power is a double.
  static constexpr bool is_one_product = sizeof(T) == sizeof(float);
  [[nodiscard]] KOKKOS_FUNCTION static int first_of(int exponent) {
    return is_one_product ? exponent : exponent / 2;
  }
  double m_first, m_second, m_distance;
  double m_flux = 0, m_moment = 0;
};

template <class Exec, class T, class Pixels = SomeBands<T>>
struct SumSources {
  using Part = SourceSums;
  SourceSweep<Exec, T, Pixels> sweep;

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    SourceTotals<T>* const totals = sweep.totals;
    const auto add = [totals](std::uint32_t label, const Part& part) {
      part.add_to(totals[label - 1].sums);
    };
    sweep.template add_parts<Part>(
        worker, add, [this](const SourceRun& run, const T* row) { return part_of(run, row); });
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION Part part_of(const SourceRun& run, const T* row) const {
    const SourceExtents<T>& extents = sweep.totals[run.label - 1].extents;
    const std::int32_t y_min = sweep.runs.y_min(run.label - 1);
    const SourceGrid<T> grid(extents, y_min);
    const T peak = core::value_of<T>(extents.peak);
    ScaledSums<T> sums(-grid.pixel, run.begin - extents.x_min);
    bool has_peak = false;
    core::for_each_in_order(row + run.begin, run.end - run.begin, [&](T pixel) {
      sums.take(pixel);
      has_peak |= pixel == peak;
    });
    Part part;
    part.flux = WideSum::of(sums.flux(), grid.flux_bits);
    part.x_moment = WideSum::of(sums.moment(), grid.x_bits);
    part.y_moment = WideSum::of(sums.flux() * static_cast<double>(run.y - y_min), grid.y_bits);
    if (has_peak) {
      std::int32_t x = run.begin;
      while (row[x] != peak) ++x;
      part.peak_at = PixelPlace::of(run.y, x);
    }
    return part;
  }
};

}  // namespace kastor::detail

#endif
