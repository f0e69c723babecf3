// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_IMAGE_SCALES_HPP
#define KASTOR_SRC_IO_CATALOGUE_IMAGE_SCALES_HPP

#include <kastor/io/table_params.hpp>
#include <limits>
#include <string>
#include <vector>

#include "io/sky/flux_unit.hpp"
#include "io/sky/sky_geometry.hpp"

namespace kastor::io::detail {

/// Area of a pixel at the reference pixel [arcsec^2]; NaN if that has no position on the sky.
[[nodiscard]] double reference_pixel_area(const Wcs& wcs);

/// The beam in pixels: its area, for the conversion of fluxes, and its shape. The beam of a
/// synthesis image is the same function of the direction cosines everywhere, so in orthographic
/// images (SIN, NCP) both are those at the reference pixel.
class BeamPixels {
 public:
  explicit BeamPixels(const TableParams& params);

  /// The area [pixel]; NaN without a beam or coordinates. \param local_pixel_area  [arcsec^2]
  [[nodiscard]] double area(double local_pixel_area) const {
    return m_solid_angle / (m_is_fixed ? m_reference.area() : local_pixel_area);
  }
  /// The second moments [pixel^2]; NaN without a beam or coordinates.
  [[nodiscard]] Symmetric moments(const Jacobian& local) const {
    return (m_is_fixed ? m_reference : local).to_pixels(m_on_sky);
  }

 private:
  static constexpr double k_none = std::numeric_limits<double>::quiet_NaN();
  double m_solid_angle = k_none;                  // [arcsec^2]
  Symmetric m_on_sky = {k_none, k_none, k_none};  // (north, east) [arcsec^2]
  bool m_is_fixed = false;
  Jacobian m_reference = {};
};

/// How the sky lies around each place; around the reference pixel where a place is none.
[[nodiscard]] std::vector<LocalSky> sky_around(const Wcs& wcs, std::vector<PixelPosition> places);

/// The second moments of a beam, (north, east) [arcsec^2]. An unknown angle is 0.
[[nodiscard]] Symmetric moments_on_sky(const Beam& beam);

/// The integrated flux of an image whose pixels have the sum 1; NaN if it is not known.
[[nodiscard]] double flux_scale(const FluxUnit& unit, double beam_pixels, double pixel_area);

/// The name of a position by the rules of the IAU; empty where it has none.
[[nodiscard]] std::string designation(const Wcs& wcs, const LocalSky& sky,
                                      const std::string& prefix);

}  // namespace kastor::io::detail

#endif
