// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_FIT_WORK_HPP
#define KASTOR_FIT_FIT_WORK_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/component.hpp>

namespace kastor::detail {

/// The most pixels that a group is fitted to.
inline constexpr int most_fitted_pixels = 4096;
/// The most rows and columns of a region that are looked at.
inline constexpr int most_region_rows = 1024;

/// The memory in which a group of components is fitted: parts of one list of doubles.
struct FitWork {
  int count = 0;     ///< components
  int capacity = 0;  ///< pixels, a multiple of 8
  // (capacity) The pixels that are fitted: position, data, residual.
  double *x, *y, *value, *residual;
  // (count x capacity) Of each component at each pixel: its value if the peak were 1, s and z.
  double *e, *s, *z;
  // (6 x capacity) Derivatives of one component, and the same after the noise's autocorrelation.
  double *derivative, *correlated;
  // (6 x count) Parameters, those of a step, and others in the order of the free parameters.
  double *now, *trial, *gradient, *trial_gradient, *step, *scale;
  // (6 count x 6 count)
  double *normal, *trial_normal, *factors, *inverse;
  double* sums;           ///< (2) sums of squares, now and of the trial
  std::int32_t* of_rows;  ///< (most_region_rows + 1)

  FitWork() = default;
  /// In memory for `size(count, capacity)` numbers.
  KOKKOS_FUNCTION FitWork(double* memory, int components, int pixels)
      : count(components), capacity(pixels) {
    const auto take = [&](int numbers) {
      double* const part = memory;
      memory += numbers;
      return part;
    };
    x = take(pixels);
    y = take(pixels);
    value = take(pixels);
    residual = take(pixels);
    e = take(components * pixels);
    s = take(components * pixels);
    z = take(components * pixels);
    derivative = take(gaussian_parameters * pixels);
    correlated = take(gaussian_parameters * pixels);
    const int parameters = gaussian_parameters * components;
    now = take(parameters);
    trial = take(parameters);
    gradient = take(parameters);
    trial_gradient = take(parameters);
    step = take(parameters);
    scale = take(parameters);
    normal = take(parameters * parameters);
    trial_normal = take(parameters * parameters);
    factors = take(parameters * parameters);
    inverse = take(parameters * parameters);
    sums = take(2);
    of_rows = reinterpret_cast<std::int32_t*>(memory);
  }
  /// Numbers of type double.
  [[nodiscard]] static std::int64_t size(std::int64_t components, std::int64_t pixels) {
    const std::int64_t parameters = gaussian_parameters * components;
    return (4 + 3 * components + 2 * gaussian_parameters) * pixels + 6 * parameters +
           4 * parameters * parameters + 2 + (most_region_rows + 2) / 2;
  }

  /// Exchanges what belongs to the parameters `now` and to the trial.
  KOKKOS_FUNCTION void accept_trial() {
    exchange(now, trial);
    exchange(gradient, trial_gradient);
    exchange(normal, trial_normal);
  }

 private:
  KOKKOS_FUNCTION static void exchange(double*& a, double*& b) {
    double* const kept = a;
    a = b;
    b = kept;
  }
};

}  // namespace kastor::detail

#endif
