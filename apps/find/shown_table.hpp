// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_SHOWN_TABLE_HPP
#define KASTOR_APPS_FIND_SHOWN_TABLE_HPP

#include <cstddef>
#include <kastor/io/table.hpp>
#include <string>
#include <vector>

/// Rows of a table as a report prints them.
namespace kastor::cli {

/// A column of the table as the text shows it.
struct ShownColumn {
  const char* name;
  const char* heading;
  int width;
  const char* format;      ///< for a double; for strings unused
  bool names_unit = true;  ///< whether the title has its unit
};

/// The column of this name; null if the table has none.
[[nodiscard]] const io::TableColumn* column_of(const io::Table& table, const std::string& name);
/// NaN for a string.
[[nodiscard]] double number_of(const io::TableColumn& column, std::size_t row);

/// A blank line, a title with the units, and the `most` rows with the largest |flux_peak|, or all.
/// \param brightest, all  the title of the one and of the other, as in "brightest peaks"
[[nodiscard]] std::string table_text(const io::Table& table,
                                     const std::vector<ShownColumn>& columns, std::size_t most,
                                     const std::string& brightest, const std::string& all);

}  // namespace kastor::cli

#endif
