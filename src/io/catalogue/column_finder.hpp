// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_COLUMN_FINDER_HPP
#define KASTOR_SRC_IO_CATALOGUE_COLUMN_FINDER_HPP

#include <kastor/io/table.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::io::detail {

/// Finds columns by name, in upper or lower case.
class ColumnFinder {
 public:
  /// \param columns  must outlive this
  explicit ColumnFinder(const std::vector<TableColumn>& columns);

  /// The first column of this name, given in upper case.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view upper_name) const;
  [[nodiscard]] bool has(std::string_view upper_name) const { return find(upper_name).has_value(); }
  /// Whether two columns or more have this name, given in upper case.
  [[nodiscard]] bool is_ambiguous(std::string_view upper_name) const;
  /// The column of a name as a user types it: among several the one that agrees in case.
  /// \throws kastor::Error, without the name of the file, if several remain
  [[nodiscard]] std::optional<std::size_t> find_typed(std::string_view name) const;

  [[nodiscard]] const std::vector<TableColumn>& columns() const { return m_columns; }
  [[nodiscard]] const TableColumn& at(std::size_t index) const { return m_columns.at(index); }

 private:
  const std::vector<TableColumn>& m_columns;
  std::vector<std::string> m_names;  // in upper case
};

/// "ra, dec, flux": the first twelve names, for messages.
[[nodiscard]] std::string names_of(const std::vector<TableColumn>& columns);

}  // namespace kastor::io::detail

#endif
