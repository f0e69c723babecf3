// SPDX-License-Identifier: Apache-2.0
#include "find/component_outputs.hpp"

#include "find/island_catalogues.hpp"

namespace kastor::cli {

FitParams fit_params_of(const FindOptions& options, const OnTheSky& sky,
                        const DetectionSummary& detection,
                        const std::optional<NoiseCorrelation>& measured) {
  FitParams params;
  if (options.islands.components.has_beam_shape) params.free = FreeParameters::position;
  params.beam = sky.pixel_beam;
  params.flood_snr = options.islands.find.flood * detection.scale();
  params.noise_area = noise_used(options.islands.noise, sky, measured).pixels;
  return params;
}

std::vector<Gaussian> gaussians_of(const Components& components) {
  std::vector<Gaussian> gaussians;
  gaussians.reserve(components.size());
  for (const Component& each : components) gaussians.push_back(each.gaussian);
  return gaussians;
}

io::ComponentTable component_table_of(const io::FitsImage& image, const FindOptions& options,
                                      const OnTheSky& sky, const Components& components,
                                      const DetectionSummary& detection, const NoiseUsed& noise) {
  auto table = io::component_table(components, table_params_of(image, options, sky, detection));
  add_noise_cards(noise, table.table);
  return table;
}

}  // namespace kastor::cli
