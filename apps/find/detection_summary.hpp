// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_DETECTION_SUMMARY_HPP
#define KASTOR_APPS_FIND_DETECTION_SUMMARY_HPP

#include <kastor/background.hpp>
#include <optional>

namespace kastor::cli {

/// What was measured in the pixels in which islands are looked for.
struct DetectionSummary {
  std::optional<BackgroundSummary> mesh;  ///< of the detection image
  bool is_filtered = false;
  /// The noise after a filter of the sum 1, that of the image being 1; none if the taps cancel.
  std::optional<double> filtered_noise;

  /// What the thresholds are in units of the noise before the filter; 0: not known.
  [[nodiscard]] double scale() const { return filtered_noise.value_or(is_filtered ? 0 : 1); }
};

}  // namespace kastor::cli

#endif
