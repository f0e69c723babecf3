// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <kastor/noise_correlation.hpp>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "background/noise_area.hpp"
#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

double normal(ts::Random& random) {
  return std::sqrt(-2 * std::log(random.uniform())) *
         std::cos(2 * std::numbers::pi * random.uniform());
}

/// Convolves along one axis with a Gaussian of standard deviation `sigma`, around the edges.
void smooth(ts::HostImage<double>& image, double sigma, bool along_x) {
  if (sigma == 0) return;
  const auto radius = static_cast<std::int64_t>(std::ceil(4 * sigma));
  std::vector<double> taps;
  for (std::int64_t k = -radius; k <= radius; ++k)
    taps.push_back(std::exp(-0.5 * static_cast<double>(k * k) / (sigma * sigma)));
  const auto before = image;
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 0; x < image.nx; ++x) {
      double sum = 0;
      for (std::int64_t k = -radius; k <= radius; ++k) {
        const std::int64_t yy = along_x ? y : (y + k + image.ny) % image.ny;
        const std::int64_t xx = along_x ? (x + k + image.nx) % image.nx : x;
        sum += taps[static_cast<std::size_t>(k + radius)] * before(yy, xx);
      }
      image(y, x) = sum;
    }
  }
}

/// Noise of variance 1 whose autocorrelation is a Gaussian of FWHM `wide` along x, `high` along y.
template <class T>
ts::HostImage<T> noise(std::int64_t ny, std::int64_t nx, double high, double wide,
                       std::uint64_t seed) {
  ts::Random random(seed);
  ts::HostImage<double> image(ny, nx, 0);
  for (double& v : image.values) v = normal(random);
  const double to_sigma = 1 / std::sqrt(16 * std::numbers::ln2);  // of what smooths
  smooth(image, high * to_sigma, false);
  smooth(image, wide * to_sigma, true);
  double squares = 0;
  for (const double v : image.values) squares += v * v;
  const double rms = std::sqrt(squares / static_cast<double>(image.values.size()));
  ts::HostImage<T> result(ny, nx, 0);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    result.values[i] = static_cast<T>(image.values[i] / rms);
  return result;
}

/// Round sources of FWHM `width`, one in each cell.
template <class T>
void add_sources(ts::HostImage<T>& image, double width, std::int64_t cell, std::uint64_t seed) {
  ts::Random random(seed);
  const double factor = 4 * std::numbers::ln2 / (width * width);
  for (std::int64_t y0 = 0; y0 + cell <= image.ny; y0 += cell) {
    for (std::int64_t x0 = 0; x0 + cell <= image.nx; x0 += cell) {
      const double peak = 0.5 * std::pow(100, random.uniform());
      const auto at = 0.5 * static_cast<double>(cell) + random.uniform();
      for (std::int64_t y = 0; y < cell; ++y) {
        for (std::int64_t x = 0; x < cell; ++x) {
          const double d2 =
              std::pow(static_cast<double>(y) - at, 2) + std::pow(static_cast<double>(x) - at, 2);
          image(y0 + y, x0 + x) += static_cast<T>(peak * std::exp(-factor * d2));
        }
      }
    }
  }
}

template <class Exec, class T>
kastor::NoiseCorrelation measured(const ts::HostImage<T>& image, double level = 0, double rms = 1,
                                  const kastor::BitMask<Exec>& usable = {}) {
  const Exec space;
  const auto on_device = ts::to_device_cut_out<Exec>(image);
  return kastor::measure_noise_correlation(
      space, on_device.image,
      kastor::Background<Exec, T>{kastor::PixelMap<Exec, T>(level), kastor::PixelMap<Exec, T>(rms)},
      usable);
}

template <class C>
class NoiseCorrelation : public ::testing::Test {};
TYPED_TEST_SUITE(NoiseCorrelation, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(NoiseCorrelation, IsThatOfTheNoise) {
  using Exec = TypeParam::exec;
  using T = TypeParam::real;
  const struct { double high, wide; } cases[] = {{0, 0}, {3, 3}, {5, 5}, {7, 3}, {9, 9}};
  std::uint64_t seed = 1;
  for (const auto& [high, wide] : cases) {
    const double area = high == 0 ? 1 : std::numbers::pi * high * wide / (4 * std::numbers::ln2);
    auto image = noise<T>(400, 420, high, wide, ++seed);
    // 10 % is what the scatter of so few independent patches allows.
    EXPECT_NEAR(measured<Exec>(image).area, area, 0.1 * area + 0.1) << high;
    // A wrong level, faint and bright sources, a slow wave.
    add_sources(image, 4, 42, seed);
    for (std::int64_t y = 0; y < image.ny; ++y)
      for (std::int64_t x = 0; x < image.nx; ++x)
        image(y, x) += static_cast<T>(0.1 + 0.1 * std::sin(static_cast<double>(x) / 40));
    EXPECT_NEAR(measured<Exec>(image).area, area, 0.13 * area + 0.3) << high;
  }
}

TYPED_TEST(NoiseCorrelation, HasTheSameBitsEverywhere) {
  using Exec = TypeParam::exec;
  using T = TypeParam::real;
  for (const auto& [ny, nx] : {std::pair(70, 131), {300, 200}}) {
    auto image = noise<T>(ny, nx, 4, 4, 11);
    image(3, 5) = std::numeric_limits<T>::quiet_NaN();
    image(4, 5) = std::numeric_limits<T>::infinity();
    const auto here = measured<Exec>(image, 0.01, 0.97);
    const auto first = measured<ts::FirstExec>(image, 0.01, 0.97);
    EXPECT_EQ(here.area, first.area);
    EXPECT_EQ(here.at_one, first.at_one);
    EXPECT_EQ(here.pairs, first.pairs);
  }
}

/// Small images are sampled at every pixel: the slope computed directly.
TYPED_TEST(NoiseCorrelation, IsASlope) {
  using Exec = TypeParam::exec;
  using T = TypeParam::real;
  const auto image = noise<T>(90, 131, 4, 4, 12);
  double mean_slope = 0;
  for (const auto& [dy, dx] : {std::pair(0, 1), {1, 0}}) {
    double n = 0, a = 0, b = 0, aa = 0, ab = 0;
    for (std::int64_t y = 0; y + dy < image.ny; ++y) {
      for (std::int64_t x = 0; x + dx < image.nx; ++x) {
        const double p = (static_cast<double>(image(y, x)) - 0.25) / 0.5;
        const double q = (static_cast<double>(image(y + dy, x + dx)) - 0.25) / 0.5;
        if (!(p > -3.5 && p <= 1 && q > -3.5 && q < 3.5)) continue;
        n += 1;
        a += p;
        b += q;
        aa += p * p;
        ab += p * q;
      }
    }
    mean_slope += 0.5 * (ab / n - a / n * (b / n)) / (aa / n - a / n * (a / n));
  }
  EXPECT_NEAR(measured<Exec>(image, 0.25, 0.5).at_one, mean_slope, 1e-3);
}

TYPED_TEST(NoiseCorrelation, KnowsUsablePixelsOnly) {
  using Exec = TypeParam::exec;
  using T = TypeParam::real;
  const Exec space;
  auto image = noise<T>(200, 300, 0, 0, 13);
  ts::HostImage<T> selected(image.ny, image.nx, 1);
  const auto smooth_half = noise<T>(200, 300, 8, 8, 14);
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 150; x < image.nx; ++x) {
      image(y, x) = smooth_half(y, x);
      selected(y, x) = 0;
    }
  }
  const auto usable = kastor::threshold(space, ts::to_device_cut_out<Exec>(selected).image, 0.5);
  EXPECT_GT(measured<Exec>(image).area, 2);
  EXPECT_NEAR(measured<Exec>(image, 0, 1, usable).area, 1, 0.1);

  const auto none = kastor::threshold(space, ts::to_device_cut_out<Exec>(selected).image, 2);
  const auto nothing = measured<Exec>(image, 0, 1, none);
  EXPECT_TRUE(std::isnan(nothing.area));
  EXPECT_EQ(nothing.pairs, 0);
  EXPECT_TRUE(std::isnan(measured<Exec>(image, 0, 0).area));
  EXPECT_TRUE(std::isnan(measured<Exec>(ts::HostImage<T>(50, 50, 3), 3, 1).area));
  EXPECT_THROW((void)measured<Exec>(noise<T>(20, 30, 0, 0, 1), 0, 1, usable), kastor::Error);
  EXPECT_THROW((void)measured<Exec>(ts::HostImage<T>(0, 0, 0)), kastor::Error);
}

TEST(NoiseArea, IsFittedToTheCore) {
  using kastor::detail::LagCorrelation;
  // An ellipse beside a white part of 0.2, on a floor that only distant lags show.
  const double xx = 0.05, xy = 0.02, yy = 0.03;
  std::vector<LagCorrelation> found;
  for (const auto& lags : {kastor::detail::short_lags(), kastor::detail::long_lags(3, 4)}) {
    for (const auto& lag : lags) {
      const double x = lag.dx, y = lag.dy;
      const double rho = 0.8 * std::exp(-(xx * x * x + 2 * xy * x * y + yy * y * y));
      found.push_back({lag, 1000, rho > 0.2 ? rho : 0.1, 0.01});
    }
  }
  const double area = std::numbers::pi / std::sqrt(xx * yy - xy * xy);
  EXPECT_NEAR(kastor::detail::area_by_fit(found), 0.8 * area + 0.2, 1e-9);
  EXPECT_TRUE(std::isnan(kastor::detail::area_by_fit({})));
}

TEST(NoiseArea, IsASumWhereLittleIsCorrelated) {
  std::vector<kastor::detail::LagCorrelation> found;
  for (const auto& lag : kastor::detail::short_lags())
    found.push_back({lag, 1000, lag.dy + lag.dx == 1 ? 0.25 : 0.02, 0.01});
  double near = 0;
  for (const auto& each : found) near += each.rho > 0.1 ? each.rho : 0;
  EXPECT_NEAR(kastor::detail::area_by_sum(found), 1 + 2 * near, 1e-12);
  for (auto& each : found) each.rho = -0.5;
  EXPECT_EQ(kastor::detail::area_by_sum(found), 1);
}

}  // namespace
