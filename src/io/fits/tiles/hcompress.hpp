// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_TILES_HCOMPRESS_HPP
#define KASTOR_SRC_IO_FITS_TILES_HCOMPRESS_HPP

#include <cstdint>
#include <span>

namespace kastor::io::detail {

/// The integers in which the H-transform is undone. CFITSIO takes 32 bits for images of 8 and 16
/// bits (ZBITPIX) and 64 bits for all others; where they differ, a number did not fit.
enum class HcompressArithmetic { bits32, bits64 };

/// Decodes a tile of HCOMPRESS_1 (FITS 4.0, 10.4.4; White, Postman & Lattanzi 1992, in Digitised
/// Optical Sky Surveys, 167): quadtrees of the bit planes of an H-transform. Its scale is that of
/// the stream. Bytes after the stream are ignored, as CFITSIO does.
///
/// \param data    the tile's bytes in COMPRESSED_DATA
/// \param smooth  whether to smooth (SMOOTH is not 0)
/// \param nx      the length of the tile's first axis
/// \param ny      the product of the lengths of the others. The shape in the stream must be this,
///                except that a tile one value wide or high may have any of as many values
/// \param out     nx ny values, the first axis varying fastest
/// \throws kastor::Error  data that end too early, are damaged, or are of another shape; says
/// which,
///                        without the file's name
void decode_hcompress(std::span<const std::uint8_t> data, bool smooth, std::int64_t nx,
                      std::int64_t ny, HcompressArithmetic arithmetic, std::span<std::int32_t> out);

}  // namespace kastor::io::detail

#endif
