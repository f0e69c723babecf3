// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_TILES_GZIP_HPP
#define KASTOR_SRC_IO_FITS_TILES_GZIP_HPP

#include <cstddef>
#include <cstdint>
#include <span>

namespace kastor::io::detail {

/// Decodes a tile of GZIP_1 or GZIP_2 (FITS 4.0, 10.4.2): one member of a gzip file, with its
/// checksum. Bytes after the member are ignored, as CFITSIO does.
///
/// A tile may be of narrower values than its image says (CFITSIO takes their width from the number
/// of bytes), therefore fewer bytes than `out` has are no error here: the caller looks whether what
/// is returned is 1, 2, 4 or 8 times the tile's number of values.
///
/// \param out  room for the widest values that the tile may have; big-endian as they are stored,
/// for
///             GZIP_2 still shuffled
/// \return the number of bytes at the beginning of `out` that were filled
/// \throws kastor::Error  data that end too early, are damaged, or are more bytes than `out`; says
///                        which, without the file's name
[[nodiscard]] std::size_t decode_gzip(std::span<const std::uint8_t> data,
                                      std::span<std::uint8_t> out);

/// Undoes the order of bytes of GZIP_2: all first bytes, then all second ones, and so on.
///
/// \param bytes_per_value  1, 2, 4 or 8
/// \param out              of the size of `shuffled`, a multiple of `bytes_per_value`; must not
///                         overlap it
/// \throws kastor::Error  sizes other than these
void unshuffle(std::span<const std::uint8_t> shuffled, int bytes_per_value,
               std::span<std::uint8_t> out);

}  // namespace kastor::io::detail

#endif
