// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_TILES_TILED_PIXELS_HPP
#define KASTOR_SRC_IO_FITS_TILES_TILED_PIXELS_HPP

#include "io/fits/stored_image.hpp"
#include "io/fits/tiles/tile_coding.hpp"

namespace kastor::io::detail {

/// The table of a tile-compressed image and its coding, checked against the size of the file.
struct TiledLayout {
  /// \param access  by rows, the limit of memory holds for one row of tiles instead of the section
  /// \throws kastor::Error  a header that is not valid, or data that are not in the file
  explicit TiledLayout(const StoredImage& stored, Access access = Access::as_whole);
  TiledLayout(const TiledLayout&) = delete;
  TiledLayout& operator=(const TiledLayout&) = delete;

  TileTable table;
  TileCoding coding;
};

/// Rows of tiles: the section's rows `first * height` to `(first + count) * height - 1`, as far as
/// there are such.
struct TileRows {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t height = 1;  // of a tile [pixel]
};

/// Those of the whole section.
[[nodiscard]] TileRows all_tile_rows(const StoredImage& stored, const TiledLayout& layout);

/// Decodes the tiles of these rows, several at once by threads of the host execution space.
/// \param pixels  the memory of these rows
template <class T>
void read_tiles(const StoredImage& stored, const TiledLayout& layout, const TileRows& rows,
                int threads, T* pixels);

}  // namespace kastor::io::detail

#endif
