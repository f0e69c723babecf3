// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <kastor/io/fits_image.hpp>
#include <limits>

#include "rows_as_read.hpp"

namespace {

using namespace testing_support;
using testing_support::read_both_ways;

constexpr float k_float_nan = std::numeric_limits<float>::quiet_NaN();

std::string bytes_of_values(const auto& values) {
  std::string bytes;
  for (const auto value : values) {
    for (int shift = 8 * static_cast<int>(sizeof value) - 8; shift >= 0; shift -= 8) {
      bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> shift);
    }
  }
  return bytes;
}

TEST(FitsPixels, BytesBecomeFloat) {
  const ScratchDirectory scratch;
  FitsMaker(scratch.file("a.fits"))
      .image<unsigned char>(BYTE_IMG, {3, 2}, TBYTE, {0, 1, 2, 253, 254, 255});
  const auto image = read_both_ways(scratch.file("a.fits"));
  ASSERT_EQ(image.ny, 2);
  ASSERT_EQ(image.nx, 3);
  EXPECT_EQ(image.hdu.pixel_type, "float32");
  const auto& pixels = pixels_of<float>(image);
  EXPECT_EQ(pixels(0, 1), 1.0f);
  EXPECT_EQ(pixels(1, 2), 255.0f);
  EXPECT_EQ(image.datasum, cfitsio_datasum(scratch.file("a.fits"), 0));
}

TEST(FitsPixels, ScaledShortsAreRoundedOnceFromDouble) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  FitsMaker(path)
      .image<short>(SHORT_IMG, {3, 1}, TSHORT, {-32768, 7, 32767})
      .key("BSCALE", 0.045777764213996)
      .key("BZERO", 1500.0);
  const auto image = read_both_ways(path);
  const auto& pixels = pixels_of<float>(image);
  EXPECT_EQ(pixels(0, 0), static_cast<float>(-32768 * 0.045777764213996 + 1500.0));
  EXPECT_EQ(pixels(0, 1), static_cast<float>(7 * 0.045777764213996 + 1500.0));
  EXPECT_EQ(image.hdu.bscale, 0.045777764213996);
}

TEST(FitsPixels, UnsignedConventionsKeepTheirValues) {
  const ScratchDirectory scratch;
  FitsMaker(scratch.file("u16.fits"))
      .image<unsigned short>(USHORT_IMG, {2, 2}, TUSHORT, {0, 1, 32768, 65535});
  const auto u16 = read_both_ways(scratch.file("u16.fits"));
  EXPECT_EQ(pixels_of<float>(u16)(0, 0), 0.0f);
  EXPECT_EQ(pixels_of<float>(u16)(1, 1), 65535.0f);

  FitsMaker(scratch.file("u32.fits"))
      .image<unsigned int>(ULONG_IMG, {2, 1}, TUINT, {0u, 4294967295u});
  const auto u32 = read_both_ways(scratch.file("u32.fits"));
  EXPECT_EQ(u32.hdu.pixel_type, "float64");
  EXPECT_EQ(pixels_of<double>(u32)(0, 1), 4294967295.0);

  const std::uint64_t odd = (std::uint64_t{1} << 52) + 1;
  const std::vector<std::uint64_t> stored{odd ^ (std::uint64_t{1} << 63),
                                          ~std::uint64_t{0} ^ (std::uint64_t{1} << 63)};
  write_bytes(scratch.file("u64.fits"), HandMadeHdu::image(64, {2, 1})
                                            .card("BZERO", "9223372036854775808")
                                            .bytes(bytes_of_values(stored)));
  const auto u64 = read_both_ways(scratch.file("u64.fits"));
  EXPECT_EQ(pixels_of<double>(u64)(0, 0), static_cast<double>(odd));
  EXPECT_EQ(pixels_of<double>(u64)(0, 1), 0x1p64);
}

TEST(FitsPixels, LongIntegersBecomeDouble) {
  const ScratchDirectory scratch;
  FitsMaker(scratch.file("i32.fits")).image<int>(LONG_IMG, {2, 1}, TINT, {-2147483647, 123456789});
  EXPECT_EQ(pixels_of<double>(read_both_ways(scratch.file("i32.fits")))(0, 1), 123456789.0);
  FitsMaker(scratch.file("i64.fits"))
      .image<LONGLONG>(LONGLONG_IMG, {2, 1}, TLONGLONG, {-(1LL << 53), (1LL << 53) - 1});
  const auto image = read_both_ways(scratch.file("i64.fits"));
  EXPECT_EQ(pixels_of<double>(image)(0, 0), -0x1p53);
  EXPECT_EQ(pixels_of<double>(image)(0, 1), 0x1p53 - 1);
}

TEST(FitsPixels, FloatsKeepEveryBit) {
  const ScratchDirectory scratch;
  const std::vector<std::uint32_t> stored{0x80000000, 0x00000001, 0x7f800000,
                                          0xff800000, 0x7fc00000, 0x7f7fffff};
  write_bytes(scratch.file("a.fits"),
              HandMadeHdu::image(-32, {3, 2}).bytes(bytes_of_values(stored)));
  const auto image = read_both_ways(scratch.file("a.fits"));
  const auto& pixels = pixels_of<float>(image);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(pixels.data()[i]), stored[i]);
  EXPECT_EQ(image.datasum, cfitsio_datasum(scratch.file("a.fits"), 0));
}

TEST(FitsPixels, FloatsAreScaledToo) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  FitsMaker(path)
      .image<double>(DOUBLE_IMG, {2, 1}, TDOUBLE, {1.5, -2.0})
      .key("BSCALE", 2.0)
      .key("BZERO", 10.0);
  EXPECT_EQ(pixels_of<double>(read_both_ways(path))(0, 0), 13.0);
  const std::string single = scratch.file("b.fits");
  FitsMaker(single).image<float>(FLOAT_IMG, {2, 1}, TFLOAT, {1.5f, k_float_nan}).key("BSCALE", 2.0);
  EXPECT_EQ(pixels_of<float>(read_both_ways(single))(0, 0), 3.0f);
  EXPECT_TRUE(std::isnan(pixels_of<float>(read_both_ways(single))(0, 1)));
}

TEST(FitsPixels, BlankAppliesToIntegersOnly) {
  const ScratchDirectory scratch;
  const std::string integers = scratch.file("i.fits");
  FitsMaker(integers)
      .image<short>(SHORT_IMG, {3, 1}, TSHORT, {-1, 0, 1})
      .key("BLANK", -1)
      .key("BZERO", 5.0);
  const auto image = read_both_ways(integers);
  EXPECT_TRUE(std::isnan(pixels_of<float>(image)(0, 0)));
  EXPECT_EQ(pixels_of<float>(image)(0, 1), 5.0f);
  EXPECT_EQ(image.hdu.blank, -1);

  const std::string floats = scratch.file("f.fits");
  FitsMaker(floats)
      .image<float>(FLOAT_IMG, {3, 1}, TFLOAT, {-1.0f, 0.0f, k_float_nan})
      .key("BLANK", -1);
  EXPECT_EQ(pixels_of<float>(read_both_ways(floats))(0, 0), -1.0f);
  EXPECT_TRUE(std::isnan(pixels_of<float>(read_both_ways(floats))(0, 2)));
}

TEST(FitsPixels, RefusesAScaleThatIsNoNumber) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.fits"),
              HandMadeHdu::image(16, {2, 1}).card("BSCALE", "'two'").bytes(std::string(4, '\1')));
  const std::string text = read_error(scratch.file("a.fits"));
  EXPECT_SAYS(text, "BSCALE is not a number");
}

TEST(FitsPixels, AllOnesDatasumIsNotFoldedToZero) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.fits"),
              HandMadeHdu::image(8, {720, 4}).bytes(std::string(2880, '\xff')));
  EXPECT_EQ(read_both_ways(scratch.file("a.fits")).datasum, 0xffffffffu);
  EXPECT_EQ(cfitsio_datasum(scratch.file("a.fits"), 0), 0xffffffffu);
}

class TileCompression : public testing::TestWithParam<int> {};

TEST_P(TileCompression, IntegersComeBack) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  std::vector<short> values(200 * 100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<short>((i * 37) % 1000);
  {
    FitsMaker maker(path);
    fits_set_compression_type(maker.get(), GetParam(), &maker.status());
    maker.image<short>(SHORT_IMG, {200, 100}, TSHORT, values).key("BZERO", 100.0);
  }
  const auto image = read_both_ways(path);
  EXPECT_EQ(image.hdu.kind, "compressed image");
  EXPECT_EQ(image.hdu.index, 1);
  EXPECT_EQ(image.hdu.pixel_type, "float32");
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(pixels_of<float>(image).data()[i], static_cast<float>(values[i]) + 100.0f) << i;
  }
  EXPECT_EQ(image.datasum, cfitsio_datasum(path, 1));
}

INSTANTIATE_TEST_SUITE_P(Methods, TileCompression,
                         testing::Values(RICE_1, GZIP_1, GZIP_2, HCOMPRESS_1, PLIO_1));

TEST(FitsPixels, CompressedFloatsKeepTheirTypeAndNaN) {
  const ScratchDirectory scratch;
  for (const bool lossless : {true, false}) {
    for (const int bitpix : {FLOAT_IMG, DOUBLE_IMG}) {
      const std::string path =
          scratch.file(std::string(lossless ? "l" : "q") + std::to_string(-bitpix) + ".fits");
      std::vector<double> values(64 * 64);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::sin(static_cast<double>(i)) * 10.0;
      values[70] = -999.0;                  // becomes the null value
      values[71] = lossless ? 1e-40 : 1.0;  // denormal as a float
      {
        FitsMaker maker(path);
        fits_set_compression_type(maker.get(), lossless ? GZIP_2 : RICE_1, &maker.status());
        if (lossless) fits_set_quantize_level(maker.get(), 0.0f, &maker.status());
        long axes[2] = {64, 64};
        fits_create_img(maker.get(), bitpix, 2, axes, &maker.status());
        double null = -999.0;
        long first[2] = {1, 1};
        fits_write_pixnull(maker.get(), TDOUBLE, first, 64 * 64, values.data(), &null,
                           &maker.status());
      }
      const auto image = read_both_ways(path);
      EXPECT_EQ(image.hdu.bitpix, bitpix);
      EXPECT_EQ(image.hdu.pixel_type, bitpix == FLOAT_IMG ? "float32" : "float64");
      std::visit(
          [&](const auto& pixels) {
            using T = typename std::decay_t<decltype(pixels)>::value_type;
            EXPECT_TRUE(std::isnan(pixels.data()[70])) << path;
            for (std::size_t i = 0; i < values.size(); ++i) {
              if (i == 70) continue;
              if (lossless) {
                ASSERT_EQ(pixels.data()[i], static_cast<T>(values[i])) << path << " " << i;
              } else {
                ASSERT_NEAR(pixels.data()[i], values[i], 1.5) << path << " " << i;
              }
            }
          },
          image.pixels);
    }
  }
}

TEST(FitsPixels, CompressedBlankIntegersBecomeNaN) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  {
    FitsMaker maker(path);
    fits_set_compression_type(maker.get(), RICE_1, &maker.status());
    long axes[2] = {20, 10};
    fits_create_img(maker.get(), LONG_IMG, 2, axes, &maker.status());
    maker.key("BLANK", -99);
    std::vector<int> values(200, 5);
    values[3] = -99;
    fits_write_img(maker.get(), TINT, 1, 200, values.data(), &maker.status());
  }
  const auto image = read_both_ways(path);
  EXPECT_TRUE(std::isnan(pixels_of<double>(image)(0, 3)));
  EXPECT_EQ(pixels_of<double>(image)(0, 4), 5.0);
}

}  // namespace
