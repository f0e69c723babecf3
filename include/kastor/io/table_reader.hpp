// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_TABLE_READER_HPP
#define KASTOR_IO_TABLE_READER_HPP

#include <cstddef>
#include <functional>
#include <kastor/io/table.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kastor::io {

enum class TableFileFormat { fits, votable, ecsv, text };

/// "FITS", "VOTable", "ECSV", "text"
[[nodiscard]] const char* name_of(TableFileFormat format);

/// One column to read, and what its fields are.
struct ColumnRequest {
  std::size_t column;  ///< index into the columns of the table
  /// What its fields are.
  enum class As { number, text };
  As as = As::number;  ///< what they are to be read as
};

/// Which columns of a table to read. It sees them all, without values (`TableColumn::name`, `unit`,
/// `ucd`, `description`); an empty answer goes on to the file's next table.
using ColumnChoice = std::function<std::vector<ColumnRequest>(const std::vector<TableColumn>&)>;

/// What was read of a file.
struct TableFromFile {
  Table table;  ///< the columns asked for, in that order: double for numbers, string for texts
  TableFileFormat format = TableFileFormat::text;  ///< what its content is
  std::string where;                               ///< "FILE" or "FILE[HDU]", for messages
};

/// Reads some columns of the first table of a file that `choose` takes; none if it takes none.
///
/// What the file is its content says, not its name:
/// - FITS, plain or compressed by gzip or bzip2: binary and ASCII tables, scaled columns, TNULL.
/// - VOTable 1.0 to 1.5: TABLEDATA, BINARY and BINARY2 (base64 in the file itself), VALUES null.
/// - ECSV: names, units and delimiter from its header.
/// - Text: comma, tab or blanks between the fields (the first of these that stands in the header
///   line), fields quoted by "..." or not, lines of comment that begin with #, empty lines. The
///   names are the first line that is no comment; or, if that has a number among its fields, the
///   last comment with as many fields (as PyBDSF and Selavy write it); or the numbered lines of
///   comment of SExtractor's ASCII_HEAD. "ra [deg]" names a unit, and so does a line of units.
///
/// A number that is empty, "--", "nan", "null", "none" or "n/a", or that the file declares to be
/// null, is NaN. \throws kastor::Error `FILE: what was found; what was expected`, with the line or
/// row
[[nodiscard]] std::optional<TableFromFile> read_table(const std::string& path,
                                                      const ColumnChoice& choose);

}  // namespace kastor::io

#endif
