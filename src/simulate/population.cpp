// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/random.hpp"
#include "simulate/place_in_scene.hpp"
#include "simulate/sky_params.hpp"

namespace kastor {
namespace detail {
namespace {

void check_population(const SkyParams& params, const Population& p) {
  const char* f = "kastor::population_truth";
  const auto text = [](double value) { return std::to_string(value); };
  KASTOR_EXPECTS(f, p.count >= 0 && p.count <= 100000000,
                 "there are " + std::to_string(p.count) + " sources; expected 0 to 10^8");
  KASTOR_EXPECTS(f, p.snr_min > 0 && p.snr_max >= p.snr_min && std::isfinite(p.snr_max),
                 "the S/N goes from " + text(p.snr_min) + " to " + text(p.snr_max) +
                     "; expected finite limits above 0 in ascending order");
  const bool as_beam = p.size_min == 0 && p.size_max == 0;
  KASTOR_EXPECTS(f, as_beam || (p.size_min >= 0.1 && p.size_max >= p.size_min && p.size_max <= 1e5),
                 "the size goes from " + text(p.size_min) + " to " + text(p.size_max) +
                     "; expected limits from 0.1 to 10^5 pixels in ascending order, or 0 for that "
                     "of the beam");
  KASTOR_EXPECTS(f, p.axis_ratio > 0 && p.axis_ratio <= 1,
                 "the axis ratio is " + text(p.axis_ratio) + "; expected above 0 and up to 1");
  KASTOR_EXPECTS(f, as_beam || p.axis_ratio * p.size_min >= 0.1,
                 "the minor axis goes down to " + text(p.axis_ratio * p.size_min) +
                     " pixels; expected 0.1 or more");
  KASTOR_EXPECTS(
      f, p.pair_separation >= 0 && p.pair_separation <= 1e5,
      "the separation of pairs is " + text(p.pair_separation) + "; expected 0 to 10^5 pixels");
  KASTOR_EXPECTS(f, p.pair_ratio > 0 && p.pair_ratio <= 1,
                 "the ratio of pairs is " + text(p.pair_ratio) + "; expected above 0 and up to 1");
  KASTOR_EXPECTS(f, params.detector.gain > 0 || params.noise > 0,
                 "the noise is 0, but sources have an S/N; expected noise above 0");
  const bool dark = params.detector.gain > 0 && params.detector.read_noise <= 0 &&
                    Scene{params}.lowest_level() <= 0;
  KASTOR_EXPECTS(
      f, !dark,
      "the sky level goes down to 0 and there is no read noise, but sources have an S/N; "
      "expected one of them above 0");
}

/// The random numbers of one source, all from its place in its population.
class Draw {
 public:
  Draw(std::uint64_t stream, std::uint64_t index) : m_stream(stream), m_first(16 * index) {}
  /// Uniform in [low, high).
  double operator()(double low, double high) {
    return low + (high - low) * core::random_uniform(m_stream, m_first + m_next++);
  }

 private:
  std::uint64_t m_stream;
  std::uint64_t m_first;
  std::uint64_t m_next = 0;
};

/// Places of a population: anywhere, or in the middle halves of the cells of a grid.
class Places {
 public:
  Places(const SkyParams& params, const Population& population)
      : m_nx(static_cast<double>(params.nx)),
        m_ny(static_cast<double>(params.ny)),
        m_on_grid(population.on_grid) {
    const auto count = static_cast<double>(std::max<std::int64_t>(population.count, 1));
    m_columns = std::max(1.0, std::ceil(std::sqrt(count * m_nx / m_ny)));
    m_rows = std::max(1.0, std::ceil(count / m_columns));
  }

  void put(std::int64_t index, Draw& draw, TrueSource& source) const {
    double column = 0;
    double row = 0;
    double low = 0;
    double high = 1;
    double columns = 1;
    double rows = 1;
    if (m_on_grid) {
      columns = m_columns;
      rows = m_rows;
      column = std::fmod(static_cast<double>(index), m_columns);
      row = std::floor(static_cast<double>(index) / m_columns);
      low = 0.25;
      high = 0.75;
    }
    source.x = (column + draw(low, high)) * m_nx / columns - 0.5;
    source.y = (row + draw(low, high)) * m_ny / rows - 0.5;
  }

 private:
  double m_nx, m_ny;
  bool m_on_grid;
  double m_columns, m_rows;
};

/// Sets the flux so that the source has this S/N where it is.
void set_flux(const Scene& scene, double snr, TrueSource& source) {
  source.rms = noise_at(scene, source.x, source.y);
  source.snr = snr;
  source.flux_peak = snr * source.rms / snr_of_unit_peak(scene, source);
  source.flux_int = source.flux_peak * flux_of_unit_peak(scene, source);
}

}  // namespace
}  // namespace detail

std::vector<TrueSource> population_truth(const SkyParams& params,
                                         const std::vector<Population>& populations) {
  detail::check("kastor::population_truth", params);
  const detail::Scene scene{params};
  std::vector<TrueSource> truth;
  std::int64_t group = 0;
  for (std::size_t k = 0; k < populations.size(); ++k) {
    const Population& p = populations[k];
    detail::check_population(params, p);
    const std::uint64_t stream = core::random_bits(params.seed, 0x909a0000U + k);
    const detail::Places places(params, p);
    const auto add = [&](const TrueSource& source) {
      if (scene.is_observed(source.x, source.y)) truth.push_back(source);
    };
    for (std::int64_t i = 0; i < p.count; ++i) {
      detail::Draw draw(stream, static_cast<std::uint64_t>(i));
      TrueSource source{};
      source.shape = p.shape;
      places.put(i, draw, source);
      const double snr = p.snr_min * std::pow(p.snr_max / p.snr_min, draw(0, 1));
      source.fwhm = draw(p.size_min, p.size_max);
      if (p.size_max <= 0) source.fwhm = params.beam_fwhm;
      source.minor = p.shape == SourceShape::gaussian ? source.fwhm * p.axis_ratio : source.fwhm;
      source.angle = draw(0, 180);
      const double direction = draw(0, 2 * std::numbers::pi);
      if (p.pair_separation > 0) source.group = ++group;
      detail::set_flux(scene, snr, source);
      add(source);
      if (p.pair_separation <= 0) continue;
      source.x += p.pair_separation * std::cos(direction);
      source.y += p.pair_separation * std::sin(direction);
      const double peak = source.flux_peak * p.pair_ratio;
      detail::set_flux(scene, 1, source);
      detail::set_flux(scene, peak / source.flux_peak, source);
      add(source);
    }
  }
  return truth;
}

}  // namespace kastor
