// SPDX-License-Identifier: Apache-2.0
#include "bench/timing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kastor::bench {
namespace {

/// The median; for an even count the mean of the two middle values, as everywhere in Kastor.
double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

}  // namespace

Timing make_timing(std::vector<double> seconds, bool stopped_early) {
  Timing timing;
  timing.median = median_of(seconds);
  timing.minimum = *std::min_element(seconds.begin(), seconds.end());
  std::vector<double> deviations;
  for (const double value : seconds) deviations.push_back(std::abs(value - timing.median));
  timing.spread = median_of(std::move(deviations));
  timing.seconds = std::move(seconds);
  timing.stopped_early = stopped_early;
  return timing;
}

Timing repeat(const TimingRules& rules, const std::function<double()>& once) {
  const double warm_up = once();
  if (warm_up >= rules.seconds_most) return make_timing({warm_up}, rules.repeats > 1);
  std::vector<double> seconds;
  const auto count = [&seconds] { return static_cast<int>(seconds.size()); };
  double total = 0;
  while (count() < rules.repeats || (total < rules.seconds_least && count() < rules.repeats_most)) {
    if (total >= rules.seconds_most) break;
    seconds.push_back(once());
    total += seconds.back();
  }
  const bool stopped_early = count() < rules.repeats;
  return make_timing(std::move(seconds), stopped_early);
}

}  // namespace kastor::bench
