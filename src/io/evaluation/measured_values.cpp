// SPDX-License-Identifier: Apache-2.0
#include "io/evaluation/measured_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <utility>

#include "io/catalogue/column_finder.hpp"
#include "io/catalogue/size_columns.hpp"
#include "io/catalogue/source_units.hpp"
#include "io/evaluation/measured_columns.hpp"
#include "io/sky/sky_geometry.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

using Q = SourceQuantity;

using M = MeasuredQuantity;

const double k_not = std::numeric_limits<double>::quiet_NaN();

bool has_number(const TableColumn* column) {
  if (column == nullptr) return false;
  const auto& values = SourceTable::numbers(*column);
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

const MeasuredName* find_name(const SourceTable& table, M quantity) {
  const MeasuredName* empty = nullptr;
  for (const auto* name : measured_names(quantity)) {
    const auto* column = table.find(name->name);
    if (column == nullptr) continue;
    if (!name->requires_.empty() && table.find(name->requires_) == nullptr) continue;
    if (!name->without.empty() && table.find(name->without) != nullptr) continue;
    if (has_number(column)) return name;
    if (empty == nullptr) empty = name;
  }
  return empty;
}

constexpr const char* k_no_number = "the column holds no number";

/// The word that SExtractor has for the unit of the image, whatever that is.
bool is_count(const std::string& base) {
  const auto upper = upper_case(base);
  return upper == "COUNT" || upper == "COUNTS" || upper == "CT";
}

/// The same for all spellings of a base unit.
std::string spelling_of(const std::string& base) {
  const auto upper = upper_case(base);
  if (is_count(base) || upper == "ADU" || upper == "DN") return "adu";
  if (upper == "ELECTRON" || upper == "ELECTRONS") return "electron";
  return base;
}

std::string label_of(const MeasuredUnit& unit) {
  return unit.per_beam && !unit.base.empty() ? unit.base + "/beam" : unit.base;
}

std::string two_units(const MeasuredUnit& found, const MeasuredUnit& wanted) {
  const auto quoted = [](const MeasuredUnit& unit) {
    return unit.base.empty() ? "one that is not known" : "'" + one_line(label_of(unit)) + "'";
  };
  return fmt::format("the units are {} and {}", quoted(wanted), quoted(found));
}

/// The unit of a column, and the factor to it.
struct ColumnUnit {
  double factor = 1;
  MeasuredUnit unit;
  bool sum_of_beams = false;  ///< a sum of pixels whose unit is per beam
};

ColumnUnit unit_of(const MeasuredName& name, const std::string& written, const FluxFrame& frame) {
  const std::string unit = written.empty() ? std::string(name.unit) : written;
  const auto scaled = scaled_flux_unit(unit);
  const bool peak = name.quantity == M::flux_peak;
  const bool density = name.as == MeasuredAs::density;
  if (density && unit.empty())
    return {frame.per_beam ? 1 : frame.image_factor,
            {frame.image_unit, peak && frame.per_beam, ""},
            false};
  if (!density && (unit.empty() || is_count(scaled.base)))
    return {frame.image_factor,
            {frame.image_unit.empty() ? scaled.base : frame.image_unit, peak && frame.per_beam, ""},
            !peak && frame.per_beam};
  const bool per_beam = upper_case(unit).find("BEAM") != std::string::npos;
  // Peaks are often said to be in Jy where the image is in Jy/beam.
  const bool peak_per_beam = peak && (per_beam || (density && frame.per_beam));
  return {scaled.factor, {scaled.base, peak_per_beam, ""}, !peak && per_beam};
}

struct Conversion {
  double factor = 1;
  std::string trouble, note;
  MeasuredUnit unit;
};

/// To the unit of the truth, with which that of the column is compared.
Conversion to_truth(const MeasuredName& name, const TableColumn& column, const std::string& written,
                    const FluxFrame& frame) {
  const auto [factor, unit, sum_of_beams] = unit_of(name, written, frame);
  const auto& wanted = name.quantity == M::flux_peak ? frame.true_peak : frame.true_int;
  const bool differs = spelling_of(unit.base) != spelling_of(wanted.base) ||
                       (unit.base == "Jy" && unit.per_beam != wanted.per_beam);
  if (wanted.trouble.empty() && differs) return {1, two_units(unit, wanted), "", unit};
  if (!sum_of_beams) return {factor, "", "", unit};
  if (!(frame.beam_pixels > 0))
    return {1, "it is a sum of pixels, and the beam is not known", "", unit};
  return {factor / frame.beam_pixels, "",
          fmt::format("{} is a sum of pixels; it is divided by the beam of {:.6g} pixels",
                      one_line(column.name), frame.beam_pixels),
          unit};
}

MeasuredValues flux_values(const SourceTable& table, M quantity, const FluxFrame& frame) {
  MeasuredValues result;
  const auto* name = find_name(table, quantity);
  if (name == nullptr) {
    result.trouble = fmt::format("the catalogue has no column of {}", name_of(quantity));
    return result;
  }
  const auto& column = *table.find(name->name);
  result.column = column.name;
  const auto conversion = to_truth(*name, column, column.unit, frame);
  result.trouble = conversion.trouble;
  result.note = conversion.note;
  result.flux_unit = conversion.unit;
  const auto& wanted = quantity == M::flux_peak ? frame.true_peak : frame.true_int;
  result.unit = label_of(wanted.trouble.empty() ? wanted : conversion.unit);
  result.values = SourceTable::numbers(column);
  if (has_number(&column)) {
    result.as_written = result.values;
  } else if (result.trouble.empty()) {
    result.trouble = k_no_number;
  }
  for (auto& value : result.values) value *= conversion.factor;
  for (const auto& error : name->errors) {
    const auto* found = error.empty() ? nullptr : table.find(error);
    if (found == nullptr) continue;
    result.error_column = found->name;
    // The unit of the error may have another prefix.
    const auto own =
        to_truth(*name, *found, found->unit.empty() ? column.unit : found->unit, frame);
    result.errors = SourceTable::numbers(*found);
    for (auto& value : result.errors) value *= own.trouble.empty() ? own.factor : k_not;
    break;
  }
  return result;
}

/// Pixels along x and y for an arcsecond to the east and to the north.
struct SkyStep {
  double x_east, x_north, y_east, y_north;
};
SkyStep step_per_arcsec(const Jacobian& j) {
  const double determinant = j.east_x * j.north_y - j.east_y * j.north_x;
  return {j.north_y / determinant, -j.east_y / determinant, -j.north_x / determinant,
          j.east_x / determinant};
}

std::vector<Jacobian> local_scales(const SourceTable& table, const Wcs* wcs) {
  std::vector<Jacobian> result(table.places.size(), Jacobian{k_not, k_not, k_not, k_not});
  if (wcs == nullptr) return result;
  const auto local = local_sky(*wcs, table.places);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = local[i].jacobian;
  return result;
}

void add_position_errors(const SourceTable& table, bool along_x, const Wcs* wcs,
                         MeasuredValues& result) {
  for (const auto& names : position_error_names()) {
    const auto* first = table.find(names.first);
    const auto* second = table.find(names.second);
    if (first == nullptr || second == nullptr) continue;
    const auto& own = along_x ? *first : *second;
    const bool in_pixels = names.unit == "pixel";
    if (!in_pixels && wcs == nullptr) continue;
    if (!has_number(&own)) continue;
    result.error_column = own.name;
    result.errors = SourceTable::numbers(own);
    if (in_pixels) {
      if (!names.is_variance) return;
      for (auto& error : result.errors) error = std::sqrt(error);
      return;
    }
    const auto arcsec = [&](const TableColumn& column) {
      const auto degrees = degrees_per(column.unit.empty() ? std::string(names.unit) : column.unit);
      return degrees ? *degrees * 3600 : k_not;
    };
    const auto jacobians = local_scales(table, wcs);
    const auto& east = SourceTable::numbers(*first);
    const auto& north = SourceTable::numbers(*second);
    for (std::size_t i = 0; i < east.size(); ++i) {
      const auto step = step_per_arcsec(jacobians[i]);
      const double e = east[i] * arcsec(*first);
      const double n = north[i] * arcsec(*second);
      result.errors[i] = along_x ? std::hypot(step.x_east * e, step.x_north * n)
                                 : std::hypot(step.y_east * e, step.y_north * n);
    }
    return;
  }
}

MeasuredValues position_values(const SourceTable& table, M quantity, const Wcs* wcs) {
  MeasuredValues result;
  const bool along_x = quantity == M::x;
  const auto& list = table.list;
  result.column = list.has_pixels() ? list.column(along_x ? Q::x : Q::y)
                                    : list.column(along_x ? Q::ra : Q::dec);
  result.unit = "pixel";
  for (const auto& place : table.places) result.values.push_back(along_x ? place.x : place.y);
  add_position_errors(table, along_x, wcs, result);
  return result;
}

/// The major axis: column, unit and FWHM over value.
std::optional<SizeColumn> major_axis(const SourceTable& table, const ColumnFinder& finder) {
  if (const auto best = finder.find("MAJ_AXIS_COR"))
    return SizeColumn{*best, finder.at(*best).unit.empty() ? "arcsec" : finder.at(*best).unit, 1};
  if (const auto own = finder.find("MAJ_AXIS_PIX"); own && !finder.has("MAJ_AXIS"))
    return SizeColumn{*own, "pixel", 1};
  return find_size_column(finder, table.list.column(SourceQuantity::ra).empty());
}

MeasuredValues size_values(const SourceTable& table, M quantity, const Wcs* wcs) {
  MeasuredValues result;
  result.unit = "pixel";
  const ColumnFinder finder(table.more.table.columns);
  const auto size = major_axis(table, finder);
  const auto fail = [&](std::string why) {
    result.trouble = std::move(why);
    return result;
  };
  if (!size) return fail("the catalogue has no column of sizes");
  const auto* column = &finder.at(size->column);
  if (quantity == M::minor) {
    const auto name = minor_axis_of(upper_case(column->name));
    column = name.empty() ? nullptr : table.find(name);
    if (column == nullptr) return fail("the catalogue has no column of minor axes");
  }
  result = lengths_in_pixels(table, *column, size->unit, wcs);
  for (auto& value : result.values) value *= size->to_fwhm;
  // The unit of an error may have another prefix, or none.
  const auto* error = table.find(upper_case(column->name) + "_ERR");
  if (error == nullptr || !result.trouble.empty()) return result;
  auto errors =
      lengths_in_pixels(table, *error, error->unit.empty() ? size->unit : error->unit, wcs);
  if (!errors.trouble.empty()) return result;
  result.error_column = error->name;
  result.errors = std::move(errors.values);
  for (auto& value : result.errors) value *= size->to_fwhm;
  return result;
}

}  // namespace

MeasuredValues lengths_in_pixels(const SourceTable& table, const TableColumn& column,
                                 const std::string& unit, const Wcs* wcs) {
  MeasuredValues result;
  result.unit = "pixel";
  result.column = column.name;
  const bool in_pixels = is_pixel_unit(unit);
  const auto degrees = degrees_per(unit);
  if (!in_pixels && (unit.empty() || !degrees)) {
    result.trouble = fmt::format("the sizes have the unit '{}'", one_line(unit));
  } else if (!in_pixels && wcs == nullptr) {
    result.trouble = "the sizes are on the sky, and the image has no celestial coordinates";
  } else {
    result.values = SourceTable::numbers(column);
    if (in_pixels) return result;
    const auto jacobians = local_scales(table, wcs);
    for (std::size_t i = 0; i < result.values.size(); ++i)
      result.values[i] *= *degrees * 3600 / std::sqrt(jacobians[i].area());
  }
  return result;
}

MeasuredValues true_values(const SourceTable& table, MeasuredQuantity quantity, FluxFrame& frame) {
  auto& unit = quantity == M::flux_peak ? frame.true_peak : frame.true_int;
  unit = MeasuredUnit{"", false, "it is not read yet"};
  auto result = measured_values(table, quantity, frame, nullptr);
  unit = result.flux_unit;
  if (result.column.empty()) {
    unit.trouble = fmt::format("the truth has no column of {}", name_of(quantity));
  } else if (!result.trouble.empty() && result.trouble != k_no_number) {
    unit.trouble = fmt::format("{} of the truth: {}", one_line(result.column), result.trouble);
  }
  return result;
}

std::vector<double> true_noise(const SourceTable& table, std::string_view name,
                               const FluxFrame& frame) {
  std::vector<double> none(table.list.sources.size(), k_not);
  const auto* noise = table.find(name);
  const auto* peak = find_name(table, M::flux_peak);
  if (noise == nullptr || peak == nullptr) return none;
  const auto conversion = to_truth(
      *peak, *noise, noise->unit.empty() ? table.find(peak->name)->unit : noise->unit, frame);
  if (!conversion.trouble.empty()) return none;
  auto values = SourceTable::numbers(*noise);
  for (auto& value : values) value *= conversion.factor;
  return values;
}

MeasuredValues measured_values(const SourceTable& table, MeasuredQuantity quantity,
                               const FluxFrame& frame, const Wcs* wcs) {
  auto result = quantity == M::x || quantity == M::y ? position_values(table, quantity, wcs)
                : quantity == M::major || quantity == M::minor
                    ? size_values(table, quantity, wcs)
                    : flux_values(table, quantity, frame);
  const std::size_t rows = table.list.sources.size();
  if (!result.trouble.empty()) {
    result.values.clear();
    result.errors.clear();
  }
  result.values.resize(rows, k_not);
  result.errors.resize(rows, k_not);
  return result;
}

RowSnr row_snr(const SourceTable& table, const std::vector<MeasuredValues>& measured) {
  RowSnr result;
  const auto& list = table.list;
  if (list.has_snr()) {
    const auto& own = list.column(Q::snr);
    result.by = own.empty() ? list.column(Q::flux_peak) + "/" + list.column(Q::rms) : own;
    for (const auto& source : list.sources) result.values.push_back(source.snr);
    return result;
  }
  for (const M quantity : {M::flux_int, M::flux_iso, M::flux_peak}) {
    const auto& flux = measured.at(static_cast<std::size_t>(quantity));
    if (flux.error_column.empty() || !flux.trouble.empty()) continue;
    result.by = flux.column + "/" + flux.error_column;
    for (std::size_t i = 0; i < flux.values.size(); ++i)
      result.values.push_back(std::abs(flux.values[i]) / flux.errors[i]);
    return result;
  }
  result.values.assign(list.sources.size(), k_not);
  return result;
}

}  // namespace kastor::io::detail
