// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <kastor/aperture.hpp>
#include <kastor/error.hpp>
#include <numbers>
#include <string>

namespace kastor {
namespace {

constexpr const char* name_of_noise_factor = "kastor::aperture_noise_factor";
/// The autocorrelation of the noise ends where it is below this.
constexpr double least_correlation = 1e-4;

void expect_between(const char* what, double value, double low, bool low_is_in, double high) {
  KASTOR_EXPECTS(name_of_noise_factor, (low_is_in ? value >= low : value > low) && value <= high,
                 std::string(what) + " is " + std::to_string(value) + "; expected a number " +
                     (low_is_in ? "of at least " : "above ") + std::to_string(low) + " and up to " +
                     std::to_string(high));
}

/// The area that two circles have in common whose centres are `apart`.
double lens(double radius, double apart) {
  const double c = apart / (2 * radius);
  if (c >= 1) return 0;
  return 2 * radius * radius * (std::acos(c) - c * std::sqrt((1 - c) * (1 + c)));
}

/// The mean of sum(w_i w_(i + lag)) over all places of the centre in a pixel: the lens, averaged
/// over the difference of two places in unit squares, of density (1 - |x|) (1 - |y|).
double aperture_correlation(double radius, double lag_x, double lag_y) {
  // The lens has a cusp at 0.
  const bool is_cusp = std::abs(lag_x) <= 1 && std::abs(lag_y) <= 1;
  const int n = is_cusp ? 64 : 4;
  double sum = 0;
  double weights = 0;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      const double dx = (2 * i + 1.0) / n - 1;
      const double dy = (2 * j + 1.0) / n - 1;
      const double weight = (1 - std::abs(dx)) * (1 - std::abs(dy));
      sum += weight * lens(radius, std::hypot(lag_x + dx, lag_y + dy));
      weights += weight;
    }
  }
  return sum / weights;
}

}  // namespace

double aperture_noise_factor(double radius, double noise_area, const PixelEllipse& beam) {
  expect_between("the radius", radius, 0, false, 1e6);
  expect_between("the noise area", noise_area, 1, true, 1e8);
  const bool is_round = beam.major == 0 && beam.minor == 0;
  if (!is_round) {
    expect_between("the minor axis of the beam", beam.minor, 0, false, beam.major);
    expect_between("the major axis of the beam", beam.major, 0, false, 1e6);
  }
  const double aperture = std::numbers::pi * radius * radius;
  double sum = aperture_correlation(radius, 0, 0);
  if (noise_area > 1) {
    PixelEllipse shape = is_round ? PixelEllipse{1, 1, 0} : beam;
    const double scale = std::sqrt(noise_area / area_of(shape));
    shape.major *= scale;
    shape.minor *= scale;
    const Gaussian correlation = gaussian_of(shape);
    const double most = -2 * std::log(least_correlation);
    // The greatest |y| of the ellipse is that of its precision matrix: sqrt(most) / t.
    const auto reach_y =
        static_cast<int>(std::floor(std::min(std::sqrt(most) / correlation.t, 2 * radius + 2)));
    for (int y = -reach_y; y <= reach_y; ++y) {
      const double z = correlation.z(y);
      const double half = std::sqrt(std::max(most - z * z, 0.0)) / correlation.u;
      const double middle = -correlation.w * y / correlation.u;
      const auto first = static_cast<int>(std::ceil(std::max(middle - half, -2 * radius - 2)));
      const auto last = static_cast<int>(std::floor(std::min(middle + half, 2 * radius + 2)));
      for (int x = first; x <= last; ++x) {
        if (x == 0 && y == 0) continue;
        const double s = correlation.s(x, y);
        sum += std::exp(-(s * s + z * z) / 2) * aperture_correlation(radius, x, y);
      }
    }
  }
  return sum / aperture;
}

}  // namespace kastor
