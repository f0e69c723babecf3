// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_LEVENBERG_MARQUARDT_HPP
#define KASTOR_FIT_LEVENBERG_MARQUARDT_HPP

#include <Kokkos_Core.hpp>

#include "core/dense.hpp"
#include "core/group.hpp"
#include "core/noinline.hpp"
#include "fit/ellipse_algebra.hpp"
#include "fit/fit_work.hpp"
#include "fit/group_fitter.hpp"
#include "fit/normal_equations.hpp"

namespace kastor::detail {

/// The fit of Levenberg (1944) and Marquardt (1963, J. SIAM 11, 431): the normal equations, scaled
/// to a unit diagonal, plus lambda on it. By all threads of a group, which decide the same.
template <class Exec, int F>
class LevenbergMarquardt {
 public:
  KOKKOS_FUNCTION LevenbergMarquardt(const core::Group<Exec>& group, double* scratch, int n,
                                     const FitComponent* components, double rms, bool is_rough)
      : m_group(group),
        m_equations{group, scratch, n},
        m_components(components),
        m_enough((is_rough ? 1e-2 : 1e-6) * rms * rms),
        m_most_iterations(is_rough ? 20 : 50) {}

  /// Begins with the parameters `work.now` and leaves the best ones there, with the normal
  /// equations and the residuals that belong to them.
  KASTOR_NOINLINE KOKKOS_FUNCTION FitStatus operator()(FitWork& work, std::int32_t& iterations,
                                                       double& sum_of_squares) {
    m_equations(work, work.now, work.normal, work.gradient, work.sums);
    sum_of_squares = work.sums[0];
    double lambda = F > 1 ? 1e-3 : 0;  // the peaks alone are a linear problem
    iterations = 0;
    FitStatus status = FitStatus::not_converged;
    while (iterations < m_most_iterations && status == FitStatus::not_converged) {
      ++iterations;
      status = iterate(work, lambda, sum_of_squares);
    }
    m_group.barrier();
    if (!m_is_current) m_equations(work, work.now, work.normal, work.gradient, work.sums);
    return status;
  }

 private:
  static constexpr int most_tries = 12;
  static constexpr double least_pivot = 1e-12;
  static constexpr double least_lambda = 1e-9;

  KOKKOS_FUNCTION FitStatus iterate(FitWork& work, double& lambda, double& sum_of_squares) {
    const int m = F * work.count;
    for (int a = 0; a < m; ++a)
      if (!(work.normal[a * m + a] > 0)) return FitStatus::failed;
    m_group.for_each(m, [&](int a) { work.scale[a] = 1 / Kokkos::sqrt(work.normal[a * m + a]); });
    m_group.barrier();
    for (int tries = 0; tries < most_tries; ++tries) {
      const bool is_solved = solve(work, lambda);
      // What the sum of squares would lose, were the problem linear.
      double gain = 0;
      for (int a = 0; a < m; ++a) gain += work.step[a] * work.scale[a] * work.gradient[a];
      if (is_solved && make_trial(work)) {
        m_equations(work, work.trial, work.trial_normal, work.trial_gradient, work.sums + 1);
        const double squares = work.sums[1];
        m_is_current = false;
        m_group.barrier();
        const bool is_last = gain < m_enough;
        if (squares < sum_of_squares || (is_last && squares <= sum_of_squares)) {
          work.accept_trial();
          m_is_current = true;
          sum_of_squares = squares;
          lambda *= 0.1;
          lambda = F > 1 && lambda < least_lambda ? least_lambda : lambda;
          return is_last ? FitStatus::converged : FitStatus::not_converged;
        }
        if (is_last) return FitStatus::converged;
      } else if (is_solved && gain < m_enough) {
        return FitStatus::converged;
      }
      m_group.barrier();
      lambda = lambda < 1e-8 ? 1e-8 : 10 * lambda;
    }
    return FitStatus::failed;
  }

  /// The step in scaled parameters. False if the equations are singular.
  [[nodiscard]] KOKKOS_FUNCTION bool solve(FitWork& work, double lambda) const {
    const int m = F * work.count;
    m_group.for_each(m * m, [&](int at) {
      const int a = at / m;
      const int b = at % m;
      work.factors[at] = a == b ? 1 + lambda : work.normal[at] * work.scale[a] * work.scale[b];
    });
    m_group.for_each(m, [&](int a) { work.step[a] = work.gradient[a] * work.scale[a]; });
    m_group.barrier();
    core::factorise(m_group, work.factors, m);
    const bool is_solved = core::has_pivots_above(work.factors, m, least_pivot);
    core::solve_factorised(m_group, work.factors, m, work.step);
    return is_solved;
  }

  /// Adds the step to the parameters. False if that is not legal.
  [[nodiscard]] KOKKOS_FUNCTION bool make_trial(FitWork& work) const {
    m_group.for_each(gaussian_parameters * work.count, [&](int at) {
      const int a = at % gaussian_parameters;
      const int free = at / gaussian_parameters * F + a;
      work.trial[at] = a < F ? work.now[at] + work.step[free] * work.scale[free] : work.now[at];
    });
    m_group.barrier();
    for (int c = 0; c < work.count; ++c)
      if (!is_legal(m_components[c], work.trial + gaussian_parameters * c)) return false;
    return true;
  }
  [[nodiscard]] KOKKOS_FUNCTION static bool is_legal(const FitComponent& component,
                                                     const double* p) {
    if (!(p[at_peak] >= component.min_peak && p[at_peak] <= component.max_peak)) return false;
    if constexpr (F > 1) {
      if (!(Kokkos::abs(p[at_x] - component.start.x) <= component.max_shift &&
            Kokkos::abs(p[at_y] - component.start.y) <= component.max_shift))
        return false;
    }
    if constexpr (F > 3) {
      if (!(p[at_u] > 0 && p[at_t] > 0)) return false;
      // The eigenvalues of the precision matrix are 8 ln 2 / FWHM^2.
      const double xx = p[at_u] * p[at_u];
      const double xy = p[at_u] * p[at_w];
      const double yy = p[at_w] * p[at_w] + p[at_t] * p[at_t];
      const double mean = 0.5 * (xx + yy);
      const double half = 0.5 * (xx - yy);
      const double large = mean + Kokkos::sqrt(half * half + xy * xy);
      const double determinant = p[at_u] * p[at_t];
      const double small = determinant * determinant / large;
      return small * component.max_fwhm * component.max_fwhm >= fwhm_squared_of_sigma &&
             large * component.min_fwhm * component.min_fwhm <= fwhm_squared_of_sigma;
    }
    return true;
  }

  const core::Group<Exec>& m_group;
  NormalEquations<Exec, F> m_equations;
  const FitComponent* m_components;
  double m_enough;  ///< a step that gains less is the last one
  int m_most_iterations;
  bool m_is_current = true;  ///< whether the residuals are those of `FitWork::now`
};

}  // namespace kastor::detail

#endif
