// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_TABLE_WRITER_HPP
#define KASTOR_IO_TABLE_WRITER_HPP

#include <kastor/io/provenance.hpp>
#include <kastor/io/table.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace kastor::io {

enum class TableFormat { csv, fits, votable, ecsv };

/// The format that the ending of a file name chooses (.csv, .fits, .fit, .vot, .votable, .xml,
/// .ecsv; case-insensitive); none if it names no format.
[[nodiscard]] std::optional<TableFormat> table_format_of(std::string_view path);

/// Writes the file, replacing what is there (give it the temporary name of an `OutputSet`).
///
/// - csv: a header line, then one line a row, 17 significant digits, `nan`, `inf`; no comments, so
///   no units and no provenance. Quotes as in RFC 4180.
/// - fits: a binary table (FITS standard 4.0, section 7.3) behind an empty primary HDU, EXTNAME the
///   table's name; columns K, D and A, these as wide as the longest string of all rows; TTYPEn,
///   TUNITn, and TUCDn and TCOMMn as STIL has them; provenance and frame as keywords.
/// - votable: VOTable 1.4 (IVOA, 2019), TABLEDATA: FIELDs with unit, UCD and DESCRIPTION, of types
///   long, double and char (unicodeChar where a row needs it), INFOs with the provenance, COOSYS.
/// - ecsv: ECSV 1.0 (astropy's APE 6), comma-separated, the same in its YAML header.
///
/// All numbers come back bit by bit, but for the payload of NaNs. Strings are UTF-8: bytes that are
/// not become U+FFFD, control characters and line ends '?'; in FITS every byte beyond printable
/// ASCII becomes '?', and blanks at a string's end mean nothing.
/// The file depends on the arguments only: no date, no locale.
/// \throws kastor::Error where there is no column, columns differ in length, a name is not
///   made of ASCII letters, digits and underscores or is there twice (case-insensitively), or the
///   file cannot be written
void write_table(const std::string& path, TableFormat format, const Table& table,
                 const Provenance& provenance);

}  // namespace kastor::io

#endif
