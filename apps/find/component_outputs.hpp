// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_COMPONENT_OUTPUTS_HPP
#define KASTOR_APPS_FIND_COMPONENT_OUTPUTS_HPP

#include <kastor/fit.hpp>
#include <kastor/gaussian.hpp>
#include <kastor/io/component_table.hpp>
#include <kastor/noise_correlation.hpp>
#include <optional>
#include <vector>

#include "find/detection_summary.hpp"
#include "find/find_outputs.hpp"
#include "find/noise_used.hpp"
#include "find/on_the_sky.hpp"

namespace kastor::cli {

/// How the components of an image are fitted: with its beam, and with the noise that the errors of
/// its islands are computed with.
[[nodiscard]] FitParams fit_params_of(const FindOptions& options, const OnTheSky& sky,
                                      const DetectionSummary& detection,
                                      const std::optional<NoiseCorrelation>& measured);

[[nodiscard]] std::vector<Gaussian> gaussians_of(const Components& components);

[[nodiscard]] io::ComponentTable component_table_of(const io::FitsImage& image,
                                                    const FindOptions& options, const OnTheSky& sky,
                                                    const Components& components,
                                                    const DetectionSummary& detection,
                                                    const NoiseUsed& noise);

}  // namespace kastor::cli

#endif
