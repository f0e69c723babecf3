// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_CATALOGUE_WRITER_HPP
#define KASTOR_IO_CATALOGUE_WRITER_HPP

#include <kastor/catalogue.hpp>
#include <kastor/io/provenance.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace kastor::io {

enum class TableFormat { csv, fits };

/// The format that the ending of a file name chooses (.csv, .fits, .fit; case-insensitive); none if
/// it names no format.
[[nodiscard]] std::optional<TableFormat> table_format_of(std::string_view path);

/// Writes the file, replacing what is there (give it the temporary name of an `OutputSet`).
/// csv: a header line, then one line a source, 17 significant digits, `nan`, no comments (so no
/// provenance). fits: a binary table CATALOGUE, columns K and D; provenance in its header. \throws
/// kastor::Error
void write_catalogue(const std::string& path, TableFormat format, const Catalogue& catalogue,
                     const Provenance& provenance);

/// SHA-256, lower-case hex, over the rows in order, each the twelve columns in order as
/// little-endian int64 or IEEE double; every NaN counts as 0x7ff8000000000000.
[[nodiscard]] std::string catalogue_hash(const Catalogue& catalogue);

}  // namespace kastor::io

#endif
