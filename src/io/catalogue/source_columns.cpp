// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/source_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <kastor/error.hpp>
#include <utility>

#include "io/catalogue/position_columns.hpp"
#include "io/catalogue/size_columns.hpp"
#include "io/catalogue/source_units.hpp"
#include "io/table/table_numbers.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

using Q = SourceQuantity;

struct Name {
  Q quantity;
  std::string_view name;
};

// In upper case. For each quantity, the first name that exists is used.
constexpr std::array k_names = {
    Name{Q::flux_peak, "FLUX_PEAK"},    // Kastor, Selavy
    Name{Q::flux_peak, "PEAK_FLUX"},    // Aegean, PyBDSF
    Name{Q::flux_peak, "FLUX_MAX"},     // SExtractor
    Name{Q::flux_peak, "MAX_VALUE"},    // photutils
    Name{Q::flux_peak, "PEAK"},         // PySE, SEP
    Name{Q::flux_peak, "SPEAK"},        // VizieR
    Name{Q::flux_int, "FLUX_AUTO"},     // Kastor's preset sextractor, SExtractor
    Name{Q::flux_int, "FLUX_INT_COR"},  // Kastor's first tables; their FLUX_INT is isophotal
    Name{Q::flux_int, "FLUX_INT"},      // Kastor, Selavy
    Name{Q::flux_int, "INT_FLUX"},      // Aegean
    Name{Q::flux_int, "TOTAL_FLUX"},    // PyBDSF
    Name{Q::flux_int, "ISL_TOTAL_FLUX"},
    Name{Q::flux_int, "FLUX_MODEL"},    // SExtractor, beside FLUX_AUTO
    Name{Q::flux_int, "FLUX_ISOCOR"},   // SExtractor
    Name{Q::flux_int, "SINT"},          // VizieR
    Name{Q::flux_sum, "FLUX_SUM"},      // Kastor
    Name{Q::flux_sum, "FLUX_ISO"},      // SExtractor
    Name{Q::flux_sum, "SEGMENT_FLUX"},  // photutils
    Name{Q::snr, "SNR_PEAK"},           // Kastor
    Name{Q::snr, "SNR"},
    Name{Q::rms, "LOCAL_RMS"},         // Aegean
    Name{Q::rms, "ISL_RMS"},           // PyBDSF
    Name{Q::rms, "ISLRMS"},            // VizieR
    Name{Q::rms, "RMS_IMAGE"},         // Selavy's components
    Name{Q::rms, "BACKGROUND_NOISE"},  // Selavy's islands, Kastor
    Name{Q::id, "COMPONENT_NAME"},     // Selavy
    Name{Q::id, "ISLAND_NAME"},
    Name{Q::id, "COMPONENT_ID"},
    Name{Q::id, "ISLAND_ID"},
    Name{Q::id, "UUID"},       // Aegean
    Name{Q::id, "SOURCE_ID"},  // PyBDSF
    Name{Q::id, "NUMBER"},     // SExtractor
    Name{Q::id, "LABEL"},      // photutils
    Name{Q::id, "ID"},
    Name{Q::id, "NAME"},
    Name{Q::id, "MAIN_ID"},  // SIMBAD
};

/// Sets the columns of fluxes, noise and ids that the user does not name.
void take_others(const ColumnFinder& finder, const ColumnNames& named, SourceColumns& found) {
  for (const auto& candidate : k_names) {
    if (found.of(candidate.quantity) || named.names.count(candidate.quantity) != 0) continue;
    const auto column = finder.find(candidate.name);
    if (column && finder.is_ambiguous(candidate.name)) {
      found.notes.push_back(fmt::format("the column {} occurs more than once and is not used",
                                        one_line(finder.at(*column).name)));
      continue;
    }
    found.of(candidate.quantity) = column;
  }
}

void take_size(const ColumnFinder& finder, SourceColumns& found) {
  const auto size = find_size_column(finder, !found.of(Q::ra));
  if (!size) return;
  found.of(Q::size) = size->column;
  found.size_unit = size->unit;
  found.size_to_fwhm = size->to_fwhm;
}

void take_pixels(const ColumnFinder& finder, SourceColumns& found, std::string& trouble) {
  const auto pixels = find_pixel_columns(finder, trouble);
  if (!pixels) return;
  found.of(Q::x) = pixels->first;
  found.of(Q::y) = pixels->second;
  found.pixel_origin = pixels->pixel_origin;
}

void take_sky(const ColumnFinder& finder, SourceColumns& found) {
  const auto sky = find_sky_columns(finder);
  if (!sky) return;
  const auto& first = finder.at(sky->first);
  // A name of one letter may be anything.
  if (first.name.size() == 1 && first.unit.empty() && found.of(Q::x)) return;
  found.of(Q::ra) = sky->first;
  found.of(Q::dec) = sky->second;
  found.text_positions = sky->is_text;
  found.frame = sky->frame;
}

void take_named(const ColumnFinder& finder, const ColumnNames& named, SourceColumns& found) {
  for (const auto& [quantity, name] : named.names) {
    const auto column = finder.find_typed(name);
    if (!column) {
      throw Error(fmt::format("there is no column '{}' for {}; expected one of {}", one_line(name),
                              name_of(quantity), names_of(finder.columns())));
    }
    found.of(quantity) = column;
    if (quantity == Q::size) {
      found.size_unit = without_blanks(finder.at(*column).unit);
      found.size_to_fwhm = 1;
    }
    if (quantity == Q::x || quantity == Q::y) found.pixel_origin = counts_from_one(name) ? 1 : 0;
  }
  if (named.pixel_origin) found.pixel_origin = *named.pixel_origin;
}

/// One coordinate alone is not a position, and two of different kinds are none either.
void check_pairs(const ColumnFinder& finder, const ColumnNames& named, SourceColumns& found) {
  for (const auto& [first, second] : {std::pair(Q::ra, Q::dec), std::pair(Q::x, Q::y)}) {
    if (found.of(first).has_value() == found.of(second).has_value()) continue;
    throw Error(fmt::format("there is {} but no {}; expected columns for both",
                            name_of(found.of(first) ? first : second),
                            name_of(found.of(first) ? second : first)));
  }
  for (const Q quantity : {Q::x, Q::y}) {
    if (named.names.count(quantity) == 0) continue;
    const auto& column = finder.at(*found.of(quantity));
    if (column.unit.empty() || is_pixel_unit(column.unit)) continue;
    throw Error(fmt::format("the column {} has the unit '{}'; expected pixel for {}",
                            one_line(column.name), one_line(column.unit), name_of(quantity)));
  }
  if (!found.of(Q::ra) || (named.names.count(Q::ra) == 0 && named.names.count(Q::dec) == 0)) return;
  const auto& first = finder.at(*found.of(Q::ra));
  const auto& second = finder.at(*found.of(Q::dec));
  found.text_positions = are_texts(first, second);
  found.frame = frame_of_name(first);
  const auto other = frame_of_name(second);
  const auto is_apart = [](const std::optional<SkyFrame>& frame) {
    return frame == SkyFrame::galactic || frame == SkyFrame::fk4 || frame == SkyFrame::ecliptic;
  };
  if (found.frame != other && (is_apart(found.frame) || is_apart(other))) {
    throw Error(fmt::format("the columns {} and {} are of different frames; expected both of one",
                            one_line(first.name), one_line(second.name)));
  }
}

}  // namespace

SourceColumns recognise_columns(const std::vector<TableColumn>& columns, const ColumnNames& named) {
  const ColumnFinder finder(columns);
  SourceColumns found;
  std::string trouble;
  const bool names_sky = named.names.count(Q::ra) != 0 && named.names.count(Q::dec) != 0;
  const bool names_pixels = named.names.count(Q::x) != 0 && named.names.count(Q::y) != 0;
  if (!names_pixels) take_pixels(finder, found, trouble);
  try {
    if (!names_sky) take_sky(finder, found);
  } catch (const Error&) {
    if (!names_pixels) throw;  // else the positions are clear without
  }
  take_others(finder, named, found);
  take_size(finder, found);
  take_named(finder, named, found);
  check_pairs(finder, named, found);
  if (!found.has_positions() && !trouble.empty()) throw Error(trouble);
  return found;
}

}  // namespace kastor::io::detail
