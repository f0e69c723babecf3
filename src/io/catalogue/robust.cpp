// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <kastor/io/robust.hpp>

namespace kastor::io {

double median_of(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double below = *std::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

RobustSpread robust_spread(std::vector<double> values) {
  // 1 / (sqrt(2) erfinv(1/2)): sigma over the median absolute deviation, for a normal distribution.
  constexpr double sigma_per_mad = 1.482602218505602;
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  RobustSpread spread;
  spread.count = static_cast<std::int64_t>(values.size());
  spread.median = median_of(values);
  for (auto& value : values) value = std::abs(value - spread.median);
  spread.sigma = sigma_per_mad * median_of(std::move(values));
  return spread;
}

}  // namespace kastor::io
