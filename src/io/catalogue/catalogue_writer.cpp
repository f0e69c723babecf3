// SPDX-License-Identifier: Apache-2.0
#include <kastor/io/catalogue_writer.hpp>
#include <vector>

#include "io/catalogue/catalogue_columns.hpp"
#include "io/catalogue/catalogue_fits.hpp"
#include "io/catalogue/row_hash.hpp"
#include "io/sky/unit_text.hpp"

namespace kastor::io {
namespace {

using detail::k_columns;

std::string unit_of(detail::Quantity quantity, const std::string& unit) {
  if (quantity == detail::Quantity::pixel) return "pixel";
  return quantity == detail::Quantity::flux ? detail::standard_unit(unit) : "";
}

template <class Number>
TableColumn::Values values_of(const Catalogue& catalogue, Number Source::*member) {
  std::vector<decltype(detail::in_file(Number{}))> values;
  values.reserve(catalogue.size());
  for (const Source& source : catalogue) values.push_back(detail::in_file(source.*member));
  return values;
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
  detail::RowHash hash;
  for (const Source& source : catalogue) {
    for (const auto& column : k_columns)
      std::visit([&](auto member) { hash.add(detail::in_file(source.*member)); }, column.member);
  }
  return hash.hex_digest();
}

}  // namespace kastor::io
