// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <kastor/error.hpp>

#include "io/fits/binary_table.hpp"
#include "io/fits/byte_order.hpp"
#include "io/table/table_formats.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

// FITS standard 4.0, section 7.3.1.
constexpr std::size_t k_most_fields = 999;

/// Width of the column in a row [byte]; a string column has at least one.
std::size_t width_of(const TableColumn& column) {
  const auto* strings = std::get_if<std::vector<std::string>>(&column.values);
  if (strings == nullptr) return 8;
  std::size_t width = 1;
  for (const std::string& value : *strings) width = std::max(width, value.size());
  return width;
}

std::string form_of(const TableColumn& column) {
  if (std::holds_alternative<std::vector<std::int64_t>>(column.values)) return "K";
  if (std::holds_alternative<std::vector<double>>(column.values)) return "D";
  return fmt::format("{}A", width_of(column));
}

void add_frame(HeaderText& header, SkyFrame frame) {
  switch (frame) {
    case SkyFrame::icrs:
      return header.add_string("RADESYS", "ICRS", "frame of the positions");
    case SkyFrame::fk5:
      header.add_string("RADESYS", "FK5", "frame of the positions");
      return header.add_real("EQUINOX", 2000.0);
    case SkyFrame::fk4:
      header.add_string("RADESYS", "FK4", "frame of the positions");
      return header.add_real("EQUINOX", 1950.0);
    case SkyFrame::galactic:
    case SkyFrame::ecliptic:
      return;  // no keyword for it; the UCDs of the columns say so
  }
}

std::string table_header(const Table& table, std::size_t row_bytes, const Provenance& provenance) {
  HeaderText header;
  begin_binary_table(header, row_bytes, rows_of(table.columns.front()), table.columns.size());
  int number = 1;
  for (const TableColumn& column : table.columns) {
    const auto add = [&](const char* stem, const std::string& value) {
      if (!value.empty()) header.add_string(fmt::format("{}{}", stem, number), value);
    };
    add("TTYPE", column.name);
    add("TFORM", form_of(column));
    add("TUNIT", column.unit);
    add("TUCD", column.ucd);
    add("TCOMM", column.description);
    ++number;
  }
  if (!table.name.empty()) header.add_string("EXTNAME", table.name);
  if (table.frame) add_frame(header, *table.frame);
  for (const HeaderCard& card : table.cards) header.add(card);
  header.add_provenance(provenance);
  header.add_comment(table.description);
  return header.finish();
}

struct FitsCellWriter {
  std::size_t row;
  std::byte* bytes;

  void operator()(const std::vector<std::int64_t>& values) const {
    store_big_endian(values[row], bytes);
  }
  void operator()(const std::vector<double>& values) const { store_big_endian(values[row], bytes); }
  void operator()(const std::vector<std::string>& values) const {
    // A shorter string ends with a NUL (section 7.3.3.1).
    const std::string text = printable_ascii(values[row]);
    std::memcpy(bytes, text.data(), text.size());
  }
};

}  // namespace

void write_fits_table(const std::string& path, const Table& table, const Provenance& provenance) {
  if (table.columns.size() > k_most_fields) {
    throw Error(fmt::format("{}: a table of {} columns; expected at most {} in FITS",
                            shown_output(path), table.columns.size(), k_most_fields));
  }
  std::vector<std::size_t> widths;
  std::size_t row_bytes = 0;
  for (const TableColumn& column : table.columns) {
    widths.push_back(width_of(column));
    row_bytes += widths.back();
  }
  const std::string headers = empty_primary_header() + table_header(table, row_bytes, provenance);
  OutputFile file(path);
  file.write(headers.data(), headers.size());
  write_binary_rows(file, row_bytes, rows_of(table.columns.front()),
                    [&](std::size_t row, std::byte* bytes) {
                      for (std::size_t i = 0; i < widths.size(); ++i) {
                        std::visit(FitsCellWriter{row, bytes}, table.columns[i].values);
                        bytes += widths[i];
                      }
                    });
  file.close();
}

}  // namespace kastor::io::detail
