// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "io/output/provenance_entries.hpp"
#include "io/table/table_formats.hpp"
#include "io/table/text_file.hpp"
#include "io/table/unicode.hpp"

namespace kastor::io::detail {
namespace {

/// A double-quoted scalar of YAML 1.1, which cannot be mistaken for anything else.
std::string quoted(std::string_view value) {
  std::string result = "\"";
  for (const char c : clean_text(value)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

// ECSV's names of the alternatives of TableColumn::Values.
constexpr std::array<const char*, 3> k_types = {"int64", "float64", "string"};

constexpr std::array<const char*, 5> k_frames = {"icrs", "fk5", "fk4", "galactic", "ecliptic"};

std::string column_line(const TableColumn& column) {
  std::string line = fmt::format("# - {{name: {}, datatype: {}", quoted(column.name),
                                 k_types[column.values.index()]);
  if (!column.unit.empty()) line += ", unit: " + quoted(column.unit);
  if (!column.description.empty()) line += ", description: " + quoted(column.description);
  if (!column.ucd.empty()) line += fmt::format(", meta: {{ucd: {}}}", quoted(column.ucd));
  return line + "}\n";
}

/// A number in a form that YAML 1.1 reads as a number.
std::string value_of(const HeaderCard& card) {
  if (const auto* text = std::get_if<std::string>(&card.value)) return quoted(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&card.value)) return fmt::format("{}", *whole);
  const double value = std::get<double>(card.value);
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::string digits = fmt::format("{}", value);
  const auto e = digits.find('e');
  if (digits.find('.') != std::string::npos) return digits;
  return e == std::string::npos ? digits + ".0" : digits.substr(0, e) + ".0" + digits.substr(e);
}

}  // namespace

std::string ecsv_line(const ProvenanceEntry& entry) {
  return fmt::format("#   {}: {}\n", entry.name,
                     entry.is_number ? entry.value : quoted(entry.value));
}

void write_ecsv_table(const std::string& path, const Table& table, const Provenance& provenance) {
  TextFile file(path);
  file.add("# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n");
  for (const TableColumn& column : table.columns) file.add(column_line(column));
  file.add("# meta:\n");
  if (!table.name.empty()) file.add(fmt::format("#   name: {}\n", quoted(table.name)));
  if (!table.description.empty())
    file.add(fmt::format("#   description: {}\n", quoted(table.description)));
  if (table.frame)
    file.add(fmt::format("#   frame: {}\n", k_frames[static_cast<std::size_t>(*table.frame)]));
  for (const HeaderCard& card : table.cards)
    file.add(fmt::format("#   {}: {}\n", quoted(card.keyword), value_of(card)));
  for (const auto& entry : provenance_entries(provenance)) file.add(ecsv_line(entry));
  file.add("# schema: astropy-2.0\n");
  add_csv_rows(file, table, Digits::shortest);
  file.close();
}

}  // namespace kastor::io::detail
