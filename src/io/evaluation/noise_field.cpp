// SPDX-License-Identifier: Apache-2.0
#include "io/evaluation/noise_field.hpp"

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <numbers>

namespace kastor::io {
namespace {

/// The mean square of differences.
struct Differences {
  double sum = 0;
  double count = 0;

  void add(double a, double b) {
    // Pixels that are not clear are NaN.
    const double difference = a - b;
    if (std::isnan(difference)) return;
    sum += difference * difference;
    ++count;
  }
  [[nodiscard]] double mean() const { return sum / count; }
};

}  // namespace

namespace detail {

NoiseCorrelation measured_correlation(const EvaluatedImage& image,
                                      const std::vector<std::uint8_t>& clear, std::int64_t far) {
  const auto nx = static_cast<std::size_t>(image.nx);
  const auto lag = static_cast<std::size_t>(far);
  std::vector<std::vector<double>> rows(lag + 1, std::vector<double>(nx, std::nan("")));
  Differences x;
  Differences y;
  Differences up;
  Differences down;
  Differences apart;
  for (std::size_t at = 0; at < static_cast<std::size_t>(image.ny); ++at) {
    auto& row = rows[at % (lag + 1)];
    image.row(static_cast<std::int64_t>(at), row);
    for (std::size_t i = 0; i < nx; ++i) {
      if (clear[at * nx + i] == 0) row[i] = std::nan("");
    }
    for (std::size_t i = 1; i < nx; ++i) x.add(row[i], row[i - 1]);
    for (std::size_t i = lag; i < nx; ++i) apart.add(row[i], row[i - lag]);
    if (at == 0) continue;
    const auto& below = rows[(at - 1) % (lag + 1)];
    for (std::size_t i = 0; i < nx; ++i) y.add(row[i], below[i]);
    for (std::size_t i = 1; i < nx; ++i) up.add(row[i], below[i - 1]);
    for (std::size_t i = 1; i < nx; ++i) down.add(row[i - 1], below[i]);
    if (at < lag) continue;
    const auto& other = rows[(at - lag) % (lag + 1)];
    for (std::size_t i = 0; i < nx; ++i) apart.add(row[i], other[i]);
  }
  const auto rho = [&](const Differences& near) { return 1 - near.mean() / apart.mean(); };
  return {rho(x), rho(y), rho(up), rho(down)};
}

}  // namespace detail

NoiseCorrelation beam_correlation(double beam_pixels) {
  KASTOR_EXPECTS("kastor::io::beam_correlation", beam_pixels > 0,
                 "the area of the beam is not above 0; expected so");
  // exp(-4 ln 2 h^2 / FWHM^2), with the area pi FWHM^2 / (4 ln 2).
  const double near = std::exp(-std::numbers::pi / beam_pixels);
  return {near, near, near * near, near * near};
}

double smooth_islands_per_pixel(double threshold, const NoiseCorrelation& noise) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto [low, high] = std::minmax({noise.x, noise.y, noise.up, noise.down});
  if (!(threshold >= 1) || !(low > 0) || !(high < 1)) return none;
  const double xx = -2 * std::log(noise.x);
  const double yy = -2 * std::log(noise.y);
  const double xy = std::log(noise.down) / 2 - std::log(noise.up) / 2;
  const double determinant = xx * yy - xy * xy;
  if (!(determinant > 0)) return none;
  return std::sqrt(determinant) * std::pow(2 * std::numbers::pi, -1.5) * threshold *
         std::exp(-threshold * threshold / 2);
}

}  // namespace kastor::io
