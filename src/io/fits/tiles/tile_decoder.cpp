// SPDX-License-Identifier: Apache-2.0
#include "io/fits/tiles/tile_decoder.hpp"

#include <fmt/format.h>

#include <bit>
#include <kastor/error.hpp>
#include <limits>
#include <type_traits>

#include "io/fits/byte_order.hpp"
#include "io/fits/pixel_decoder.hpp"
#include "io/fits/tiles/gzip.hpp"
#include "io/fits/tiles/hcompress.hpp"
#include "io/fits/tiles/plio.hpp"
#include "io/fits/tiles/rice.hpp"

namespace kastor::io::detail {
namespace {

/// The scaling of a tile's stored values. Two of them can be stated: that of the quantisation, and
/// that of the image. They are combined as CFITSIO does.
Scaling scaling_of_tile(const TileTable& table, const TileCoding& coding, std::int64_t row) {
  Scaling scaling;
  if (coding.scale.is_stated() && (coding.bitpix > 0 || coding.is_quantized)) {
    scaling.bscale = *coding.scale.of(table, row);
    scaling.bzero = coding.zero.of(table, row).value_or(0);
    if (coding.bitpix < 0 && coding.scale.column != nullptr) {
      scaling.bzero = scaling.bzero * coding.bscale + coding.bzero;
      scaling.bscale *= coding.bscale;
    }
  }
  if (scaling.is_identity()) scaling = {coding.bscale, coding.bzero, {}};
  // Unsigned 16-bit integers have their offset already in the lists of PLIO_1, which knows no
  // negative ones.
  if (coding.method == TileMethod::plio && coding.dither == Dither::none && coding.bzero == 32768)
    scaling.bzero -= 32768;
  if (coding.scales_integers()) scaling.blank = coding.blank.of(table, row);
  return scaling;
}

/// One tile at work.
template <class T>
struct TileWork {
  const FitsFile& file;
  const TileTable& table;
  const TileCoding& coding;
  const TileShape& tile;
  TileScratch& scratch;
  T* out;

  [[nodiscard]] std::span<T> values() const {
    return {out, static_cast<std::size_t>(tile.values())};
  }

  [[nodiscard]] std::span<const std::uint8_t> stored(const TileColumn& column,
                                                     const HeapPiece& piece) const {
    const std::int64_t bytes = piece.count * column.size;
    const auto data = scratch.stored.of(bytes);
    const auto got =
        file.read_bytes(piece.begin, reinterpret_cast<std::byte*>(data.data()), data.size());
    if (got != data.size()) throw Error("the data end before the tile does");
    return data;
  }

  /// Integers of any kind of image.
  void scale(std::span<const std::int32_t> integers) const {
    const Scaling scaling = scaling_of_tile(table, coding, tile.row);
    Quantization by{scaling.bscale, scaling.bzero, coding.dither, tile.row + 1, coding.seed, {}};
    constexpr long long least = std::numeric_limits<std::int32_t>::min();
    constexpr long long most = std::numeric_limits<std::int32_t>::max();
    if (scaling.blank && *scaling.blank >= least && *scaling.blank <= most)
      by.blank = static_cast<std::int32_t>(*scaling.blank);
    undo_quantize<T>(integers, by, values());
  }

  template <class Raw>
  void scale_integers(std::span<const std::uint8_t> bytes) const {
    if (coding.is_quantized && coding.dither != Dither::none) {
      const auto integers = scratch.integers.of(tile.values());
      for (std::size_t i = 0; i < integers.size(); ++i) {
        integers[i] = static_cast<std::int32_t>(
            load_big_endian<Raw>(reinterpret_cast<const std::byte*>(&bytes[i * sizeof(Raw)])));
      }
      return scale(integers);
    }
    decode<Raw>(reinterpret_cast<const std::byte*>(bytes.data()), values().size(),
                scaling_of_tile(table, coding, tile.row), out);
  }

  /// Floats that were not quantised. Those among quantised ones are treated as CFITSIO does when it
  /// looks for blank values: infinities become NaN, and what is too small for a normal number 0.
  /// \tparam Stored  float or double; CFITSIO writes the type that it is given
  template <class Stored>
  void take_floats(std::span<const std::uint8_t> bytes) const {
    using Word = typename UnsignedOfSize<sizeof(Stored)>::type;
    constexpr Word exponent =
        sizeof(Word) == 4 ? static_cast<Word>(0x7f800000) : static_cast<Word>(0x7ff0000000000000);
    const bool is_scaled = coding.bscale != 1 || coding.bzero != 0;
    for (std::size_t i = 0; i < values().size(); ++i) {
      const auto word =
          load_big_endian<Word>(reinterpret_cast<const std::byte*>(&bytes[i * sizeof(Word)]));
      auto value = std::bit_cast<Stored>(word);
      if (coding.is_quantized && (word & exponent) == 0) value = 0;
      out[i] = is_scaled ? static_cast<T>(static_cast<double>(value) * coding.bscale + coding.bzero)
                         : static_cast<T>(value);
      if (coding.is_quantized && (word & exponent) == exponent)
        out[i] = std::numeric_limits<T>::quiet_NaN();
    }
  }

  /// Values as they are in an image that is not compressed, or narrower.
  void take_plain(std::span<const std::uint8_t> bytes, bool are_floats) const {
    const auto count = static_cast<std::size_t>(tile.values());
    const std::size_t width = bytes.size() / count;
    const bool whole = width * count == bytes.size();
    if (are_floats) {
      if (whole && width == 4) return take_floats<float>(bytes);
      if (whole && width == 8) return take_floats<double>(bytes);
    } else if (whole) {
      if (width == 1) return scale_integers<std::uint8_t>(bytes);
      if (width == 2) return scale_integers<std::int16_t>(bytes);
      if (width == 4) return scale_integers<std::int32_t>(bytes);
      if (width == 8 && coding.bitpix == 64) return scale_integers<std::int64_t>(bytes);
    }
    throw Error(fmt::format("{} bytes for {} values", bytes.size(), count));
  }

  void unpack_gzip(std::span<const std::uint8_t> data, bool shuffled, bool are_floats) const {
    const std::int64_t widest = are_floats || coding.bitpix == 64 ? 8 : 4;
    const auto room = scratch.unpacked.of(tile.values() * widest);
    std::span<const std::uint8_t> bytes = room.first(decode_gzip(data, room));
    const auto count = static_cast<std::size_t>(tile.values());
    if (shuffled && bytes.size() % count == 0 && bytes.size() > count) {
      const auto ordered = scratch.ordered.of(static_cast<std::int64_t>(bytes.size()));
      unshuffle(bytes, static_cast<int>(bytes.size() / count), ordered);
      bytes = ordered;
    }
    take_plain(bytes, are_floats);
  }

  void run_method(std::span<const std::uint8_t> data) const {
    const bool are_floats = coding.bitpix < 0 && !coding.is_quantized;
    const auto integers = [&] { return scratch.integers.of(tile.values()); };
    switch (coding.method) {
      case TileMethod::gzip_1:
      case TileMethod::gzip_2:
        return unpack_gzip(data, coding.method == TileMethod::gzip_2, are_floats);
      case TileMethod::none:
        return take_plain(data, are_floats);
      case TileMethod::rice:
        decode_rice(data, coding.block_size, coding.bytes_per_value, integers());
        break;
      case TileMethod::plio:
        decode_plio(data, integers());
        break;
      case TileMethod::hcompress:
        decode_hcompress(data, coding.smooth, tile.nx, tile.ny,
                         coding.bitpix == 8 || coding.bitpix == 16 ? HcompressArithmetic::bits32
                                                                   : HcompressArithmetic::bits64,
                         integers());
        break;
    }
    scale(integers());
  }

  void run() const {
    const auto piece_of = [&](const TileColumn* column) {
      return column != nullptr ? table.piece(*column, tile.row) : HeapPiece{};
    };
    if (const auto piece = piece_of(coding.data); piece.count > 0)
      return run_method(stored(*coding.data, piece));
    // What could not be quantised.
    if (const auto piece = piece_of(coding.plain); piece.count > 0) {
      const char type = coding.plain->type;
      const bool are_floats = type == 'E' || type == 'D';
      if (are_floats != (coding.bitpix < 0))
        throw Error(fmt::format("values of the type {}", type));
      return take_plain(stored(*coding.plain, piece), are_floats);
    }
    if (const auto piece = piece_of(coding.gzip); piece.count > 0) {
      if (coding.bitpix > 0) throw Error("floats in an image of integers");
      return unpack_gzip(stored(*coding.gzip, piece), false, true);
    }
    throw Error("there are no data");
  }
};

}  // namespace

template <class T>
void decode_tile(const FitsFile& file, const TileTable& table, const TileCoding& coding,
                 const TileShape& tile, TileScratch& scratch, T* out) {
  TileWork<T>{file, table, coding, tile, scratch, out}.run();
}

template void decode_tile(const FitsFile&, const TileTable&, const TileCoding&, const TileShape&,
                          TileScratch&, float*);
template void decode_tile(const FitsFile&, const TileTable&, const TileCoding&, const TileShape&,
                          TileScratch&, double*);

}  // namespace kastor::io::detail
