// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <cmath>
#include <kastor/io/catalogue_writer.hpp>
#include <kastor/io/sha256.hpp>
#include <vector>

#include "catalogue_columns.hpp"
#include "catalogue_fits.hpp"

namespace kastor::io {
namespace {

using detail::k_columns;

std::string unit_of(detail::Quantity quantity, const std::string& unit) {
  if (quantity == detail::Quantity::pixel) return "pixel";
  return quantity == detail::Quantity::flux ? unit : "";
}

template <class Number>
TableColumn::Values values_of(const Catalogue& catalogue, Number Source::*member) {
  std::vector<Number> values;
  values.reserve(catalogue.size());
  for (const Source& source : catalogue) values.push_back(source.*member);
  return values;
}

std::uint64_t hashed_bits(std::int64_t value) { return std::bit_cast<std::uint64_t>(value); }

std::uint64_t hashed_bits(double value) {
  return std::isnan(value) ? 0x7ff8000000000000 : std::bit_cast<std::uint64_t>(value);
}

}  // namespace

Table catalogue_table(const Catalogue& catalogue, const std::string& unit) {
  Table table{"CATALOGUE",
              "Connected components; pixels are 0-based: the centre of the first pixel is at (0,0)",
              {}};
  for (const auto& column : k_columns) {
    table.columns.push_back(
        {column.name, unit_of(column.quantity, unit), column.ucd, column.description,
         std::visit([&](auto member) { return values_of(catalogue, member); }, column.member)});
  }
  return table;
}

void write_catalogue(const std::string& path, TableFormat format, const Catalogue& catalogue,
                     const Provenance& provenance) {
  if (format == TableFormat::fits) {
    detail::write_fits_catalogue(path, catalogue, provenance);
  } else {
    write_table(path, format, catalogue_table(catalogue, provenance.unit), provenance);
  }
}

std::string catalogue_hash(const Catalogue& catalogue) {
  Sha256 hash;
  std::array<std::uint8_t, 8 * k_columns.size()> row;
  for (const Source& source : catalogue) {
    for (std::size_t i = 0; i < k_columns.size(); ++i) {
      const std::uint64_t bits =
          std::visit([&](auto member) { return hashed_bits(source.*member); }, k_columns[i].member);
      for (std::size_t byte = 0; byte < 8; ++byte)
        row[8 * i + byte] = static_cast<std::uint8_t>(bits >> (8 * byte));
    }
    hash.update(row.data(), row.size());
  }
  return hash.hex_digest();
}

}  // namespace kastor::io
