// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <kastor/gaussian.hpp>
#include <numbers>

namespace kastor {
namespace {

/// 8 ln 2: (FWHM / standard deviation)^2.
constexpr double squared_fwhm = 8 * std::numbers::ln2;

}  // namespace

Gaussian gaussian_of(const PixelEllipse& ellipse, double peak, double x, double y) {
  const double along = squared_fwhm / (ellipse.major * ellipse.major);
  const double across = squared_fwhm / (ellipse.minor * ellipse.minor);
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
  const double mean = (xx + yy) / 2;
  const double half = (yy - xx) / 2;
  const double spread = std::sqrt(half * half + xy * xy);
  const double across = mean + spread;
  // The product of the two is (u t)^2: mean - spread would cancel for a long ellipse.
  const double root = gaussian.u * gaussian.t;
  const double along = root * root / across;
  double angle = std::atan2(-2 * xy, 2 * half) / 2;
  if (angle < 0) angle += std::numbers::pi;
  if (angle >= std::numbers::pi) angle = 0;
  return {std::sqrt(squared_fwhm / along), std::sqrt(squared_fwhm / across), angle};
}

double volume_of(const Gaussian& gaussian) {
  return 2 * std::numbers::pi * gaussian.peak / (gaussian.u * gaussian.t);
}

double area_of(const PixelEllipse& ellipse) {
  return std::numbers::pi / (4 * std::numbers::ln2) * ellipse.major * ellipse.minor;
}

}  // namespace kastor
