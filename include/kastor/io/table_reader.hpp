// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_TABLE_READER_HPP
#define KASTOR_IO_TABLE_READER_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <kastor/io/table.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kastor::io {

enum class TableFileFormat { fits, votable, ecsv, text };

/// The name of a format: "FITS", "VOTable", "ECSV", "text".
[[nodiscard]] const char* name_of(TableFileFormat format);

/// One column to read, and the type of its fields.
struct ColumnRequest {
  std::size_t column;  ///< index into the columns of the table
  /// The type of the fields.
  enum class As { number, text };
  As as = As::number;  ///< type as which the fields are read
};

/// Chooses the columns of a table to read. It gets all columns (`TableColumn::name`, `unit`, `ucd`,
/// `description`) without values: `values` is an empty vector of strings if the column is text, of
/// double if it is numbers, and of integers if that is not known, since no value is seen. If its
/// answer is empty, the next table of the file is tried.
using ColumnChoice = std::function<std::vector<ColumnRequest>(const std::vector<TableColumn>&)>;

/// The columns that were read from a file.
struct TableFromFile {
  /// The requested columns, in that order: double for numbers, string for texts; and the frame of
  /// the positions as far as the file says it (RADESYS and EQUINOX, COOSYS, the meta of ECSV).
  Table table;
  TableFileFormat format = TableFileFormat::text;  ///< format of the file
  std::string where;                               ///< "FILE" or "FILE[HDU]", for messages
  std::vector<std::int64_t> lines = {};  ///< line of each row in a text file, from 1; else empty

  /// The place of a row, from 0, for messages: "line 3", or "row 1", which counts from 1.
  [[nodiscard]] std::string place_of(std::size_t row) const;
};

/// Reads columns of the first table of a file from which `choose` picks any; none if there is no
/// such table.
///
/// The content of the file decides about its format, not its name:
/// - FITS, plain or compressed by gzip or bzip2: binary and ASCII tables, scaled columns, TNULL.
/// - VOTable 1.0 to 1.5: TABLEDATA, BINARY and BINARY2 (base64 within the file), VALUES null.
/// - ECSV: names, units and delimiter from its header.
/// - Text: fields separated by comma, tab or blanks (the first of these that occurs in the header
///   line), optionally quoted by "...". Comment lines begin with #; empty lines are skipped. The
///   names are in the first line that is not a comment. If a field of that line is a number, they
///   are in the last comment with as many fields (as in PyBDSF and Selavy), or in the numbered
///   comments of SExtractor's ASCII_HEAD. "ra [deg]" gives a unit, and so does a line of units, or
///   in VizieR's files the line of units between the names and a line of dashes.
///
/// A number that is empty, "--", "-", "~", "nan", "na", "n/a", "null", "none" or "masked", or that
/// the file declares as null, is NaN.
///
/// \throws kastor::Error `FILE: what was found; what was expected`, with the line or row
[[nodiscard]] std::optional<TableFromFile> read_table(const std::string& path,
                                                      const ColumnChoice& choose);

}  // namespace kastor::io

#endif
