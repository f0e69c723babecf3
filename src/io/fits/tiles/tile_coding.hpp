// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_TILES_TILE_CODING_HPP
#define KASTOR_SRC_IO_FITS_TILES_TILE_CODING_HPP

#include <cstdint>
#include <optional>
#include <vector>

#include "io/fits/fits_file.hpp"
#include "io/fits/tiles/quantize.hpp"
#include "io/fits/tiles/tile_table.hpp"

namespace kastor::io::detail {

/// ZCMPTYPE
enum class TileMethod { rice, gzip_1, gzip_2, hcompress, plio, none };

/// A number that each tile has: the value of a keyword, or that of a column.
struct TileNumber {
  std::optional<double> constant;
  const TileColumn* column = nullptr;  // of the table, which must live longer

  [[nodiscard]] bool is_stated() const { return constant.has_value() || column != nullptr; }
  [[nodiscard]] std::optional<double> of(const TileTable& table, std::int64_t row) const {
    return column != nullptr ? std::optional(table.number(*column, row)) : constant;
  }
};

/// The integer that stands for NaN in each tile: the value of a keyword, or that of a column.
struct TileBlank {
  std::optional<std::int64_t> constant;
  const TileColumn* column = nullptr;  // of the table, which must live longer

  [[nodiscard]] std::optional<std::int64_t> of(const TileTable& table, std::int64_t row) const {
    return column != nullptr ? table.integer(*column, row) : constant;
  }
};

/// How the tiles of an image are compressed (FITS 4.0, 10.1 to 10.4), and what their values mean.
struct TileCoding {
  TileMethod method = TileMethod::none;
  int bitpix = 0;                     ///< ZBITPIX
  std::vector<std::int64_t> axes;     ///< ZNAXISn, at least 1 each
  std::vector<std::int64_t> tile;     ///< ZTILEn, at least 1 each and at most those
  std::int64_t tiles = 0;             ///< their number, that of the table's rows
  int block_size = 32;                ///< BLOCKSIZE of RICE_1
  int bytes_per_value = 4;            ///< BYTEPIX of RICE_1
  bool smooth = false;                ///< SMOOTH of HCOMPRESS_1
  bool is_quantized = false;          ///< floats as integers
  Dither dither = Dither::none;       ///< ZQUANTIZ
  std::int64_t seed = 1;              ///< ZDITHER0
  double bscale = 1;                  ///< BSCALE
  double bzero = 0;                   ///< BZERO
  TileNumber scale;                   ///< ZSCALE
  TileNumber zero;                    ///< ZZERO
  TileBlank blank;                    ///< ZBLANK, or else BLANK
  const TileColumn* data = nullptr;   ///< COMPRESSED_DATA
  const TileColumn* gzip = nullptr;   ///< GZIP_COMPRESSED_DATA
  const TileColumn* plain = nullptr;  ///< UNCOMPRESSED_DATA

  [[nodiscard]] bool scales_integers() const { return bitpix > 0 || is_quantized; }
};

/// Reads the header of the current HDU. The columns are those of `table`.
/// \throws kastor::Error  a header that is not valid, or a method that is not known
[[nodiscard]] TileCoding tile_coding(const FitsFile& file, const TileTable& table, int bitpix,
                                     const std::vector<std::int64_t>& axes);

}  // namespace kastor::io::detail

#endif
