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

/// An ellipse by its full widths at half maximum, of the Gaussian with these second moments.
struct EllipseFwhm {
  double major, minor;
  double angle;  ///< of the major axis, from the first axis to the second [deg], 0 to below 180
};

/// NaN if the moments are no ellipse.
[[nodiscard]] EllipseFwhm ellipse_fwhm(const Symmetric& moments);

/// How a step in the image moves on the tangent plane of the sky [arcsec / pixel].
struct Jacobian {
  double east_x, east_y;
  double north_x, north_y;

  [[nodiscard]] double area() const;  ///< of a pixel [arcsec^2]
  /// Second moments in (north, east), so that angles run from north to east.
  [[nodiscard]] Symmetric to_sky(const Symmetric& pixel) const;
};

/// A place of an image on the sky; NaN where the coordinates are not defined.
struct LocalSky {
  SkyPosition native;      ///< in the system of the image
  SkyPosition equatorial;  ///< that, or the ICRS position for a galactic image; else native
  Jacobian jacobian;       ///< east and north of `equatorial`
};

/// Differences over one pixel of unit vectors, on the plane that touches the sphere in the middle:
/// the same across longitude 0 and at the poles, where north is that of the longitude given.
[[nodiscard]] std::vector<LocalSky> local_sky(const Wcs& wcs, std::span<const PixelPosition> at);

/// Galactic (IAU 1958) to ICRS, by the rotation of the Hipparcos catalogue: ESA SP-1200 (1997),
/// volume 1, equations 1.5.11 and 1.5.12, pole at 192.85948, +27.12825, node at 32.93192 [deg].
[[nodiscard]] SkyPosition galactic_to_icrs(const SkyPosition& galactic);

}  // namespace kastor::io::detail

#endif
