// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_COMPONENT_SHAPE_HPP
#define KASTOR_SRC_IO_CATALOGUE_COMPONENT_SHAPE_HPP

#include <array>
#include <kastor/component.hpp>

#include "io/sky/sky_geometry.hpp"

namespace kastor::io::detail {

using Matrix3 = std::array<std::array<double, 3>, 3>;

/// The second moments of a Gaussian, and the covariance matrix of (xx, xy, yy).
struct UncertainMoments {
  Symmetric at;
  Matrix3 cov;
};

/// A value and its error. NaN: there is none, as of a value that was not fitted.
struct WithError {
  double value, error;
};

/// The ellipse of uncertain moments: full widths at half maximum, and the angle from the first axis
/// to the major one, towards the second [deg, error at most 90].
struct UncertainEllipse {
  WithError major, minor, angle;
};

/// What is left of an ellipse without the beam. The squares of its axes are eigenvalues of the
/// difference of second moments, in units of (8 ln 2)^-1.
struct DeconvolvedEllipse {
  UncertainEllipse ellipse;  ///< an axis whose square is not > 0 is 0, and has no error
  double
      major_limit;  ///< axis of the larger eigenvalue, at least 0, plus two of its errors; or NaN
  /// The larger eigenvalue is not above two of its errors; if those are not known, it is not > 0.
  bool unresolved;
};

/// The second moments [pixel^2] of a fitted Gaussian: the inverse of its precision matrix. Their
/// covariance follows from that of (u, w, t) by the first derivatives.
[[nodiscard]] UncertainMoments moments_of(const Component& component);
/// The same on the sky: (north, east) [arcsec^2].
[[nodiscard]] UncertainMoments on_sky(const UncertainMoments& pixel, const Jacobian& jacobian);

/// The ellipse, with errors by first derivatives of the eigenvalues m +- r, r^2 = h^2 + xy^2, m and
/// h half the sum and half the difference of xx and yy. Those of r have a direction, h : xy. A
/// circle has none: there the variances are those of the mean over all directions.
[[nodiscard]] UncertainEllipse ellipse_of(const UncertainMoments& moments);
/// \param beam  second moments of the beam, in the same coordinates
[[nodiscard]] DeconvolvedEllipse deconvolved(const UncertainMoments& moments,
                                             const Symmetric& beam);
/// Of a component whose shape was fixed at the beam's.
[[nodiscard]] DeconvolvedEllipse deconvolved_point();

/// 2 pi A / (u t) [image unit x pixel], the integral of the Gaussian, and its error.
[[nodiscard]] WithError volume_with_error(const Component& component);

/// The element of the covariance matrix of a component's parameters.
[[nodiscard]] inline double covariance_of(const Component& c, GaussianParameter a,
                                          GaussianParameter b) {
  return c.covariance[a * gaussian_parameters + b];
}
/// The root of a variance; NaN if that is not > 0, as of what was not fitted.
[[nodiscard]] double error_of(double variance);

}  // namespace kastor::io::detail

#endif
