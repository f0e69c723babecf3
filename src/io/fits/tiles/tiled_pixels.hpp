// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_TILES_TILED_PIXELS_HPP
#define KASTOR_SRC_IO_FITS_TILES_TILED_PIXELS_HPP

#include "io/fits/stored_image.hpp"
#include "io/fits/tiles/tile_coding.hpp"

namespace kastor::io::detail {

/// The table of a tile-compressed image and its coding, checked against the size of the file.
struct TiledLayout {
  /// \throws kastor::Error  a header that is not valid, or data that are not in the file
  explicit TiledLayout(const StoredImage& stored);
  TiledLayout(const TiledLayout&) = delete;
  TiledLayout& operator=(const TiledLayout&) = delete;

  TileTable table;
  TileCoding coding;
};

/// Decodes the tiles of the section, several at once by threads of the host execution space.
/// \param pixels  the section's memory
template <class T>
void read_tiles(const StoredImage& stored, const TiledLayout& layout, int threads, T* pixels);

}  // namespace kastor::io::detail

#endif
