// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_EVALUATION_SOURCE_TABLE_HPP
#define KASTOR_SRC_IO_EVALUATION_SOURCE_TABLE_HPP

#include <kastor/io/evaluation.hpp>
#include <kastor/io/source_list.hpp>
#include <kastor/io/table_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::io::detail {

/// The rows of a catalogue: what `read_source_list()` makes of them, and more of its columns.
struct SourceTable {
  SourceList list;
  TableFromFile more;                 ///< numbers; the column shape and names as text
  std::vector<PixelPosition> places;  ///< in the image; NaN if there is none

  /// The column of this name, given in upper case; null if there is none, or more than one.
  [[nodiscard]] const TableColumn* find(std::string_view upper_name) const;
  /// Its numbers. \param column  none of those that are text
  [[nodiscard]] static const std::vector<double>& numbers(const TableColumn& column) {
    return std::get<std::vector<double>>(column.values);
  }
};

/// Reads the file, or takes the table, and places the rows in the image: by the columns in pixels,
/// else by those on the sky. \throws kastor::Error
[[nodiscard]] SourceTable read_source_table(const EvaluatedCatalogue& catalogue, const Wcs* wcs);

}  // namespace kastor::io::detail

#endif
