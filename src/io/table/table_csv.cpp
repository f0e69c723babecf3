// SPDX-License-Identifier: Apache-2.0
#include "io/table/table_formats.hpp"
#include "io/table/text_file.hpp"
#include "io/table/unicode.hpp"

namespace kastor::io::detail {
namespace {

/// A string as a field (RFC 4180). Also quotes what readers would lose or misread: an empty line,
/// blanks at either end, the beginning of a comment.
std::string csv_field(std::string_view value) {
  std::string text = clean_text(value);
  const bool plain = !text.empty() && text.find_first_of(",\"") == std::string::npos &&
                     text.front() != ' ' && text.back() != ' ' && text.front() != '#';
  if (plain) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

struct FieldWriter {
  TextFile& file;
  Digits digits;
  std::size_t row;

  void operator()(const std::vector<std::int64_t>& values) const { file.add(values[row]); }
  void operator()(const std::vector<std::string>& values) const {
    file.add(csv_field(values[row]));
  }
  void operator()(const std::vector<double>& values) const {
    if (digits == Digits::seventeen) {
      file.add_digits(values[row]);
    } else {
      file.add_shortest(values[row]);
    }
  }
};

}  // namespace

void add_csv_rows(TextFile& file, const Table& table, Digits digits) {
  for (const TableColumn& column : table.columns) {
    if (&column != table.columns.data()) file.add(",");
    file.add(column.name);
  }
  file.add("\n");
  const std::size_t rows = rows_of(table.columns.front());
  for (std::size_t row = 0; row < rows; ++row) {
    for (const TableColumn& column : table.columns) {
      if (&column != table.columns.data()) file.add(",");
      std::visit(FieldWriter{file, digits, row}, column.values);
    }
    file.add("\n");
  }
}

void write_csv_table(const std::string& path, const Table& table) {
  TextFile file(path);
  add_csv_rows(file, table, Digits::seventeen);
  file.close();
}

}  // namespace kastor::io::detail
