// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_NORMAL_EQUATIONS_HPP
#define KASTOR_FIT_NORMAL_EQUATIONS_HPP

#include <Kokkos_Core.hpp>
#include <kastor/gaussian.hpp>

#include "core/eighths.hpp"
#include "core/elementary.hpp"
#include "core/group.hpp"
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

  /// The derivatives of its value at pixel i by its first F parameters.
  template <int F>
  KOKKOS_FORCEINLINE_FUNCTION void derivatives(int i, double (&j)[F]) const {
    j[0] = e[i];
    if constexpr (F > 1) {
      const double gs = gaussian.peak * e[i] * s[i];
      const double gz = gaussian.peak * e[i] * z[i];
      j[1] = gs * gaussian.u;
      j[2] = gs * gaussian.w + gz * gaussian.t;
      if constexpr (F > 3) {
        const double dx = x[i] - gaussian.x;
        const double dy = y[i] - gaussian.y;
        j[3] = -gs * dx;
        j[4] = -gs * dy;
        j[5] = -gz * dy;
      }
    }
  }
};

/// Sums of a component with itself: J^T J (its upper triangle, row after row), J^T r, r^2.
template <int F>
struct OwnTerms {
  static constexpr int triangle = F * (F + 1) / 2;
  static constexpr int size = triangle + F + 1;
  ComponentValues component;
  const double* residual;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, double (&term)[size]) const {
    double j[F];
    component.derivatives(i, j);
    const double r = residual[i];
    int at = 0;
    KASTOR_UNROLL
    for (int a = 0; a < F; ++a) {
      KASTOR_UNROLL
      for (int b = a; b < F; ++b) term[at++] = j[a] * j[b];
    }
    KASTOR_UNROLL
    for (int a = 0; a < F; ++a) term[at++] = j[a] * r;
    term[at] = r * r;
  }
};

/// Sums of J^T J of two components.
template <int F>
struct MixedTerms {
  ComponentValues first, second;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, double (&term)[F * F]) const {
    double j[F];
    double k[F];
    first.derivatives(i, j);
    second.derivatives(i, k);
    KASTOR_UNROLL
    for (int a = 0; a < F; ++a) {
      KASTOR_UNROLL
      for (int b = 0; b < F; ++b) term[a * F + b] = j[a] * k[b];
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
  KOKKOS_FUNCTION void operator()(const FitWork& work, const double* p, double* normal,
                                  double* gradient, double* sum_of_squares) const {
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
  KOKKOS_FUNCTION void subtract(const FitWork& work, const double* p, int c) const {
    const ComponentValues component(work, p, c);
    const Gaussian g = component.gaussian;
    const double* KOKKOS_RESTRICT x = work.x;
    const double* KOKKOS_RESTRICT y = work.y;
    const double* KOKKOS_RESTRICT value = work.value;
    double* KOKKOS_RESTRICT e = work.e + c * work.capacity;
    double* KOKKOS_RESTRICT s = work.s + c * work.capacity;
    double* KOKKOS_RESTRICT z = work.z + c * work.capacity;
    double* KOKKOS_RESTRICT residual = work.residual;
    const bool is_first = c == 0;
    const int step = group.size();
    for (int i = group.rank(); i < n; i += step) {
      const double dy = y[i] - g.y;
      const double along = g.u * (x[i] - g.x) + g.w * dy;
      const double across = g.t * dy;
      const double here = core::exp(-0.5 * (along * along + across * across));
      s[i] = along;
      z[i] = across;
      e[i] = here;
      residual[i] = (is_first ? value[i] : residual[i]) - g.peak * here;
    }
  }
};

}  // namespace kastor::detail

#endif
