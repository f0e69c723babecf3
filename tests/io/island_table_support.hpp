// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_IO_ISLAND_TABLE_SUPPORT_HPP
#define KASTOR_TESTS_IO_ISLAND_TABLE_SUPPORT_HPP

#include <cmath>
#include <kastor/io/beam.hpp>
#include <kastor/io/island_table.hpp>
#include <kastor/io/wcs.hpp>
#include <kastor/island.hpp>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "fits_support.hpp"

namespace testing_support {

inline constexpr double k_radian = std::numbers::pi / 180.0;
inline constexpr double k_arcsec = 1.0 / 3600.0;  // [deg]
inline const double k_nan = std::numeric_limits<double>::quiet_NaN();
inline const double k_fwhm = std::sqrt(8 * std::numbers::ln2);

/// A header of a celestial image: the matrix is that of FITS' CDi_j [arcsec a pixel].
struct Header {
  std::string lon = "RA---TAN";
  std::string lat = "DEC--TAN";
  double crval1 = 150;
  double crval2 = 2;
  double crpix1 = 60;
  double crpix2 = 60;
  double cd11 = -2, cd12 = 0, cd21 = 0, cd22 = 2;

  [[nodiscard]] std::vector<std::string> cards() const {
    return {card("CTYPE1", "'" + lon + "'"), card("CTYPE2", "'" + lat + "'"),
            card("CRVAL1", crval1),          card("CRVAL2", crval2),
            card("CRPIX1", crpix1),          card("CRPIX2", crpix2),
            card("CD1_1", cd11 * k_arcsec),  card("CD1_2", cd12 * k_arcsec),
            card("CD2_1", cd21 * k_arcsec),  card("CD2_2", cd22 * k_arcsec)};
  }
  [[nodiscard]] kastor::io::Wcs wcs() const { return kastor::io::Wcs(cards(), {1, 2}); }
};

inline kastor::io::BeamReading beam_of(double major_arcsec, double minor_arcsec, double angle) {
  return {kastor::io::Beam{major_arcsec * k_arcsec, minor_arcsec * k_arcsec, angle},
          kastor::io::BeamOrigin::header,
          {}};
}

/// An island with these second moments, bright enough for everything.
inline kastor::Island plain_island(double x, double y, double xx = 4, double xy = 0,
                                   double yy = 4) {
  kastor::Island island{};
  island.id = 1;
  island.n_pix = 40;
  island.x_peak = static_cast<std::int32_t>(std::lround(x));
  island.y_peak = static_cast<std::int32_t>(std::lround(y));
  island.x_min = island.x_peak - 4;
  island.x_max = island.x_peak + 4;
  island.y_min = island.y_peak - 3;
  island.y_max = island.y_peak + 3;
  island.flux_peak = 2;
  island.flux_sum = 30;
  island.raw_sum = 31;
  island.snr_peak = 20;
  island.x_cen = x;
  island.y_cen = y;
  island.var_xx = xx;
  island.var_xy = xy;
  island.var_yy = yy;
  island.rms = island.rms_at_peak = 0.1;
  island.background = island.background_at_peak = 0.025;
  return island;
}

/// Fluxes per beam.
inline kastor::io::IslandTableParams per_beam(double major_arcsec, double minor_arcsec = 10,
                                              double angle = 0) {
  kastor::io::IslandTableParams params;
  params.beam = beam_of(major_arcsec, minor_arcsec, angle);
  params.unit = "Jy/beam";
  return params;
}

/// The table of islands on the sky of a header.
inline auto table_on(const Header& header, const kastor::Islands& islands,
                     kastor::io::IslandTableParams params = {}) {
  const kastor::io::Wcs wcs = header.wcs();
  params.wcs = &wcs;
  return kastor::io::island_table(islands, params);
}

}  // namespace testing_support

#endif
