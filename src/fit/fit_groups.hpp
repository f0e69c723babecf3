// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_FIT_GROUPS_HPP
#define KASTOR_FIT_FIT_GROUPS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/eighths.hpp"
#include "core/group.hpp"
#include "fit/fit_region.hpp"
#include "fit/fit_work.hpp"
#include "fit/group_fitter.hpp"
#include "fit/levenberg_marquardt.hpp"
#include "fit/normal_equations.hpp"
#include "fit/sandwich.hpp"

namespace kastor::detail {

/// Fits groups of components with F free parameters each; a group of threads fits one after the
/// other.
template <class Exec, Real T, int F>
struct FitGroups {
  FitRegion<Exec, T> region;
  const PlacedGroup* groups;
  const std::int32_t* order;  ///< which groups
  std::int64_t count;         ///< how many
  double* memory;             ///< of all threads; `FitWork`
  std::int64_t memory_each;   ///< numbers of a group of threads
  Gaussian* fitted;
  FitOutcome* outcomes;
  double* covariance;  ///< null: not asked for

  [[nodiscard]] KOKKOS_FUNCTION static constexpr int scratch_numbers(int threads) {
    return core::eighths_scratch(NormalEquations<Exec, F>::most_terms, threads);
  }

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto* const scratch = group.template scratch<double>(scratch_numbers(group.size()));
    for (std::int64_t i = group.index(); i < count; i += group.count()) {
      fit(group, scratch, order[i]);
      group.barrier();
    }
  }

 private:
  KOKKOS_FUNCTION void fit(const core::Group<Exec>& group, double* scratch, int which) const {
    const PlacedGroup& placed = groups[which];
    const FitGroup& about = placed.group;
    FitWork work(memory + group.index() * memory_each, about.count, placed.capacity);
    const FitComponent* const components = region.components + about.first;
    group.for_each(about.count, [&](int c) { put(components[c].start, work.now, c); });
    const Gathered pixels = region.gather(group, placed, work);

    FitStatus status = FitStatus::failed;
    std::int32_t iterations = 0;
    double sum_of_squares = 0;
    const int padded = (pixels.n_pix + 7) / 8 * 8;
    if (pixels.n_pix > F * about.count) {
      LevenbergMarquardt<Exec, F> solver(group, scratch, padded, components, about.rms,
                                         covariance == nullptr);
      status = solver(work, iterations, sum_of_squares);
    }
    if (covariance != nullptr)
      find_covariance(group, scratch, padded, placed, work, status != FitStatus::failed);
    group.for_each(about.count, [&](int c) {
      const double* const p = work.now + gaussian_parameters * c;
      fitted[about.first + c] =
          status == FitStatus::failed
              ? components[c].start
              : Gaussian{p[at_peak], p[at_x], p[at_y], p[at_u], p[at_w], p[at_t]};
    });
    if (group.rank() != 0) return;
    std::uint32_t flags = placed.is_cut != 0 ? component_at_edge : 0U;
    if (pixels.is_near_blank) flags |= component_near_blank;
    outcomes[which] = {status, iterations, pixels.n_pix, pixels.stride, flags, sum_of_squares};
  }

  KOKKOS_FUNCTION static void put(const Gaussian& start, double* parameters, int c) {
    double* const p = parameters + gaussian_parameters * c;
    p[at_peak] = start.peak;
    p[at_x] = start.x;
    p[at_y] = start.y;
    p[at_u] = start.u;
    p[at_w] = start.w;
    p[at_t] = start.t;
  }

  KOKKOS_FUNCTION void find_covariance(const core::Group<Exec>& group, double* scratch, int padded,
                                       const PlacedGroup& placed, const FitWork& work,
                                       bool is_fitted) const {
    double* const matrix = covariance + placed.covariance;
    const Sandwich<Exec, F> sandwich{group, scratch, padded, region.noise.correlation,
                                     placed.group.rms};
    if (is_fitted && sandwich(work, matrix)) return;
    const int all = gaussian_parameters * work.count;
    group.for_each(all * all,
                   [&](int at) { matrix[at] = Kokkos::Experimental::quiet_NaN_v<double>; });
  }
};

}  // namespace kastor::detail

#endif
