// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_TILES_TILE_DECODER_HPP
#define KASTOR_SRC_IO_FITS_TILES_TILE_DECODER_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/fits/tiles/tile_coding.hpp"

namespace kastor::io::detail {

/// Memory that one thread uses again for tile after tile. It is not initialised: what damaged data
/// do not fill costs nothing.
template <class T>
class TileBuffer {
 public:
  [[nodiscard]] std::span<T> of(std::int64_t count) {
    const auto size = static_cast<std::size_t>(count);
    if (size > m_size) {
      m_data.reset();
      m_data = std::make_unique_for_overwrite<T[]>(size);
      m_size = size;
    }
    return {m_data.get(), size};
  }

 private:
  std::unique_ptr<T[]> m_data;
  std::size_t m_size = 0;
};

struct TileScratch {
  TileBuffer<std::uint8_t> stored;    // as in the file
  TileBuffer<std::uint8_t> unpacked;  // by gzip
  TileBuffer<std::uint8_t> ordered;   // unshuffled
  TileBuffer<std::int32_t> integers;
  TileBuffer<std::byte> pixels;  // for callers
};

/// A tile: its row, from 0, and its shape.
struct TileShape {
  std::int64_t row = 0;
  std::int64_t nx = 0;  // length of the first axis
  std::int64_t ny = 0;  // product of the others

  [[nodiscard]] std::int64_t values() const { return nx * ny; }
};

/// Decodes a tile into physical values, as CFITSIO does: bit by bit, for every image that it can
/// read. `T` is float for 8- and 16-bit integers and for float images, otherwise double.
/// \throws kastor::Error  data that are damaged, or of a kind that is not known
template <class T>
void decode_tile(const FitsFile& file, const TileTable& table, const TileCoding& coding,
                 const TileShape& tile, TileScratch& scratch, T* out);

extern template void decode_tile(const FitsFile&, const TileTable&, const TileCoding&,
                                 const TileShape&, TileScratch&, float*);
extern template void decode_tile(const FitsFile&, const TileTable&, const TileCoding&,
                                 const TileShape&, TileScratch&, double*);

}  // namespace kastor::io::detail

#endif
