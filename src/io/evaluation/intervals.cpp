// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/evaluation.hpp>

namespace kastor::io {
namespace {

// The probability within one sigma of a normal distribution, erf(1 / sqrt 2), leaves this on each
// side.
constexpr double k_tail = 0.15865525393145705;

/// P(X <= count) for a Poisson distribution; the terms are summed down from the largest.
double at_most(std::int64_t count, double mean) {
  auto k = static_cast<double>(count);
  double term = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1));
  double sum = 0;
  for (; k >= 0 && term > sum * 1e-17; --k) {
    sum += term;
    term *= k / mean;
  }
  return sum;
}

/// P(X >= count) for a Poisson distribution, count > 0.
double at_least(std::int64_t count, double mean) {
  auto k = static_cast<double>(count);
  double term = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1));
  double sum = 0;
  while (term > sum * 1e-17) {
    sum += term;
    ++k;
    term *= mean / k;
  }
  return sum;
}

/// The mean between two limits at which `probability` equals the tail.
template <class Probability>
double solve(double low, double high, bool rises, const Probability& probability) {
  for (int step = 0; step < 100; ++step) {
    const double middle = low + (high - low) / 2;
    if ((probability(middle) < k_tail) == rises) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low + (high - low) / 2;
}

}  // namespace

Estimate binomial_estimate(std::int64_t found, std::int64_t all) {
  KASTOR_EXPECTS("kastor::io::binomial_estimate", found >= 0 && found <= all,
                 "found is not from 0 to all; expected so");
  if (all == 0) return {};
  // Wilson's interval with z = 1.
  const auto n = static_cast<double>(all);
  const double share = static_cast<double>(found) / n;
  const double middle = (share + 0.5 / n) / (1 + 1 / n);
  const double half = std::sqrt(share * (1 - share) / n + 0.25 / (n * n)) / (1 + 1 / n);
  // At the ends the limits are 0 and 1; rounding must not pass them.
  return {share, found == 0 ? 0 : middle - half, found == all ? 1 : middle + half};
}

Estimate poisson_estimate(std::int64_t count) {
  KASTOR_EXPECTS("kastor::io::poisson_estimate", count >= 0,
                 "count is below 0; expected 0 or more");
  const auto value = static_cast<double>(count);
  const double reach = 10 * std::sqrt(value + 1) + 10;
  const double low =
      count == 0 ? 0 : solve(0, value, true, [&](double mean) { return at_least(count, mean); });
  const double high =
      solve(value, value + reach, false, [&](double mean) { return at_most(count, mean); });
  return {value, low, high};
}

}  // namespace kastor::io
