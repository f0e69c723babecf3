// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/catalogue_fits.hpp"

#include <fmt/format.h>

#include "io/catalogue/catalogue_columns.hpp"
#include "io/fits/binary_table.hpp"
#include "io/fits/byte_order.hpp"
#include "io/sky/unit_text.hpp"

namespace kastor::io::detail {
namespace {

// Every column is eight bytes wide: K or D.
constexpr std::size_t k_row = 8 * k_columns.size();

std::string unit_of(Quantity quantity, const Provenance& provenance) {
  if (quantity == Quantity::pixel) return "pix";
  return quantity == Quantity::flux ? standard_unit(provenance.unit) : "";
}

std::string table_header(std::size_t rows, const Provenance& provenance) {
  HeaderText header;
  begin_binary_table(header, k_row, rows, k_columns.size());
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

void store_source(const Source& source, std::byte* bytes) {
  for (const Column& column : k_columns) {
    std::visit([&](auto member) { store_big_endian(in_file(source.*member), bytes); },
               column.member);
    bytes += 8;
  }
}

}  // namespace

void write_fits_catalogue(const std::string& path, const Catalogue& catalogue,
                          const Provenance& provenance) {
  const std::string headers = empty_primary_header() + table_header(catalogue.size(), provenance);
  OutputFile file(path);
  file.write(headers.data(), headers.size());
  write_binary_rows(file, k_row, catalogue.size(), [&](std::size_t row, std::byte* bytes) {
    store_source(catalogue[row], bytes);
  });
  file.close();
}

}  // namespace kastor::io::detail
