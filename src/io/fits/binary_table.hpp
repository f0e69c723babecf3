// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_BINARY_TABLE_HPP
#define KASTOR_SRC_IO_FITS_BINARY_TABLE_HPP

#include <cstddef>
#include <functional>
#include <string>

#include "io/fits/header_text.hpp"
#include "io/output/output_file.hpp"

namespace kastor::io::detail {

/// The header of an empty primary HDU.
[[nodiscard]] std::string empty_primary_header();

/// The mandatory cards of a binary table without a heap (FITS standard 4.0, section 7.3.1).
void begin_binary_table(HeaderText& header, std::size_t row_bytes, std::size_t rows,
                        std::size_t fields);

/// Writes the rows, some at a time, and pads the last block. `store(row, bytes)` stores one row in
/// FITS format at `bytes`, which are `row_bytes` zeros.
void write_binary_rows(OutputFile& file, std::size_t row_bytes, std::size_t rows,
                       const std::function<void(std::size_t, std::byte*)>& store);

}  // namespace kastor::io::detail

#endif
