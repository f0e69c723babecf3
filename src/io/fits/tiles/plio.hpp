// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_TILES_PLIO_HPP
#define KASTOR_SRC_IO_FITS_TILES_PLIO_HPP

#include <cstdint>
#include <span>

namespace kastor::io::detail {

/// Decodes a tile of PLIO_1 (FITS 4.0, 10.4.3): a line list of IRAF's, runs of zeros and of values
/// that are 0 or more. Values after the last run are 0.
///
/// \param data  the tile's bytes in COMPRESSED_DATA: 16-bit words, big-endian as they are stored
/// \param out   as many values as the tile has
/// \throws kastor::Error  data that end too early, are damaged, or are of more values than `out`;
///                        says which, without the file's name
void decode_plio(std::span<const std::uint8_t> data, std::span<std::int32_t> out);

}  // namespace kastor::io::detail

#endif
