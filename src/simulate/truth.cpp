// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "simulate/place_in_scene.hpp"
#include "simulate/sky_params.hpp"

namespace kastor {

std::vector<TrueSource> sky_truth(const SkyParams& params) {
  detail::check("kastor::sky_truth", params);
  const auto pixels = static_cast<double>(params.ny) * static_cast<double>(params.nx);
  const auto count =
      static_cast<std::uint64_t>(std::llround(params.sources_per_mpx * pixels * 1e-6));
  const detail::Scene scene{params};
  // A separate random stream, so that sources and noise are independent.
  const std::uint64_t seed = core::random_bits(params.seed, 0x50c1a11eU);
  std::vector<TrueSource> truth;
  truth.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto uniform = [&](std::uint64_t k) { return core::random_uniform(seed, 8 * i + k); };
    TrueSource s{};
    s.x = uniform(0) * static_cast<double>(params.nx) - 0.5;
    s.y = uniform(1) * static_cast<double>(params.ny) - 0.5;
    // Number counts N(>S) ~ S^-1.1, truncated at 50 times the scale.
    s.flux_peak = 0.03 + 0.05 * std::min(50.0, std::pow(1.0 - uniform(2), -1.0 / 1.1) - 1.0);
    const bool extended = uniform(3) < params.extended_fraction;
    s.fwhm = params.beam_fwhm * (extended ? 1.5 + 3.5 * uniform(4) : 1.0);
    const double widths = s.fwhm / params.beam_fwhm;
    s.flux_int = params.detector.gain > 0 ? s.flux_peak * detail::flux_of_unit_peak(scene, s)
                                          : s.flux_peak * widths * widths;
    detail::place_in_scene(scene, s);
    if (scene.is_observed(s.x, s.y)) truth.push_back(s);
  }
  std::sort(truth.begin(), truth.end(), [](const TrueSource& a, const TrueSource& b) {
    return a.y != b.y ? a.y < b.y : a.x < b.x;
  });
  return truth;
}

}  // namespace kastor
