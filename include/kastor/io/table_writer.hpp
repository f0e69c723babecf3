// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_TABLE_WRITER_HPP
#define KASTOR_IO_TABLE_WRITER_HPP

#include <kastor/io/provenance.hpp>
#include <kastor/io/table.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace kastor::io {

enum class TableFormat { csv, fits, votable, ecsv, ascii_head };

/// The format given by the ending of a file name (.csv, .fits, .fit, .vot, .votable, .xml, .ecsv,
/// .cat; case-insensitive); none if the ending is unknown.
[[nodiscard]] std::optional<TableFormat> table_format_of(std::string_view path);

/// Writes a table to a file and replaces what is there (pass the temporary name of an `OutputSet`).
///
/// - csv: a header line, then one line per row, 17 significant digits, `nan`, `inf`; no comments,
///   so no units and no provenance. Quotes as in RFC 4180.
/// - fits: a binary table (FITS standard 4.0, section 7.3) after an empty primary HDU. EXTNAME is
///   the name of the table. Columns are K, D and A, the latter as wide as the longest string.
///   TTYPEn and TUNITn, with TUCDn and TCOMMn as in STIL; provenance and frame are keywords.
/// - votable: VOTable 1.4 (IVOA, 2019), TABLEDATA: FIELDs with unit, UCD and DESCRIPTION, of types
///   long, double and char (unicodeChar if a row needs it), INFOs with the provenance, COOSYS.
/// - ecsv: ECSV 1.0 (astropy's APE 6), comma-separated, with the same metadata in its YAML header.
/// - ascii_head: SExtractor's ASCII_HEAD: a comment with number, name, description and unit for
/// each
///   column, the provenance in comments, then the rows, 17 significant digits, separated by blanks.
///   In strings, '_' stands for blanks, quotes and '#', and "-" for an empty one.
///
/// All numbers can be read back bit by bit, except for the payload of NaNs. Strings are UTF-8:
/// invalid bytes become U+FFFD, control characters and line ends become '?'. In FITS every byte
/// outside printable ASCII becomes '?', and trailing blanks are not significant. The file depends
/// only on the arguments: no date, no locale.
///
/// \throws kastor::Error if there is no column, columns differ in length, a name has other
/// characters than ASCII letters, digits and underscores or occurs twice (case-insensitively), or
/// the file cannot be written
void write_table(const std::string& path, TableFormat format, const Table& table,
                 const Provenance& provenance);

}  // namespace kastor::io

#endif
