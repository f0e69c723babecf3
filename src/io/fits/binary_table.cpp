// SPDX-License-Identifier: Apache-2.0
#include "io/fits/binary_table.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kastor::io::detail {
namespace {

// Bytes that are converted and written at a time, unless a row is longer.
constexpr std::size_t k_row_bytes_at_once = std::size_t{1} << 18;

}  // namespace

std::string empty_primary_header() {
  HeaderText header;
  header.add_logical("SIMPLE", true);
  header.add_integer("BITPIX", 8);
  header.add_integer("NAXIS", 0);
  header.add_logical("EXTEND", true);
  return header.finish();
}

void begin_binary_table(HeaderText& header, std::size_t row_bytes, std::size_t rows,
                        std::size_t fields) {
  header.add_string("XTENSION", "BINTABLE", "binary table");
  header.add_integer("BITPIX", 8);
  header.add_integer("NAXIS", 2);
  header.add_integer("NAXIS1", static_cast<std::int64_t>(row_bytes));
  header.add_integer("NAXIS2", static_cast<std::int64_t>(rows));
  header.add_integer("PCOUNT", 0);
  header.add_integer("GCOUNT", 1);
  header.add_integer("TFIELDS", static_cast<std::int64_t>(fields));
}

void write_binary_rows(OutputFile& file, std::size_t row_bytes, std::size_t rows,
                       const std::function<void(std::size_t, std::byte*)>& store) {
  const std::size_t at_a_time = std::max<std::size_t>(1, k_row_bytes_at_once / row_bytes);
  std::vector<std::byte> piece;
  for (std::size_t first = 0; first < rows; first += at_a_time) {
    const std::size_t count = std::min(at_a_time, rows - first);
    piece.assign(count * row_bytes, std::byte{0});
    for (std::size_t i = 0; i < count; ++i) store(first + i, piece.data() + i * row_bytes);
    file.write(piece.data(), piece.size());
  }
  const std::vector<std::byte> fill(fits_fill(rows * row_bytes));
  file.write(fill.data(), fill.size());
}

}  // namespace kastor::io::detail
