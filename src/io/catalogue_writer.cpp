// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <iterator>
#include <kastor/io/catalogue_writer.hpp>
#include <kastor/io/sha256.hpp>
#include <type_traits>

#include "catalogue_columns.hpp"
#include "catalogue_fits.hpp"
#include "output_file.hpp"
#include "text.hpp"

namespace kastor::io {
namespace {

using detail::k_columns;

// Text kept before it is written.
constexpr std::size_t k_piece = std::size_t{1} << 16;

void append(fmt::memory_buffer& text, std::int64_t value) {
  fmt::format_to(std::back_inserter(text), "{}", value);
}

// 17 significant digits bring every double back; fmt ignores the locale. A NaN's sign says nothing.
void append(fmt::memory_buffer& text, double value) {
  if (std::isnan(value)) {
    text.append(std::string_view("nan"));
  } else {
    fmt::format_to(std::back_inserter(text), "{:.17g}", value);
  }
}

void write_csv(const std::string& path, const Catalogue& catalogue) {
  detail::OutputFile file(path);
  fmt::memory_buffer text;
  for (const auto& column : k_columns) {
    if (text.size() > 0) text.push_back(',');
    text.append(std::string_view(column.name));
  }
  text.push_back('\n');
  for (const Source& source : catalogue) {
    bool first = true;
    for (const auto& column : k_columns) {
      if (!first) text.push_back(',');
      first = false;
      std::visit([&](auto member) { append(text, source.*member); }, column.member);
    }
    text.push_back('\n');
    if (text.size() >= k_piece) {
      file.write(text.data(), text.size());
      text.clear();
    }
  }
  file.write(text.data(), text.size());
  file.close();
}

std::uint64_t hashed_bits(std::int64_t value) { return std::bit_cast<std::uint64_t>(value); }

std::uint64_t hashed_bits(double value) {
  return std::isnan(value) ? 0x7ff8000000000000 : std::bit_cast<std::uint64_t>(value);
}

}  // namespace

std::optional<TableFormat> table_format_of(std::string_view path) {
  const std::string upper = detail::upper_case(path);
  if (upper.ends_with(".CSV")) return TableFormat::csv;
  if (upper.ends_with(".FITS") || upper.ends_with(".FIT")) return TableFormat::fits;
  return std::nullopt;
}

void write_catalogue(const std::string& path, TableFormat format, const Catalogue& catalogue,
                     const Provenance& provenance) {
  if (format == TableFormat::csv) {
    write_csv(path, catalogue);
  } else {
    detail::write_fits_table(path, catalogue, provenance);
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
