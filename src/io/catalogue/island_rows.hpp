// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_ISLAND_ROWS_HPP
#define KASTOR_SRC_IO_CATALOGUE_ISLAND_ROWS_HPP

#include <kastor/io/island_table.hpp>
#include <kastor/island.hpp>
#include <string>
#include <vector>

#include "io/catalogue/image_scales.hpp"
#include "io/catalogue/island_errors.hpp"
#include "io/sky/flux_unit.hpp"
#include "io/sky/sky_geometry.hpp"

namespace kastor::io::detail {

/// One row of the table, before it is split into columns.
struct IslandRow {
  Island island;
  IslandErrors errors;
  LocalSky sky;          // at the centre
  SkyPosition peak;      // equatorial or native, like `sky.equatorial`
  Symmetric centre_cov;  // (north, east) [arcsec^2]
  EllipseFwhm on_sky;
  EllipseFwhm in_pixels;
  double pixel_area;  // at the island [arcsec^2]
  double beam_area;   // as used for the conversion of fluxes [pixel]
  double flux_scale;  // flux_iso / flux_sum
  double gain;        // [electron / image unit]; 0: no photon noise
  std::string name;
  std::uint32_t flags;
};

[[nodiscard]] std::vector<IslandRow> island_rows(const Islands& islands,
                                                 const IslandTableParams& params,
                                                 const FluxUnit& unit);

}  // namespace kastor::io::detail

#endif
