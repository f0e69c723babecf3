// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_GAUSSIAN_HPP
#define KASTOR_GAUSSIAN_HPP

#include <Kokkos_Core.hpp>

namespace kastor {

/// An ellipse on the pixel grid, by its full widths at half maximum.
struct PixelEllipse {
  double major = 0;  ///< full width at half maximum along the major axis [pixel]
  double minor = 0;  ///< full width at half maximum along the minor axis [pixel, <= major]
  double angle = 0;  ///< of the major axis, from +x towards +y [rad, 0 <= angle < pi]
};

/// An elliptical Gaussian on the pixel grid. With dx = px - x, dy = py - y, s = u dx + w dy and
/// z = t dy, its value at pixel (py, px) is peak exp(-(s^2 + z^2) / 2). So L = [u w; 0 t] is the
/// Cholesky factor of the precision matrix (the inverse of the covariance matrix) of its shape,
/// P = L^T L. There is no angle in it, no circle is a special case, and every L with u, t > 0 is an
/// ellipse.
struct Gaussian {
  double peak;  ///< value at the centre [image unit]
  double x;     ///< centre [pixel]
  double y;
  double u;  ///< [1 / pixel, > 0]
  double w;  ///< [1 / pixel]
  double t;  ///< [1 / pixel, > 0]

  /// u dx + w dy.
  [[nodiscard]] KOKKOS_FUNCTION double s(double px, double py) const {
    return u * (px - x) + w * (py - y);
  }
  /// t dy.
  [[nodiscard]] KOKKOS_FUNCTION double z(double py) const { return t * (py - y); }
};

/// The Gaussian with this ellipse. Uses `cos` and `sin`, so the last bits may differ between maths
/// libraries: call it once, and give the result to all.
[[nodiscard]] Gaussian gaussian_of(const PixelEllipse& ellipse, double peak = 1, double x = 0,
                                   double y = 0);
/// The ellipse of a Gaussian. Uses `atan2`, as above.
[[nodiscard]] PixelEllipse ellipse_of(const Gaussian& gaussian);
/// The integral of a Gaussian over the plane, 2 pi peak / (u t) [image unit x pixel].
[[nodiscard]] double volume_of(const Gaussian& gaussian);
/// The area of an ellipse as the integral of a Gaussian of height 1, pi / (4 ln 2) major minor
/// [pixel].
[[nodiscard]] double area_of(const PixelEllipse& ellipse);

}  // namespace kastor

#endif
