// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/island_table.hpp>
#include <limits>
#include <type_traits>
#include <utility>

#include "io/catalogue/auto_columns.hpp"
#include "io/catalogue/island_rows.hpp"
#include "io/catalogue/row_columns.hpp"
#include "io/catalogue/table_notes.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

using detail::IslandRow;
using Rows = std::vector<IslandRow>;
using Columns = detail::RowColumns<IslandRow>;
using detail::root;

void check(const IslandTableParams& params) {
  const char* name = "kastor::io::island_table";
  const auto expect_number = [&](const char* what, double value) {
    KASTOR_EXPECTS(name, value >= 0 && std::isfinite(value),
                   fmt::format("{} is {}; expected a finite number, 0 or more", what, value));
  };
  expect_number("flood_snr", params.flood_snr);
  expect_number("flood_level", params.flood_level);
  expect_number("frequency", params.frequency);
  expect_number("gain", params.gain);
  expect_number("noise_pixels", params.noise_pixels);
  expect_number("filtered_noise", params.filtered_noise);
  KASTOR_EXPECTS(
      name, params.noise_beams > 0 && std::isfinite(params.noise_beams),
      fmt::format("noise_beams is {}; expected a finite number above 0", params.noise_beams));
}

void add_peak_position(Columns& columns, const Wcs& wcs) {
  const SkySystem system = wcs.system();
  if (system != SkySystem::equatorial && system != SkySystem::galactic) return;
  columns.add("ra_peak", "deg", "pos.eq.ra", "Right ascension of the brightest pixel",
              [](const IslandRow& r) { return r.peak.longitude; });
  columns.add("dec_peak", "deg", "pos.eq.dec", "Declination of the brightest pixel",
              [](const IslandRow& r) { return r.peak.latitude; });
}

void add_pixels(Columns& columns) {
  const auto real = [&](const char* name, const char* ucd, const char* description,
                        const auto& field) { columns.add(name, "pixel", ucd, description, field); };
  real("x_cen", "pos.cartesian.x", "Flux-weighted centre along x; the first pixel is 0",
       [](const IslandRow& r) { return r.island.x_cen; });
  real("y_cen", "pos.cartesian.y", "Flux-weighted centre along y; the first pixel is 0",
       [](const IslandRow& r) { return r.island.y_cen; });
  real("x_cen_err", "stat.error;pos.cartesian.x", "Error of x_cen",
       [](const IslandRow& r) { return root(r.errors.centre_cov.xx); });
  real("y_cen_err", "stat.error;pos.cartesian.y", "Error of y_cen",
       [](const IslandRow& r) { return root(r.errors.centre_cov.yy); });
  real("x_fits", "pos.cartesian.x", "x_cen as FITS and DS9 count: the first pixel is 1",
       [](const IslandRow& r) { return r.island.x_cen + 1; });
  real("y_fits", "pos.cartesian.y", "y_cen as FITS and DS9 count: the first pixel is 1",
       [](const IslandRow& r) { return r.island.y_cen + 1; });
  real("x_peak", "pos.cartesian.x;phot.flux;stat.max", "Brightest pixel along x, from 0",
       [](const IslandRow& r) { return r.island.x_peak; });
  real("y_peak", "pos.cartesian.y;phot.flux;stat.max", "Brightest pixel along y, from 0",
       [](const IslandRow& r) { return r.island.y_peak; });
  real("x_min", "pos.cartesian.x;stat.min", "First pixel along x, from 0",
       [](const IslandRow& r) { return r.island.x_min; });
  real("x_max", "pos.cartesian.x;stat.max", "Last pixel along x, from 0",
       [](const IslandRow& r) { return r.island.x_max; });
  real("y_min", "pos.cartesian.y;stat.min", "First pixel along y, from 0",
       [](const IslandRow& r) { return r.island.y_min; });
  real("y_max", "pos.cartesian.y;stat.max", "Last pixel along y, from 0",
       [](const IslandRow& r) { return r.island.y_max; });
  real("n_pix", "meta.number;instr.pixel", "Number of pixels",
       [](const IslandRow& r) { return r.island.n_pix; });
}

void add_areas(Columns& columns, const IslandTableParams& params) {
  if (params.wcs == nullptr) return;
  columns.add(
      "solid_angle", "arcsec2", "phys.angArea", "Solid angle of the pixels",
      [](const IslandRow& r) { return static_cast<double>(r.island.n_pix) * r.pixel_area; });
  if (!params.beam.beam) return;
  const double beam = beam_solid_angle(*params.beam.beam);
  columns.add("beam_area", "arcsec2", "phys.angArea;instr.beam", "Solid angle of the beam",
              [beam](const IslandRow&) { return beam; });
  columns.add("n_beams", "", "meta.number", "Number of beam areas that the pixels cover",
              [](const IslandRow& r) { return static_cast<double>(r.island.n_pix) / r.beam_area; });
}

void add_fluxes(Columns& columns, const detail::FluxUnit& unit) {
  const auto sign = [](const IslandRow& r) { return r.island.flux_sum < 0 ? -1.0 : 1.0; };
  // The values of pixels, in the unit that the table names.
  const auto pixel = [&columns, &unit](const char* name, const std::string& ucd,
                                       const char* description, double Island::*member) {
    columns.add(name, unit.pixel, ucd, description,
                [=, scale = unit.scale](const IslandRow& r) { return r.island.*member * scale; });
  };
  pixel("flux_peak", columns.flux("phot.flux.density;stat.max"),
        "Brightest pixel above the background", &Island::flux_peak);
  columns.add("flux_peak_err", unit.pixel,
              "stat.error;" + columns.flux("phot.flux.density;stat.max"),
              "Error of flux_peak: noise and scatter of the sampling, not its mean loss",
              [scale = unit.scale](const IslandRow& r) { return r.errors.peak_err * scale; });
  columns.add("flux_int", unit.integrated, columns.flux("phot.flux.density"),
              "Total flux density: flux_iso and the flux of a Gaussian below the threshold",
              [=](const IslandRow& r) { return sign(r) * r.errors.total * r.flux_scale; });
  columns.add("flux_int_err", unit.integrated, "stat.error;" + columns.flux("phot.flux.density"),
              "Error of flux_int",
              [](const IslandRow& r) { return r.errors.total_err * r.flux_scale; });
  columns.add("flux_iso", unit.integrated, columns.flux("phot.flux.density"),
              "Isophotal flux density: that of the pixels above the threshold",
              [](const IslandRow& r) { return r.island.flux_sum * r.flux_scale; });
  columns.add("flux_iso_err", unit.integrated, "stat.error;" + columns.flux("phot.flux.density"),
              "Error of flux_iso",
              [](const IslandRow& r) { return r.errors.sum_err * r.flux_scale; });
  pixel("flux_sum", columns.flux("phot.flux"), "Sum of the pixels above the background",
        &Island::flux_sum);
  columns.add("flux_sum_err", unit.pixel, "stat.error;" + columns.flux("phot.flux"),
              "Error of flux_sum",
              [scale = unit.scale](const IslandRow& r) { return r.errors.sum_err * scale; });
  pixel("raw_sum", columns.flux("phot.flux"), "Sum of the pixels, background included",
        &Island::raw_sum);
  columns.add("flux_fraction", "", "arith.factor",
              "Fraction of the flux above the threshold: flux_iso / flux_int",
              [](const IslandRow& r) { return std::abs(r.island.flux_sum) / r.errors.total; });
  pixel("mean_background", columns.flux("phot.flux.density;instr.background"),
        "Background, mean over the pixels", &Island::background);
  pixel("background_noise", "stat.stdev;" + columns.flux("phot.flux.density"),
        "Local noise, root mean square over the pixels", &Island::rms);
  columns.add("snr", "", "stat.snr", "Peak signal to noise",
              [](const IslandRow& r) { return r.island.snr_peak; });
}

/// Adds the columns of an ellipse: widths and angle.
template <class Ellipse>
void add_ellipse(Columns& columns, const std::string& ending, const std::string& unit,
                 const std::string& angle, const Ellipse& ellipse) {
  columns.add("maj_axis" + ending, unit, columns.flux("phys.angSize.smajAxis"),
              "Major axis from second moments, FWHM, not deconvolved",
              [=](const IslandRow& r) { return ellipse(r).major; });
  columns.add("min_axis" + ending, unit, columns.flux("phys.angSize.sminAxis"),
              "Minor axis from second moments, FWHM, not deconvolved",
              [=](const IslandRow& r) { return ellipse(r).minor; });
  columns.add("pos_ang" + ending, "deg", columns.flux("pos.posAng"), angle,
              [=](const IslandRow& r) { return ellipse(r).angle; });
}

void add_shapes(Columns& columns, const Wcs* wcs) {
  if (wcs != nullptr) {
    add_ellipse(columns, "", "arcsec", "Position angle of the major axis, from north through east",
                [](const IslandRow& r) { return r.on_sky; });
    columns.add("maj_axis_cor", "arcsec", columns.flux("phys.angSize.smajAxis"),
                "maj_axis corrected for the cut of a Gaussian at the threshold",
                [](const IslandRow& r) { return r.on_sky.major * r.errors.size_factor; });
    columns.add("min_axis_cor", "arcsec", columns.flux("phys.angSize.sminAxis"),
                "min_axis corrected for the cut of a Gaussian at the threshold",
                [](const IslandRow& r) { return r.on_sky.minor * r.errors.size_factor; });
  }
  add_ellipse(columns, "_pix", "pixel", "Angle of the major axis, from x towards y",
              [](const IslandRow& r) { return r.in_pixels; });
}

std::vector<TableColumn> columns_of(const Rows& rows, const IslandTableParams& params,
                                    const detail::FluxUnit& unit) {
  Columns columns(rows, unit.per == detail::FluxUnit::Per::beam);
  columns.add("island_id", "", "meta.id;meta.main", "Number of the island, from 1",
              [](const IslandRow& r) { return r.island.id; });
  if (params.wcs != nullptr) {
    columns.add("island_name", "", "meta.id", detail::k_of_names,
                [](const IslandRow& r) { return r.name; });
    detail::add_positions(columns, *params.wcs, "flux-weighted");
  }
  add_fluxes(columns, unit);
  columns.append(detail::auto_columns(rows, params, unit, columns.flux("")));
  add_shapes(columns, params.wcs);
  add_areas(columns, params);
  add_pixels(columns);
  if (params.wcs != nullptr) add_peak_position(columns, *params.wcs);
  detail::add_frequency(columns, params.frequency);
  columns.add("flags", "", "meta.code", "Quality flags, a bit mask",
              [](const IslandRow& r) { return static_cast<std::int64_t>(r.flags); });
  return columns.take();
}

bool has_threshold(const IslandTableParams& params) {
  return params.flood_snr > 0 || params.flood_level > 0;
}

std::vector<std::string> notes_of(const Rows& rows, const IslandTableParams& params,
                                  const detail::FluxUnit& unit) {
  std::vector<std::string> notes = params.beam.notes;
  if (const std::string why = detail::reason_without_flux(params, unit); !why.empty()) {
    notes.push_back(fmt::format("flux_int is NaN, as {}: {}",
                                params.kron.empty() ? "is flux_iso" : "are flux_iso and flux_auto",
                                why));
  }
  const auto partial =
      static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const IslandRow& row) {
        return (row.flags & (island_no_total | island_no_flux)) == island_no_total;
      }));
  if (has_threshold(params) && partial > 0) {
    notes.push_back(fmt::format(
        "{} of {} islands have no flux_int (flag {}): their peaks are too close to the threshold "
        "to tell the flux below it, and flux_iso is the part above it only",
        partial, rows.size(), static_cast<int>(island_no_total)));
  }
  detail::add_common_notes(
      params, unit, {detail::count_with(rows, island_no_sky), rows.size(), "islands"}, notes);
  return notes;
}

}  // namespace

double beam_area_in_pixels(const Beam& beam, const Wcs& wcs) {
  const double pixel = detail::reference_pixel_area(wcs);
  return pixel > 0 ? beam_solid_angle(beam) / pixel : std::nan("");
}

IslandTable island_table(const Islands& islands, const IslandTableParams& params) {
  check(params);
  auto unit = detail::flux_unit(params.unit);
  if (params.sums_of_pixels) unit = detail::unit_of_sums(unit);
  KASTOR_EXPECTS("kastor::io::island_table",
                 params.kron.empty() || params.kron.size() == islands.size(),
                 fmt::format("found {} Kron fluxes of {} islands; expected one for each",
                             params.kron.size(), islands.size()));
  KASTOR_EXPECTS("kastor::io::island_table",
                 params.weights.empty() || params.weights.size() == islands.size(),
                 fmt::format("found {} weights of {} islands; expected one for each",
                             params.weights.size(), islands.size()));
  auto rows = detail::island_rows(islands, params, unit);
  detail::set_auto_flags(rows, params);
  IslandTable result;
  result.table.name = "islands";
  result.table.description = "Islands of connected pixels that stand out from the background";
  result.table.columns = columns_of(rows, params, unit);
  result.table.frame = detail::frame_of(params.wcs);
  result.table.cards = detail::cards_of(params);
  result.notes = notes_of(rows, params, unit);
  return result;
}

}  // namespace kastor::io
