// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fits_support.hpp"
#include "io/picture/axes.hpp"
#include "io/picture/colour_map.hpp"
#include "io/picture/geometry.hpp"
#include "io/picture/intensity.hpp"
#include "io/picture/marks.hpp"
#include "io/picture/pixel_grid.hpp"
#include "io/picture/sky_ticks.hpp"
#include "io/picture/text.hpp"
#include "io/picture/ticks.hpp"

namespace {

using namespace kastor::io::picture;
using namespace testing_support;
using kastor::io::ColourMap;
using kastor::io::IntensityScale;
using kastor::io::PictureLook;
using kastor::io::PictureParams;

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double k_infinity = std::numeric_limits<double>::infinity();

template <class T>
PixelGrid grid(const std::vector<T>& values, std::int64_t nx) {
  return GridOf<T>{values.data(), static_cast<std::int64_t>(values.size()) / nx, nx, nx};
}

// --------------------------------------------------------------------------- colours

TEST(ColourMaps, BrightnessRisesOrFallsAllTheWay) {
  const auto brightness = [](Colour c) {
    return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue;
  };
  for (const auto map : {ColourMap::grey, ColourMap::viridis, ColourMap::cubehelix}) {
    const auto colours = colours_of(map);
    for (std::size_t i = 1; i < colours.size(); ++i) {
      EXPECT_GT(brightness(colours[i]), brightness(colours[i - 1]) - 1.0) << i;
    }
  }
}

TEST(ColourMaps, HaveNoColourLikeThatOfBlankPixels) {
  for (const auto map :
       {ColourMap::grey, ColourMap::inverted_grey, ColourMap::viridis, ColourMap::cubehelix}) {
    for (const Colour c : colours_of(map)) {
      const double distance =
          std::hypot(c.red - k_blank.red, c.green - k_blank.green, c.blue - k_blank.blue);
      EXPECT_GT(distance, 25.0);
    }
  }
}

// --------------------------------------------------------------------------- scales and limits

TEST(Intensities, GoFrom0To1) {
  for (const auto scale : {IntensityScale::linear, IntensityScale::log, IntensityScale::asinh}) {
    const Intensity intensity(scale, {2.0, 200.0});
    EXPECT_NEAR(intensity.position(2.0), 0.0, 1e-15);
    EXPECT_NEAR(intensity.position(200.0), 1.0, 1e-15);
    EXPECT_LT(intensity.position(1.0), 0.0);
    EXPECT_GT(intensity.position(300.0), 1.0);
  }
  EXPECT_DOUBLE_EQ(Intensity(IntensityScale::linear, {2, 200}).position(101), 0.5);
  EXPECT_NEAR(Intensity(IntensityScale::log, {2, 200}).position(20), 0.5, 1e-15);
  EXPECT_NEAR(Intensity(IntensityScale::asinh, {0, 1}).position(0.1),
              std::asinh(1.0) / std::asinh(10.0), 1e-15);
  EXPECT_LT(Intensity(IntensityScale::log, {2, 200}).position(-5), 0.0);
  // The range of doubles is no trap.
  constexpr double largest = std::numeric_limits<double>::max();
  EXPECT_DOUBLE_EQ(Intensity(IntensityScale::linear, {-largest, largest}).position(0), 0.5);
}

TEST(PictureLimits, ArePercentilesOfTheFinitePixels) {
  std::vector<float> values(101);
  std::iota(values.begin(), values.end(), 0.0F);
  std::reverse(values.begin(), values.end());
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  values.push_back(std::numeric_limits<float>::infinity());
  PictureParams params;
  params.lower_percentile = 10.25;
  params.upper_percentile = 100;
  auto limits = limits_of(grid(values, 103), params);
  EXPECT_DOUBLE_EQ(limits.low, 10.25);
  EXPECT_DOUBLE_EQ(limits.high, 100);
  params.minimum = -3;
  limits = limits_of(grid(values, 103), params);
  EXPECT_EQ(limits.low, -3);
  EXPECT_DOUBLE_EQ(limits.high, 100);
}

TEST(PictureLimits, LeaveTheSkyVisibleBesideABrightStar) {
  std::vector<float> values(101);
  std::iota(values.begin(), values.end(), 0.0F);
  values.back() = 1e5F;
  PictureParams params;
  params.lower_percentile = 0;
  params.upper_percentile = 100;
  const auto limits = limits_of(grid(values, 101), params);
  EXPECT_DOUBLE_EQ(limits.softening, 2.5 * 50 / 1e5);
  EXPECT_GT(Intensity(IntensityScale::asinh, limits).position(100), 0.05);
  values.back() = 100;
  EXPECT_EQ(limits_of(grid(values, 101), params).softening, 0.1);
  params.minimum = 0;
  params.maximum = 1e5;
  EXPECT_EQ(limits_of(grid(values, 101), params).softening, 0.1);
}

TEST(PictureLimits, LeaveRoomAroundASingleValue) {
  for (const double value : {0.0, 7.0, -7.0, 1e300}) {
    const std::vector<double> values(6, value);
    for (const auto scale : {IntensityScale::linear, IntensityScale::log, IntensityScale::asinh}) {
      if (scale == IntensityScale::log && value <= 0.0) continue;
      PictureParams params;
      params.scale = scale;
      const auto limits = limits_of(grid(values, 3), params);
      EXPECT_NEAR(Intensity(scale, limits).position(value), 0.5, 1e-12) << value;
    }
  }
}

TEST(PictureLimits, AreRefusedWhereThereAreNone) {
  const std::vector<double> blank{k_nan, k_infinity, -k_infinity};
  const std::vector<double> values{-3, -2, -1};
  const auto error = [](const std::vector<double>& pixels, const PictureParams& params) {
    return error_of([&] { (void)limits_of(grid(pixels, 3), params); });
  };
  PictureParams absolute;
  absolute.minimum = 0;
  absolute.maximum = 1;
  PictureParams lesson;
  lesson.look = PictureLook::lesson;
  for (const auto& params : {PictureParams{}, absolute, lesson})
    EXPECT_SAYS(error(blank, params), "every pixel is blank");
  PictureParams log;
  log.scale = IntensityScale::log;
  EXPECT_SAYS(error(values, log), "above 0 for the logarithmic scale");
  PictureParams high;
  high.minimum = 10;
  EXPECT_SAYS(error(values, high), "the limits are 10 and");
}

TEST(PictureLimits, OnALogarithmicScaleStayPositive) {
  PictureParams log;
  log.scale = IntensityScale::log;
  log.upper_percentile = 100;
  const std::vector<double> values{-1, 0, 10};
  const auto limits = limits_of(grid(values, 3), log);
  EXPECT_DOUBLE_EQ(limits.low, 0.01);
  EXPECT_EQ(limits.high, 10);
}

// --------------------------------------------------------------------------- blocks

TEST(BlockMeans, DoNotOverflowAndRespectTheStride) {
  const std::vector<double> large(4, std::numeric_limits<double>::max());
  EXPECT_EQ(block_means(grid(large, 2), {2, 2})[0], std::numeric_limits<double>::max());
  const std::vector<float> padded{1, 2, 99, 3, 4, 99};
  EXPECT_EQ(block_means(GridOf<float>{padded.data(), 2, 2, 3}, {2, 2})[0], 2.5);
}

TEST(Samplings, ShrinkByBlocksAndGrowByWholeFactors) {
  const auto expect = [](std::int64_t nx, std::int64_t ny, int size, const Sampling& want) {
    const auto got = sampling_of(nx, ny, size);
    EXPECT_EQ(got.block_x, want.block_x) << nx << " x " << ny;
    EXPECT_EQ(got.block_y, want.block_y) << nx << " x " << ny;
    EXPECT_EQ(got.zoom_x, want.zoom_x) << nx << " x " << ny;
    EXPECT_EQ(got.zoom_y, want.zoom_y) << nx << " x " << ny;
    EXPECT_EQ(got.width, want.width) << nx << " x " << ny;
    EXPECT_EQ(got.height, want.height) << nx << " x " << ny;
  };
  expect(1000, 1000, 1000, {1, 1, 1, 1, 1000, 1000});
  expect(1001, 500, 1000, {2, 2, 1, 1, 501, 250});
  expect(500, 250, 1000, {1, 1, 2, 2, 1000, 500});
  expect(501, 40, 1000, {1, 1, 1, 1, 501, 40});
  expect(1, 1, 100, {1, 1, 100, 100, 100, 100});
  expect(2000, 1, 1000, {2, 1, 1, 24, 1000, 24});
  expect(1, 5000, 1000, {1, 5, 24, 1, 24, 1000});
  expect(100'000, 100'000, 10, {10'000, 10'000, 1, 1, 10, 10});
}

// --------------------------------------------------------------------------- ticks

std::vector<std::string> labels_of(const std::vector<Tick>& ticks) {
  std::vector<std::string> labels;
  for (const auto& tick : ticks) labels.push_back(tick.label);
  return labels;
}

using Labels = std::vector<std::string>;

TEST(Ticks, AreWholeMultiplesOfTheStep) {
  EXPECT_EQ(labels_of(multiples({2, -1}, -0.5, 0.45)),
            (Labels{"\u22120.4", "\u22120.2", "0.0", "0.2", "0.4"}));
  EXPECT_EQ(labels_of(multiples({5, 1}, -0.5, 120)), (Labels{"0", "50", "100"}));
  EXPECT_TRUE(multiples({1, 0}, 0, 1e12).empty());
}

TEST(Ticks, OfAScaleKeepTheirDistance) {
  for (const auto scale : {IntensityScale::linear, IntensityScale::log, IntensityScale::asinh}) {
    for (const auto& [low, high] : {std::pair(0.013, 2.7), std::pair(3e4, 9e9),
                                    std::pair(2e-9, 3e-9), std::pair(1.0, 1.7e308)}) {
      const Intensity intensity(scale, {low, high});
      const auto found = scale_ticks(
          low, high, [&](double v) { return 500 * intensity.position(v); }, 40.0);
      EXPECT_GE(found.ticks.size(), high > 1e300 ? 1u : 2u) << low << ' ' << high;
      for (std::size_t i = 0; i < found.ticks.size(); ++i) {
        const double at = found.ticks[i].at;
        EXPECT_TRUE(at >= low && at <= high) << at;
        if (i == 0) continue;
        EXPECT_GE(500 * (intensity.position(at) - intensity.position(found.ticks[i - 1].at)),
                  39.999);
      }
    }
  }
}

TEST(Ticks, OfALinearScaleAreEven) {
  const auto linear = [](double v) { return 100 * v; };
  EXPECT_EQ(labels_of(scale_ticks(-0.1, 1.1, linear, 15).ticks),
            (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
  const auto small = scale_ticks(
      0, 1.1e-6, [](double v) { return 1e8 * v; }, 15);
  EXPECT_EQ(small.exponent, -6);
  EXPECT_EQ(labels_of(small.ticks), (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
  const auto large = scale_ticks(
      0, 2.5e7, [](double v) { return 100 * v / 2.5e7; }, 30);
  EXPECT_EQ(large.exponent, 7);
  EXPECT_EQ(labels_of(large.ticks), (Labels{"0", "1", "2"}));
}

TEST(Ticks, OfALogarithmicScaleAre125OrDecades) {
  const auto log = [](double v) { return 100 * std::log10(v); };
  EXPECT_EQ(labels_of(scale_ticks(0.9, 25, log, 25).ticks), (Labels{"1", "2", "5", "10", "20"}));
  EXPECT_EQ(labels_of(scale_ticks(0.9, 1200, log, 150).ticks), (Labels{"10", "1000"}));
  // Not where the scale is linear: 0.01 would say nothing.
  const auto asinh = [](double v) { return 100 * std::asinh(10 * v); };
  EXPECT_EQ(labels_of(scale_ticks(1e-6, 1, asinh, 35).ticks),
            (Labels{"0.05", "0.1", "0.2", "0.5", "1"}));
}

TEST(SkyTicks, AreWrittenWithTheFieldsOfTheirStep) {
  constexpr std::int64_t s = 1'000'000, m = 60 * s, h = 60 * m;
  using enum AngleFormat;
  EXPECT_EQ(angle_label(hours, 22 * h + 48 * m, m, true), "22\u02b048\u1d50");
  EXPECT_EQ(angle_label(hours, 5 * h + 7 * s, 7 * s, true), "05\u02b000\u1d5007\u02e2");
  EXPECT_EQ(angle_label(hours, 5 * h + s / 5, s / 10, true), "05\u02b000\u1d5000.2\u02e2");
  EXPECT_EQ(angle_label(hours, -h, h, true), "23\u02b0");
  EXPECT_EQ(angle_label(hours, 24 * h, h, true), "00\u02b0");
  EXPECT_EQ(angle_label(degrees, -(36 * h + 30 * m), 30 * m, false), "\u221236\u00b030\u2032");
  EXPECT_EQ(angle_label(degrees, -30 * m, 30 * m, false), "\u221200\u00b030\u2032");
  EXPECT_EQ(angle_label(degrees, 9 * h + 1, 1, false), "+09\u00b000\u203200.000001\u2033");
  EXPECT_EQ(angle_label(decimal, h / 4, h / 20, true), "0.25\u00b0");
  EXPECT_EQ(angle_label(decimal, -h / 10, h / 10, false), "\u22120.1\u00b0");
  EXPECT_EQ(angle_label(decimal, -h / 10, h / 10, true), "359.9\u00b0");
}

TEST(SkyTicks, AreWhereTheEdgeCrossesWholeSteps) {
  EdgeCoordinate edge;
  edge.format = AngleFormat::decimal;
  edge.is_longitude = true;
  // From 1.05 down to -0.95 degrees, across the meridian.
  for (int i = 0; i <= 20; ++i) edge.degrees.push_back(std::fmod(1.05 - 0.1 * i + 360.0, 360.0));
  unwrap(edge.degrees);
  const auto ticks =
      edge_ticks(edge, [](const std::vector<Tick>& found) { return found.size() <= 3; });
  EXPECT_EQ(labels_of(ticks), (Labels{"1\u00b0", "0\u00b0"}));
  EXPECT_NEAR(ticks[0].at, 0.025, 1e-9);
  EXPECT_NEAR(ticks[1].at, 0.525, 1e-9);
  edge.degrees.assign(5, k_nan);
  EXPECT_TRUE(edge_ticks(edge, [](const std::vector<Tick>&) { return true; }).empty());
}

TEST(PixelAxes, HaveLabelsThatKeepClear) {
  const Font font("", 14);
  for (const auto& [nx, ny] :
       {std::pair(1, 1), std::pair(1000, 30), std::pair(7, 2000), std::pair(123456, 99999)}) {
    for (const bool flip : {false, true}) {
      const Geometry geometry(sampling_of(nx, ny, 500), flip);
      const auto axes = pixel_axes(geometry, font);
      for (const auto* axis : {&axes.bottom, &axes.left}) {
        EXPECT_FALSE(axis->ticks.empty()) << nx << ' ' << ny;
      }
      auto ticks = axes.bottom.ticks;
      EXPECT_EQ(ticks.front().label, "0");
      EXPECT_DOUBLE_EQ(ticks.front().at, geometry.x_of(0));
      std::sort(ticks.begin(), ticks.end(), [](auto& a, auto& b) { return a.at < b.at; });
      for (std::size_t i = 1; i < ticks.size(); ++i) {
        EXPECT_GT(ticks[i].at - ticks[i - 1].at,
                  (font.render(ticks[i].label).width + font.render(ticks[i - 1].label).width) / 2);
      }
    }
  }
}

}  // namespace
