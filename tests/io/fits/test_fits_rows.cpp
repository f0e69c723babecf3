// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <kastor/io/fits_rows.hpp>

#include "rows_as_read.hpp"

// That rows have the bits of the whole image is also checked by every test that reads an image by
// `testing_support::read_both_ways()`.
namespace {

using namespace testing_support;
using kastor::io::FitsRows;
using kastor::io::open_rows;
using kastor::io::ReadOptions;

std::vector<float> slope(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) + 0.25f;
  return values;
}

std::string plain_image(const ScratchDirectory& scratch) {
  const std::string path = scratch.file("plain.fits");
  FitsMaker(path).image(FLOAT_IMG, {41, 30}, TFLOAT, slope(41 * 30));
  return path;
}

/// Tiles of 16 x 8 pixels, cut at the edges.
std::string tiled_image(const ScratchDirectory& scratch, int method = GZIP_1) {
  const std::string path = scratch.file("tiled.fits");
  FitsMaker maker(path);
  fits_set_compression_type(maker.get(), method, &maker.status());
  std::vector<long> tile{16, 8};
  fits_set_tile_dim(maker.get(), 2, tile.data(), &maker.status());
  fits_set_quantize_level(maker.get(), 0, &maker.status());
  maker.image(FLOAT_IMG, {41, 30}, TFLOAT, slope(41 * 30));
  return path;
}

std::string rows_error(const std::string& path, const ReadOptions& options = {}) {
  return error_of([&] { (void)open_rows(path, options); });
}

TEST(FitsRows, BandsThatCutTilesAndGoBackGiveTheSamePixels) {
  const ScratchDirectory scratch;
  for (const std::string& path : {plain_image(scratch), tiled_image(scratch)}) {
    const auto image = kastor::io::read_image(path);
    for (const int threads : {1, 2, 5}) {
      ReadOptions options;
      options.threads = threads;
      FitsRows<float> rows(path, options);
      RowCheck<float> check(rows, pixels_of<float>(image));
      for (std::int64_t first = 0; first < 30; ++first)
        for (std::int64_t count = 0; count <= 30 - first; ++count) check.band(first, count);
      for (std::int64_t first = 41 * 30 - 1; first >= 0; first -= 7)
        check.pixels(first, std::min<std::int64_t>(41 * 30 - first, first % 400));
      EXPECT_EQ(rows.datasum(), image.datasum);
    }
  }
}

TEST(FitsRows, SayOfWhatTheTilesAre) {
  const ScratchDirectory scratch;
  EXPECT_EQ(FitsRows<float>(plain_image(scratch)).rows_of_tile(), 1);
  EXPECT_EQ(FitsRows<float>(tiled_image(scratch)).rows_of_tile(), 8);
}

TEST(FitsRows, TheDatasumIsThatOfAllBands) {
  const ScratchDirectory scratch;
  for (const std::string& path : {plain_image(scratch), tiled_image(scratch)}) {
    const std::uint32_t expected = kastor::io::read_image(path).datasum;
    std::vector<float> pixels(41 * 30);
    const auto read = [&](FitsRows<float>& rows, std::int64_t first, std::int64_t count) {
      rows.read(first, count, std::span(pixels).first(static_cast<std::size_t>(count * 41)));
    };
    {
      FitsRows<float> rows(path);
      EXPECT_EQ(rows.datasum(), expected) << "without any band";
      for (int y = 0; y < 30; y += 10) read(rows, y, 10);
      EXPECT_EQ(rows.datasum(), expected);
      read(rows, 0, 30);
      EXPECT_EQ(rows.datasum(), expected) << "after two passes";
    }
    {
      FitsRows<float> rows(path);
      for (int y = 0; y < 30; y += 10) read(rows, y, std::min(30 - y, 13));
      EXPECT_EQ(rows.datasum(), expected) << "of bands that overlap";
    }
    {
      FitsRows<float> rows(path);
      for (int y = 20; y >= 0; y -= 10) read(rows, y, 10);
      EXPECT_EQ(rows.datasum(), expected) << "of bands from below";
    }
    std::uint32_t sum = 0;
    for (int y = 0; y < 30; y += 10) {
      FitsRows<float> rows(path);
      read(rows, y, y == 0 ? 7 : 10);
      sum = kastor::io::sum_of_datasums(sum, rows.datasum(y, 10));
    }
    EXPECT_EQ(sum, expected) << "of parts";
    FitsRows<float> rows(path);
    EXPECT_EQ(rows.datasum(7, 0), 0u);
  }
}

TEST(FitsRows, ThePartsOfAPlaneHoldTheBytesAroundIt) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("cube.fits");
  FitsMaker(path).image(BYTE_IMG, {7, 5, 3}, TFLOAT, slope(105));
  ReadOptions options;
  options.plane = 1;
  const auto image = testing_support::read_both_ways(path, options);
  FitsRows<float> rows(path, options);
  std::uint32_t sum = 0;
  for (int y = 0; y < 5; ++y) sum = kastor::io::sum_of_datasums(sum, rows.datasum(y, 1));
  EXPECT_EQ(sum, image.datasum);
  EXPECT_EQ(rows.about().plane, 1);
}

TEST(FitsRows, ArgumentsAreChecked) {
  const ScratchDirectory scratch;
  FitsRows<float> rows(plain_image(scratch));
  std::vector<float> pixels(41 * 30 + 1);
  const auto memory = [&](std::size_t count) { return std::span(pixels).first(count); };
  for (const auto& part : {std::pair{-1, 1}, {30, 1}, {0, 31}, {29, 2}, {3, -1}}) {
    EXPECT_SAYS(error_of([&] { rows.read(part.first, part.second, memory(41)); }),
                "expected rows of the 30");
    EXPECT_SAYS(error_of([&] { (void)rows.datasum(part.first, part.second); }),
                "expected rows of the 30");
  }
  EXPECT_SAYS(error_of([&] { rows.read(0, 1, memory(40)); }), "memory for 40 pixels; expected 41");
  EXPECT_SAYS(error_of([&] { rows.read_pixels(0, memory(41 * 30 + 1)); }), "expected some of 1230");
  EXPECT_SAYS(error_of([&] { rows.read_pixels(-1, memory(1)); }), "expected some of 1230");
  EXPECT_SAYS(error_of([&] { rows.read_pixels(1230, memory(1)); }), "expected some of 1230");
}

TEST(FitsRows, TheTypeIsThatOfTheImage) {
  const ScratchDirectory scratch;
  const std::string path = plain_image(scratch);
  EXPECT_TRUE(std::holds_alternative<std::unique_ptr<FitsRows<float>>>(open_rows(path)));
  EXPECT_SAYS(error_of([&] { FitsRows<double> rows(path); }),
              "plain.fits[0]: the pixels are read as float32; expected float64");
  const std::string integers = scratch.file("integers.fits");
  FitsMaker(integers).image(LONG_IMG, {41, 30}, TFLOAT, slope(41 * 30));
  EXPECT_TRUE(std::holds_alternative<std::unique_ptr<FitsRows<double>>>(open_rows(integers)));
}

TEST(FitsRows, PackedFilesAreRefusedBeforeTheyAreUnpacked) {
  const ScratchDirectory scratch;
  // To unpack these would fail with another message.
  write_bytes(scratch.file("a.fits.gz"), std::string("\x1f\x8b") + std::string(40, '\0'));
  EXPECT_SAYS(rows_error(scratch.file("a.fits.gz")),
              "a.fits.gz: is compressed as a whole by gzip, so it cannot be read by rows; expected "
              "the unpacked file (gzip -d), or an image that fits into memory");
  write_bytes(scratch.file("a.fits.bz2"), "BZh9" + std::string(40, '\0'));
  EXPECT_SAYS(rows_error(scratch.file("a.fits.bz2")), "unpacked file (bzip2 -d)");
  const std::string pipe = scratch.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_SAYS(rows_error(pipe), "is not a regular file (a pipe, socket or device)");
  EXPECT_SAYS(rows_error("http://localhost/a.fits"), "no such file");
}

TEST(FitsRows, TruncatedFilesAreRefusedAsByTheWholeReader) {
  const ScratchDirectory scratch;
  for (const std::string& path : {plain_image(scratch), tiled_image(scratch)}) {
    const std::string whole = read_all(path);
    const std::size_t end = whole.find_last_not_of('\0');
    for (const std::size_t length : {end - 10, end - 500}) {
      write_bytes(path, whole.substr(0, length));
      const std::string expected = read_error(path);
      EXPECT_EQ(rows_error(path), expected);
      EXPECT_SAYS(expected, "data truncated");
    }
  }
}

TEST(FitsRows, AFileThatShrinksIsAnError) {
  const ScratchDirectory scratch;
  const std::string path = plain_image(scratch);
  FitsRows<float> rows(path);
  std::filesystem::resize_file(path, 2880 + 4 * 41 * 3);
  std::vector<float> pixels(41);
  rows.read(2, 1, pixels);
  EXPECT_SAYS(error_of([&] { rows.read(3, 1, pixels); }), "data truncated while they were read");
}

TEST(FitsRows, ADamagedTileIsAnErrorOfItsRowsOnly) {
  const ScratchDirectory scratch;
  const std::string path = tiled_image(scratch);
  std::string bytes = read_all(path);
  // The heap follows the 12 rows of the table; the last tile is at its end.
  const auto last = bytes.find_last_not_of('\0');
  bytes[last - 9] = static_cast<char>(~bytes[last - 9]);
  write_bytes(path, bytes);
  const std::string expected = read_error(path);
  EXPECT_SAYS(expected, "tile 12 of 12");
  FitsRows<float> rows(path);
  std::vector<float> pixels(41 * 8);
  rows.read(16, 8, pixels);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(error_of([&] { rows.read(24, 1, std::span(pixels).first(41)); }), expected);
    EXPECT_EQ(error_of([&] { rows.read(24, 6, std::span(pixels).first(41 * 6)); }), expected);
  }
  rows.read(23, 1, std::span(pixels).first(41));
  EXPECT_EQ(pixels[0], 41 * 23 + 0.25f);
}

TEST(FitsRows, TheLimitOfMemoryHoldsForARowOfTiles) {
  const ScratchDirectory scratch;
  const std::string path = tiled_image(scratch);
  ReadOptions options;
  options.max_unpacked = 4 * 41 * 8 + 16 * 16 * 8;
  EXPECT_SAYS(read_error(path, options), "the image unpacks to 4920 bytes");
  const auto image = kastor::io::read_image(path);
  FitsRows<float> rows(path, options);
  RowCheck<float> check(rows, pixels_of<float>(image));
  check.band(3, 20);
  --options.max_unpacked;
  EXPECT_SAYS(rows_error(path, options), "a row of tiles unpacks to 1312 bytes");
}

TEST(FitsRows, AnImageMayBeLargerThanMemory) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("large.fits");
  constexpr std::int64_t n = std::int64_t{1} << 20;  // 4 TiB, of which nearly all is a hole
  write_bytes(path, HandMadeHdu::image(-32, {n, n}).bytes());
  if (::truncate(path.c_str(), 2880 + 4 * n * n) != 0)
    GTEST_SKIP() << "needs a file system for files of 4 TiB";
  EXPECT_SAYS(read_error(path), "more than this machine's memory");
  FitsRows<float> rows(path);
  std::vector<float> pixels(static_cast<std::size_t>(n), 1.0f);
  rows.read(n - 1, 1, pixels);
  EXPECT_EQ(pixels.back(), 0.0f);
  rows.read_pixels(n * n - 3, std::span(pixels).first(3));
}

}  // namespace
