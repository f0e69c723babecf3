// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/extended_profile.hpp"

#include <algorithm>
#include <cmath>

namespace kastor::io::detail {
namespace {

constexpr double k_extended = 100;      // [areas of the beam, and of the noise]
constexpr double k_gaussian = 1;        // largest beta
constexpr double k_least_margin = 0.9;  // of the threshold over the peak

/// exp(-x) sum over k of x^k / ((a + 1) ... (a + k)), which is Gamma(a + 1) P(a, x) / x^a; all
/// terms are positive (Abramowitz & Stegun 6.5.29).
double gamma_series(double a, double x) {
  double term = 1.0;
  double sum = 1.0;
  for (int k = 1; term > 1e-16 * sum; ++k) {
    term *= x / (a + k);
    sum += term;
  }
  return std::exp(-x) * sum;
}

/// The regularised lower incomplete gamma function; 1 for a = 0.
double regularised_gamma(double a, double x) {
  return std::min(std::pow(x, a) / std::tgamma(a + 1) * gamma_series(a, x), 1.0);
}

/// The exponent whose profile fills this fraction of p N above the threshold.
double exponent_of(double filled, double x) {
  double low = 0;
  double high = k_gaussian;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (low + high);
    (gamma_series(middle, x) > filled ? low : high) = middle;
  }
  return low;
}

}  // namespace

bool is_extended(const Island& island, const NoiseModel& noise) {
  return noise.beam_pixels > 0 && static_cast<double>(island.n_pix) >=
                                      k_extended * std::max(noise.beam_pixels, noise.noise_pixels);
}

ExtendedProfile extended_profile(const Island& island, double peak, double flood,
                                 const NoiseModel& noise) {
  const double sum = std::abs(island.flux_sum);
  const double area = sum / (peak - flood);
  const double draws = area * island.rms / (peak * noise.noise_pixels);
  const double raised = draws > 1 ? island.rms * std::sqrt(2 * std::log(draws)) : 0.0;
  const double top = peak - raised;
  if (!(flood < k_least_margin * top)) return {sum, 1};
  const double x = std::log(top / flood);
  const double beta = exponent_of(sum / (top * static_cast<double>(island.n_pix)), x);
  const double seen = regularised_gamma(beta, x);
  return {sum / seen, std::sqrt(std::max(seen / regularised_gamma(2 * beta, x), 1.0))};
}

}  // namespace kastor::io::detail
