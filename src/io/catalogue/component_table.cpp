// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/component_table.hpp>
#include <string>
#include <utility>

#include "io/catalogue/auto_columns.hpp"
#include "io/catalogue/component_rows.hpp"
#include "io/catalogue/row_columns.hpp"
#include "io/catalogue/table_notes.hpp"

namespace kastor::io {
namespace {

using detail::ComponentRow;
using detail::covariance_of;
using detail::error_of;
using ComponentColumns = detail::RowColumns<ComponentRow>;

void check_params(const TableParams& params) {
  for (const auto& [what, value] :
       {std::pair{"flood_snr", params.flood_snr}, std::pair{"flood_level", params.flood_level},
        std::pair{"frequency", params.frequency}}) {
    KASTOR_EXPECTS("kastor::io::component_table", value >= 0 && std::isfinite(value),
                   fmt::format("{} is {}; expected a finite number, 0 or more", what, value));
  }
}

void add_ids(ComponentColumns& columns, bool has_names) {
  columns.add("island_id", "", "meta.id.parent", "Number of the island, from 1",
              [](const ComponentRow& r) { return r.component.island_id; });
  columns.add("component_id", "", "meta.id;meta.main", "Number of the component, from 1",
              [](const ComponentRow& r) { return r.component.id; });
  if (has_names) {
    columns.add("component_name", "", "meta.id", detail::k_of_names,
                [](const ComponentRow& r) { return r.name; });
  }
  columns.add("source_id", "", "meta.id.assoc",
              "Number of the source, from 1: one for components that belong together",
              [](const ComponentRow& r) { return r.source.id; });
  columns.add("s_code", "", "meta.code.class",
              "S: the only component of its island, C: the only one of its source, M: one of more",
              [](const ComponentRow& r) { return std::string(1, r.source.code); });
}

void add_fluxes(ComponentColumns& columns, const detail::FluxUnit& unit) {
  const std::string peak = columns.flux("phot.flux.density;stat.max");
  const std::string flux = columns.flux("phot.flux.density");
  const auto pixel = [&](const char* name, const std::string& ucd, const char* description,
                         const auto& field) {
    columns.add(name, unit.pixel, ucd, description,
                [=, scale = unit.scale](const ComponentRow& r) { return field(r) * scale; });
  };
  pixel("flux_peak", peak, "Fitted peak above the background",
        [](const ComponentRow& r) { return r.component.gaussian.peak; });
  pixel("flux_peak_err", "stat.error;" + peak, "Error of flux_peak", [](const ComponentRow& r) {
    return error_of(covariance_of(r.component, at_peak, at_peak));
  });
  columns.add("flux_int", unit.integrated, flux, "Flux density of the fitted Gaussian",
              [](const ComponentRow& r) { return r.flux.value; });
  columns.add("flux_int_err", unit.integrated, "stat.error;" + flux, "Error of flux_int",
              [](const ComponentRow& r) { return r.flux.error; });
  columns.add(
      "snr", "", "stat.snr", "Fitted peak over the local noise, never negative",
      [](const ComponentRow& r) { return std::abs(r.component.gaussian.peak) / r.component.rms; });
  pixel("mean_background", columns.flux("phot.flux.density;instr.background"),
        "Background at the centre", [](const ComponentRow& r) { return r.component.background; });
  pixel("rms_image", "stat.stdev;" + flux, "Local noise at the centre",
        [](const ComponentRow& r) { return r.component.rms; });
  pixel("rms_fit_gauss", columns.flux("stat.fit.residual;phot.flux.density"),
        "Root mean square of what the fit of the group leaves",
        [](const ComponentRow& r) { return r.component.residual_rms; });
  columns.add("chi_squared_fit", "", "stat.fit.chi2",
              "Sum of the squares of (data - model) / noise over the pixels of the group's fit",
              [](const ComponentRow& r) { return r.component.chi_squared; });
}

/// What an ellipse's columns are called and what they say.
struct EllipseText {
  std::string ending;  // of the names
  std::string unit;    // of the axes
  std::string ucd;     // its end
  std::string which;   // "fitted"
  std::string angle;   // what the angle is
};

/// \param ellipse  gives the ellipse of a row
template <class Ellipse>
void add_ellipse(ComponentColumns& columns, const EllipseText& text, const Ellipse& ellipse) {
  const auto add = [&](const std::string& stem, const std::string& unit, const std::string& ucd,
                       const std::string& description,
                       detail::WithError detail::UncertainEllipse::*part) {
    const std::string name = stem + text.ending;
    const std::string words = columns.flux(ucd) + text.ucd;
    columns.add(name, unit, words, description,
                [=](const ComponentRow& r) { return (ellipse(r).*part).value; });
    columns.add(name + "_err", unit, "stat.error;" + words, "Error of " + name,
                [=](const ComponentRow& r) { return (ellipse(r).*part).error; });
  };
  add("maj_axis", text.unit, "phys.angSize.smajAxis", "Major axis, FWHM, " + text.which,
      &detail::UncertainEllipse::major);
  add("min_axis", text.unit, "phys.angSize.sminAxis", "Minor axis, FWHM, " + text.which,
      &detail::UncertainEllipse::minor);
  add("pos_ang", "deg", "pos.posAng", text.angle, &detail::UncertainEllipse::angle);
}

void add_shapes(ComponentColumns& columns, const TableParams& params) {
  if (params.wcs != nullptr) {
    const std::string angle = "Position angle of the major axis, from north through east";
    add_ellipse(columns, {"", "arcsec", "", "not deconvolved", angle},
                [](const ComponentRow& r) { return r.on_sky; });
    if (params.beam.beam) {
      const std::string word = ";askap:meta.deconvolved";
      add_ellipse(columns,
                  {"_deconv", "arcsec", word, "deconvolved; 0 if nothing is left",
                   "Position angle of the deconvolved major axis, from north through east"},
                  [](const ComponentRow& r) { return r.deconvolved.ellipse; });
      columns.add("maj_axis_deconv_lim", "arcsec",
                  columns.flux("phys.angSize.smajAxis;stat.max") + word,
                  "Upper limit of maj_axis_deconv: two errors of its square above it",
                  [](const ComponentRow& r) { return r.deconvolved.major_limit; });
    }
  }
  add_ellipse(columns,
              {"_pix", "pixel", "", "not deconvolved", "Angle of the major axis, from x towards y"},
              [](const ComponentRow& r) { return r.in_pixels; });
}

void add_pixels(ComponentColumns& columns) {
  const auto real = [&](const char* name, const char* unit, const char* ucd,
                        const char* description, const auto& field) {
    columns.add(name, unit, ucd, description,
                [=](const ComponentRow& r) { return field(r.component); });
  };
  real("x_cen", "pixel", "pos.cartesian.x", "Fitted centre along x; the first pixel is 0",
       [](const Component& c) { return c.gaussian.x; });
  real("y_cen", "pixel", "pos.cartesian.y", "Fitted centre along y; the first pixel is 0",
       [](const Component& c) { return c.gaussian.y; });
  real("x_cen_err", "pixel", "stat.error;pos.cartesian.x", "Error of x_cen",
       [](const Component& c) { return error_of(covariance_of(c, at_x, at_x)); });
  real("y_cen_err", "pixel", "stat.error;pos.cartesian.y", "Error of y_cen",
       [](const Component& c) { return error_of(covariance_of(c, at_y, at_y)); });
  real("cov_xy", "pixel2", "stat.covariance;pos.cartesian", "Covariance of x_cen and y_cen",
       [](const Component& c) { return covariance_of(c, at_x, at_y); });
}

void add_fit(ComponentColumns& columns) {
  const auto number = [&](const char* name, const char* unit, const char* ucd,
                          const char* description, const auto& field) {
    columns.add(name, unit, ucd, description,
                [=](const ComponentRow& r) { return static_cast<std::int64_t>(field(r)); });
  };
  number("n_pix", "pixel", "meta.number;instr.pixel", "Number of pixels that were fitted",
         [](const ComponentRow& r) { return r.component.n_pix; });
  number("n_iter", "", "meta.number", "Iterations of the last fit",
         [](const ComponentRow& r) { return r.component.iterations; });
  number("group_id", "", "meta.id.assoc", "Number of the group: components fitted together, from 1",
         [](const ComponentRow& r) { return r.component.group_id; });
  number("group_size", "", "meta.number", "Number of components of the group",
         [](const ComponentRow& r) { return r.component.group_size; });
  number("has_siblings", "", "meta.code", "1 if there are other components in the island, else 0",
         [](const ComponentRow& r) { return r.source.has_siblings ? 1 : 0; });
  number("fit_is_estimate", "", "meta.code",
         "1 if nothing could be fitted, and the figures are of the island's moments, else 0",
         [](const ComponentRow& r) { return (r.flags & component_from_moments) != 0 ? 1 : 0; });
}

std::vector<TableColumn> columns_of_rows(const std::vector<ComponentRow>& rows,
                                         const TableParams& params, const detail::FluxUnit& unit) {
  ComponentColumns columns(rows, unit.per == detail::FluxUnit::Per::beam);
  add_ids(columns, params.wcs != nullptr);
  if (params.wcs != nullptr) detail::add_positions(columns, *params.wcs, "fitted");
  add_fluxes(columns, unit);
  add_shapes(columns, params);
  add_pixels(columns);
  add_fit(columns);
  detail::add_frequency(columns, params.frequency);
  columns.add("flags", "", "meta.code", "Quality flags, a bit mask",
              [](const ComponentRow& r) { return std::int64_t{r.flags}; });
  return columns.take();
}

std::vector<std::string> notes_of_rows(const std::vector<ComponentRow>& rows,
                                       const TableParams& params, const detail::FluxUnit& unit) {
  std::vector<std::string> notes = params.beam.notes;
  const std::string why = detail::reason_without_flux(params, unit);
  // Points have a flux without the area of the beam.
  const std::size_t without = detail::count_with(rows, component_no_flux);
  if (!why.empty() && (without > 0 || rows.empty())) {
    notes.push_back(fmt::format("flux_int of the components is NaN: {}", why));
  }
  detail::add_common_notes(
      params, unit, {detail::count_with(rows, component_no_sky), rows.size(), "components"}, notes);
  return notes;
}

}  // namespace

ComponentTable component_table(const Components& components, const TableParams& params) {
  check_params(params);
  auto unit = detail::flux_unit(params.unit);
  if (params.sums_of_pixels) unit = detail::unit_of_sums(unit);
  const auto rows = detail::component_rows(components, params, unit);
  ComponentTable result;
  result.table.name = "components";
  result.table.description = "Elliptical Gaussians fitted to islands of pixels";
  result.table.columns = columns_of_rows(rows, params, unit);
  result.table.frame = detail::frame_of(params.wcs);
  result.table.cards = detail::cards_of(params);
  result.notes = notes_of_rows(rows, params, unit);
  return result;
}

}  // namespace kastor::io
