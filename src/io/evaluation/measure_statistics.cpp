// SPDX-License-Identifier: Apache-2.0
#include "io/evaluation/measure_statistics.hpp"

#include <cmath>
#include <kastor/io/robust.hpp>

namespace kastor::io::detail {
namespace {

// For normally distributed values: sqrt(pi / 2), and the error of 1.4826 MAD over that of the
// standard deviation, whose square is 1 / 0.3675 (Rousseeuw & Croux, J. Am. Stat. Assoc. 88, 1273,
// 1993).
constexpr double k_median_error = 1.2533141373155003;
constexpr double k_sigma_error = 1.1664;

bool is_ratio(MeasuredQuantity quantity) {
  return quantity != MeasuredQuantity::x && quantity != MeasuredQuantity::y;
}

MeasureBin bin_of(const std::vector<EvaluatedPair>& pairs, MeasuredQuantity quantity, double low,
                  double high) {
  MeasureBin bin;
  bin.low = low;
  bin.high = high;
  std::vector<double> deviations;
  std::vector<double> pulls;
  const auto q = static_cast<std::size_t>(quantity);
  for (const auto& pair : pairs) {
    if (!pair.isolated || !(pair.true_snr >= low && pair.true_snr < high)) continue;
    const double truth = pair.truths[q];
    const double difference = pair.measured[q] - truth;
    deviations.push_back(is_ratio(quantity) ? difference / truth : difference);
    if (pair.errors[q] > 0) pulls.push_back(difference / pair.errors[q]);
  }
  bin.deviation = spread_of(std::move(deviations));
  bin.pull = spread_of(std::move(pulls));
  return bin;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  Spread spread;
  spread.count = static_cast<std::int64_t>(values.size());
  if (values.empty()) return spread;
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  spread.mean = sum / n;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  if (values.size() > 1) {
    spread.std = std::sqrt(squares / (n - 1));
    spread.std_err = spread.std / std::sqrt(2 * (n - 1));
    spread.mean_err = spread.std / std::sqrt(n);
  }
  const auto robust = robust_spread(std::move(values));
  spread.median = robust.median;
  spread.sigma = robust.sigma;
  if (spread.count > 1) {
    spread.median_err = k_median_error * spread.sigma / std::sqrt(n);
    spread.sigma_err = k_sigma_error * spread.sigma / std::sqrt(n);
  }
  return spread;
}

std::vector<double> bin_limits(const std::vector<double>& limits) {
  auto all = limits;
  all.push_back(std::numeric_limits<double>::infinity());
  return all;
}

std::vector<ShareBin> share_bins(const std::vector<double>& limits, std::span<const double> snr,
                                 std::span<const int> matched) {
  const auto edges = bin_limits(limits);
  std::vector<ShareBin> bins;
  for (std::size_t b = 0; b + 1 < edges.size(); ++b) {
    ShareBin bin;
    bin.low = edges[b];
    bin.high = edges[b + 1];
    for (std::size_t i = 0; i < snr.size(); ++i) {
      if (!(snr[i] >= bin.low && snr[i] < bin.high)) continue;
      ++bin.all;
      bin.matched += matched[i] != 0 ? 1 : 0;
    }
    bin.share = binomial_estimate(bin.matched, bin.all);
    if (bin.all > 0) bins.push_back(bin);
  }
  return bins;
}

void summarise(const std::vector<EvaluatedPair>& pairs, const EvaluationParams& params,
               Measure& measure) {
  measure.pooled = bin_of(pairs, measure.quantity, params.pool_low, params.pool_high);
  const auto edges = bin_limits(params.bins);
  for (std::size_t b = 0; b + 1 < edges.size(); ++b) {
    const auto bin = bin_of(pairs, measure.quantity, edges[b], edges[b + 1]);
    if (bin.deviation.count > 0) measure.bins.push_back(bin);
  }
}

}  // namespace kastor::io::detail
