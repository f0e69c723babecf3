// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/position_values.hpp"

#include <fmt/format.h>

#include <cmath>
#include <kastor/error.hpp>
#include <limits>
#include <string_view>

#include "io/catalogue/sexagesimal.hpp"
#include "io/catalogue/source_units.hpp"
#include "io/sky/sky_geometry.hpp"
#include "io/table/table_numbers.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

constexpr double k_no_angle = std::numeric_limits<double>::quiet_NaN();
// Right ascensions are periodic, but a number like -999 means none.
constexpr double k_largest_longitude = 720;  // [deg]

std::string shown_text(std::string_view text) {
  constexpr std::size_t most = 40;
  return one_line(text.substr(0, most)) + (text.size() > most ? "..." : "");
}

/// One coordinate of all rows in degrees.
class AngleColumn {
 public:
  AngleColumn(const TableFromFile& file, const TableColumn& column, bool is_longitude,
              bool is_equatorial)
      : m_file(file),
        m_column(column),
        m_is_longitude(is_longitude),
        m_in_hours(is_longitude && is_equatorial) {}

  std::vector<double> degrees() {
    if (const auto* numbers = std::get_if<std::vector<double>>(&m_column.values)) {
      const double factor = factor_of_numbers();
      std::vector<double> result(*numbers);
      for (double& value : result) value *= factor;
      return result;
    }
    std::vector<double> result;
    const auto& texts = std::get<std::vector<std::string>>(m_column.values);
    result.reserve(texts.size());
    for (std::size_t row = 0; row < texts.size(); ++row)
      result.push_back(means_none(texts[row]) ? k_no_angle : degrees_of(texts[row], row));
    return result;
  }

 private:
  [[nodiscard]] double factor_of_numbers() const {
    const auto factor = degrees_per(m_column.unit);
    if (!factor || (is_hours(m_column.unit) && !m_in_hours)) fail_unit();
    return *factor;
  }

  double degrees_of(const std::string& text, std::size_t row) {
    const auto number = number_of(text);
    if (m_form_row && number.has_value() != m_are_numbers) {
      fail(row, text,
           fmt::format("the same form as in {}, where it is '{}'", m_file.place_of(*m_form_row),
                       shown_text(m_first_text)));
    }
    if (!m_form_row) {
      m_form_row = row;
      m_are_numbers = number.has_value();
      m_first_text = text;
    }
    if (!number) return from_sexagesimal(text, row);
    if (sexagesimal_unit(m_column.unit) != SexagesimalUnit::none) fail(row, text, expected_form());
    return *number * factor_of_numbers();
  }

  double from_sexagesimal(const std::string& text, std::size_t row) const {
    const auto found = sexagesimal_of(text);
    if (!found) fail(row, text, expected_form());
    const auto unit = unit_of(*found, text, row);
    const double value = found->degrees(unit);
    const bool good = m_is_longitude ? !found->negative && value < 360 : std::abs(value) <= 90;
    if (!good) fail(row, text, expected_form());
    return value;
  }

  /// What the first part counts: as its letter says, else as the unit of the column does.
  [[nodiscard]] SexagesimalUnit unit_of(const Sexagesimal& found, const std::string& text,
                                        std::size_t row) const {
    using U = SexagesimalUnit;
    const U usual = m_in_hours ? U::hours : U::degrees;
    U unit = found.unit;
    if (unit == U::none) unit = sexagesimal_unit(m_column.unit);
    if (unit == U::none && is_hours(m_column.unit)) unit = U::hours;
    if (unit == U::none) {
      if (!degrees_per(m_column.unit)) fail_unit();
      // "17 45 40" in degrees may be hours whose unit is wrong.
      if (m_in_hours && !m_column.unit.empty()) {
        fail(row, text,
             fmt::format("numbers, since its unit is '{}', or the unit h:m:s or d:m:s",
                         one_line(m_column.unit)));
      }
      unit = usual;
    }
    if (unit == U::hours && !m_in_hours) fail(row, text, expected_form());
    return unit;
  }

  [[nodiscard]] const char* expected_form() const {
    if (m_in_hours) {
      return "hours below 24, minutes and seconds below 60, as in 17:45:40.04, or degrees";
    }
    return m_is_longitude ? "degrees below 360, minutes and seconds below 60, as in 359:56:39.5"
                          : "degrees from -90 to 90, minutes and seconds below 60, as in "
                            "-29:00:28.1";
  }

  [[noreturn]] void fail(std::size_t row, const std::string& text,
                         const std::string& expected) const {
    throw Error(fmt::format("{}: {}: {} is '{}'; expected {}", m_file.where, m_file.place_of(row),
                            one_line(m_column.name), shown_text(text), expected));
  }
  [[noreturn]] void fail_unit() const {
    throw Error(
        fmt::format("{}: the column {} has the unit '{}'; expected deg or another unit of "
                    "angle",
                    m_file.where, one_line(m_column.name), one_line(m_column.unit)));
  }

  const TableFromFile& m_file;
  const TableColumn& m_column;
  bool m_is_longitude;
  bool m_in_hours;                        // the usual unit of sexagesimal text
  std::optional<std::size_t> m_form_row;  // the first row with a text
  bool m_are_numbers = false;
  std::string m_first_text;
};

std::optional<SkyFrame> frame_of(const TableFromFile& file, const TableColumn& first,
                                 std::optional<SkyFrame> named_frame) {
  auto frame = named_frame ? named_frame : file.table.frame;
  const auto upper = upper_case(first.name);
  const bool is_named_equatorial = upper.starts_with("RA") || upper.starts_with("_RA") ||
                                   upper.starts_with("ALPHA") || upper.starts_with("SKY_CENTROID");
  const bool is_other = frame == SkyFrame::galactic || frame == SkyFrame::ecliptic;
  if (is_other && is_named_equatorial) frame.reset();  // that of other columns
  if (frame == SkyFrame::ecliptic) {
    throw Error(
        fmt::format("{}: the positions in the column {} are ecliptic; expected equatorial "
                    "or galactic ones",
                    file.where, one_line(first.name)));
  }
  return frame;
}

/// Right ascension from 0 to 360.
SkyPosition wrapped(SkyPosition position) {
  position.longitude = std::fmod(position.longitude, 360.0);
  if (position.longitude < 0) position.longitude += 360;
  if (position.longitude >= 360) position.longitude = 0;  // from rounding a tiny negative one
  return position;
}

std::string note_on_none(const TableFromFile& file, std::size_t missing, std::size_t outside,
                         const std::string& example, std::size_t rows) {
  std::string note = fmt::format("{}: {} of {} rows {} no position and {} left out", file.where,
                                 missing + outside, rows, missing + outside == 1 ? "has" : "have",
                                 missing + outside == 1 ? "is" : "are");
  if (outside > 0) note += fmt::format("; {} out of range, such as {}", outside, example);
  return note;
}

}  // namespace

SkyValues sky_values(const TableFromFile& file, const TableColumn& first, const TableColumn& second,
                     std::optional<SkyFrame> named_frame) {
  SkyValues result;
  result.frame = frame_of(file, first, named_frame);
  const bool is_galactic = result.frame == SkyFrame::galactic;
  const auto longitudes = AngleColumn(file, first, true, !is_galactic).degrees();
  const auto latitudes = AngleColumn(file, second, false, !is_galactic).degrees();
  std::size_t missing = 0;
  std::size_t outside = 0;
  std::string example;
  result.positions.reserve(longitudes.size());
  for (std::size_t row = 0; row < longitudes.size(); ++row) {
    const SkyPosition position{longitudes[row], latitudes[row]};
    const bool good =
        std::abs(position.longitude) <= k_largest_longitude && std::abs(position.latitude) <= 90;
    if (good) {
      const auto inside = wrapped(position);
      result.positions.push_back(is_galactic ? galactic_to_icrs(inside) : inside);
      continue;
    }
    result.positions.push_back({k_no_angle, k_no_angle});
    if (std::isnan(position.longitude) || std::isnan(position.latitude)) {
      ++missing;
      continue;
    }
    if (outside++ == 0) {
      example = fmt::format("{:.6g}, {:.6g} deg in {}", position.longitude, position.latitude,
                            file.place_of(row));
    }
  }
  if (missing + outside > 0)
    result.notes.push_back(note_on_none(file, missing, outside, example, longitudes.size()));
  if (is_galactic) {
    result.notes.push_back(
        fmt::format("{}: the galactic coordinates {} and {} were converted to "
                    "ICRS",
                    file.where, one_line(first.name), one_line(second.name)));
    result.frame = SkyFrame::icrs;
  }
  return result;
}

}  // namespace kastor::io::detail
