// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <kastor/error.hpp>
#include <kastor/io/catalogue_reader.hpp>
#include <kastor/io/catalogue_writer.hpp>
#include <optional>
#include <string_view>
#include <type_traits>

#include "io/catalogue/catalogue_columns.hpp"
#include "io/fits/fits_file.hpp"
#include "io/fits/hdu_info.hpp"
#include "io/fits/input_file.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

using detail::Column;
using detail::k_columns;

const Column* column_named(std::string_view name) {
  const auto* found = std::find_if(k_columns.begin(), k_columns.end(),
                                   [name](const Column& column) { return column.name == name; });
  return found == k_columns.end() ? nullptr : found;
}

/// The first of `needed` for which `has` is false; empty if there is none.
template <class Has>
std::string first_missing(const std::vector<std::string>& needed, Has&& has) {
  const auto missing = std::find_if_not(needed.begin(), needed.end(), has);
  return missing == needed.end() ? "" : *missing;
}

std::string missing_message(const std::string& missing, const std::vector<std::string>& needed) {
  std::string all;
  for (const auto& name : needed) all += (all.empty() ? "" : ", ") + name;
  return fmt::format("there is no column '{}'; expected the columns {}", missing, all);
}

// ---------------------------------------------------------------------------------- CSV

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0;;) {
    const auto comma = line.find(',', at);
    fields.push_back(line.substr(at, comma - at));
    if (comma == std::string_view::npos) return fields;
    at = comma + 1;
  }
}

template <class Number>
bool parse(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

const char* wanted(double Source::*) { return "a number"; }
const char* wanted(std::int64_t Source::*) { return "an integer"; }
const char* wanted(std::int32_t Source::*) { return "a 32-bit integer"; }

class CsvReader {
 public:
  explicit CsvReader(const std::string& path)
      : m_path(path), m_stream(detail::open_regular_file(path, "a catalogue")) {}

  Catalogue read(const std::vector<std::string>& needed) {
    std::string line;
    if (!next(line)) fail("is empty; expected a header line with the column names");
    std::vector<const Column*> columns;
    for (const auto name : fields_of(line)) {
      const Column* column = column_named(name);
      if (column != nullptr && std::count(columns.begin(), columns.end(), column) != 0)
        fail(fmt::format("the column '{}' occurs twice; expected it once", name));
      columns.push_back(column);
    }
    const auto missing = first_missing(needed, [&](const std::string& name) {
      return std::count(columns.begin(), columns.end(), column_named(name)) != 0;
    });
    if (!missing.empty()) fail(missing_message(missing, needed));

    Catalogue catalogue;
    while (next(line)) catalogue.push_back(row_of(line, columns));
    if (m_stream.bad()) fail("cannot be read to its end; expected a catalogue");
    return catalogue;
  }

 private:
  bool next(std::string& line) {
    if (!std::getline(m_stream, line)) return false;
    ++m_line;
    if (line.ends_with('\r')) line.pop_back();
    return true;
  }

  Source row_of(std::string_view line, const std::vector<const Column*>& columns) {
    const auto fields = fields_of(line);
    if (fields.size() != columns.size()) {
      fail(fmt::format("line {} has {} fields; expected {}, as in the first line", m_line,
                       fields.size(), columns.size()));
    }
    Source source{};
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (columns[i] == nullptr) continue;
      const bool good = std::visit([&](auto member) { return parse(fields[i], source.*member); },
                                   columns[i]->member);
      if (!good) {
        fail(fmt::format(
            "line {}: {} is '{}'; expected {}", m_line, columns[i]->name,
            detail::one_line(fields[i]),
            std::visit([](auto member) { return wanted(member); }, columns[i]->member)));
      }
    }
    return source;
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(detail::one_line(m_path) + ": " + message);
  }

  std::string m_path;
  std::ifstream m_stream;
  std::int64_t m_line = 0;
};

// ---------------------------------------------------------------------------------- FITS

std::optional<int> find_column(const detail::FitsFile& file, const std::string& name) {
  int number = 0;
  int status = 0;
  fits_get_colnum(file.get(), CASEINSEN, const_cast<char*>(name.c_str()), &number, &status);
  fits_clear_errmsg();
  return status == 0 ? std::optional(number) : std::nullopt;
}

template <class Number>
void read_column(const detail::FitsFile& file, int number, const Column& column,
                 Number Source::*member, Catalogue& catalogue) {
  std::vector<Number> values(catalogue.size());
  constexpr int type = std::is_same_v<Number, double> ? TDOUBLE
                       : sizeof(Number) == 8          ? TLONGLONG
                                                      : TINT;
  Number null{0};  // no check for nulls: CFITSIO's check would set tiny values and -0 to 0
  int any_null = 0;
  int status = 0;
  fits_read_col(file.get(), type, number, 1, 1, static_cast<LONGLONG>(values.size()), &null,
                values.data(), &any_null, &status);
  file.check(status, fmt::format("reading the column {}", column.name));
  for (std::size_t i = 0; i < values.size(); ++i) catalogue[i].*member = values[i];
}

Catalogue read_fits(const std::string& path, const std::vector<std::string>& needed) {
  detail::FitsFile file(path);
  while (detail::describe_hdu(file).kind != "binary table") {
    if (!file.next_hdu())
      throw Error(detail::one_line(path) + ": no binary table was found; expected a catalogue");
  }
  const auto missing =
      first_missing(needed, [&](const std::string& name) { return find_column(file, name); });
  if (!missing.empty()) file.fail(missing_message(missing, needed));

  Catalogue catalogue(static_cast<std::size_t>(detail::table_rows(file)));
  if (catalogue.empty()) return catalogue;
  for (const Column& column : k_columns) {
    const auto number = find_column(file, column.name);
    if (!number) continue;
    std::visit([&](auto member) { read_column(file, *number, column, member, catalogue); },
               column.member);
  }
  return catalogue;
}

}  // namespace

Catalogue read_catalogue(const std::string& path, const std::vector<std::string>& needed) {
  for (const auto& name : needed) {
    KASTOR_EXPECTS(
        "kastor::io::read_catalogue", column_named(name) != nullptr,
        fmt::format("'{}' is not a column of a catalogue; expected a member of Source", name));
  }
  const auto format = table_format_of(path);
  if (format == TableFormat::csv) return CsvReader(path).read(needed);
  if (format == TableFormat::fits) return read_fits(path, needed);
  throw Error(detail::one_line(path) +
              ": its suffix names no catalogue format that can be read; expected .csv, .fits or "
              ".fit");
}

}  // namespace kastor::io
