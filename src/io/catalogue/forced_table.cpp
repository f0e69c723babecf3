// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/component_table.hpp>
#include <kastor/io/forced_table.hpp>
#include <limits>
#include <utility>

#include "io/catalogue/auto_columns.hpp"
#include "io/catalogue/component_rows.hpp"
#include "io/catalogue/component_shape.hpp"
#include "io/catalogue/image_scales.hpp"
#include "io/catalogue/row_columns.hpp"
#include "io/catalogue/table_notes.hpp"

namespace kastor::io {
namespace {

constexpr double k_no_figure = std::numeric_limits<double>::quiet_NaN();
/// The limit of a flux is so many of its errors above it.
constexpr double k_limit_errors = 3;

struct ForcedRow {
  std::int64_t id;
  std::string list_id;
  Component fit;
  detail::LocalSky sky;
  detail::Symmetric centre_cov;  // (north, east) [arcsec^2]
  detail::UncertainEllipse on_sky, in_pixels;
  detail::WithError flux;  // of the fit, integrated
  double flux_scale;       // integrated flux of pixels whose sum is 1
  std::uint32_t flags;
  std::size_t index;
};
using detail::covariance_of;
using detail::error_of;
using ForcedRows = std::vector<ForcedRow>;
using ForcedColumns = detail::RowColumns<ForcedRow>;

double peak_error(const Component& fit) {
  return detail::error_of(detail::covariance_of(fit, at_peak, at_peak));
}

/// The position of the list itself, where nothing else was measured.
void keep_own_position(const ListedSource& source, const TableParams& image, ForcedRow& row) {
  const auto system = image.wcs->system();
  const bool is_equatorial = system == SkySystem::equatorial || system == SkySystem::galactic;
  if (is_equatorial && std::isfinite(source.ra) && std::isfinite(source.dec))
    row.sky.equatorial = {source.ra, source.dec};
}

class RowMaker {
 public:
  RowMaker(const ForcedList& list, const Components& components, const TableParams& image,
           const detail::FluxUnit& unit)
      : m_list(list), m_components(components), m_image(image), m_unit(unit), m_beam(image) {}

  [[nodiscard]] ForcedRows make() const {
    std::vector<PixelPosition> places;
    for (std::size_t i = 0; i < m_list.positions.size(); ++i) places.push_back(place(i));
    std::vector<detail::LocalSky> skies;
    if (m_image.wcs != nullptr) skies = detail::sky_around(*m_image.wcs, places);
    ForcedRows rows;
    for (std::size_t i = 0; i < places.size(); ++i)
      rows.push_back(row(i, skies.empty() ? nullptr : &skies[i]));
    return rows;
  }

 private:
  [[nodiscard]] PixelPosition place(std::size_t i) const {
    if (m_components.empty()) return {m_list.positions[i].x, m_list.positions[i].y};
    return {m_components[i].gaussian.x, m_components[i].gaussian.y};
  }
  [[nodiscard]] ForcedRow row(std::size_t i, const detail::LocalSky* sky) const {
    const ListedSource& source = m_list.list.sources[i];
    ForcedRow row{};
    row.id = static_cast<std::int64_t>(i) + 1;
    row.index = i;
    row.list_id = source.id;
    if (!m_components.empty()) row.fit = m_components[i];
    row.fit.gaussian.x = place(i).x;
    row.fit.gaussian.y = place(i).y;
    row.flags = row.fit.flags;
    if (m_list.has_beam_shape[i] && !m_components.empty()) row.flags |= component_beam_shape;
    const bool is_placed = std::isfinite(place(i).x) && std::isfinite(place(i).y);
    double pixel_area = k_no_figure;
    if (sky != nullptr) {
      row.sky = *sky;
      pixel_area = sky->jacobian.area();
      if (!is_placed) row.sky.native = row.sky.equatorial = {k_no_figure, k_no_figure};
      if (!(pixel_area > 0) || !is_placed) row.flags |= component_no_sky;
      if (!has_moved(row.fit)) keep_own_position(source, m_image, row);
    }
    row.flux_scale =
        detail::flux_scale(m_unit, m_beam.area(pixel_area), is_placed ? pixel_area : k_no_figure);
    if (std::isnan(row.flux_scale)) row.flags |= component_no_flux;
    add_fit(sky, row);
    return row;
  }

  [[nodiscard]] static bool has_moved(const Component& fit) {
    return detail::covariance_of(fit, at_x, at_x) > 0;
  }

  void add_fit(const detail::LocalSky* sky, ForcedRow& row) const {
    const Component& fit = row.fit;
    const bool is_point = (row.flags & component_beam_shape) != 0;
    row.flux = detail::flux_of(fit, is_point, m_unit, row.flux_scale);
    if (is_point && m_unit.per == detail::FluxUnit::Per::beam)
      row.flags &= ~std::uint32_t{component_no_flux};
    const auto moments = detail::moments_of(fit);
    row.in_pixels = detail::ellipse_of(moments);
    if (sky == nullptr) return;
    row.centre_cov = {k_no_figure, k_no_figure, k_no_figure};
    if (has_moved(fit))
      row.centre_cov = sky->jacobian.to_sky({detail::covariance_of(fit, at_x, at_x),
                                             detail::covariance_of(fit, at_x, at_y),
                                             detail::covariance_of(fit, at_y, at_y)});
    row.on_sky = detail::ellipse_of(detail::on_sky(moments, sky->jacobian));
  }

  const ForcedList& m_list;
  const Components& m_components;
  const TableParams& m_image;
  const detail::FluxUnit& m_unit;
  detail::BeamPixels m_beam;
};

void add_places(ForcedColumns& columns, bool has_fits) {
  columns.add("x_cen", "pixel", "pos.cartesian.x", "Position along x; the first pixel is 0",
              [](const ForcedRow& r) { return r.fit.gaussian.x; });
  columns.add("y_cen", "pixel", "pos.cartesian.y", "Position along y; the first pixel is 0",
              [](const ForcedRow& r) { return r.fit.gaussian.y; });
  if (!has_fits) return;
  columns.add("x_cen_err", "pixel", "stat.error;pos.cartesian.x",
              "Error of x_cen; none if it is as given",
              [](const ForcedRow& r) { return error_of(covariance_of(r.fit, at_x, at_x)); });
  columns.add("y_cen_err", "pixel", "stat.error;pos.cartesian.y",
              "Error of y_cen; none if it is as given",
              [](const ForcedRow& r) { return error_of(covariance_of(r.fit, at_y, at_y)); });
}

void add_fluxes_of_fits(ForcedColumns& columns, const detail::FluxUnit& unit) {
  const double scale = unit.scale;
  const std::string density = columns.flux("phot.flux.density");
  columns.add("flux_peak", unit.pixel, density + ";stat.max",
              "Height of the Gaussian above the background; may be negative",
              [scale](const ForcedRow& r) { return r.fit.gaussian.peak * scale; });
  columns.add("flux_peak_err", unit.pixel, "stat.error;" + density, "Error of flux_peak",
              [scale](const ForcedRow& r) { return peak_error(r.fit) * scale; });
  columns.add("flux_int", unit.integrated, density, "Flux density of the Gaussian",
              [](const ForcedRow& r) { return r.flux.value; });
  columns.add("flux_int_err", unit.integrated, "stat.error;" + density, "Error of flux_int",
              [](const ForcedRow& r) { return r.flux.error; });
  columns.add("flux_limit", unit.integrated, density + ";stat.max",
              "Upper limit: flux_int, or 0 if it is negative, and three errors",
              [](const ForcedRow& r) {
                return std::max(r.flux.value, 0.0) + k_limit_errors * r.flux.error;
              });
  columns.add("snr", "", "stat.snr", "flux_peak over its error",
              [](const ForcedRow& r) { return r.fit.gaussian.peak / peak_error(r.fit); });
  columns.add("rms_image", unit.pixel, "stat.stdev;" + density, "Local noise at the position",
              [scale](const ForcedRow& r) { return r.fit.rms * scale; });
  columns.add("mean_background", unit.pixel, density + ";instr.background",
              "Background at the position",
              [scale](const ForcedRow& r) { return r.fit.background * scale; });
}

void add_quality(ForcedColumns& columns) {
  columns.add("chi_squared_fit", "", "stat.fit.chi2",
              "Sum of ((data - model) / noise)^2 of the group",
              [](const ForcedRow& r) { return r.fit.chi_squared; });
  columns.add("n_pix", "", "meta.number;instr.pixel", "Pixels that the group was fitted to",
              [](const ForcedRow& r) { return r.fit.n_pix; });
  columns.add("group_id", "", "meta.id", "Rows of the same number were fitted together; 0: none",
              [](const ForcedRow& r) { return r.fit.group_id; });
  columns.add("group_size", "", "meta.number", "How many rows were fitted together",
              [](const ForcedRow& r) { return std::int64_t{r.fit.group_size}; });
}

template <class Ellipse>
void add_shape(ForcedColumns& columns, const std::string& ending, const std::string& unit,
               const std::string& direction, const Ellipse& ellipse) {
  const auto add = [&](const std::string& stem, const std::string& of_unit, const std::string& ucd,
                       const std::string& description,
                       detail::WithError detail::UncertainEllipse::*part) {
    columns.add(stem + ending, of_unit, columns.flux(ucd), description,
                [=](const ForcedRow& r) { return (ellipse(r).*part).value; });
    columns.add(stem + ending + "_err", of_unit, "stat.error;" + columns.flux(ucd),
                "Error of " + stem + ending + "; none if it is as given",
                [=](const ForcedRow& r) { return (ellipse(r).*part).error; });
  };
  add("maj_axis", unit, "phys.angSize.smajAxis", "Major axis of the Gaussian, FWHM",
      &detail::UncertainEllipse::major);
  add("min_axis", unit, "phys.angSize.sminAxis", "Minor axis of the Gaussian, FWHM",
      &detail::UncertainEllipse::minor);
  add("pos_ang", "deg", "pos.posAng", "Angle of the major axis, " + direction,
      &detail::UncertainEllipse::angle);
}

void add_shapes_of_fits(ForcedColumns& columns, bool on_sky) {
  if (on_sky) {
    add_shape(columns, "", "arcsec", "from north through east",
              [](const ForcedRow& r) { return r.on_sky; });
  }
  add_shape(columns, "_pix", "pixel", "from x towards y",
            [](const ForcedRow& r) { return r.in_pixels; });
}

/// "2.5" as a part of a name: "2_5".
std::string as_name(std::string number) {
  for (char& each : number)
    if (each == '.' || each == '-' || each == '+') each = '_';
  return number;
}

void add_aperture(ForcedColumns& columns, const ApertureColumn& aperture,
                  const detail::FluxUnit& unit) {
  const std::string ending = "_" + as_name(aperture.radius);
  const std::string density = columns.flux("phot.flux.density");
  const auto& fluxes = aperture.fluxes;
  columns.add("flux_aper" + ending, unit.integrated, density,
              "Sum above the background within a circle of " + aperture.radius + " pixels",
              [&](const ForcedRow& r) { return fluxes[r.index].flux * r.flux_scale; });
  columns.add("flux_aper" + ending + "_err", unit.integrated, "stat.error;" + density,
              "Error of flux_aper" + ending,
              [&, factor = aperture.noise_factor](const ForcedRow& r) {
                return std::sqrt(fluxes[r.index].variance * factor) * r.flux_scale;
              });
  columns.add("area_aper" + ending, "pixel", "phys.area", "Area of the pixels in that sum",
              [&](const ForcedRow& r) { return fluxes[r.index].area; });
  columns.add("n_missing" + ending, "", "meta.number;instr.pixel",
              "Pixels within that circle that are blank or masked",
              [&](const ForcedRow& r) { return fluxes[r.index].n_missing; });
  columns.add("flags_aper" + ending, "", "meta.code",
              "1: the circle ends beyond the image, 2: pixels are missing, 4: no pixels",
              [&](const ForcedRow& r) { return std::int64_t{fluxes[r.index].flags}; });
}

std::vector<TableColumn> columns_of_forced(const ForcedRows& rows, bool has_fits,
                                           const std::vector<ApertureColumn>& apertures,
                                           const ForcedList& list, const TableParams& image,
                                           const detail::FluxUnit& unit) {
  ForcedColumns columns(rows, unit.per == detail::FluxUnit::Per::beam);
  columns.add("id", "", "meta.id;meta.main", "Row of the list, from 1",
              [](const ForcedRow& r) { return r.id; });
  if (!list.list.column(SourceQuantity::id).empty())
    columns.add("list_id", "", "meta.id", "What the list calls the row",
                [](const ForcedRow& r) { return r.list_id; });
  if (image.wcs != nullptr) detail::add_positions(columns, *image.wcs, "measured");
  add_places(columns, has_fits);
  if (has_fits) {
    add_fluxes_of_fits(columns, unit);
    add_quality(columns);
    add_shapes_of_fits(columns, image.wcs != nullptr);
  }
  for (const auto& aperture : apertures) add_aperture(columns, aperture, unit);
  columns.add("flags", "", "meta.code", "Quality flags, a bit mask",
              [](const ForcedRow& r) { return std::int64_t{r.flags}; });
  return columns.take();
}

}  // namespace

ForcedTable forced_table(const ForcedList& list, const Components& components,
                         const std::vector<ApertureColumn>& apertures, const TableParams& image) {
  const std::size_t rows = list.positions.size();
  const auto expect_rows = [rows](const char* what, std::size_t count) {
    KASTOR_EXPECTS("kastor::io::forced_table", count == rows,
                   fmt::format("found {} {} for {} rows of the list; expected one for each", count,
                               what, rows));
  };
  if (!components.empty()) expect_rows("components", components.size());
  for (const auto& each : apertures) expect_rows("apertures", each.fluxes.size());
  auto unit = detail::flux_unit(image.unit);
  if (image.sums_of_pixels) unit = detail::unit_of_sums(unit);
  const auto made = RowMaker(list, components, image, unit).make();
  ForcedTable result;
  result.table.name = "measured";
  result.table.description = "What was measured at given positions";
  result.table.columns = columns_of_forced(made, !components.empty(), apertures, list, image, unit);
  result.table.frame = detail::frame_of(image.wcs);
  result.table.cards = detail::cards_of(image);
  result.notes = list.notes;
  if (const auto why = detail::reason_without_flux(image, unit); !why.empty())
    result.notes.push_back("flux_int and fluxes of apertures are NaN: " + why);
  return result;
}

}  // namespace kastor::io
