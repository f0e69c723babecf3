// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "io/fits/tiles/gzip.hpp"
#include "io/fits/tiles/quantize.hpp"
#include "io/fits/tiles/rice.hpp"
#include "tile_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::detail::decode_rice;
using kastor::io::detail::Dither;
using kastor::io::detail::Quantization;
using kastor::io::detail::undo_quantize;
using testing::HasSubstr;
using testing::Optional;

template <class T>
auto bits_of(const std::vector<T>& values) {
  std::vector<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>> bits;
  for (const T value : values)
    bits.push_back(
        std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(value));
  return bits;
}

template <class T>
std::vector<T> some_floats(std::size_t count, bool with_zeros, bool with_nan) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(20, 4);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(noise(random) + (i % 97 == 0 ? 1e4 : 0));
    if (with_zeros && i % 11 == 3) values[i] = 0;
    if (with_nan && i % 13 == 5) values[i] = std::numeric_limits<T>::quiet_NaN();
  }
  return values;
}

/// Compares with CFITSIO's reading, tile by tile, as float and as double.
template <class T>
void compare_with_cfitsio(long nx, long ny, int method, int seed, bool with_nan) {
  const auto count = static_cast<std::size_t>(nx);
  const auto values = some_floats<T>(count * static_cast<std::size_t>(ny), true, with_nan);
  PackedImage image(RICE_1, sizeof(T) == 4 ? FLOAT_IMG : DOUBLE_IMG, {nx, ny}, {nx, 1},
                    sizeof(T) == 4 ? TFLOAT : TDOUBLE, values, [&](fitsfile* fits, int* status) {
                      fits_set_quantize_method(fits, method, status);
                      fits_set_dither_seed(fits, seed, status);
                      fits_set_quantize_level(fits, 4, status);
                    });
  const auto as_double = image.read<double>(TDOUBLE, values.size());
  const auto as_float = image.read<float>(TFLOAT, values.size());
  std::size_t nans = 0;
  std::size_t zeros = 0;
  for (long row = 1; row <= ny; ++row) {
    Integers integers(count);
    decode_rice(image.tile(row), 32, 4, integers);
    Quantization how;
    how.scale = image.number(row, "ZSCALE");
    how.zero = image.number(row, "ZZERO");
    how.dither = method == NO_DITHER              ? Dither::none
                 : method == SUBTRACTIVE_DITHER_1 ? Dither::subtractive_1
                                                  : Dither::subtractive_2;
    how.tile = row;
    how.seed = image.key("ZDITHER0").value_or(1);
    how.blank = image.key("ZBLANK");
    std::vector<double> doubles(count);
    std::vector<float> floats(count);
    undo_quantize(integers, how, std::span(doubles));
    undo_quantize(integers, how, std::span(floats));
    const auto begin = static_cast<std::ptrdiff_t>(count) * (row - 1);
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    ASSERT_EQ(bits_of(doubles),
              bits_of(std::vector<double>(as_double.begin() + begin, as_double.begin() + end)));
    ASSERT_EQ(bits_of(floats),
              bits_of(std::vector<float>(as_float.begin() + begin, as_float.begin() + end)));
    for (const double value : doubles) {
      if (std::isnan(value)) ++nans;
      if (value == 0) ++zeros;
    }
  }
  EXPECT_EQ(nans > 0, with_nan);
  if (method == SUBTRACTIVE_DITHER_2) {
    EXPECT_GT(zeros, 0U);
  }
}

TEST(Quantize, GivesTheBitsOfCfitsio) {
  for (const int method : {NO_DITHER, SUBTRACTIVE_DITHER_1, SUBTRACTIVE_DITHER_2}) {
    for (const bool with_nan : {false, true}) {
      for (const int seed : {1, 4321, 9999, 10000}) {
        SCOPED_TRACE(testing::Message() << "method " << method << ", seed " << seed);
        compare_with_cfitsio<float>(50, 7, method, seed, with_nan);
        compare_with_cfitsio<double>(50, 7, method, seed, with_nan);
      }
      // Longer than the list of random numbers, three times.
      compare_with_cfitsio<float>(32003, 2, method, 9999, with_nan);
      compare_with_cfitsio<double>(32003, 2, method, 10000, with_nan);
    }
  }
}

TEST(Quantize, ByTheFormula) {
  const Integers integers = {-2147483648, -2147483647, -2147483646, 0, 7, 2147483647};
  Quantization how{.scale = 0.1, .zero = -3};
  std::vector<double> out(6);
  undo_quantize(integers, how, std::span(out));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(out[i], integers[i] * 0.1 - 3);
  how.blank = 7;
  undo_quantize(integers, how, std::span(out));
  EXPECT_TRUE(std::isnan(out[4]));
  EXPECT_EQ(out[3], -3);

  // The first number of the list is 16807 / (2^31 - 1): by it, the list begins at 0.
  how.blank = std::nullopt;
  const double first = static_cast<float>(16807.0 / 2147483647.0);
  for (const Dither dither : {Dither::subtractive_1, Dither::subtractive_2}) {
    how.dither = dither;
    undo_quantize(Integers{5}, how, std::span(out).first(1));
    EXPECT_EQ(out[0], (5 - first + 0.5) * 0.1 - 3);
    undo_quantize(Integers{-2147483646}, how, std::span(out).first(1));
    EXPECT_EQ(out[0] == 0, dither == Dither::subtractive_2);
  }
  undo_quantize(Integers{}, how, std::span(out).first(0));

  // The numbers of tiles and seeds add up, modulo 10000.
  const auto value_at = [&](std::int64_t tile, std::int64_t seed) {
    how.tile = tile;
    how.seed = seed;
    undo_quantize(Integers{5}, how, std::span(out).first(1));
    return out[0];
  };
  EXPECT_EQ(value_at(20, 30), value_at(1, 49));
  EXPECT_EQ(value_at(10001, 1), value_at(1, 1));
  EXPECT_NE(value_at(2, 1), value_at(1, 1));
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(value_at(most, most), value_at((most - 1) % 10000 * 2 % 10000 + 1, 1));
}

TEST(Quantize, WhatCannotBeIsRefused) {
  std::vector<float> out(2);
  EXPECT_THAT(refusal_of([&] { undo_quantize(Integers{1}, {}, std::span(out)); }),
              Optional(HasSubstr("expected as many")));
  Quantization how{.dither = Dither::subtractive_1, .seed = 0};
  EXPECT_THAT(refusal_of([&] {
                undo_quantize(Integers{1, 2}, how, std::span(out));
              }),
              Optional(HasSubstr("ZDITHER0=0; expected 1 to 10000")));
  how = {.dither = Dither::subtractive_2, .tile = 0};
  EXPECT_THAT(refusal_of([&] {
                undo_quantize(Integers{1, 2}, how, std::span(out));
              }),
              Optional(HasSubstr("tile's number is 0")));
}

}  // namespace
