// SPDX-License-Identifier: Apache-2.0
#include "io/fits/plane_beam.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <limits>
#include <string>
#include <vector>

#include "io/catalogue/source_units.hpp"
#include "io/fits/fits_file.hpp"
#include "io/fits/hdu_info.hpp"
#include "io/sky/raw_beam.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

struct BeamColumns {
  std::vector<double> major, minor, angle;    // [deg]
  std::vector<double> channel, polarisation;  // all 0 without the column

  [[nodiscard]] std::size_t rows() const { return major.size(); }
};

bool is_beams(const FitsFile& file) {
  return upper_case(read_string(file, "EXTNAME").value_or("")) == "BEAMS";
}

/// Number of the HDU of the table: behind the image, else the first one of the file.
std::optional<int> index_of_beams(const std::string& path, int image, std::int64_t max_unpacked) {
  FitsFile file(path, max_unpacked);
  std::optional<int> found;
  do {
    if (!is_beams(file)) continue;
    if (file.hdu() > image) return file.hdu();
    if (!found) found = file.hdu();
  } while (file.next_hdu());
  return found;
}

int column_number(const FitsFile& file, const char* name) {
  std::string templet = name;
  int column = 0;
  int status = 0;
  fits_get_colnum(file.get(), CASEINSEN, templet.data(), &column, &status);
  fits_clear_errmsg();
  return status == 0 ? column : 0;
}

std::vector<double> numbers_of(const FitsFile& file, int column, const char* name,
                               std::int64_t rows) {
  int code = 0;
  LONGLONG repeat = 0;
  LONGLONG width = 0;
  int status = 0;
  fits_get_coltypell(file.get(), column, &code, &repeat, &width, &status);
  file.check(status, "finding the type of a column");
  const bool real = code == TFLOAT || code == TDOUBLE;
  const bool whole = code == TBYTE || code == TSHORT || code == TLONG || code == TLONGLONG;
  if (!(real || whole) || repeat != 1)
    file.fail(fmt::format("{} does not hold one number per row; expected it to", name));
  std::vector<double> values(static_cast<std::size_t>(rows));
  double null = real ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  int any_null = 0;
  fits_read_col(file.get(), TDOUBLE, column, 1, 1, rows, &null, values.data(), &any_null, &status);
  file.check(status, fmt::format("reading the column {}", name));
  return values;
}

std::vector<double> angles_of(const FitsFile& file, const char* name, std::int64_t rows) {
  const int column = column_number(file, name);
  if (column == 0) file.fail(fmt::format("the table has no column {}; expected one", name));
  const std::string unit = read_string(file, fmt::format("TUNIT{}", column).c_str()).value_or("");
  const auto degrees = degrees_per(unit);
  if (unit.empty() || !degrees) {
    file.fail(fmt::format("the unit of {} is '{}'; expected arcsec, deg or another unit of angle",
                          name, one_line(unit)));
  }
  auto values = numbers_of(file, column, name, rows);
  for (double& value : values) value *= *degrees;
  return values;
}

BeamColumns read_beams(const FitsFile& file) {
  const std::int64_t rows = table_rows(file);
  BeamColumns beams;
  if (rows == 0) return beams;
  beams.major = angles_of(file, "BMAJ", rows);
  beams.minor = angles_of(file, "BMIN", rows);
  beams.angle = angles_of(file, "BPA", rows);
  const auto index = [&](const char* name) {
    const int column = column_number(file, name);
    return column == 0 ? std::vector<double>(beams.rows()) : numbers_of(file, column, name, rows);
  };
  beams.channel = index("CHAN");
  beams.polarisation = index("POL");
  return beams;
}

/// The row of a plane. A table with one channel, or with one polarisation, is for all of them.
std::optional<std::size_t> beam_row_of(const BeamColumns& beams, double channel,
                                       double polarisation) {
  if (beams.rows() == 1) return 0;
  const auto fits = [](const std::vector<double>& column, std::size_t row, double index) {
    const bool one = std::all_of(column.begin(), column.end(), [](double v) { return v == 0; });
    return one || column[row] == index;
  };
  for (std::size_t row = 0; row < beams.rows(); ++row) {
    if (fits(beams.channel, row, channel) && fits(beams.polarisation, row, polarisation))
      return row;
  }
  return std::nullopt;
}

}  // namespace

BeamReading read_plane_beam(const FitsImage& about, std::size_t plane_axis,
                            std::int64_t max_unpacked) {
  BeamReading reading;
  const auto none = [&](const std::string& why) {
    reading.notes.push_back(
        "the header (CASAMBM) says that each plane has its own beam in a table BEAMS, " + why +
        "; no beam is used");
  };
  const bool stokes = about.plane && plane_axis < about.hdu.ctype.size() &&
                      upper_case(about.hdu.ctype[plane_axis]).starts_with("STOKES");
  const auto plane = static_cast<double>(about.plane.value_or(0));
  const double channel = stokes ? 0 : plane;
  const double polarisation = stokes ? plane : 0;
  try {
    const auto index = index_of_beams(about.path, about.hdu.index, max_unpacked);
    if (!index) {
      none("but the file has no such table");
      return reading;
    }
    FitsFile file(about.path, max_unpacked);
    while (file.hdu() < *index && file.next_hdu()) {
    }
    const auto beams = read_beams(file);
    const auto row = beam_row_of(beams, channel, polarisation);
    if (!row) {
      none(fmt::format("which has no row of CHAN {:g} and POL {:g}", channel, polarisation));
      return reading;
    }
    const auto value = [](double number) {
      return std::isfinite(number) ? std::optional(number) : std::nullopt;
    };
    const RawBeam raw{beams.major[*row], beams.minor[*row], value(beams.angle[*row]), {}};
    reading.beam = usable_beam(raw, fmt::format("the table BEAMS (row {})", *row), reading.notes);
    if (reading.beam) reading.origin = BeamOrigin::table;
  } catch (const Error& error) {
    none(fmt::format("which cannot be used ({})", error.what()));
  }
  return reading;
}

}  // namespace kastor::io::detail
