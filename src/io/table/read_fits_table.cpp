// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <kastor/error.hpp>
#include <limits>
#include <numeric>

#include "io/fits/fits_file.hpp"
#include "io/fits/hdu_info.hpp"
#include "io/table/table_readers.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

std::string numbered(const char* keyword, std::size_t column) {
  return fmt::format("{}{}", keyword, column + 1);
}

std::vector<TableColumn> columns_of(const FitsFile& file) {
  std::vector<TableColumn> columns(static_cast<std::size_t>(
      std::clamp<long long>(read_integer(file, "TFIELDS").value_or(0), 0, 999)));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto text = [&](const char* keyword) {
      return trimmed(read_string(file, numbered(keyword, i).c_str()).value_or(""));
    };
    columns[i].name = text("TTYPE");
    columns[i].unit = text("TUNIT");
    columns[i].ucd = text("TUCD");
    // "12A" in binary tables, "A12" in ASCII ones.
    const std::string form = text("TFORM");
    const auto letter = form.find_first_not_of("0123456789");
    const bool is_text =
        letter != std::string::npos && (form[letter] == 'A' || form[letter] == 'a');
    if (is_text) {
      columns[i].values = std::vector<std::string>();
    } else {
      columns[i].values = std::vector<double>();
    }
  }
  return columns;
}

std::optional<SkyFrame> frame_of(const FitsFile& file) {
  for (const char* keyword : {"RADESYS", "RADECSYS"}) {
    if (const auto name = read_string(file, keyword)) return frame_called(*name);
  }
  if (read_double(file, "EQUINOX") == 1950.0) return SkyFrame::fk4;
  const auto equinox = read_string(file, "EQUINOX");
  return equinox ? frame_called(*equinox) : std::nullopt;
}

struct ColumnType {
  int code = 0;  // CFITSIO's code, negative for variable lengths
  LONGLONG repeat = 0;
  LONGLONG width = 0;
};

ColumnType type_of(const FitsFile& file, std::size_t column) {
  ColumnType type;
  int status = 0;
  fits_get_coltypell(file.get(), static_cast<int>(column + 1), &type.code, &type.repeat,
                     &type.width, &status);
  file.check(status, "finding the type of a column");
  return type;
}

std::vector<double> read_numbers(const FitsFile& file, std::size_t column, const std::string& name,
                                 std::int64_t rows) {
  const auto type = type_of(file, column);
  const bool is_text = type.code == TSTRING;
  if (type.code < 0 || type.code == TCOMPLEX || type.code == TDBLCOMPLEX || type.code == TBIT ||
      type.code == TLOGICAL || (!is_text && type.repeat != 1)) {
    file.fail(fmt::format("the column {} does not hold one number per row; expected it to", name));
  }
  std::vector<double> values(static_cast<std::size_t>(rows));
  if (values.empty()) return values;
  // Real columns use NaN; the search for nulls would set tiny values to 0.
  const bool real = type.code == TFLOAT || type.code == TDOUBLE;
  double null = real ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  int any_null = 0;
  int status = 0;
  fits_read_col(file.get(), TDOUBLE, static_cast<int>(column + 1), 1, 1, rows, &null, values.data(),
                &any_null, &status);
  file.check(status, fmt::format("reading the column {}", name));
  return values;
}

std::vector<std::string> read_texts(const FitsFile& file, std::size_t column,
                                    const std::string& name, std::int64_t rows) {
  const auto type = type_of(file, column);
  // Texts are only shown, as names: a column of arrays gives empty ones.
  if (type.code < 0 || (type.code != TSTRING && type.repeat != 1))
    return std::vector<std::string>(static_cast<std::size_t>(rows));
  int width = 0;
  int status = 0;
  fits_get_col_display_width(file.get(), static_cast<int>(column + 1), &width, &status);
  file.check(status, fmt::format("reading the column {}", name));
  std::vector<std::string> values;
  values.reserve(static_cast<std::size_t>(rows));
  std::vector<char> buffer(static_cast<std::size_t>(std::max(width, 80)) + 1);
  for (std::int64_t row = 0; row < rows; ++row) {
    char* text = buffer.data();
    char null[] = "";
    int any_null = 0;
    fits_read_col_str(file.get(), static_cast<int>(column + 1), row + 1, 1, 1, null, &text,
                      &any_null, &status);
    file.check(status, fmt::format("reading the column {}", name));
    const std::string all = trimmed(buffer.data());
    values.push_back(all.substr(std::min(all.find_first_not_of(' '), all.size())));
  }
  return values;
}

}  // namespace

std::optional<TableFromFile> read_fits_table(const std::string& path, const ColumnChoice& choose) {
  FitsFile file(path);
  do {
    const auto kind = describe_hdu(file).kind;
    if (kind != "binary table" && kind != "ascii table") continue;
    const auto columns = columns_of(file);
    const auto requests = choose(columns);
    if (requests.empty()) continue;

    const auto rows = table_rows(file);
    TableFromFile found{empty_table(columns, requests), TableFileFormat::fits,
                        fmt::format("{}[{}]", one_line(path), file.hdu())};
    found.table.frame = frame_of(file);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      auto& column = found.table.columns[i];
      if (requests[i].as == ColumnRequest::As::number) {
        column.values = read_numbers(file, requests[i].column, column.name, rows);
      } else {
        column.values = read_texts(file, requests[i].column, column.name, rows);
      }
    }
    return found;
  } while (file.next_hdu());
  if (!file.end_reason().empty()) file.fail(file.end_reason() + "; expected a valid FITS file");
  return std::nullopt;
}

}  // namespace kastor::io::detail
