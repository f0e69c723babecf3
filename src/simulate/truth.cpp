// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>

#include "core/random.hpp"
#include "simulate/sky_params.hpp"

namespace kastor {

void detail::check(const char* name, const SkyParams& p) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  KASTOR_EXPECTS(name, p.ny >= 1 && p.ny <= most && p.nx >= 1 && p.nx <= most,
                 "the shape is " + std::to_string(p.ny) + " x " + std::to_string(p.nx) +
                     "; expected 1 to 2147483647 rows and columns");
  KASTOR_EXPECTS(
      name, p.noise >= 0 && std::isfinite(p.noise),
      "the noise is " + std::to_string(p.noise) + "; expected a finite number, 0 or more");
  KASTOR_EXPECTS(name, p.beam_fwhm >= 1 && p.beam_fwhm <= 32,
                 "the beam is " + std::to_string(p.beam_fwhm) + " pixels wide; expected 1 to 32");
  KASTOR_EXPECTS(name, p.sources_per_mpx >= 0 && p.sources_per_mpx <= 1e6,
                 "there are " + std::to_string(p.sources_per_mpx) +
                     " sources per 10^6 pixels; expected 0 to 10^6");
  KASTOR_EXPECTS(name, p.extended_fraction >= 0 && p.extended_fraction <= 1,
                 "the fraction of extended sources is " + std::to_string(p.extended_fraction) +
                     "; expected 0 to 1");
}

std::vector<TrueSource> sky_truth(const SkyParams& params) {
  detail::check("kastor::sky_truth", params);
  const auto pixels = static_cast<double>(params.ny) * static_cast<double>(params.nx);
  const auto count =
      static_cast<std::uint64_t>(std::llround(params.sources_per_mpx * pixels * 1e-6));
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
    s.flux_int = s.flux_peak * widths * widths;
    truth.push_back(s);
  }
  std::sort(truth.begin(), truth.end(), [](const TrueSource& a, const TrueSource& b) {
    return a.y != b.y ? a.y < b.y : a.x < b.x;
  });
  return truth;
}

}  // namespace kastor
