// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_SKY_SKY_GEOMETRY_HPP
#define KASTOR_SRC_IO_SKY_SKY_GEOMETRY_HPP

#include <kastor/io/wcs.hpp>
#include <span>
#include <vector>

namespace kastor::io::detail {

/// A symmetric 2x2 matrix.
struct Symmetric {
  double xx, xy, yy;
};

/// An ellipse, given by the full widths at half maximum of the Gaussian with these second moments.
struct EllipseFwhm {
  double major, minor;
  /// From the first axis to the major axis, towards the second [deg], 0 to below 180.
  double angle;
};

/// The ellipse of second moments; NaN if they do not define one.
[[nodiscard]] EllipseFwhm ellipse_fwhm(const Symmetric& moments);

/// How a step in the image moves on the tangent plane of the sky [arcsec / pixel].
struct Jacobian {
  double east_x, east_y;
  double north_x, north_y;

  [[nodiscard]] double area() const;  ///< area of a pixel [arcsec^2]
  /// Converts second moments to (north, east), so that angles run from north through east.
  [[nodiscard]] Symmetric to_sky(const Symmetric& pixel) const;
  /// The inverse of `to_sky()`.
  [[nodiscard]] Symmetric to_pixels(const Symmetric& sky) const;
};

/// A position of an image on the sky; NaN where the coordinates are not defined.
struct LocalSky {
  SkyPosition native;      ///< in the system of the image
  SkyPosition equatorial;  ///< equatorial if the image is, ICRS for a galactic image; else native
  Jacobian jacobian;       ///< along east and north of `equatorial`
};

/// Computes differences of unit vectors over one pixel, on the tangent plane at the position. So
/// longitude 0 and the poles need no special care; at a pole, north is that of the longitude given.
[[nodiscard]] std::vector<LocalSky> local_sky(const Wcs& wcs, std::span<const PixelPosition> at);

/// Converts galactic coordinates (IAU 1958) to ICRS by the rotation of the Hipparcos catalogue: ESA
/// SP-1200 (1997), volume 1, equations 1.5.11 and 1.5.12, pole at 192.85948, +27.12825, node at
/// 32.93192 [deg].
[[nodiscard]] SkyPosition galactic_to_icrs(const SkyPosition& galactic);

}  // namespace kastor::io::detail

#endif
