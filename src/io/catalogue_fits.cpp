// SPDX-License-Identifier: Apache-2.0
#include "catalogue_fits.hpp"

#include <fmt/format.h>

#include <vector>

#include "byte_order.hpp"
#include "catalogue_columns.hpp"
#include "header_text.hpp"
#include "output_file.hpp"

namespace kastor::io::detail {
namespace {

// Every column is eight bytes wide: K or D.
constexpr std::size_t k_row = 8 * k_columns.size();
// Rows converted and written at a time.
constexpr std::size_t k_rows = 4096;

std::string primary_header() {
  HeaderText header;
  header.add_logical("SIMPLE", true);
  header.add_integer("BITPIX", 8);
  header.add_integer("NAXIS", 0);
  header.add_logical("EXTEND", true);
  return header.finish();
}

std::string unit_of(Quantity quantity, const Provenance& provenance) {
  if (quantity == Quantity::pixel) return "pix";
  return quantity == Quantity::flux ? provenance.unit : "";
}

std::string table_header(std::size_t rows, const Provenance& provenance) {
  HeaderText header;
  header.add_string("XTENSION", "BINTABLE", "binary table");
  header.add_integer("BITPIX", 8);
  header.add_integer("NAXIS", 2);
  header.add_integer("NAXIS1", k_row);
  header.add_integer("NAXIS2", static_cast<std::int64_t>(rows));
  header.add_integer("PCOUNT", 0);
  header.add_integer("GCOUNT", 1);
  header.add_integer("TFIELDS", k_columns.size());
  int number = 1;
  for (const Column& column : k_columns) {
    header.add_string(fmt::format("TTYPE{}", number), column.name);
    header.add_string(fmt::format("TFORM{}", number),
                      std::holds_alternative<double Source::*>(column.member) ? "D" : "K");
    const std::string unit = unit_of(column.quantity, provenance);
    if (!unit.empty()) header.add_string(fmt::format("TUNIT{}", number), unit);
    ++number;
  }
  header.add_string("EXTNAME", "CATALOGUE");
  header.add_provenance(provenance);
  header.add_history("pixels are 0-based: the centre of the first pixel is at (0,0)");
  return header.finish();
}

void write_rows(OutputFile& file, const Catalogue& catalogue) {
  std::vector<std::byte> piece;
  for (std::size_t first = 0; first < catalogue.size(); first += k_rows) {
    const std::size_t count = std::min(k_rows, catalogue.size() - first);
    piece.resize(count * k_row);
    std::byte* at = piece.data();
    for (std::size_t i = first; i < first + count; ++i) {
      for (const Column& column : k_columns) {
        std::visit([&](auto member) { store_big_endian(catalogue[i].*member, at); }, column.member);
        at += 8;
      }
    }
    file.write(piece.data(), piece.size());
  }
  const std::vector<std::byte> fill(fits_fill(catalogue.size() * k_row));
  file.write(fill.data(), fill.size());
}

}  // namespace

void write_fits_table(const std::string& path, const Catalogue& catalogue,
                      const Provenance& provenance) {
  const std::string headers = primary_header() + table_header(catalogue.size(), provenance);
  OutputFile file(path);
  file.write(headers.data(), headers.size());
  write_rows(file, catalogue);
  file.close();
}

}  // namespace kastor::io::detail
