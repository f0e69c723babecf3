// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_SANDWICH_HPP
#define KASTOR_FIT_SANDWICH_HPP

#include <Kokkos_Core.hpp>

#include "core/dense.hpp"
#include "core/eighths.hpp"
#include "core/elementary.hpp"
#include "core/group.hpp"
#include "core/noinline.hpp"
#include "fit/fit_work.hpp"
#include "fit/group_fitter.hpp"
#include "fit/normal_equations.hpp"

namespace kastor::detail {

/// The covariance of the parameters of a fit that took the noise of its pixels as independent,
/// although it is not: rms^2 H^-1 (J^T C J) H^-1, with C the noise's autocorrelation (White 1980,
/// Econometrica 48, 817). Needs the values and the normal equations of the last parameters; ends
/// with others in `FitWork::trial_normal`, `factors`. By all threads of a group.
template <class Exec, int F>
struct Sandwich {
  const core::Group<Exec>& group;
  double* scratch;
  int n;                 ///< pixels, padded to a multiple of 8
  Gaussian correlation;  ///< shape of C
  double rms;

  /// Writes the matrix of all parameters, 6 count x 6 count. False if H cannot be inverted.
  KASTOR_NOINLINE KOKKOS_FUNCTION bool operator()(const FitWork& work, double* covariance) const {
    if (!invert(work)) return false;
    for (int c = 0; c < work.count; ++c) correlate(work, c);
    multiply(work, covariance);
    return true;
  }

 private:
  // Beyond 3.04 standard deviations the autocorrelation is below 0.01, and taken as 0.
  static constexpr double most_square = 9.210340371976184;  // 2 ln 100

  /// H^-1 in `work.inverse`.
  [[nodiscard]] KOKKOS_FUNCTION bool invert(const FitWork& work) const {
    const int m = F * work.count;
    for (int a = 0; a < m; ++a)
      if (!(work.normal[a * m + a] > 0)) return false;
    group.for_each(m, [&](int a) { work.scale[a] = 1 / Kokkos::sqrt(work.normal[a * m + a]); });
    group.barrier();
    group.for_each(m * m, [&](int at) {
      const int a = at / m;
      const int b = at % m;
      work.factors[at] = a == b ? 1 : work.normal[at] * work.scale[a] * work.scale[b];
    });
    group.barrier();
    core::factorise(group, work.factors, m);
    if (!core::has_pivots_above(work.factors, m, 1e-12)) return false;
    group.for_each(m, [&](int a) {
      double* const row = work.inverse + a * m;
      for (int b = 0; b < m; ++b) row[b] = a == b ? 1 : 0;
      core::solve_factorised(work.factors, m, row);
      for (int b = 0; b < m; ++b) row[b] *= work.scale[a] * work.scale[b];
    });
    group.barrier();
    return true;
  }

  /// The columns of component c of K = J^T C J, in `work.trial_normal`.
  KOKKOS_FUNCTION void correlate(const FitWork& work, int c) const {
    const ComponentValues own(work, work.now, c);
    const int capacity = work.capacity;
    group.for_each(n, [&](int i) {
      double j[F][1];
      own.derivatives(i, j);
      for (int a = 0; a < F; ++a) work.derivative[a * capacity + i] = j[a][0];
    });
    group.barrier();
    // Pixels beyond these are farther than most_square.
    const double slope = correlation.w / correlation.t;
    const double reach_y = 3.1 / correlation.t;
    const double reach_x = 3.1 / correlation.u * Kokkos::sqrt(1 + slope * slope);
    core::sum_for_each<F>(
        group, n,
        [&](int first, int last) {
          double least = work.x[first];
          double most = least;
          for (int i = first + 1; i <= last; ++i) {
            least = work.x[i] < least ? work.x[i] : least;
            most = work.x[i] > most ? work.x[i] : most;
          }
          return RowRuns{work.x,
                         work.y,
                         first_at_least(work.y, work.y[first] - reach_y),
                         first_at_least(work.y, work.y[last] + reach_y),
                         least - reach_x,
                         most + reach_x};
        },
        Correlated{work.x, work.y, work.derivative, capacity, correlation},
        [&](int i, int a, double sum) { work.correlated[a * capacity + i] = sum; });
    group.barrier();
    const int m = F * work.count;
    core::sum_in_eighths<F * F>(
        group, scratch, work.count, n,
        [&](int job) {
          return MixedWithCorrelated{ComponentValues(work, work.now, job), work.correlated,
                                     capacity};
        },
        [&](int job, int k, double sum) {
          work.trial_normal[(F * job + k / F) * m + F * c + k % F] = sum;
        });
  }

  /// The pixels of some rows that lie between two columns: a run for each row.
  struct RowRuns {
    const double *x, *y;
    int at, all;
    double x_min, x_max;

    KOKKOS_FUNCTION bool next(int& begin, int& end) {
      while (at < all && !(x[at] >= x_min && x[at] <= x_max)) ++at;
      begin = at;
      while (at < all && y[at] == y[begin] && x[at] <= x_max) ++at;
      end = at;
      return begin < end;
    }
  };
  /// The first of the pixels, which ascend in y, with at least this y.
  [[nodiscard]] KOKKOS_FUNCTION int first_at_least(const double* y, double least) const {
    int begin = 0;
    int end = n;
    while (begin < end) {
      const int middle = (begin + end) / 2;
      if (y[middle] < least) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
  /// The autocorrelation between pixels i and j, times the derivatives at j.
  struct Correlated {
    const double *x, *y, *derivative;
    int capacity;
    Gaussian correlation;

    template <int W>
    KOKKOS_FORCEINLINE_FUNCTION void add(int i, int j, double (&sum)[F][W]) const {
      double rho[W];
      const double xj = x[j];
      const double yj = y[j];
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l) {
        const double dy = yj - y[i + l];
        const double s = correlation.u * (xj - x[i + l]) + correlation.w * dy;
        const double z = correlation.t * dy;
        const double square = s * s + z * z;
        const double all = core::exp(-0.5 * square);
        rho[l] = square < most_square ? all : 0;
      }
      KASTOR_UNROLL
      for (int a = 0; a < F; ++a) {
        const double factor = derivative[a * capacity + j];
        KASTOR_UNROLL
        for (int l = 0; l < W; ++l) sum[a][l] += rho[l] * factor;
      }
    }
  };
  struct MixedWithCorrelated {
    ComponentValues component;
    const double* correlated;
    int capacity;

    template <int W>
    KOKKOS_FORCEINLINE_FUNCTION void add(int i, double (&sum)[F * F][W]) const {
      double j[F][W];
      component.derivatives(i, j);
      KASTOR_UNROLL
      for (int b = 0; b < F; ++b) {
        double of_column[W];
        KASTOR_UNROLL
        for (int l = 0; l < W; ++l) of_column[l] = correlated[b * capacity + i + l];
        KASTOR_UNROLL
        for (int a = 0; a < F; ++a) add_products(j[a], of_column, sum[a * F + b]);
      }
    }
  };

  /// rms^2 H^-1 K H^-1; rows and columns of parameters that are fixed are 0.
  KOKKOS_FUNCTION void multiply(const FitWork& work, double* covariance) const {
    const int m = F * work.count;
    group.for_each(m * m, [&](int at) {
      const double* const row = work.inverse + at / m * m;
      double sum = 0;
      for (int i = 0; i < m; ++i) sum += row[i] * work.trial_normal[i * m + at % m];
      work.factors[at] = sum;
    });
    group.barrier();
    const int all = gaussian_parameters * work.count;
    group.for_each(all * all, [&](int at) {
      // The upper triangle is computed, and mirrored.
      const int row = at / all < at % all ? at / all : at % all;
      const int column = at / all < at % all ? at % all : at / all;
      const int a = row % gaussian_parameters;
      const int b = column % gaussian_parameters;
      double sum = 0;
      if (a < F && b < F) {
        const int i = row / gaussian_parameters * F + a;
        const int j = column / gaussian_parameters * F + b;
        for (int k = 0; k < m; ++k) sum += work.factors[i * m + k] * work.inverse[k * m + j];
      }
      covariance[at] = rms * rms * sum;
    });
    group.barrier();
  }
};

}  // namespace kastor::detail

#endif
