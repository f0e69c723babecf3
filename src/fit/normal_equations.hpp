// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_NORMAL_EQUATIONS_HPP
#define KASTOR_FIT_NORMAL_EQUATIONS_HPP

#include <Kokkos_Core.hpp>
#include <kastor/gaussian.hpp>

#include "core/eighths.hpp"
#include "core/elementary.hpp"
#include "core/group.hpp"
#include "core/noinline.hpp"
#include "fit/fit_work.hpp"

namespace kastor::detail {

/// One component of a fit, at the pixels of its group.
struct ComponentValues {
  Gaussian gaussian;
  const double *x, *y;      ///< of the pixels
  const double *e, *s, *z;  ///< as in `FitWork`

  KOKKOS_FUNCTION ComponentValues(const FitWork& work, const double* parameters, int component)
      : x(work.x),
        y(work.y),
        e(work.e + component * work.capacity),
        s(work.s + component * work.capacity),
        z(work.z + component * work.capacity) {
    const double* const p = parameters + gaussian_parameters * component;
    gaussian = {p[at_peak], p[at_x], p[at_y], p[at_u], p[at_w], p[at_t]};
  }

  /// The derivatives of its values at pixels i to i + W - 1 by its first F parameters.
  template <int F, int W>
  KOKKOS_FORCEINLINE_FUNCTION void derivatives(int i, double (&j)[F][W]) const {
    KASTOR_UNROLL
    for (int l = 0; l < W; ++l) j[0][l] = e[i + l];
    if constexpr (F > 1) {
      double gs[W];
      double gz[W];
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l) gs[l] = gaussian.peak * e[i + l] * s[i + l];
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l) gz[l] = gaussian.peak * e[i + l] * z[i + l];
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l) j[1][l] = gs[l] * gaussian.u;
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l) j[2][l] = gs[l] * gaussian.w + gz[l] * gaussian.t;
      if constexpr (F > 3) {
        KASTOR_UNROLL
        for (int l = 0; l < W; ++l) j[3][l] = -gs[l] * (x[i + l] - gaussian.x);
        KASTOR_UNROLL
        for (int l = 0; l < W; ++l) j[4][l] = -gs[l] * (y[i + l] - gaussian.y);
        KASTOR_UNROLL
        for (int l = 0; l < W; ++l) j[5][l] = -gz[l] * (y[i + l] - gaussian.y);
      }
    }
  }
};

/// Adds W products to W sums.
template <int W>
KOKKOS_FORCEINLINE_FUNCTION void add_products(const double (&a)[W], const double (&b)[W],
                                              double (&sum)[W]) {
  KASTOR_UNROLL
  for (int l = 0; l < W; ++l) sum[l] += a[l] * b[l];
}

/// Sums of a component with itself: J^T J (its upper triangle, row after row), J^T r, r^2.
template <int F>
struct OwnTerms {
  static constexpr int triangle = F * (F + 1) / 2;
  static constexpr int size = triangle + F + 1;
  ComponentValues component;
  const double* residual;

  template <int W>
  KOKKOS_FORCEINLINE_FUNCTION void add(int i, double (&sum)[size][W]) const {
    double j[F][W];
    component.derivatives(i, j);
    double r[W];
    KASTOR_UNROLL
    for (int l = 0; l < W; ++l) r[l] = residual[i + l];
    int at = 0;
    KASTOR_UNROLL
    for (int a = 0; a < F; ++a) {
      KASTOR_UNROLL
      for (int b = a; b < F; ++b) add_products(j[a], j[b], sum[at++]);
    }
    KASTOR_UNROLL
    for (int a = 0; a < F; ++a) add_products(j[a], r, sum[at++]);
    add_products(r, r, sum[at]);
  }
};

/// Sums of J^T J of two components.
template <int F>
struct MixedTerms {
  ComponentValues first, second;

  template <int W>
  KOKKOS_FORCEINLINE_FUNCTION void add(int i, double (&sum)[F * F][W]) const {
    double j[F][W];
    double k[F][W];
    first.derivatives(i, j);
    second.derivatives(i, k);
    KASTOR_UNROLL
    for (int a = 0; a < F; ++a) {
      KASTOR_UNROLL
      for (int b = 0; b < F; ++b) add_products(j[a], k[b], sum[a * F + b]);
    }
  }
};

/// The residuals of a group and its normal equations, by all threads of a group.
template <class Exec, int F>
struct NormalEquations {
  const core::Group<Exec>& group;
  double* scratch;
  int n;  ///< pixels, padded to a multiple of 8

  static constexpr int most_terms = F * F > OwnTerms<F>::size ? F* F : OwnTerms<F>::size;

  /// For the parameters p: the residuals, J^T J, J^T r and the sum of r^2. Afterwards each thread
  /// sees them.
  KASTOR_NOINLINE KOKKOS_FUNCTION void operator()(const FitWork& work, const double* p,
                                                  double* normal, double* gradient,
                                                  double* sum_of_squares) const {
    for (int c = 0; c < work.count; ++c) subtract(work, p, c);
    group.barrier();
    const int m = F * work.count;
    core::sum_in_eighths<OwnTerms<F>::size>(
        group, scratch, work.count, n,
        [&](int c) {
          return OwnTerms<F>{ComponentValues(work, p, c), work.residual};
        },
        [&](int c, int k, double sum) {
          constexpr int triangle = OwnTerms<F>::triangle;
          if (k < triangle) {
            int a = 0;
            int b = k;
            while (b >= F - a) b -= F - a++;
            b += a;
            normal[(F * c + a) * m + F * c + b] = normal[(F * c + b) * m + F * c + a] = sum;
          } else if (k < triangle + F) {
            gradient[F * c + k - triangle] = sum;
          } else if (c == 0) {
            *sum_of_squares = sum;
          }
        });
    for (int c = 0; c + 1 < work.count; ++c) {
      core::sum_in_eighths<F * F>(
          group, scratch, work.count - c - 1, n,
          [&](int job) {
            return MixedTerms<F>{ComponentValues(work, p, c),
                                 ComponentValues(work, p, c + 1 + job)};
          },
          [&](int job, int k, double sum) {
            const int row = F * c + k / F;
            const int column = F * (c + 1 + job) + k % F;
            normal[row * m + column] = normal[column * m + row] = sum;
          });
    }
    group.barrier();
  }

 private:
  /// The values of component c, and what they leave of the residuals.
  struct Subtract {
    Gaussian gaussian;
    const double *x, *y, *before;
    double *e, *s, *z, *residual;

    template <int W>
    KOKKOS_FORCEINLINE_FUNCTION void at(int i) const {
      double along[W];
      double across[W];
      double value[W];
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l)
        along[l] = gaussian.u * (x[i + l] - gaussian.x) + gaussian.w * (y[i + l] - gaussian.y);
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l) across[l] = gaussian.t * (y[i + l] - gaussian.y);
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l)
        value[l] = core::exp(-0.5 * (along[l] * along[l] + across[l] * across[l]));
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l) s[i + l] = along[l];
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l) z[i + l] = across[l];
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l) e[i + l] = value[l];
      double left[W];
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l) left[l] = before[i + l] - gaussian.peak * value[l];
      KASTOR_UNROLL
      for (int l = 0; l < W; ++l) residual[i + l] = left[l];
    }
  };
  KOKKOS_FUNCTION void subtract(const FitWork& work, const double* p, int c) const {
    const int at = c * work.capacity;
    core::for_each_eight(group, n,
                         Subtract{ComponentValues(work, p, c).gaussian, work.x, work.y,
                                  c == 0 ? work.value : work.residual, work.e + at, work.s + at,
                                  work.z + at, work.residual});
  }
};

}  // namespace kastor::detail

#endif
