// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <kastor/error.hpp>
#include <kastor/io/table_writer.hpp>
#include <set>

#include "io/table/table_formats.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

constexpr const char* k_function = "kastor::io::write_table";

bool is_name(std::string_view text) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), good);
}

void check(const Table& table) {
  KASTOR_EXPECTS(k_function, !table.columns.empty(),
                 fmt::format("the table '{}' has no columns; expected at least one", table.name));
  const std::size_t rows = detail::rows_of(table.columns.front());
  std::set<std::string> names;
  for (const TableColumn& column : table.columns) {
    KASTOR_EXPECTS(k_function, is_name(column.name),
                   fmt::format("a column is called '{}'; expected ASCII letters, digits and '_'",
                               detail::one_line(column.name)));
    KASTOR_EXPECTS(
        k_function, names.insert(detail::upper_case(column.name)).second,
        fmt::format("the column '{}' occurs twice; expected names that differ in more than case",
                    column.name));
    KASTOR_EXPECTS(k_function, detail::rows_of(column) == rows,
                   fmt::format("the column '{}' has {} rows; expected {}, as '{}' has", column.name,
                               detail::rows_of(column), rows, table.columns.front().name));
  }
}

}  // namespace

std::size_t detail::rows_of(const TableColumn& column) {
  return std::visit([](const auto& values) { return values.size(); }, column.values);
}

std::optional<TableFormat> table_format_of(std::string_view path) {
  const std::string upper = detail::upper_case(path);
  const auto ends_with = [&](auto... endings) { return (upper.ends_with(endings) || ...); };
  if (ends_with(".CSV")) return TableFormat::csv;
  if (ends_with(".FITS", ".FIT")) return TableFormat::fits;
  if (ends_with(".VOT", ".VOTABLE", ".XML")) return TableFormat::votable;
  if (ends_with(".ECSV")) return TableFormat::ecsv;
  if (ends_with(".CAT")) return TableFormat::ascii_head;
  return std::nullopt;
}

void write_table(const std::string& path, TableFormat format, const Table& table,
                 const Provenance& provenance) {
  check(table);
  switch (format) {
    case TableFormat::csv:
      return detail::write_csv_table(path, table);
    case TableFormat::fits:
      return detail::write_fits_table(path, table, provenance);
    case TableFormat::votable:
      return detail::write_votable(path, table, provenance);
    case TableFormat::ecsv:
      return detail::write_ecsv_table(path, table, provenance);
    case TableFormat::ascii_head:
      return detail::write_ascii_head(path, table, provenance);
  }
}

}  // namespace kastor::io
