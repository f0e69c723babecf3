// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_COMPONENT_ROWS_HPP
#define KASTOR_SRC_IO_CATALOGUE_COMPONENT_ROWS_HPP

#include <cstdint>
#include <kastor/component.hpp>
#include <kastor/io/table_params.hpp>
#include <string>
#include <vector>

#include "io/catalogue/component_shape.hpp"
#include "io/catalogue/component_sources.hpp"
#include "io/sky/flux_unit.hpp"
#include "io/sky/sky_geometry.hpp"

namespace kastor::io::detail {

/// One row of the table, before it is split into columns.
struct ComponentRow {
  Component component;
  ComponentSource source;
  LocalSky sky;          // at the centre
  Symmetric centre_cov;  // (north, east) [arcsec^2]
  WithError flux;        // [integrated unit]
  UncertainEllipse in_pixels;
  UncertainEllipse on_sky;
  DeconvolvedEllipse deconvolved;
  std::string name;
  std::uint32_t flags;
};

/// The integrated flux of a component. A point has that of its height where the unit is per beam:
/// the integral of a beam over its area. \param scale  of `flux_scale()`
[[nodiscard]] WithError flux_of(const Component& component, bool is_point, const FluxUnit& unit,
                                double scale);

[[nodiscard]] std::vector<ComponentRow> component_rows(const Components& components,
                                                       const TableParams& params,
                                                       const FluxUnit& unit);

}  // namespace kastor::io::detail

#endif
