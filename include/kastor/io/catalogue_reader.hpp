// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_CATALOGUE_READER_HPP
#define KASTOR_IO_CATALOGUE_READER_HPP

#include <kastor/catalogue.hpp>
#include <string>
#include <vector>

namespace kastor::io {

/// Reads a catalogue that `write_catalogue()` has written: CSV with a header line, or the first
/// binary table of a FITS file. The ending of the name decides which (`table_format_of()`).
///
/// Columns are found by name (case-sensitive in CSV, not in FITS), in any order. Unknown columns
/// are ignored; known ones that are missing stay 0. CSV is read strictly: every line must have as
/// many fields as the first, and fields are plain numbers (`nan`, `inf` for doubles) without
/// quotes.
/// \param needed  names of `Source`'s fields that must be present
/// \throws kastor::Error one line, `FILE: what was found; what was expected`
[[nodiscard]] Catalogue read_catalogue(const std::string& path,
                                       const std::vector<std::string>& needed);

}  // namespace kastor::io

#endif
