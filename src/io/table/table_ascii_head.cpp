// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "io/output/provenance_entries.hpp"
#include "io/table/table_formats.hpp"
#include "io/table/text_file.hpp"
#include "io/table/unicode.hpp"

namespace kastor::io::detail {
namespace {

/// A string as one word: readers split lines at blanks.
std::string word_of(std::string_view value) {
  std::string text = clean_text(value);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '"' || c == '#'; }, '_');
  return text.empty() ? "-" : text;
}

struct WordWriter {
  TextFile& file;
  std::size_t row;

  void operator()(const std::vector<std::int64_t>& values) const { file.add(values[row]); }
  void operator()(const std::vector<double>& values) const { file.add_digits(values[row]); }
  void operator()(const std::vector<std::string>& values) const { file.add(word_of(values[row])); }
};

}  // namespace

void write_ascii_head(const std::string& path, const Table& table, const Provenance& provenance) {
  TextFile file(path);
  int number = 1;
  for (const TableColumn& column : table.columns) {
    file.add(fmt::format("# {:3} {:<22} {}{}\n", number++, column.name,
                         column.description.empty() ? column.name : clean_text(column.description),
                         column.unit.empty() ? "" : fmt::format(" [{}]", column.unit)));
  }
  for (const auto& entry : provenance_entries(provenance)) file.add(regions_line(entry));
  const std::size_t rows = rows_of(table.columns.front());
  for (std::size_t row = 0; row < rows; ++row) {
    for (const TableColumn& column : table.columns) {
      if (&column != table.columns.data()) file.add(" ");
      std::visit(WordWriter{file, row}, column.values);
    }
    file.add("\n");
  }
  file.close();
}

}  // namespace kastor::io::detail
