// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_CLIP_CORRECTION_HPP
#define KASTOR_CORE_CLIP_CORRECTION_HPP

#include <cmath>

/// What clipping takes from the standard deviation of normally distributed pixels. Host only.
namespace kastor::detail {

/// Variance of a standard normal distribution cut at -a and a  [a > 0]. It is
/// 1 - 2 a phi(a) / (2 Phi(a) - 1), and 2 Phi(a) - 1 = 2 phi(a) a (1 + a^2 / 3 + a^4 / (3 5) + ...)
/// (Abramowitz and Stegun, 26.2.11): without exp and erf, the bits are the same everywhere.
[[nodiscard]] inline double clipped_variance(double a) {
  double term = 1, sum = 1;
  for (int odd = 3; term > 1e-17 * sum && odd < 10000; odd += 2) {
    term *= a * a / odd;
    sum += term;
  }
  return 1 - 1 / sum;
}

/// By how much the standard deviation of `SigmaClipper`'s survivors is to be multiplied to be that
/// of the noise: 1.0154 if a clip at 3 goes on until nothing is removed. 1 for clips below 2, which
/// leave nothing of normally distributed pixels or have no such limit, and above 30.
/// \param max_passes  of `SigmaClipParams`; the first pass removes nothing
[[nodiscard]] inline double clip_correction(double kappa, int max_passes) {
  if (!(kappa >= 2 && kappa <= 30)) return 1;
  double std = 1;
  for (int pass = 1; max_passes == 0 ? pass < 1000 : pass < max_passes; ++pass) {
    const double next = std::sqrt(clipped_variance(kappa * std));
    if (next == std) break;
    std = next;
  }
  return 1 / std;
}

}  // namespace kastor::detail

#endif
