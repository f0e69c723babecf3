// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_ELLIPSE_ALGEBRA_HPP
#define KASTOR_FIT_ELLIPSE_ALGEBRA_HPP

#include <cmath>
#include <kastor/gaussian.hpp>
#include <numbers>

/// Ellipses by square roots alone: unlike angles, these have the same bits in every maths library.
namespace kastor::detail {

/// (FWHM / standard deviation)^2 of a Gaussian.
inline constexpr double fwhm_squared_of_sigma = 8 * std::numbers::ln2;
/// Its root.
inline constexpr double fwhm_of_sigma = 2.3548200450309493;

/// Full widths at half maximum [pixel].
struct ShapeAxes {
  double major, minor;

  /// The width of the circle of the same area.
  [[nodiscard]] double mean() const { return std::sqrt(major * minor); }
};

[[nodiscard]] inline ShapeAxes axes_of(const Gaussian& g) {
  const double xx = g.u * g.u;
  const double xy = g.u * g.w;
  const double yy = g.w * g.w + g.t * g.t;
  const double half = (yy - xx) / 2;
  const double across = (xx + yy) / 2 + std::sqrt(half * half + xy * xy);
  // The product of the two is (u t)^2: a difference would cancel for a long ellipse.
  const double along = (g.u * g.t) * (g.u * g.t) / across;
  return {std::sqrt(fwhm_squared_of_sigma / along), std::sqrt(fwhm_squared_of_sigma / across)};
}

/// The standard deviation of a Gaussian projected on the direction (dx, dy), times the length of
/// that vector.
[[nodiscard]] inline double reach_along(const Gaussian& g, double dx, double dy) {
  const double a = dx / g.u;
  const double b = (dy - g.w * a) / g.t;
  return std::sqrt(a * a + b * b);
}

/// The same shape, all lengths times `factor`.
[[nodiscard]] inline Gaussian stretched(Gaussian g, double factor) {
  g.u /= factor;
  g.w /= factor;
  g.t /= factor;
  return g;
}

/// The shape of `g`, the peak and place given.
[[nodiscard]] inline Gaussian placed(Gaussian g, double peak, double x, double y) {
  g.peak = peak;
  g.x = x;
  g.y = y;
  return g;
}

/// A circle of this width [pixel].
[[nodiscard]] inline Gaussian circle_of(double fwhm) {
  const double u = fwhm_of_sigma / fwhm;
  return {1, 0, 0, u, 0, u};
}

/// Second moments [pixel^2].
struct SecondMoments {
  double xx, xy, yy;
};

/// The Gaussian with these moments, its axes not below those of `least`, which it is if neither is.
[[nodiscard]] inline Gaussian gaussian_of_moments(const SecondMoments& moments,
                                                  const Gaussian& least) {
  const double mean = (moments.xx + moments.yy) / 2;
  const double half = (moments.xx - moments.yy) / 2;
  const double spread = std::sqrt(half * half + moments.xy * moments.xy);
  const ShapeAxes axes = axes_of(least);
  const double least_along = axes.major * axes.major / fwhm_squared_of_sigma;
  const double least_across = axes.minor * axes.minor / fwhm_squared_of_sigma;
  if (!(mean + spread > least_along)) return least;
  const double along = mean + spread;
  const double across = std::fmax(mean - spread, least_across);
  if (!(spread > 0)) return circle_of(std::sqrt(fwhm_squared_of_sigma * along));
  const double middle = (along + across) / 2;
  const double stretch = (along - across) / (2 * spread);
  const double determinant = along * across;
  const double u = std::sqrt((middle - stretch * half) / determinant);
  const double w = -stretch * moments.xy / determinant / u;
  return {1, 0, 0, u, w, 1 / (std::sqrt(determinant) * u)};
}

}  // namespace kastor::detail

#endif
