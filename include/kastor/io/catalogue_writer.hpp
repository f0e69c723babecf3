// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_CATALOGUE_WRITER_HPP
#define KASTOR_IO_CATALOGUE_WRITER_HPP

#include <kastor/catalogue.hpp>
#include <kastor/io/provenance.hpp>
#include <kastor/io/table_writer.hpp>
#include <string>

namespace kastor::io {

/// Writes a catalogue to a file and replaces what is there (pass the temporary name of an
/// `OutputSet`).
///
/// - csv: a header line, then one line per source, 17 significant digits, `nan`, no comments (so no
///   provenance).
/// - fits: a binary table CATALOGUE with columns K and D; provenance in its header.
/// - votable, ecsv: the `catalogue_table()`, written by `write_table()`.
///
/// \throws kastor::Error
void write_catalogue(const std::string& path, TableFormat format, const Catalogue& catalogue,
                     const Provenance& provenance);

/// The catalogue as a table CATALOGUE of twelve columns, with UCDs and descriptions. `unit` is the
/// unit of the image's pixels; it may be empty.
[[nodiscard]] Table catalogue_table(const Catalogue& catalogue, const std::string& unit);

/// SHA-256, lower-case hex, over the rows in order. Each row is its twelve columns in order, as
/// little-endian int64 or IEEE double; every NaN counts as 0x7ff8000000000000.
[[nodiscard]] std::string catalogue_hash(const Catalogue& catalogue);

}  // namespace kastor::io

#endif
