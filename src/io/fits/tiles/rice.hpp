// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_TILES_RICE_HPP
#define KASTOR_SRC_IO_FITS_TILES_RICE_HPP

#include <cstdint>
#include <span>

namespace kastor::io::detail {

/// Decodes a tile of RICE_1 (FITS 4.0, 10.4.1): the first value as it is, then the differences of
/// neighbours in blocks. Bytes after the last value are ignored, as CFITSIO does.
///
/// \param data             the tile's bytes in COMPRESSED_DATA
/// \param block_size       values in a block (BLOCKSIZE, 32 by default), at least 1
/// \param bytes_per_value  of the encoded integers (BYTEPIX, 4 by default): 1, 2 or 4. Whatever the
///                         bytes, no value leaves their range: it wraps around
/// \param out              as many values as the tile has: from 0 to 255 for one byte, signed for 2
///                         and 4
/// \throws kastor::Error  an unusable parameter, or data that end too early or are damaged; says
///                        which, without the file's name
void decode_rice(std::span<const std::uint8_t> data, int block_size, int bytes_per_value,
                 std::span<std::int32_t> out);

}  // namespace kastor::io::detail

#endif
