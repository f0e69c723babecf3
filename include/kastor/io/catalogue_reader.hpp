// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_CATALOGUE_READER_HPP
#define KASTOR_IO_CATALOGUE_READER_HPP

#include <kastor/catalogue.hpp>
#include <string>
#include <vector>

namespace kastor::io {

/// Reads a catalogue as `write_catalogue()` writes it: CSV with a header line, or the first binary
/// table of a FITS file; the ending of the name says which (`table_format_of()`).
///
/// Columns are found by their names (case-sensitive in CSV, not in FITS), in any order; unknown
/// ones are ignored, known ones that are not there stay 0. CSV is read strictly: every line has as
/// many fields as the first, fields are plain numbers (`nan`, `inf` for doubles), without quotes.
/// \param needed  names of `Source`'s fields that have to be there
/// \throws kastor::Error `FILE: what was found; what was expected`, one line
[[nodiscard]] Catalogue read_catalogue(const std::string& path,
                                       const std::vector<std::string>& needed);

}  // namespace kastor::io

#endif
