// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/evaluation.hpp>
#include <numeric>
#include <vector>

namespace kastor::io {
namespace {

constexpr double k_fit_range = 1.7;
constexpr int k_newton_steps = 50;

/// A step of a rising step function: sources, found ones, and the sum of ln S/N.
struct RisingStep {
  double all, found, sum;

  [[nodiscard]] double share() const { return found / all; }
  [[nodiscard]] double middle() const { return sum / all; }
};

/// Isotonic regression by pooling adjacent violators.
std::vector<RisingStep> rising_steps(const std::vector<double>& log_snr,
                                     const std::vector<int>& found) {
  std::vector<RisingStep> steps;
  for (std::size_t i = 0; i < log_snr.size();) {
    RisingStep step{0, 0, 0};
    const double value = log_snr[i];
    for (; i < log_snr.size() && log_snr[i] == value; ++i)
      step = {step.all + 1, step.found + (found[i] != 0 ? 1 : 0), step.sum + value};
    while (!steps.empty() && steps.back().share() >= step.share()) {
      const auto& last = steps.back();
      step = {last.all + step.all, last.found + step.found, last.sum + step.sum};
      steps.pop_back();
    }
    steps.push_back(step);
  }
  return steps;
}

/// ln S/N where the steps pass one half, between the middles of the two around it; NaN if they do
/// not.
double crossing(const std::vector<RisingStep>& steps) {
  constexpr double half = 0.5;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& step = steps[i];
    if (step.share() == half) return step.middle();
    if (step.share() < half) continue;
    if (i == 0) break;
    const auto& before = steps[i - 1];
    const double part = (half - before.share()) / (step.share() - before.share());
    return before.middle() + part * (step.middle() - before.middle());
  }
  return std::nan("");
}

/// The model p = 1 / (1 + exp(-(a + b z))), z = ln S/N - origin.
struct Logistic {
  double a = 0, b = 0;
  // Fisher's information at (a, b).
  double aa = 0, ab = 0, bb = 0;
  bool converged = false;
};

Logistic fit_logistic(const std::vector<double>& z, const std::vector<int>& found) {
  Logistic fit;
  fit.b = 5;
  for (int step = 0; step < k_newton_steps && !fit.converged; ++step) {
    double ga = 0;
    double gb = 0;
    fit.aa = fit.ab = fit.bb = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double p = 1 / (1 + std::exp(-(fit.a + fit.b * z[i])));
      const double weight = p * (1 - p);
      const double rest = (found[i] != 0 ? 1 : 0) - p;
      ga += rest;
      gb += rest * z[i];
      fit.aa += weight;
      fit.ab += weight * z[i];
      fit.bb += weight * z[i] * z[i];
    }
    const double determinant = fit.aa * fit.bb - fit.ab * fit.ab;
    if (!(determinant > 1e-12 * fit.aa * fit.bb)) break;
    const double da = (fit.bb * ga - fit.ab * gb) / determinant;
    const double db = (fit.aa * gb - fit.ab * ga) / determinant;
    // Long steps of Newton's method may not approach the maximum.
    const double scale = 1 / std::max({1.0, std::abs(da) / 2, std::abs(db) / 10});
    fit.a += da * scale;
    fit.b += db * scale;
    fit.converged = std::abs(da) < 1e-10 && std::abs(db) < 1e-9;
  }
  return fit;
}

HalfPoint refined(const std::vector<double>& log_snr, const std::vector<int>& found, double first) {
  HalfPoint result{std::exp(first), std::nan("")};
  const double range = std::log(k_fit_range);
  std::vector<double> z;
  std::vector<int> hits;
  for (std::size_t i = 0; i < log_snr.size(); ++i) {
    if (std::abs(log_snr[i] - first) > range) continue;
    z.push_back(log_snr[i] - first);
    hits.push_back(found[i]);
  }
  const auto fit = fit_logistic(z, hits);
  if (!fit.converged || !(fit.b > 0)) return result;
  const double shift = -fit.a / fit.b;
  if (!(std::abs(shift) < range)) return result;
  // The variance of -a / b.
  const double determinant = fit.aa * fit.bb - fit.ab * fit.ab;
  const double variance =
      (fit.bb - 2 * fit.ab * shift + fit.aa * shift * shift) / (determinant * fit.b * fit.b);
  result.snr = std::exp(first + shift);
  result.error = result.snr * std::sqrt(variance);
  return result;
}

}  // namespace

HalfPoint half_point(std::span<const double> snr, std::span<const int> found) {
  const char* name = "kastor::io::half_point";
  KASTOR_EXPECTS(name, snr.size() == found.size(), "the lengths differ; expected as many of both");
  std::vector<std::size_t> order(snr.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return snr[a] < snr[b]; });
  std::vector<double> log_snr;
  std::vector<int> hits;
  for (const auto i : order) {
    KASTOR_EXPECTS(name, snr[i] > 0 && std::isfinite(snr[i]),
                   "an S/N is not finite and above 0; expected so");
    log_snr.push_back(std::log(snr[i]));
    hits.push_back(found[i]);
  }
  const double first = crossing(rising_steps(log_snr, hits));
  if (std::isnan(first)) return {};
  return refined(log_snr, hits, first);
}

}  // namespace kastor::io
