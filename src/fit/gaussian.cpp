// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <kastor/gaussian.hpp>
#include <numbers>

#include "fit/ellipse_algebra.hpp"

namespace kastor {

Gaussian gaussian_of(const PixelEllipse& ellipse, double peak, double x, double y) {
  const double along = detail::fwhm_squared_of_sigma / (ellipse.major * ellipse.major);
  const double across = detail::fwhm_squared_of_sigma / (ellipse.minor * ellipse.minor);
  const double c = std::cos(ellipse.angle);
  const double s = std::sin(ellipse.angle);
  const double xx = along * c * c + across * s * s;
  const double xy = (along - across) * c * s;
  const double u = std::sqrt(xx);
  // The determinant of the precision matrix is along x across = (u t)^2.
  return {peak, x, y, u, xy / u, std::sqrt(along * across) / u};
}

PixelEllipse ellipse_of(const Gaussian& gaussian) {
  const double xx = gaussian.u * gaussian.u;
  const double xy = gaussian.u * gaussian.w;
  const double yy = gaussian.w * gaussian.w + gaussian.t * gaussian.t;
  double angle = std::atan2(-2 * xy, yy - xx) / 2;
  if (angle < 0) angle += std::numbers::pi;
  if (angle >= std::numbers::pi) angle = 0;
  const detail::ShapeAxes axes = detail::axes_of(gaussian);
  return {axes.major, axes.minor, angle};
}

double volume_of(const Gaussian& gaussian) {
  return 2 * std::numbers::pi * gaussian.peak / (gaussian.u * gaussian.t);
}

double area_of(const PixelEllipse& ellipse) {
  return std::numbers::pi / (4 * std::numbers::ln2) * ellipse.major * ellipse.minor;
}

}  // namespace kastor
