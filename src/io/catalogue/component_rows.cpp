// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/component_rows.hpp"

#include <cmath>
#include <kastor/io/component_table.hpp>
#include <limits>
#include <utility>

#include "io/catalogue/image_scales.hpp"

namespace kastor::io::detail {
namespace {

bool has_beam_shape(const Component& component) {
  return (component.flags & component_beam_shape) != 0;
}

std::vector<LocalSky> sky_of(const Components& components, const TableParams& params) {
  if (params.wcs == nullptr) return {};
  std::vector<PixelPosition> places;
  places.reserve(components.size());
  for (const Component& each : components) places.push_back({each.gaussian.x, each.gaussian.y});
  return local_sky(*params.wcs, places);
}

/// Fills what follows from `row.sky`.
void fill_sky(ComponentRow& row, const UncertainMoments& moments, const TableParams& params,
              const BeamPixels& beam) {
  const Jacobian& jacobian = row.sky.jacobian;
  if (!(jacobian.area() > 0)) row.flags |= component_no_sky;
  const Component& c = row.component;
  row.name = designation(*params.wcs, row.sky, params.name_prefix);
  row.centre_cov = jacobian.to_sky(
      {covariance_of(c, at_x, at_x), covariance_of(c, at_x, at_y), covariance_of(c, at_y, at_y)});
  const UncertainMoments there = on_sky(moments, jacobian);
  row.on_sky = ellipse_of(there);
  row.deconvolved = has_beam_shape(c) ? deconvolved_point()
                                      : deconvolved(there, jacobian.to_sky(beam.moments(jacobian)));
  if (params.beam.beam && row.deconvolved.unresolved) row.flags |= component_unresolved;
}

}  // namespace

WithError flux_of(const Component& component, bool is_point, const FluxUnit& unit, double scale) {
  if (is_point && unit.per == FluxUnit::Per::beam) {
    const double error = error_of(covariance_of(component, at_peak, at_peak));
    return {component.gaussian.peak * unit.factor, error * unit.factor};
  }
  const WithError volume = volume_with_error(component);
  return {volume.value * scale, volume.error * scale};
}

std::vector<ComponentRow> component_rows(const Components& components, const TableParams& params,
                                         const FluxUnit& unit) {
  const BeamPixels beam(params);
  const auto sky = sky_of(components, params);
  const auto sources = component_sources(components, {params.flood_snr, params.flood_level});
  std::vector<ComponentRow> rows;
  rows.reserve(components.size());
  for (std::size_t i = 0; i < components.size(); ++i) {
    const Component& component = components[i];
    ComponentRow row{};
    row.component = component;
    row.source = sources[i];
    row.flags = component.flags;
    const UncertainMoments moments = moments_of(component);
    row.in_pixels = ellipse_of(moments);
    const double pixel_area =
        params.wcs == nullptr ? std::numeric_limits<double>::quiet_NaN() : sky[i].jacobian.area();
    row.flux = flux_of(component, has_beam_shape(component), unit,
                       flux_scale(unit, beam.area(pixel_area), pixel_area));
    if (std::isnan(row.flux.value)) row.flags |= component_no_flux;
    if (params.wcs != nullptr) {
      row.sky = sky[i];
      fill_sky(row, moments, params, beam);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kastor::io::detail
