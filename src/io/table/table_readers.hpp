// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_TABLE_TABLE_READERS_HPP
#define KASTOR_SRC_IO_TABLE_TABLE_READERS_HPP

#include <kastor/io/table_reader.hpp>
#include <optional>
#include <string>
#include <vector>

/// The formats that `read_table()` knows, each in a file of its own. The file is a regular one.
namespace kastor::io::detail {

[[nodiscard]] std::optional<TableFromFile> read_fits_table(const std::string& path,
                                                           const ColumnChoice& choose);
[[nodiscard]] std::optional<TableFromFile> read_votable(const std::string& path,
                                                        const ColumnChoice& choose);
/// ECSV too.
[[nodiscard]] std::optional<TableFromFile> read_text_table(const std::string& path,
                                                           const ColumnChoice& choose);

/// What ECSV's header says of its table.
struct EcsvHeader {
  char delimiter = ' ';
  std::vector<TableColumn> columns;
};
/// \param lines  the comment lines of the file, without "# "; the first is "%ECSV 1.0"
[[nodiscard]] EcsvHeader parse_ecsv_header(const std::vector<std::string>& lines);

/// The columns asked for, with empty values of the kinds asked for.
[[nodiscard]] Table empty_table(const std::vector<TableColumn>& columns,
                                const std::vector<ColumnRequest>& requests);

}  // namespace kastor::io::detail

#endif
