// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/island_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "io/catalogue/extended_profile.hpp"

namespace kastor::io::detail {
namespace {

constexpr double k_no_error = std::numeric_limits<double>::quiet_NaN();
constexpr double k_pi = std::numbers::pi;

// What the first order neglects in the errors of positions; measured on simulated skies with beams
// of 3 to 6 pixels and noise of three kinds, signal to noise from 10 to 50 (docs/catalogue.md).
constexpr double k_position_excess = 1.05;
// Variance of the number of pixel centres in a circle of radius 1 [pixel] that lies anywhere: the
// mean of Kendall (1948, Q. J. Math. 19, 1), 2 zeta(3/2) beta(3/2) / pi^2. It grows with the
// radius.
constexpr double k_lattice = 0.4576;
// A peak closer to the threshold than this does not constrain the flux below it.
constexpr double k_highest_flood = 0.9;  // [peak]
// Total over sum of a Gaussian cut there.
constexpr double k_widest_part = 1 / (1 - k_highest_flood);
// Smaller beams are no longer Gaussian.
constexpr double k_least_area = 4.0;  // [pixel]

/// The quantities of the formulas for the sums of an island.
struct Terms {
  double n;  // number of pixels
  double a;  // area of the Gaussian
  double c;  // area of the noise's autocorrelation
  double z;
  double e0, e1, e2;

  Terms(double pixels, double area, double noise)
      : n(pixels),
        a(area),
        c(noise),
        z(2.0 * n / c),
        e0(scaled_bessel(0, z)),
        e1(scaled_bessel(1, z)),
        e2(scaled_bessel(2, z)) {}

  [[nodiscard]] double sum() const { return n * c * (1 - e0 - e1) + a * c * (1 - e0) + a * a * e0; }
  [[nodiscard]] double moment() const {
    return n * n * c / (4 * k_pi) * (1 - e0 - 2 * e1 - e2) +
           a * n * c / (2 * k_pi) * (1 - e0 - 2 * e1) + a * a * n / (2 * k_pi) * e1;
  }
  /// Variance of sum / (1 - q) with q = flood / peak, including the noise of the peak.
  [[nodiscard]] double total(double q) const {
    const double h = std::exp(-0.5 * z);
    const double with_peak = c * (1 - h) + a * h;
    return (sum() - 2 * a * q * with_peak + a * a * q * q) / ((1 - q) * (1 - q));
  }
};

/// The shape of the second moments with determinant 1: how much a circular covariance is stretched.
Symmetric stretch(const Island& island) {
  const double det = island.var_xx * island.var_yy - island.var_xy * island.var_xy;
  if (!(det > 0) || !(island.var_xx > 0) || (island.flags & island_no_shape) != 0) {
    return {1, 0, 1};
  }
  const double scale = 1.0 / std::sqrt(det);
  return {island.var_xx * scale, island.var_xy * scale, island.var_yy * scale};
}

/// Variances from a border that follows whole pixels, for an island of n pixels and a border of
/// value 1. The part of a piece of border is proportional to its length.
struct Lattice {
  double sum, moment;
  explicit Lattice(double n) {
    const double radius = std::sqrt(n / k_pi);
    sum = k_lattice * radius;
    moment = 0.5 * sum * radius * radius;
  }
};

/// Scatter of peak - brightest pixel / peak of a Gaussian of area `a`: the peak lies anywhere in
/// that pixel.
double sampling_scatter(const Symmetric& shape, double a) {
  const double moment = a / (2 * k_pi);
  constexpr double least = k_least_area / (2 * k_pi);
  const double mean = 0.5 * (shape.xx + shape.yy);
  const double half = std::hypot(0.5 * (shape.xx - shape.yy), shape.xy);
  // The inverse M^-1 along the axes; a row of pixels has hardly a minor one.
  const double along = 1 / std::max((mean + half) * moment, least);
  const double across = 1 / std::max((mean - half) * moment, least);
  const double turn = half > 0 ? 0.5 * (along - across) / half : 0.0;
  const double m_mean = 0.5 * (along + across);
  const double m_half = 0.5 * (shape.xx - shape.yy) * turn;
  const double m_xy = shape.xy * turn;
  // Half of d^T M^-1 d is lost, d uniform in the unit square: var(x^2) = 1/180, var(x y) = 1/144.
  return 0.5 * std::sqrt((m_mean * m_mean + m_half * m_half) / 90.0 + m_xy * m_xy / 36.0);
}

/// An island: number of pixels, their sum, the brightest.
struct IslandPart {
  double n, sum, peak;
};

/// The Gaussian of which an island is a part.
struct WholeGaussian {
  double top;  // its peak
  double q;    // its value at the border of the island over its peak
  double total;
};

/// What the mean loss of sampling leaves the brightest pixel of a Gaussian of area `a` is 1 / this.
double sampling_gain(double a) { return 1.0 + k_pi / (6.0 * std::max(a, k_least_area)); }

/// From the number of pixels: sum = p A (1 - q) with q = exp(-n / A). That rises with A.
WholeGaussian whole_of_pixels(const IslandPart& part) {
  WholeGaussian whole{};
  double area = k_least_area;
  for (int turn = 0; turn < 3; ++turn) {  // the gain depends little on A
    whole.top = part.peak * sampling_gain(area);
    double low = part.sum / whole.top;  // q = 0
    double high = k_widest_part * low;
    for (int i = 0; i < 50; ++i) {
      const double a = 0.5 * (low + high);
      (-whole.top * a * std::expm1(-part.n / a) < part.sum ? low : high) = a;
    }
    area = low;
  }
  whole.q = std::exp(-part.n / area);
  whole.total = whole.top * area;
  return whole;
}

/// A filter moves the border away from the threshold.
WholeGaussian whole_of(const IslandPart& part, double area, double flood, double rms,
                       const NoiseModel& noise) {
  if (noise.filtered != 1) return whole_of_pixels(part);
  const double top = part.peak * sampling_gain(area);
  const double below = part.sum / (top - flood) * std::max(flood - rms * (rms / flood), 0.0);
  return {top, flood / top, part.sum + below};
}

}  // namespace

double scaled_bessel(int n, double z) {
  if (z < 30.0) {
    // Abramowitz & Stegun 9.6.10; all terms are positive.
    double term = 1.0;
    for (int k = 1; k <= n; ++k) term *= 0.5 * z / k;
    double sum = term;
    const double quarter = 0.25 * z * z;
    for (int k = 1; term > 1e-17 * sum; ++k) {
      term *= quarter / (static_cast<double>(k) * (k + n));
      sum += term;
    }
    return std::exp(-z) * sum;
  }
  // Abramowitz & Stegun 9.7.1; the terms decrease until 2 k exceeds 8 z.
  const double mu = 4.0 * n * n;
  double term = 1.0;
  double sum = 1.0;
  for (int k = 1; k <= 20; ++k) {
    const double odd = 2.0 * k - 1.0;
    term *= -(mu - odd * odd) / (8.0 * z * k);
    sum += term;
  }
  return sum / std::sqrt(2.0 * k_pi * z);
}

IslandErrors island_errors(const Island& island, double flood, const NoiseModel& noise) {
  // Both may be below 0 if the island was found in another image; then there is no total.
  const double sign = (island.flags & island_negative) != 0 ? -1 : 1;
  const double sum = sign * island.flux_sum;
  const double peak = sign * island.flux_peak;
  const auto pixels = static_cast<double>(island.n_pix);
  const double rms = island.rms;
  IslandErrors errors{k_no_error, k_no_error, k_no_error,
                      k_no_error, k_no_error, {k_no_error, k_no_error, k_no_error}};
  const bool has_flood = flood > 0 && peak > flood && sum > 0;

  const double measured = has_flood ? sum / (peak - flood) : 0.0;
  const Terms terms(pixels, std::max(measured, noise.beam_pixels), noise.noise_pixels);
  const Lattice lattice(pixels);
  const double border = has_flood ? flood * flood : 0.0;
  errors.sum_err = std::sqrt(rms * rms * std::max(terms.sum(), 0.0) + border * lattice.sum);
  const double area_in_pixels = std::max({measured, noise.beam_pixels, k_least_area});
  const double sampling = peak * sampling_scatter(stretch(island), area_in_pixels);
  errors.peak_err = std::hypot(island.rms_at_peak, sampling);

  const WholeGaussian whole = has_flood && flood < k_highest_flood * peak
                                  ? whole_of({pixels, sum, peak}, area_in_pixels, flood, rms, noise)
                                  : WholeGaussian{k_no_error, k_no_error, k_no_error};
  if (whole.q < k_highest_flood) {
    errors.total = whole.total;
    const double of_peak = terms.a * flood / peak * sampling;
    const double of_pixels =
        (border * lattice.sum + of_peak * of_peak) / std::pow(1 - flood / peak, 2);
    errors.total_err = std::sqrt(rms * rms * std::max(terms.total(flood / peak), 0.0) + of_pixels);
    // Second moment along one axis of a Gaussian cut at the fraction q of its peak [sigma^2].
    errors.size_factor = 1.0 / std::sqrt(1.0 + std::log(whole.q) * whole.q / (1.0 - whole.q));
    if (is_extended(island, noise)) {
      const ExtendedProfile profile = extended_profile(island, whole.top, flood, noise);
      errors.total = profile.total;
      errors.size_factor = profile.size_factor;
    }
  }
  const double of_noise = rms * rms * terms.moment() * k_position_excess * k_position_excess;
  const double variance = (std::max(of_noise, 0.0) + border * lattice.moment) / (sum * sum);
  if (sum > 0 && (island.flags & island_no_centre) == 0) {
    const Symmetric s = stretch(island);
    errors.centre_cov = {s.xx * variance, s.xy * variance, s.yy * variance};
  }
  return errors;
}

}  // namespace kastor::io::detail
