// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_TABLE_TABLE_FORMATS_HPP
#define KASTOR_SRC_IO_TABLE_TABLE_FORMATS_HPP

#include <cstddef>
#include <kastor/io/provenance.hpp>
#include <kastor/io/table.hpp>
#include <string>
#include <string_view>

namespace kastor::io::detail {

class TextFile;

// One writer per format, for tables that `write_table()` has checked.
void write_csv_table(const std::string& path, const Table& table);
void write_fits_table(const std::string& path, const Table& table, const Provenance& provenance);
void write_votable(const std::string& path, const Table& table, const Provenance& provenance);
void write_ecsv_table(const std::string& path, const Table& table, const Provenance& provenance);
void write_ascii_head(const std::string& path, const Table& table, const Provenance& provenance);

[[nodiscard]] std::size_t rows_of(const TableColumn& column);

/// Writes the names of the columns, then the rows, as CSV: the common part of CSV and ECSV.
/// `digits` says how doubles are written.
enum class Digits { seventeen, shortest };
void add_csv_rows(TextFile& file, const Table& table, Digits digits);

}  // namespace kastor::io::detail

#endif
