// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/component_shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kastor::io::detail {
namespace {

constexpr double k_unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double k_degrees = 180.0 / std::numbers::pi;
constexpr double k_largest_angle_error = 90.0;  // [deg]
// An eigenvalue below this fraction of the moments is what rounding, also that of the coordinates
// (differences of unit vectors over one pixel), leaves of 0.
constexpr double k_rounding = 1e-8;
constexpr double k_width = 2.3548200450309493;  // sqrt(8 ln 2): full width / standard deviation

using Vector3 = std::array<double, 3>;

/// A C A^T.
Matrix3 carried(const Matrix3& a, const Matrix3& c) {
  Matrix3 result{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t l = 0; l < 3; ++l) result[i][j] += a[i][k] * c[k][l] * a[j][l];
      }
    }
  }
  return result;
}

/// g^T C g.
double variance_along(const Vector3& g, const Matrix3& c) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) sum += g[i] * c[i][j] * g[j];
  }
  return sum;
}

/// The eigenvalues of second moments, and the variances of them and of the direction.
struct Eigenvalues {
  double large, small;          // mean + spread, mean - spread
  double large_var, small_var;  // their variances
  double angle_err;             // of the major axis [deg]

  explicit Eigenvalues(const UncertainMoments& m) {
    const double mean = 0.5 * (m.at.xx + m.at.yy);
    const double half = 0.5 * (m.at.xx - m.at.yy);
    const double spread = std::hypot(half, m.at.xy);
    large = mean + spread;
    small = mean - spread;
    // The covariance of (mean, half, xy).
    constexpr Matrix3 turn = {{{0.5, 0, 0.5}, {0.5, 0, -0.5}, {0, 1, 0}}};
    const Matrix3 c = carried(turn, m.cov);
    double across = 0.5 * (c[1][1] + c[2][2]);
    large_var = small_var = c[0][0] + across;
    if (spread > 0) {
      const double x = half / spread;
      const double y = m.at.xy / spread;
      large_var = variance_along({1, x, y}, c);
      small_var = variance_along({1, -x, -y}, c);
      across = variance_along({0, -y, x}, c);
    }
    // Half the angle of (half, xy). Without a spread it is infinite, hence capped.
    angle_err = std::min(k_degrees * 0.5 * error_of(across) / spread, k_largest_angle_error);
    if (!(across > 0)) angle_err = k_unknown;
  }
};

/// The axis of an eigenvalue.
WithError axis_of(double eigenvalue, double variance) {
  const double axis = k_width * std::sqrt(eigenvalue);
  return {axis, 0.5 * axis / eigenvalue * error_of(variance)};
}

}  // namespace

double error_of(double variance) { return variance > 0 ? std::sqrt(variance) : k_unknown; }

UncertainMoments moments_of(const Component& component) {
  const auto& [peak, x, y, u, w, t] = component.gaussian;
  const double uu = u * u;
  const double tt = t * t;
  const double ratio = w / (u * t);
  // By (u, w, t), the derivatives of (w^2 + t^2) / (u t)^2, -w / (u t^2) and 1 / t^2.
  const double xx = ratio * ratio + 1 / uu;
  const double xy = -ratio / t;
  const Matrix3 derivatives = {{{-2 * xx / u, 2 * ratio / (u * t), -2 * ratio * ratio / t},
                                {-xy / u, -1 / (u * tt), -2 * xy / t},
                                {0, 0, -2 / (tt * t)}}};
  constexpr std::array<GaussianParameter, 3> shape = {at_u, at_w, at_t};
  Matrix3 cov{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) cov[i][j] = covariance_of(component, shape[i], shape[j]);
  }
  return {{xx, xy, 1 / tt}, carried(derivatives, cov)};
}

UncertainMoments on_sky(const UncertainMoments& pixel, const Jacobian& jacobian) {
  const auto& [ex, ey, nx, ny] = jacobian;
  const Matrix3 map = {{{nx * nx, 2 * nx * ny, ny * ny},
                        {nx * ex, nx * ey + ny * ex, ny * ey},
                        {ex * ex, 2 * ex * ey, ey * ey}}};
  return {jacobian.to_sky(pixel.at), carried(map, pixel.cov)};
}

UncertainEllipse ellipse_of(const UncertainMoments& moments) {
  const EllipseFwhm ellipse = ellipse_fwhm(moments.at);
  const Eigenvalues e(moments);
  return {{ellipse.major, axis_of(e.large, e.large_var).error},
          {ellipse.minor, axis_of(e.small, e.small_var).error},
          {ellipse.angle, e.angle_err}};
}

DeconvolvedEllipse deconvolved(const UncertainMoments& moments, const Symmetric& beam) {
  const UncertainMoments rest = {
      {moments.at.xx - beam.xx, moments.at.xy - beam.xy, moments.at.yy - beam.yy}, moments.cov};
  Eigenvalues e(rest);
  const double least = k_rounding * (moments.at.xx + moments.at.yy);
  DeconvolvedEllipse result = deconvolved_point();
  if (!std::isfinite(e.large)) {
    result.ellipse.major.value = result.ellipse.minor.value = k_unknown;
    result.unresolved = false;
    return result;
  }
  if (e.large > least) {
    result.ellipse.major = axis_of(e.large, e.large_var);
    // The direction is that of the moments, whatever the minor axis is.
    const double more = std::max(0.0, -e.small) + e.large;
    result.ellipse.angle = {ellipse_fwhm({rest.at.xx + more, rest.at.xy, rest.at.yy + more}).angle,
                            e.angle_err};
  }
  if (e.small > least) result.ellipse.minor = axis_of(e.small, e.small_var);
  const double two_errors = 2 * error_of(e.large_var);
  result.major_limit = k_width * std::sqrt(std::max(e.large, 0.0) + two_errors);
  result.unresolved = !(e.large > least) || e.large <= two_errors;
  return result;
}

DeconvolvedEllipse deconvolved_point() {
  return {{{0, k_unknown}, {0, k_unknown}, {k_unknown, k_unknown}}, k_unknown, true};
}

WithError volume_with_error(const Component& component) {
  const Gaussian& g = component.gaussian;
  const double per_peak = 2 * std::numbers::pi / (g.u * g.t);
  const std::array<GaussianParameter, 3> which = {at_peak, at_u, at_t};
  const Vector3 derivative = {per_peak, -per_peak * g.peak / g.u, -per_peak * g.peak / g.t};
  double variance = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      variance += derivative[i] * covariance_of(component, which[i], which[j]) * derivative[j];
    }
  }
  return {per_peak * g.peak, error_of(variance)};
}

}  // namespace kastor::io::detail
