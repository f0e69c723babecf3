// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_CHOSEN_COLUMNS_HPP
#define KASTOR_SRC_IO_CATALOGUE_CHOSEN_COLUMNS_HPP

#include <kastor/io/table_reader.hpp>
#include <optional>
#include <string>

namespace kastor::io::detail {

/// `read_table()` of a table in memory. \param name  for messages
[[nodiscard]] std::optional<TableFromFile> chosen_columns(const Table& table,
                                                          const std::string& name,
                                                          const ColumnChoice& choose);

}  // namespace kastor::io::detail

#endif
