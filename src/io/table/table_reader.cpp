// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <kastor/error.hpp>
#include <kastor/io/table_reader.hpp>
#include <string_view>

#include "io/fits/input_file.hpp"
#include "io/table/table_numbers.hpp"
#include "io/table/table_readers.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

TableFileFormat sniff(const std::string& path) {
  auto stream = detail::open_regular_file(path, "a catalogue");
  std::array<char, 512> bytes{};
  stream.read(bytes.data(), bytes.size());
  std::string_view head(bytes.data(), static_cast<std::size_t>(stream.gcount()));
  if (head.empty()) throw Error(detail::one_line(path) + ": is empty; expected a catalogue");
  if (head.starts_with("SIMPLE") || head.starts_with("\x1f\x8b") || head.starts_with("BZh"))
    return TableFileFormat::fits;
  // Files in UTF-16 are left to the XML parser.
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) return TableFileFormat::votable;
  if (head.find('\0') != std::string_view::npos) {
    throw Error(detail::one_line(path) +
                ": is neither FITS nor text; expected a FITS table, a VOTable, ECSV or CSV");
  }
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const auto first = head.find_first_not_of(" \t\r\n");
  const bool is_xml = first != std::string_view::npos && head[first] == '<';
  return is_xml ? TableFileFormat::votable : TableFileFormat::text;
}

}  // namespace

const char* name_of(TableFileFormat format) {
  switch (format) {
    case TableFileFormat::fits:
      return "FITS";
    case TableFileFormat::votable:
      return "VOTable";
    case TableFileFormat::ecsv:
      return "ECSV";
    default:
      return "text";
  }
}

std::optional<TableFromFile> read_table(const std::string& path, const ColumnChoice& choose) {
  const auto format = sniff(path);
  if (format == TableFileFormat::fits) return detail::read_fits_table(path, choose);
  if (format == TableFileFormat::votable) return detail::read_votable(path, choose);
  return detail::read_text_table(path, choose);
}

std::string TableFromFile::place_of(std::size_t row) const {
  if (row < lines.size()) return fmt::format("line {}", lines[row]);
  return fmt::format("row {}", row + 1);
}

namespace detail {

std::optional<SkyFrame> frame_called(std::string_view name) {
  const auto upper = upper_case(without_blanks(name));
  const auto is = [&](auto... names) { return ((upper == names) || ...); };
  if (is("ICRS")) return SkyFrame::icrs;
  if (is("FK5", "EQ_FK5", "J2000")) return SkyFrame::fk5;
  if (is("FK4", "EQ_FK4", "FK4-NO-E", "FK4NOETERMS", "B1950")) return SkyFrame::fk4;
  // An equinox: "B1950.0", "2000".
  const bool lettered = upper.starts_with('B') || upper.starts_with('J');
  const std::string year = upper.substr(lettered ? 1 : 0);
  if (year == "1950" || year == "1950.0") return SkyFrame::fk4;
  if (year == "2000" || year == "2000.0") return SkyFrame::fk5;
  if (is("GALACTIC")) return SkyFrame::galactic;
  if (is("ECLIPTIC", "ECL_FK5", "BARYCENTRICTRUEECLIPTIC", "BARYCENTRICMEANECLIPTIC"))
    return SkyFrame::ecliptic;
  return std::nullopt;
}

Table empty_table(const std::vector<TableColumn>& columns,
                  const std::vector<ColumnRequest>& requests) {
  Table table;
  for (const auto& request : requests) {
    table.columns.push_back(columns.at(request.column));
    if (request.as == ColumnRequest::As::number) {
      table.columns.back().values = std::vector<double>();
    } else {
      table.columns.back().values = std::vector<std::string>();
    }
  }
  return table;
}

}  // namespace detail
}  // namespace kastor::io
