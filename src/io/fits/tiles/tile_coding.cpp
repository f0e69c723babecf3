// SPDX-License-Identifier: Apache-2.0
#include "io/fits/tiles/tile_coding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "io/fits/hdu_info.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

TileMethod method_of(const FitsFile& file) {
  constexpr std::array<std::pair<std::string_view, TileMethod>, 7> methods{
      {{"RICE_1", TileMethod::rice},
       {"RICE_ONE", TileMethod::rice},
       {"GZIP_1", TileMethod::gzip_1},
       {"GZIP_2", TileMethod::gzip_2},
       {"HCOMPRESS_1", TileMethod::hcompress},
       {"PLIO_1", TileMethod::plio},
       {"NOCOMPRESS", TileMethod::none}}};
  const std::string name = upper_case(read_string(file, "ZCMPTYPE").value_or(""));
  for (const auto& [known, method] : methods)
    if (name == known) return method;
  file.fail(
      fmt::format("ZCMPTYPE='{}'; expected RICE_1, GZIP_1, GZIP_2, HCOMPRESS_1, PLIO_1 or "
                  "NOCOMPRESS",
                  name));
}

/// The tile's shape, and the number of tiles.
void read_shape(const FitsFile& file, const TileTable& table, TileCoding& coding) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < coding.axes.size(); ++i) {
    const std::string keyword = fmt::format("ZTILE{}", i + 1);
    // By default a tile is a row of the image.
    const std::int64_t length =
        stated_integer(file, keyword.c_str()).value_or(i == 0 ? coding.axes[0] : 1);
    if (length < 1) file.fail(fmt::format("{}={}; expected 1 or more", keyword, length));
    coding.tile.push_back(std::min(length, coding.axes[i]));
    if (__builtin_mul_overflow(count, (coding.axes[i] - 1) / coding.tile[i] + 1, &count))
      count = -1;
    if (count < 0) break;
  }
  if (count != table.rows()) {
    file.fail(
        fmt::format("the table has {} rows for {} tiles (ZNAXISn, ZTILEn); expected a row for "
                    "each",
                    table.rows(), count < 0 ? "too many" : fmt::format("{}", count)));
  }
  coding.tiles = count;
}

/// ZVALi of the ZNAMEi that is `name`; or of this place if it has no name.
std::optional<std::int64_t> parameter(const FitsFile& file, std::string_view name, int place) {
  const auto stated = [&](int i) { return stated_integer(file, fmt::format("ZVAL{}", i).c_str()); };
  const auto name_of = [&](int i) {
    return upper_case(read_string(file, fmt::format("ZNAME{}", i).c_str()).value_or(""));
  };
  for (int i = 1; i <= 9; ++i)
    if (name_of(i) == name) return stated(i);
  return name_of(place).empty() ? stated(place) : std::nullopt;
}

void read_parameters(const FitsFile& file, TileCoding& coding) {
  if (coding.method == TileMethod::rice) {
    std::int64_t block = parameter(file, "BLOCKSIZE", 1).value_or(32);
    std::int64_t bytes = parameter(file, "BYTEPIX", 2).value_or(4);
    if (block < 16 && bytes > 8) std::swap(block, bytes);  // as CFITSIO: some files have them so
    if (bytes != 1 && bytes != 2 && bytes != 4)
      file.fail(fmt::format("BYTEPIX={} of RICE_1; expected 1, 2 or 4", bytes));
    if (block < 1 || block > std::numeric_limits<int>::max())
      file.fail(fmt::format("BLOCKSIZE={} of RICE_1; expected 16 or 32", block));
    coding.block_size = static_cast<int>(block);
    coding.bytes_per_value = static_cast<int>(bytes);
  }
  if (coding.method == TileMethod::hcompress)
    coding.smooth = parameter(file, "SMOOTH", 2).value_or(0) != 0;
}

TileNumber tile_number(const FitsFile& file, const TileTable& table, const char* name) {
  if (const TileColumn* column = table.column(name)) return {std::nullopt, column};
  const auto value = read_double(file, name);
  if (!value && has_keyword(file, name))
    file.fail(fmt::format("{} is not a number; expected one", name));
  return {value, nullptr};
}

/// ZBLANK, or else BLANK, which holds for integers only.
TileBlank blank_of(const FitsFile& file, const TileTable& table, bool is_integer) {
  if (const TileColumn* column = table.column("ZBLANK")) return {std::nullopt, column};
  const auto blank = stated_blank(file, "ZBLANK");
  return {blank || !is_integer ? blank : stated_blank(file, "BLANK"), nullptr};
}

/// Random numbers of the dither begin at this one (FITS 4.0, 10.2.1).
std::int64_t dither_seed(const FitsFile& file) {
  const std::int64_t seed = stated_integer(file, "ZDITHER0").value_or(1);
  if (seed < 1 || seed > 10000) file.fail(fmt::format("ZDITHER0={}; expected 1 to 10000", seed));
  return seed;
}

void read_quantization(const FitsFile& file, const TileTable& table, TileCoding& coding) {
  coding.bscale = read_double(file, "BSCALE").value_or(1);
  coding.bzero = read_double(file, "BZERO").value_or(0);
  coding.scale = tile_number(file, table, "ZSCALE");
  coding.zero = tile_number(file, table, "ZZERO");
  coding.blank = blank_of(file, table, coding.bitpix > 0);
  if (coding.zero.is_stated() && !coding.scale.is_stated())
    file.fail("there is a ZZERO without ZSCALE; expected both or none");
  if (coding.bitpix > 0) return;
  const std::string way = upper_case(read_string(file, "ZQUANTIZ").value_or(""));
  coding.is_quantized = way != "NONE" && coding.scale.is_stated();
  if (way == "SUBTRACTIVE_DITHER_1") coding.dither = Dither::subtractive_1;
  if (way == "SUBTRACTIVE_DITHER_2") coding.dither = Dither::subtractive_2;
  if (coding.is_quantized && coding.dither == Dither::none && !way.empty() && way != "NO_DITHER") {
    file.fail(
        fmt::format("ZQUANTIZ='{}'; expected NONE, NO_DITHER, SUBTRACTIVE_DITHER_1 or "
                    "SUBTRACTIVE_DITHER_2",
                    way));
  }
  if (coding.is_quantized && coding.dither != Dither::none) coding.seed = dither_seed(file);
  const bool keeps_bits = coding.method == TileMethod::gzip_1 ||
                          coding.method == TileMethod::gzip_2 || coding.method == TileMethod::none;
  if (!coding.is_quantized && !keeps_bits) {
    file.fail(
        "the image has floats that are not quantised (ZQUANTIZ, ZSCALE); expected GZIP_1, "
        "GZIP_2 or NOCOMPRESS for them");
  }
}

}  // namespace

TileCoding tile_coding(const FitsFile& file, const TileTable& table, int bitpix,
                       const std::vector<std::int64_t>& axes) {
  TileCoding coding;
  coding.method = method_of(file);
  coding.bitpix = bitpix;
  coding.axes = axes;
  const auto known = {8, 16, 32, 64, -32, -64};
  if (std::find(known.begin(), known.end(), bitpix) == known.end())
    file.fail(fmt::format("ZBITPIX={}; expected 8, 16, 32, 64, -32 or -64", bitpix));
  read_shape(file, table, coding);
  read_parameters(file, coding);
  read_quantization(file, table, coding);
  coding.data = table.column("COMPRESSED_DATA");
  coding.gzip = table.column("GZIP_COMPRESSED_DATA");
  coding.plain = table.column("UNCOMPRESSED_DATA");
  for (const TileColumn* column : {coding.data, coding.gzip, coding.plain}) {
    if (column != nullptr && column->descriptor == 0) {
      file.fail(fmt::format("the column {} has a fixed length; expected a variable one (1PB, 1QB)",
                            column->name));
    }
  }
  for (const TileColumn* column : {coding.data, coding.gzip}) {
    const char type = column == coding.data && coding.method == TileMethod::plio ? 'I' : 'B';
    if (column != nullptr && column->type != type && column->type != 'B') {
      file.fail(fmt::format("the column {} has values of the type {}; expected {}", column->name,
                            column->type, type));
    }
  }
  if (coding.data == nullptr && coding.plain == nullptr)
    file.fail("there is no column COMPRESSED_DATA; expected one in a compressed image");
  return coding;
}

}  // namespace kastor::io::detail
