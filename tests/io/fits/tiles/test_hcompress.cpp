// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/fits/tiles/hcompress.hpp"
#include "tile_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::detail::decode_hcompress;
using kastor::io::detail::HcompressArithmetic;
using testing::HasSubstr;
using testing::Optional;

struct Shape {
  int nx, ny;
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(nx * ny); }
};
constexpr auto both_arithmetics = {HcompressArithmetic::bits32, HcompressArithmetic::bits64};

Bytes hcompressed(const Integers& values, Shape shape, int scale, HcompressArithmetic arithmetic) {
  Bytes bytes(values.size() * 20 + 1000);
  auto size = static_cast<long>(bytes.size());
  int status = 0;
  auto* out = reinterpret_cast<char*>(bytes.data());
  if (arithmetic == HcompressArithmetic::bits32) {
    std::vector<int> copy(values.begin(), values.end());
    fits_hcompress(copy.data(), shape.nx, shape.ny, scale, out, &size, &status);
  } else {
    std::vector<LONGLONG> copy(values.begin(), values.end());
    fits_hcompress64(copy.data(), shape.nx, shape.ny, scale, out, &size, &status);
  }
  EXPECT_EQ(status, 0);
  bytes.resize(static_cast<std::size_t>(size));
  return bytes;
}

Integers by_cfitsio(Bytes data, bool smooth, Shape shape, HcompressArithmetic arithmetic) {
  std::vector<LONGLONG> room(shape.size() + 8);
  auto* values = reinterpret_cast<int*>(room.data());
  int nx = 0;
  int ny = 0;
  int scale = 0;
  int status = 0;
  data.resize(data.size() + 16);
  if (arithmetic == HcompressArithmetic::bits32) {
    fits_hdecompress(data.data(), smooth, values, &nx, &ny, &scale, &status);
  } else {
    fits_hdecompress64(data.data(), smooth, room.data(), &nx, &ny, &scale, &status);
  }
  EXPECT_EQ(status, 0);
  EXPECT_EQ(nx, shape.nx);
  EXPECT_EQ(ny, shape.ny);
  return {values, values + shape.size()};
}

Integers hcompress_values(const Bytes& data, bool smooth, Shape shape,
                          HcompressArithmetic arithmetic = HcompressArithmetic::bits64) {
  Integers out(shape.size(), -1);
  decode_hcompress(data, smooth, shape.nx, shape.ny, arithmetic, out);
  return out;
}

TEST(Hcompress, DecodesWhatCfitsioDoes) {
  for (const Shape shape : {Shape{4, 4},
                            {5, 4},
                            {4, 7},
                            {7, 5},
                            {16, 16},
                            {17, 31},
                            {64, 5},
                            {5, 64},
                            {101, 37},
                            {128, 33}}) {
    for (const auto& [low, high] : {std::pair{0LL, 255LL},
                                    {-128LL, 127LL},
                                    {-32768LL, 32767LL},
                                    {-2147483648LL, 2147483647LL}}) {
      for (const auto& values : integers_of_all_kinds(shape.size(), low, high, 1)) {
        for (const auto arithmetic : both_arithmetics) {
          if (arithmetic == HcompressArithmetic::bits32 && high > 40000) continue;
          for (const int scale : {0, 1, 2, 5, 100}) {
            const Bytes data = hcompressed(values, shape, scale, arithmetic);
            for (const bool smooth : {false, true}) {
              const Integers found = hcompress_values(data, smooth, shape, arithmetic);
              ASSERT_EQ(found, by_cfitsio(data, smooth, shape, arithmetic))
                  << shape.nx << " x " << shape.ny << ", scale " << scale << ", smooth " << smooth;
              if (scale <= 1) {
                ASSERT_EQ(found, values);
              }
            }
          }
        }
      }
    }
  }
}

/// Smooth ramps, on which smoothing has something to do.
TEST(Hcompress, SmoothsAsCfitsioDoes) {
  for (const Shape shape : {Shape{32, 32}, {33, 50}, {61, 7}}) {
    Integers values(shape.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t row = i / static_cast<std::size_t>(shape.nx);
      const auto x = static_cast<double>(i % static_cast<std::size_t>(shape.nx));
      const auto y = static_cast<double>(row);
      values[i] = static_cast<std::int32_t>(
          3000 * std::exp(-(x - 15) * (x - 15) / 80 - (y - 9) * (y - 9) / 50) - 7 * x);
    }
    for (const int scale : {10, 64, 255}) {
      for (const auto arithmetic : both_arithmetics) {
        const Bytes data = hcompressed(values, shape, scale, arithmetic);
        const Integers smoothed = hcompress_values(data, true, shape, arithmetic);
        EXPECT_EQ(smoothed, by_cfitsio(data, true, shape, arithmetic));
        EXPECT_NE(smoothed, hcompress_values(data, false, shape, arithmetic));
      }
    }
  }
}

/// Shapes that CFITSIO does not give its tiles, but others may.
TEST(Hcompress, DecodesLinesAndSingleValues) {
  for (const Shape shape :
       {Shape{2, 1}, {1, 2}, {3, 1}, {1, 3}, {2, 2}, {3, 3}, {1, 13}, {40, 1}, {2, 9}}) {
    for (const auto& values : integers_of_all_kinds(shape.size(), -1000, 1000, 2)) {
      const Bytes data = hcompressed(values, shape, 0, HcompressArithmetic::bits64);
      ASSERT_EQ(hcompress_values(data, false, shape), values) << shape.nx << " x " << shape.ny;
      if (shape.nx == 1 || shape.ny == 1) {
        EXPECT_EQ(hcompress_values(data, false, {shape.ny, shape.nx}), values);
      }
    }
  }
  // The sum is all that one value needs: no bit plane, an end, no sign.
  Bytes one = {0xdd, 0x99, 0,    0,    0,    1,    0,    0,    0,    1, 0, 0, 0,
               0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfb, 0, 0, 0, 0};
  EXPECT_EQ(hcompress_values(one, false, {1, 1}), (Integers{-5}));
}

TEST(Hcompress, ReadsTilesOfAFile) {
  const auto values = integers_of_all_kinds(30 * 20, -32768, 32767, 3)[3];
  PackedImage image = packed_integers(HCOMPRESS_1, SHORT_IMG, {30, 20}, {30, 10}, values);
  Integers found = hcompress_values(image.tile(1), false, {30, 10}, HcompressArithmetic::bits32);
  const Integers second =
      hcompress_values(image.tile(2), false, {30, 10}, HcompressArithmetic::bits32);
  found.insert(found.end(), second.begin(), second.end());
  EXPECT_EQ(found, values);
}

TEST(Hcompress, DataThatEndTooEarlyAreRefused) {
  const Shape shape{9, 11};
  for (const std::size_t kind : {1U, 3U, 5U}) {
    const auto values = integers_of_all_kinds(shape.size(), -1000, 1000, 4)[kind];
    const Bytes data = hcompressed(values, shape, 0, HcompressArithmetic::bits64);
    for (std::size_t size = 0; size < data.size(); ++size) {
      const Bytes part(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_THAT(refusal_of([&] { hcompress_values(part, true, shape); }),
                  Optional(HasSubstr(size < 25 ? "expected a header of 25" : "data end before")))
          << size << " of " << data.size();
    }
  }
}

TEST(Hcompress, DamagedHeadersAreRefused) {
  const Shape shape{9, 11};
  const Bytes good = hcompressed(integers_of_all_kinds(99, -1000, 1000, 5)[1], shape, 0,
                                 HcompressArithmetic::bits64);
  struct Case {
    std::size_t place;
    std::uint8_t byte;
    const char* says;
  };
  for (const auto& [place, byte, says] : {Case{0, 0xdc, "begin with DC 99"},
                                          {1, 0, "begin with DD 00"},
                                          {5, 12, "9 x 12 values; expected 9 x 11"},
                                          {9, 8, "8 x 11 values; expected 9 x 11"},
                                          {2, 0x80, "values; expected 9 x 11"},
                                          {10, 0x80, "scale is -2147483648"},
                                          {22, 65, "65 bit planes; expected 0 to 64"},
                                          {23, 255, "255 bit planes; expected 0 to 64"}}) {
    Bytes data = good;
    data[place] = byte;
    EXPECT_THAT(refusal_of([&] { hcompress_values(data, false, shape); }),
                Optional(HasSubstr(says)));
  }
  Bytes data = good;
  data[24] = 33;
  EXPECT_THAT(
      refusal_of([&] { hcompress_values(data, false, shape, HcompressArithmetic::bits32); }),
      Optional(HasSubstr("33 bit planes; expected 0 to 32")));
  EXPECT_THAT(refusal_of([&] {
                hcompress_values(good, false, {11, 9});
              }),
              Optional(HasSubstr("9 x 11 values; expected 11 x 9")));
  data = good;
  data[25] = 0x70;
  EXPECT_THAT(refusal_of([&] { hcompress_values(data, false, shape); }),
              Optional(HasSubstr("format 7; expected 0 or 15")));
}

TEST(Hcompress, DamagedDataAreDecodedOrRefused) {
  for (const Shape shape : {Shape{4, 4}, {21, 17}, {1, 30}}) {
    for (const auto& values : integers_of_all_kinds(shape.size(), -30000, 30000, 6)) {
      for (const auto arithmetic : both_arithmetics) {
        const Bytes data = hcompressed(values, shape, 3, arithmetic);
        const int refused = decode_damaged(data, 7, 600, [&](const Bytes& damaged) {
          hcompress_values(damaged, true, shape, arithmetic);
        });
        EXPECT_GT(refused, 100);
        // The header as it was, with as many bit planes as there may be.
        Bytes whole = data;
        const auto planes = arithmetic == HcompressArithmetic::bits32 ? 32 : 64;
        std::fill(whole.begin() + 22, whole.begin() + 25, static_cast<std::uint8_t>(planes));
        whole.resize(20000);
        decode_damaged(Bytes(19975), 8, 100, [&](const Bytes& damaged) {
          std::copy(damaged.begin(), damaged.end(), whole.begin() + 25);
          hcompress_values(whole, true, shape, arithmetic);
        });
      }
    }
  }
}

}  // namespace
