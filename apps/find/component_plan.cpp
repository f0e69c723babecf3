// SPDX-License-Identifier: Apache-2.0
#include "find/component_plan.hpp"

namespace kastor::cli {

void append(FittedComponents& all, const FittedComponents& more) {
  const auto components = static_cast<std::int64_t>(all.components.size());
  const auto groups =
      static_cast<std::int64_t>(all.covariance_begin.empty() ? 0 : all.covariance_begin.size() - 1);
  for (Component component : more.components) {
    component.id += components;
    component.group_id += groups;
    all.components.push_back(component);
  }
  if (all.covariance_begin.empty()) all.covariance_begin.push_back(0);
  const std::size_t begin = all.covariance.size();
  for (std::size_t i = 1; i < more.covariance_begin.size(); ++i)
    all.covariance_begin.push_back(begin + more.covariance_begin[i]);
  all.covariance.insert(all.covariance.end(), more.covariance.begin(), more.covariance.end());
}

bool are_same_fits(const FitParams& a, const FitParams& b) {
  const auto is_same = [](const PixelEllipse& one, const PixelEllipse& other) {
    return one.major == other.major && one.minor == other.minor && one.angle == other.angle;
  };
  return a.free == b.free && a.noise_area == b.noise_area && a.flood_snr == b.flood_snr &&
         a.beam.has_value() == b.beam.has_value() && (!a.beam || is_same(*a.beam, *b.beam));
}

}  // namespace kastor::cli
