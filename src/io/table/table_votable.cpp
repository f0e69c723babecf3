// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "io/output/provenance_entries.hpp"
#include "io/sky/unit_text.hpp"
#include "io/table/table_formats.hpp"
#include "io/table/text_file.hpp"
#include "io/table/unicode.hpp"

namespace kastor::io::detail {
namespace {

/// The text for an element or a quoted attribute (XML 1.0, section 2.4).
std::string escaped(std::string_view value) {
  std::string result;
  for (const char c : clean_text(value)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string attribute(const char* name, std::string_view value) {
  return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, escaped(value));
}

/// `<tag attributes>`, with a DESCRIPTION inside if there is one.
std::string described(const char* indent, const char* tag, const std::string& attributes,
                      const std::string& description) {
  if (description.empty()) return fmt::format("{}<{}{}/>\n", indent, tag, attributes);
  return fmt::format("{0}<{1}{2}>\n{0} <DESCRIPTION>{3}</DESCRIPTION>\n{0}</{1}>\n", indent, tag,
                     attributes, escaped(description));
}

/// The attributes of COOSYS, with the names of VOTable 1.4, section 3.1.
const char* system_of(SkyFrame frame) {
  constexpr std::array<const char*, 5> systems = {
      R"(system="ICRS")", R"(system="eq_FK5" equinox="J2000")",
      R"(system="eq_FK4" equinox="B1950")", R"(system="galactic")",
      R"(system="ecl_FK5" equinox="J2000")"};
  return systems[static_cast<std::size_t>(frame)];
}

bool is_sky_position(std::string_view ucd) {
  return ucd.starts_with("pos.eq.") || ucd.starts_with("pos.galactic.") ||
         ucd.starts_with("pos.ecliptic.");
}

std::string type_of(const TableColumn& column) {
  if (std::holds_alternative<std::vector<std::int64_t>>(column.values)) return R"(datatype="long")";
  if (std::holds_alternative<std::vector<double>>(column.values)) return R"(datatype="double")";
  const auto& values = std::get<std::vector<std::string>>(column.values);
  // Before VOTable 1.5 a `char` must be ASCII.
  const bool ascii = std::all_of(values.begin(), values.end(), is_ascii);
  return ascii ? R"(datatype="char" arraysize="*")" : R"(datatype="unicodeChar" arraysize="*")";
}

std::string field_of(const TableColumn& column, bool has_frame) {
  std::string attributes = attribute("name", column.name) + ' ' + type_of(column) +
                           attribute("unit", vo_unit(column.unit)) + attribute("ucd", column.ucd);
  if (has_frame && is_sky_position(column.ucd)) attributes += R"( ref="sky")";
  return described("   ", "FIELD", attributes, column.description);
}

/// A number in the spelling of section 6 of the standard.
std::string number_text(double value) {
  if (std::isfinite(value)) return fmt::format("{}", value);
  return std::isnan(value) ? "NaN" : (value > 0 ? "+Inf" : "-Inf");
}

/// The comment of a card begins with the unit in brackets, as in FITS.
std::string param_of(const HeaderCard& card) {
  const auto close = card.comment.starts_with('[') ? card.comment.find("] ") : std::string::npos;
  const bool has_unit = close != std::string::npos;
  const std::string unit = has_unit ? card.comment.substr(1, close - 1) : "";
  std::string type = R"(datatype="double")";
  std::string value;
  if (const auto* text = std::get_if<std::string>(&card.value)) {
    type = text->empty() || is_ascii(*text) ? R"(datatype="char" arraysize="*")"
                                            : R"(datatype="unicodeChar" arraysize="*")";
    value = escaped(*text);
  } else if (const auto* whole = std::get_if<std::int64_t>(&card.value)) {
    type = R"(datatype="long")";
    value = fmt::format("{}", *whole);
  } else {
    value = number_text(std::get<double>(card.value));
  }
  // A value may be empty, but must be present.
  return described("   ", "PARAM",
                   fmt::format("{} {}{} value=\"{}\"", attribute("name", card.keyword), type,
                               attribute("unit", vo_unit(unit)), value),
                   has_unit ? card.comment.substr(close + 2) : card.comment);
}

struct VotableCellWriter {
  TextFile& file;
  std::size_t row;

  void operator()(const std::vector<std::int64_t>& values) const { file.add(values[row]); }
  void operator()(const std::vector<std::string>& values) const { file.add(escaped(values[row])); }
  void operator()(const std::vector<double>& values) const {
    const double value = values[row];
    if (std::isfinite(value)) return file.add_shortest(value);
    file.add(number_text(value));
  }
};

void add_rows(TextFile& file, const Table& table) {
  const std::size_t rows = rows_of(table.columns.front());
  for (std::size_t row = 0; row < rows; ++row) {
    file.add("     <TR>");
    for (const TableColumn& column : table.columns) {
      file.add("<TD>");
      std::visit(VotableCellWriter{file, row}, column.values);
      file.add("</TD>");
    }
    file.add("</TR>\n");
  }
}

}  // namespace

std::string votable_line(const ProvenanceEntry& entry) {
  // A value may be empty, but must be present.
  return fmt::format("  <INFO name=\"{}\" value=\"{}\"/>\n", entry.name, escaped(entry.value));
}

void write_votable(const std::string& path, const Table& table, const Provenance& provenance) {
  TextFile file(path);
  file.add(R"(<?xml version="1.0" encoding="UTF-8"?>
<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://www.ivoa.net/xml/VOTable/v1.3 http://www.ivoa.net/xml/VOTable/VOTable-1.4.xsd">
 <RESOURCE type="results">
)");
  for (const auto& entry : provenance_entries(provenance)) {
    file.add(votable_line(entry));
  }
  if (table.frame) file.add(fmt::format("  <COOSYS ID=\"sky\" {}/>\n", system_of(*table.frame)));
  file.add(fmt::format("  <TABLE{} nrows=\"{}\">\n", attribute("name", table.name),
                       rows_of(table.columns.front())));
  if (!table.description.empty())
    file.add(fmt::format("   <DESCRIPTION>{}</DESCRIPTION>\n", escaped(table.description)));
  for (const HeaderCard& card : table.cards) file.add(param_of(card));
  for (const TableColumn& column : table.columns)
    file.add(field_of(column, table.frame.has_value()));
  file.add("   <DATA>\n    <TABLEDATA>\n");
  add_rows(file, table);
  file.add("    </TABLEDATA>\n   </DATA>\n  </TABLE>\n </RESOURCE>\n</VOTABLE>\n");
  file.close();
}

}  // namespace kastor::io::detail
