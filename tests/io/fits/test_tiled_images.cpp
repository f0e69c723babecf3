// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <kastor/io/fits_image.hpp>
#include <limits>
#include <random>

#include "rows_as_read.hpp"

namespace {

using namespace testing_support;
using testing_support::read_both_ways;

struct TiledKind {
  std::string name;
  int method = RICE_1;
  int bitpix = SHORT_IMG;
  std::vector<long> axes{70, 45};
  std::vector<long> tile{};  // CFITSIO's choice if empty
  float level = 4;           // of the quantisation; 0: none
  int dither = SUBTRACTIVE_DITHER_1;
  bool has_blank = false;
  double bscale = 1;
  double bzero = 0;
  float hcompress_scale = 0;
  int smooth = 0;
  bool unquantizable = false;  // some tiles hold noise of a huge range
};

void PrintTo(const TiledKind& kind, std::ostream* out) { *out << kind.name; }

std::size_t pixels_in(const std::vector<long>& axes) {
  std::size_t count = 1;
  for (const long axis : axes) count *= static_cast<std::size_t>(axis);
  return count;
}

/// Noise on a slope with a few bright pixels and zeros; 0 or more for PLIO_1 and bytes.
std::vector<double> values_of(const TiledKind& kind) {
  std::mt19937 random(17);
  std::normal_distribution<double> noise(0, 3);
  std::vector<double> values(pixels_in(kind.axes));
  for (std::size_t i = 0; i < values.size(); ++i) {
    double value = 60 + 0.01 * static_cast<double>(i % 500) + noise(random);
    if (i % 97 == 5) value += 100;
    if (i % 41 == 3) value = 0;
    if (kind.unquantizable && i % 700 < 70)
      value *= std::pow(10.0, static_cast<double>(i % 60) - 30);
    if (kind.unquantizable && i % 700 == 9) value = 1e-41;
    values[i] = kind.bitpix > 0 ? std::floor(value) : value;
  }
  return values;
}

void write_tiled(const TiledKind& kind, const std::string& path) {
  FitsMaker maker(path);
  auto* fits = maker.get();
  int& status = maker.status();
  fits_set_compression_type(fits, kind.method, &status);
  auto tile = kind.tile;
  if (!tile.empty()) fits_set_tile_dim(fits, static_cast<int>(tile.size()), tile.data(), &status);
  fits_set_quantize_level(fits, kind.level, &status);
  fits_set_quantize_method(fits, kind.dither, &status);
  if (kind.method == HCOMPRESS_1) {
    fits_set_hcomp_scale(fits, kind.hcompress_scale, &status);
    fits_set_hcomp_smooth(fits, kind.smooth, &status);
  }
  auto axes = kind.axes;
  fits_create_img(fits, kind.bitpix, static_cast<int>(axes.size()), axes.data(), &status);
  if (kind.bscale != 1) maker.key("BSCALE", kind.bscale);
  if (kind.bzero != 0) maker.key("BZERO", kind.bzero);
  auto values = values_of(kind);
  double null = -12345;
  if (kind.has_blank) {
    if (kind.bitpix > 0) maker.key("BLANK", 7);
    for (std::size_t i = 0; i < values.size(); i += 53) values[i] = kind.bitpix > 0 ? 7 : null;
  }
  if (kind.bitpix > 0) fits_set_bscale(fits, 1, 0, &status);
  std::vector<long> first(axes.size(), 1);
  if (kind.has_blank && kind.bitpix < 0) {
    fits_write_pixnull(fits, TDOUBLE, first.data(), static_cast<LONGLONG>(values.size()),
                       values.data(), &null, &status);
  } else if (kind.bitpix == BYTE_IMG) {
    const std::vector<unsigned char> stored(values.begin(), values.end());
    fits_write_img(fits, TBYTE, 1, static_cast<LONGLONG>(stored.size()),
                   const_cast<unsigned char*>(stored.data()), &status);
  } else if (kind.bitpix == SHORT_IMG) {
    const std::vector<short> stored(values.begin(), values.end());
    fits_write_img(fits, TSHORT, 1, static_cast<LONGLONG>(stored.size()),
                   const_cast<short*>(stored.data()), &status);
  } else if (kind.bitpix == LONG_IMG) {
    const std::vector<int> stored(values.begin(), values.end());
    fits_write_img(fits, TINT, 1, static_cast<LONGLONG>(stored.size()),
                   const_cast<int*>(stored.data()), &status);
  } else if (kind.bitpix == FLOAT_IMG) {
    const std::vector<float> stored(values.begin(), values.end());
    fits_write_img(fits, TFLOAT, 1, static_cast<LONGLONG>(stored.size()),
                   const_cast<float*>(stored.data()), &status);
  } else {
    fits_write_img(fits, TDOUBLE, 1, static_cast<LONGLONG>(values.size()), values.data(), &status);
  }
}

/// What CFITSIO reads: the reference.
template <class T>
std::vector<T> cfitsio_pixels(const std::string& path, bool keeps_bits, long plane) {
  fitsfile* fits = nullptr;
  int status = 0;
  fits_open_diskfile(&fits, path.c_str(), READONLY, &status);
  fits_movabs_hdu(fits, 2, nullptr, &status);
  int naxis = 0;
  fits_get_img_dim(fits, &naxis, &status);
  std::vector<long> last(static_cast<std::size_t>(naxis)), first(last.size(), 1), step(first);
  fits_get_img_size(fits, naxis, last.data(), &status);
  if (naxis > 2) first[2] = last[2] = plane + 1;
  std::vector<T> pixels(static_cast<std::size_t>(last[0] * last[1]));
  T null = keeps_bits ? T{0} : std::numeric_limits<T>::quiet_NaN();
  int any_null = 0;
  fits_read_subset(fits, sizeof(T) == 4 ? TFLOAT : TDOUBLE, first.data(), last.data(), step.data(),
                   &null, pixels.data(), &any_null, &status);
  EXPECT_EQ(status, 0) << path;
  int ignored = 0;
  if (fits != nullptr) fits_close_file(fits, &ignored);
  return pixels;
}

template <class T>
void expect_same_bits(const kastor::io::FitsImage& image, const std::vector<T>& expected) {
  const auto& pixels = pixels_of<T>(image);
  ASSERT_EQ(pixels.size(), expected.size());
  std::size_t differing = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    // A NaN has no particular bits where it stands for a blank pixel.
    if (std::isnan(expected[i]) && std::isnan(pixels.data()[i])) continue;
    if (std::memcmp(&pixels.data()[i], &expected[i], sizeof(T)) != 0 && ++differing < 4)
      ADD_FAILURE() << "pixel " << i << ": " << pixels.data()[i] << ", not " << expected[i];
  }
  EXPECT_EQ(differing, 0u);
}

class TiledImages : public testing::TestWithParam<TiledKind> {};

TEST_P(TiledImages, HaveTheBitsThatCfitsioReads) {
  const TiledKind& kind = GetParam();
  const ScratchDirectory scratch;
  const std::string path = scratch.file("t.fits");
  write_tiled(kind, path);
  const bool keeps_bits = kind.bitpix < 0 && kind.level == 0;
  const long planes = kind.axes.size() > 2 ? kind.axes[2] : 1;
  for (long plane = 0; plane < planes; ++plane) {
    kastor::io::ReadOptions options;
    if (planes > 1) options.plane = plane;
    for (const int threads : {1, 2}) {
      options.threads = threads;
      const auto image = read_both_ways(path, options);
      EXPECT_EQ(image.datasum, cfitsio_datasum(path, 1));
      if (kind.bitpix == BYTE_IMG || kind.bitpix == SHORT_IMG || kind.bitpix == FLOAT_IMG) {
        expect_same_bits(image, cfitsio_pixels<float>(path, keeps_bits, plane));
      } else {
        expect_same_bits(image, cfitsio_pixels<double>(path, keeps_bits, plane));
      }
    }
  }
}

std::vector<TiledKind> tiled_kinds() {
  std::vector<TiledKind> kinds;
  for (const auto& [method, name] : {std::pair{RICE_1, "rice"},
                                     {GZIP_1, "gzip_1"},
                                     {GZIP_2, "gzip_2"},
                                     {HCOMPRESS_1, "hcompress"},
                                     {PLIO_1, "plio"}}) {
    for (const int bitpix : {BYTE_IMG, SHORT_IMG, LONG_IMG, FLOAT_IMG, DOUBLE_IMG}) {
      if (method == PLIO_1 && bitpix < 0) continue;
      TiledKind kind;
      kind.name = fmt::format("{}_{}{}", name, bitpix < 0 ? "m" : "", std::abs(bitpix));
      kind.method = method;
      kind.bitpix = bitpix;
      kinds.push_back(kind);
      kind.tile = {30, 20};  // cut at both edges
      kind.name += "_tiles";
      kind.has_blank = true;
      kind.dither = bitpix == DOUBLE_IMG ? NO_DITHER : SUBTRACTIVE_DITHER_2;
      kinds.push_back(kind);
      kind.axes = {33, 21, 3};
      kind.tile = {33, 7, method == HCOMPRESS_1 ? 1 : 2};
      kind.name += "_cube";
      if (bitpix > 0) kind.bscale = 0.25, kind.bzero = bitpix == SHORT_IMG ? 32768 : 5;
      kinds.push_back(kind);
      if (bitpix < 0 && (method == GZIP_1 || method == GZIP_2)) {
        kind.level = 0;
        kind.unquantizable = true;
        kind.name += "_lossless";
        kinds.push_back(kind);
        kind.has_blank = false;
        kind.name += "_all";
        kinds.push_back(kind);
      }
      if (bitpix < 0 && method == RICE_1) {
        kind.unquantizable = true;
        kind.has_blank = false;
        kind.axes = {70, 45};
        kind.tile = {70, 1};
        kind.name += "_mixed";
        kinds.push_back(kind);
      }
      if (method == HCOMPRESS_1) {
        kind.hcompress_scale = 4;
        kind.smooth = 1;
        kind.axes = {40, 37};
        kind.tile = {40, 16};
        kind.name += "_lossy";
        kinds.push_back(kind);
      }
    }
  }
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Kinds, TiledImages, testing::ValuesIn(tiled_kinds()),
                         [](const auto& of) { return of.param.name; });

/// A table made by hand: two rows, each a tile of 3 x 1 bytes.
struct HandMadeTiles {
  std::vector<std::pair<std::string, std::string>> cards;  // take the place of those of the name
  std::string rows = std::string("\0\0\0\3\0\0\0\0", 8) + std::string("\0\0\0\3\0\0\0\3", 8);
  std::string heap = "abcdef";

  [[nodiscard]] std::string bytes() const {
    std::vector<std::pair<std::string, std::string>> all{{"XTENSION", "'BINTABLE'"},
                                                         {"BITPIX", "8"},
                                                         {"NAXIS", "2"},
                                                         {"NAXIS1", "8"},
                                                         {"NAXIS2", "2"},
                                                         {"PCOUNT", "6"},
                                                         {"GCOUNT", "1"},
                                                         {"TFIELDS", "1"},
                                                         {"TTYPE1", "'COMPRESSED_DATA'"},
                                                         {"TFORM1", "'1PB(3)'"},
                                                         {"ZIMAGE", "T"},
                                                         {"ZBITPIX", "8"},
                                                         {"ZNAXIS", "2"},
                                                         {"ZNAXIS1", "3"},
                                                         {"ZNAXIS2", "2"},
                                                         {"ZTILE1", "3"},
                                                         {"ZTILE2", "1"},
                                                         {"ZCMPTYPE", "'NOCOMPRESS'"}};
    for (const auto& card : cards) {
      const auto same = std::find_if(all.begin(), all.end(),
                                     [&](const auto& other) { return other.first == card.first; });
      same == all.end() ? all.push_back(card) : void(same->second = card.second);
    }
    HandMadeHdu hdu;
    for (const auto& [keyword, value] : all) hdu.card(keyword, value);
    return HandMadeHdu::image(8, {}).bytes() + hdu.bytes(rows + heap);
  }
};

TEST(TiledImageTables, TilesThatAreNotCompressedAreRead) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("t.fits");
  write_bytes(path, HandMadeTiles{}.bytes());
  const auto image = read_both_ways(path);
  EXPECT_EQ(pixels_of<float>(image)(0, 0), static_cast<float>('a'));
  EXPECT_EQ(pixels_of<float>(image)(1, 2), static_cast<float>('f'));
  // With descriptors of 64 bits, and a gap before the heap.
  HandMadeTiles wide;
  wide.cards = {{"TFORM1", "'1QB(3)'"}, {"NAXIS1", "16"}, {"THEAP", "34"}, {"PCOUNT", "8"}};
  wide.rows = std::string("\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\3", 16) +
              std::string("\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0", 16) + "..";
  write_bytes(path, wide.bytes());
  EXPECT_EQ(pixels_of<float>(read_both_ways(path))(0, 0), static_cast<float>('d'));
}

TEST(TiledImageTables, TheScaleOfTheQuantisationMayBeAKeyword) {
  const ScratchDirectory scratch;
  HandMadeTiles tiles;
  tiles.cards = {{"ZBITPIX", "-32"}, {"ZCMPTYPE", "'NOCOMPRESS'"},
                 {"ZSCALE", "0.5"},  {"ZZERO", "10."},
                 {"ZBLANK", "98"},   {"ZQUANTIZ", "'NO_DITHER'"}};
  write_bytes(scratch.file("t.fits"), tiles.bytes());
  const auto image = read_both_ways(scratch.file("t.fits"));
  EXPECT_EQ(pixels_of<float>(image)(0, 0), 10 + 0.5f * 'a');
  EXPECT_TRUE(std::isnan(pixels_of<float>(image)(0, 1)));
}

/// As one member of a gzip file.
std::string gzipped_tile(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<unsigned>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<unsigned>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string big_endian_bytes(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = count; i-- > 0;) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// CFITSIO 4.2 reads no such image: a plain one is the reference.
TEST(TiledImageTables, BlankOf64BitIntegersIsExact) {
  const ScratchDirectory scratch;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t large = 9007199254740993;  // 2^53 + 1
  std::string plain;
  for (const std::int64_t value : {least, std::int64_t{-5}, large - 1, large, large + 1, ~least})
    plain += big_endian_bytes(static_cast<std::uint64_t>(value), 8);
  std::string shuffled;
  for (std::size_t byte = 0; byte < 8; ++byte)
    for (std::size_t i = 0; i < 6; ++i) shuffled += plain[8 * i + byte];
  for (const std::int64_t blank : {least, large, ~least}) {
    const std::string text = fmt::format("{}", blank);
    write_bytes(scratch.file("p.fits"),
                HandMadeHdu::image(64, {3, 2}).card("BLANK", text).bytes(plain));
    const auto expected = read_both_ways(scratch.file("p.fits"));
    int blanks = 0;
    for (std::size_t i = 0; i < 6; ++i) blanks += std::isnan(pixels_of<double>(expected).data()[i]);
    EXPECT_EQ(blanks, 1);
    for (const auto& [method, heap] : {std::pair{"'GZIP_1'", gzipped_tile(plain)},
                                       {"'GZIP_2'", gzipped_tile(shuffled)},
                                       {"'NOCOMPRESS'", plain}}) {
      for (const int form : {0, 1, 2}) {  // ZBLANK, BLANK, a column ZBLANK
        HandMadeTiles tiles;
        tiles.rows = big_endian_bytes(heap.size(), 4) + big_endian_bytes(0, 4);
        tiles.heap = heap;
        tiles.cards = {{"ZBITPIX", "64"},
                       {"ZCMPTYPE", method},
                       {"NAXIS2", "1"},
                       {"ZTILE2", "2"},
                       {"PCOUNT", fmt::format("{}", heap.size())}};
        if (form < 2) {
          tiles.cards.push_back({form == 0 ? "ZBLANK" : "BLANK", text});
        } else {
          tiles.rows += big_endian_bytes(static_cast<std::uint64_t>(blank), 8);
          for (const auto& [keyword, value] : {std::pair{"NAXIS1", "16"},
                                               {"TFIELDS", "2"},
                                               {"TTYPE2", "'ZBLANK'"},
                                               {"TFORM2", "'1K'"}})
            tiles.cards.push_back({keyword, value});
        }
        write_bytes(scratch.file("t.fits"), tiles.bytes());
        SCOPED_TRACE(fmt::format("{} {} {}", method, form, blank));
        const auto& pixels = pixels_of<double>(expected);
        expect_same_bits(read_both_ways(scratch.file("t.fits")),
                         std::vector<double>(pixels.data(), pixels.data() + 6));
      }
    }
  }
}

TEST(TiledImageTables, ADitherBeginsAtOneOfItsNumbers) {
  const ScratchDirectory scratch;
  HandMadeTiles tiles;
  tiles.cards = {{"ZBITPIX", "-32"},
                 {"ZSCALE", "0.5"},
                 {"ZZERO", "10."},
                 {"ZDITHER0", "0"},
                 {"ZQUANTIZ", "'SUBTRACTIVE_DITHER_1'"}};
  for (const char* seed : {"0", "10001", "-3"}) {
    tiles.cards[3].second = seed;
    write_bytes(scratch.file("t.fits"), tiles.bytes());
    const auto said = read_error(scratch.file("t.fits"));
    EXPECT_TRUE(said.ends_with(fmt::format("[1]: ZDITHER0={}; expected 1 to 10000", seed))) << said;
  }
}

TEST(TiledImageTables, WhatIsWrongIsSaid) {
  const ScratchDirectory scratch;
  struct Case {
    std::pair<std::string, std::string> card;
    std::string says;
  };
  for (const Case& c :
       std::initializer_list<Case>{{{"ZBITPIX", "24"}, "ZBITPIX=24"},
                                   {{"TFORM1", "'8B'"}, "COMPRESSED_DATA has a fixed length"},
                                   {{"TFORM1", "'1PI(3)'"}, "values of the type I"},
                                   {{"TTYPE1", "'DATA'"}, "CFITSIO"},
                                   {{"THEAP", "3"}, "THEAP=3"},
                                   {{"PCOUNT", "9000"}, "data truncated"},
                                   {{"ZNAXIS1", "2"}, "3 bytes for 2 values"},
                                   {{"ZNAXIS1", "4"}, "CFITSIO"},
                                   {{"ZCMPTYPE", "'RICE_1'"}, "tile 1 of 2"},
                                   {{"ZCMPTYPE", "'GZIP_1'"}, "tile 1 of 2"},
                                   {{"ZCMPTYPE", "'GZIP_2'"}, "tile 1 of 2"},
                                   {{"ZCMPTYPE", "'HCOMPRESS_1'"}, "CFITSIO"},
                                   {{"ZCMPTYPE", "'BEST'"}, "CFITSIO"},
                                   {{"ZZERO", "3."}, "ZZERO without ZSCALE"},
                                   {{"ZBLANK", "5.5"}, "ZBLANK is not an integer"},
                                   {{"TSCAL1", "3."}, "COMPRESSED_DATA has a scale"}}) {
    HandMadeTiles tiles;
    tiles.cards = {c.card};
    if (c.card.second == "'RICE_1'") tiles.cards.push_back({"ZVAL1", "32"});
    write_bytes(scratch.file("t.fits"), tiles.bytes());
    SCOPED_TRACE(c.card.first + "=" + c.card.second);
    EXPECT_SAYS(read_error(scratch.file("t.fits"), {.hdu = "1", .plane = {}, .threads = 1}),
                c.says);
  }
  HandMadeTiles tiles;
  tiles.rows[7] = '\xee';
  tiles.rows[6] = '\xee';
  write_bytes(scratch.file("t.fits"), tiles.bytes());
  EXPECT_SAYS(read_error(scratch.file("t.fits")), "3 values at byte 61166 of the table's heap");
}

TEST(TiledImageTables, TheUnpackedSizeHasALimit) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("t.fits"), HandMadeTiles{}.bytes());
  kastor::io::ReadOptions options;
  // 6 pixels of 4 bytes; 3 at work in 8 each, by as many threads as fit.
  options.max_unpacked = 47;
  EXPECT_SAYS(read_error(scratch.file("t.fits"), options),
              "the image unpacks to 24 bytes, and a tile of it to 24 on the way; expected at most "
              "47 in all, or a higher limit");
  options.max_unpacked = 48;
  EXPECT_EQ(read_both_ways(scratch.file("t.fits"), options).nx, 3);
  HandMadeTiles gzip;
  gzip.cards = {{"ZCMPTYPE", "'GZIP_1'"}};
  write_bytes(scratch.file("t.fits"), gzip.bytes());
  options.max_unpacked = 71;
  EXPECT_SAYS(read_error(scratch.file("t.fits"), options), "a tile of it to 48 on the way");
  ++options.max_unpacked;
  EXPECT_SAYS(read_error(scratch.file("t.fits"), options), "tile 1 of 2: the gzip data");
}

}  // namespace
