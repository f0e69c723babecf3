// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/simulate.hpp>
#include <limits>
#include <numbers>
#include <vector>

#include "compare.hpp"
#include "core/random_normal.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
using kastor::NoiseKind;
using kastor::SourceShape;
using Where = kastor::Unobserved::Where;

constexpr double pi = std::numbers::pi;
constexpr double fwhm_per_sigma = 2.3548200450309493;

kastor::SkyParams empty_sky(std::int64_t ny, std::int64_t nx) {
  kastor::SkyParams params;
  params.ny = ny;
  params.nx = nx;
  params.sources_per_mpx = 0;
  params.noise = 0;
  return params;
}

template <class Exec, class T>
ts::HostImage<T> simulate(const kastor::SkyParams& params,
                          const std::vector<kastor::TrueSource>& truth = {}) {
  const auto image = ts::new_image<Exec, T>("test::sky", params.ny, params.nx);
  kastor::simulate_sky<Exec, T>(Exec{}, params, truth, image);
  return ts::to_host_grid(image);
}

kastor::TrueSource source_of(SourceShape shape, double x, double y, double fwhm) {
  kastor::TrueSource source{};
  source.shape = shape;
  source.x = x;
  source.y = y;
  source.fwhm = fwhm;
  source.flux_peak = 2;
  return source;
}

double sum_of(const ts::HostImage<double>& image) {
  double sum = 0;
  for (const double pixel : image.values) sum += pixel;
  return sum;
}

template <class T>
class Scenes : public ::testing::Test {};
TYPED_TEST_SUITE(Scenes, ts::ExecsAndReals, ts::CaseName);

/// A sky with everything at once, and its sources.
struct Scene {
  kastor::SkyParams params;
  std::vector<kastor::TrueSource> truth;
};

std::vector<Scene> full_scenes() {
  auto radio = empty_sky(300, 401);
  radio.noise = 0.1;
  radio.noise_kind = NoiseKind::condon;
  radio.noise_gradient = 0.5;
  radio.level = 1;
  radio.level_gradient_x = 1e-3;
  radio.primary_beam = {300, true};
  radio.bowl_fraction = 0.5;
  radio.unobserved = {Where::outside_circle, -7};
  auto optical = empty_sky(200, 301);
  optical.level = 20;
  optical.level_gradient_y = 0.1;
  optical.detector = {1.7, 3};
  std::vector<Scene> scenes;
  for (const auto& params : {radio, optical}) {
    std::vector<kastor::Population> populations(5);
    const SourceShape shapes[] = {SourceShape::gaussian, SourceShape::disk, SourceShape::ring,
                                  SourceShape::lobes, SourceShape::moffat};
    for (std::size_t k = 0; k < 5; ++k) {
      populations[k].shape = shapes[k];
      populations[k].count = 6;
      populations[k].size_min = 8;
      populations[k].size_max = 60;
    }
    populations[0].axis_ratio = 0.4;
    populations[4].pair_separation = 9;
    scenes.push_back({params, kastor::population_truth(params, populations)});
  }
  return scenes;
}

TYPED_TEST(Scenes, HaveTheSameBitsOnEveryBackend) {
  using T = typename TypeParam::real;
  for (const auto& [params, truth] : full_scenes()) {
    EXPECT_TRUE(ts::same_pixels(simulate<typename TypeParam::exec, T>(params, truth),
                                simulate<ts::FirstExec, T>(params, truth)));
  }
}

TYPED_TEST(Scenes, HaveTheSameBitsByRows) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  for (const auto& [params, truth] : full_scenes()) {
    const auto whole = simulate<Exec, T>(params, truth);
    for (const std::int64_t band : {13, 128}) {
      ts::HostImage<T> rows(params.ny, params.nx, T(0));
      for (std::int64_t y = 0; y < params.ny; y += band) {
        const std::int64_t count = std::min(band, params.ny - y);
        const auto image = ts::new_image<Exec, T>("test::rows", count, params.nx);
        kastor::simulate_sky_rows<Exec, T>(Exec{}, params, truth, y, image);
        const auto part = ts::to_host_grid(image);
        std::copy(part.values.begin(), part.values.end(), rows.values.begin() + y * params.nx);
      }
      EXPECT_TRUE(ts::same_pixels(rows, whole)) << "bands of " << band;
    }
  }
}

TYPED_TEST(Scenes, RowsAreThoseOfTheSky) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto params = empty_sky(20, 30);
  const auto refused = [&](std::int64_t first, std::int64_t ny, std::int64_t nx) {
    const kastor::Image<T, Exec> image("test::rows", static_cast<std::size_t>(ny),
                                       static_cast<std::size_t>(nx));
    ts::expect_error([&] { kastor::simulate_sky_rows<Exec, T>(Exec{}, params, {}, first, image); },
                     {"kastor::simulate_sky_rows", "expected rows of 20 x 30"});
  };
  refused(0, 21, 30);
  refused(20, 1, 30);
  refused(-1, 1, 30);
  refused(0, 20, 29);
  const kastor::Image<T, Exec> none("test::rows", 0, 30);
  kastor::simulate_sky_rows<Exec, T>(Exec{}, params, {}, 20, none);
  ts::expect_error([&] { kastor::simulate_diracs<Exec, T>(Exec{}, 3, none, -1); },
                   {"kastor::simulate_diracs", "first row"});
}

TEST(SkyWorkBytes, RiseWithTheRowsAndTheSources) {
  const auto scenes = full_scenes();
  for (const auto& [params, truth] : scenes) {
    std::int64_t before = 0;
    for (std::int64_t rows = 1; rows <= params.ny; ++rows) {
      const std::int64_t bytes = kastor::sky_work_bytes(params, truth, rows);
      EXPECT_GE(bytes, before) << rows;
      EXPECT_GT(bytes, kastor::sky_work_bytes(params, {}, rows));
      before = bytes;
    }
  }
  // A beam of 5 pixels: 8 more rows on each side.
  auto params = empty_sky(10000, 1000);
  EXPECT_EQ(kastor::sky_work_bytes(params, {}, 1), (1 + 16) * 8000 + 16);
  EXPECT_EQ(kastor::sky_work_bytes(params, {}, 5000), (256 + 16) * 8000 + 16 * 5000);
  params.detector.gain = 1;
  EXPECT_EQ(kastor::sky_work_bytes(params, {}, 1), 16);
}

TYPED_TEST(Scenes, NoiseHasTheWidthTheCorrelationAndTheTailsOfItsKind) {
  using T = typename TypeParam::real;
  auto params = empty_sky(500, 600);
  params.noise = 0.5;
  params.beam_fwhm = 4;
  const double sigma = params.beam_fwhm / fwhm_per_sigma;
  const struct {
    NoiseKind kind;
    double correlation;  // two pixels apart
    double beam_pixels;  // as many pixels make one independent number
  } kinds[] = {{NoiseKind::beam, std::exp(-2 / (sigma * sigma)), 2 * pi * sigma * sigma},
               {NoiseKind::condon, std::exp(-1 / (sigma * sigma)), 4 * pi * sigma * sigma},
               {NoiseKind::white, 0, 1}};
  for (const auto& [kind, correlation, beam_pixels] : kinds) {
    params.noise_kind = kind;
    const auto sky = simulate<typename TypeParam::exec, T>(params);
    const auto statistics = ts::statistics_naive(sky);
    const auto n = static_cast<double>(statistics.count);
    const double independent = n / beam_pixels;
    EXPECT_NEAR(statistics.mean, 0, 4 * 0.5 / std::sqrt(independent));
    EXPECT_NEAR(statistics.std / 0.5, 1, 4 / std::sqrt(2 * independent));
    double products = 0;
    std::int64_t beyond = 0;
    for (std::int64_t y = 0; y < sky.ny; ++y) {
      for (std::int64_t x = 0; x < sky.nx; ++x) {
        const auto pixel = static_cast<double>(sky(y, x));
        beyond += std::abs(pixel) > 4 * 0.5 ? 1 : 0;
        if (x + 2 < sky.nx) products += pixel * static_cast<double>(sky(y, x + 2));
      }
    }
    EXPECT_NEAR(products / n / 0.25, correlation, 5 / std::sqrt(independent) + 0.003);
    const double want = n * std::erfc(4 / std::sqrt(2));
    EXPECT_NEAR(static_cast<double>(beyond), want, 4 * std::sqrt(want * beam_pixels))
        << "beyond four sigma";
  }
}

/// The definition, pixel by pixel: a row's numbers begin at row x (nx + taps).
TYPED_TEST(Scenes, NoiseHasTheBitsOfTheDefinition) {
  using T = typename TypeParam::real;
  auto params = empty_sky(20, 31);
  params.noise = 0.25;
  params.beam_fwhm = 3;
  const double sigma = 3 / fwhm_per_sigma;
  for (const NoiseKind kind : {NoiseKind::beam, NoiseKind::condon, NoiseKind::white}) {
    params.noise_kind = kind;
    const auto sky = simulate<typename TypeParam::exec, T>(params);
    const double width = kind == NoiseKind::condon ? 5 : 3.5;
    const auto reach =
        kind == NoiseKind::white ? 0 : static_cast<std::int64_t>(std::ceil(width * sigma));
    std::vector<double> taps;
    double squares = 0;
    for (std::int64_t k = -reach; k <= reach; ++k) {
      const double d = static_cast<double>(k) / sigma;
      taps.push_back(std::exp(kind == NoiseKind::condon ? -0.5 * d * d : -1 * d * d));
      squares += taps.back() * taps.back();
    }
    const std::size_t n = taps.size();
    for (std::int64_t y = 0; y < sky.ny; ++y) {
      for (std::int64_t x = 0; x < sky.nx; ++x) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const std::uint64_t row = static_cast<std::uint64_t>(y) + i;
          const std::uint64_t at = row * (31 + n) + static_cast<std::uint64_t>(x);
          double along_x = 0;
          for (std::size_t j = 0; j < n; ++j)
            along_x += taps[j] * kastor::core::random_normal(params.seed, at + j);
          sum += taps[i] * (params.noise / squares) * along_x;
        }
        ASSERT_EQ(sky(y, x), static_cast<T>(sum)) << x << ' ' << y;
      }
    }
  }
}

TYPED_TEST(Scenes, LevelNoiseAndPrimaryBeamVaryAsTheySay) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  auto params = empty_sky(41, 61);
  params.level = 3;
  params.level_gradient_x = 0.25;
  params.level_gradient_y = -0.5;
  const auto level = simulate<Exec, T>(params);
  for (std::int64_t y = 0; y < 41; ++y)
    for (std::int64_t x = 0; x < 61; ++x)
      ASSERT_EQ(level(y, x),
                T(3 + 0.25 * static_cast<double>(x - 30) - 0.5 * static_cast<double>(y - 20)));

  auto even = empty_sky(41, 61);
  even.noise = 1;
  even.noise_kind = NoiseKind::white;
  auto rising = even;
  rising.noise_gradient = 0.8;
  auto corrected = even;
  corrected.primary_beam = {30, true};
  const auto flat = simulate<Exec, T>(even);
  const auto slope = simulate<Exec, T>(rising);
  const auto edge = simulate<Exec, T>(corrected);
  for (std::int64_t y = 0; y < 41; ++y) {
    for (std::int64_t x = 0; x < 61; ++x) {
      const auto noise = static_cast<double>(flat(y, x));
      const double dx = static_cast<double>(x - 30);
      const double dy = static_cast<double>(y - 20);
      const double beam = std::exp(-4 * std::numbers::ln2 * (dx * dx + dy * dy) / 900);
      const double tolerance = 1e-5 * std::abs(noise);
      ASSERT_NEAR(static_cast<double>(slope(y, x)), noise * (1 + 0.8 * dx / 30), tolerance * 2);
      ASSERT_NEAR(static_cast<double>(edge(y, x)), noise / beam, tolerance / beam);
    }
  }
}

TYPED_TEST(Scenes, DetectorsCountPhotons) {
  using T = typename TypeParam::real;
  auto params = empty_sky(500, 500);
  params.noise = 1e9;  // is not used
  params.level = 50;
  params.detector = {4, 0};
  const auto sky = simulate<typename TypeParam::exec, T>(params);
  for (const T pixel : sky.values) ASSERT_EQ(pixel * 4, std::floor(pixel * 4));
  const auto counts = ts::statistics_naive(sky);
  EXPECT_NEAR(counts.mean, 50, 4 * std::sqrt(50.0 / 4 / 250000));
  EXPECT_NEAR(counts.std * counts.std, 50.0 / 4, 4 * 12.5 * std::sqrt(2.0 / 250000));
  params.detector.read_noise = 20;
  const auto read = ts::statistics_naive(simulate<typename TypeParam::exec, T>(params));
  EXPECT_NEAR(read.std * read.std, (200.0 + 400) / 16, 4 * 37.5 * std::sqrt(2.0 / 250000));
}

TYPED_TEST(Scenes, PixelsWithoutDataHoldTheirValue) {
  using T = typename TypeParam::real;
  for (const Where where : {Where::outside_circle, Where::border, Where::half}) {
    auto params = empty_sky(81, 121);
    params.level = 1;
    params.sources_per_mpx = 2000;
    params.unobserved = {where, -3};
    const auto sky = simulate<typename TypeParam::exec, T>(params);
    const auto is_hidden = [&](double x, double y) {
      if (where == Where::half) return x >= 60;
      if (where == Where::border) return x < 10.125 || y < 10.125 || x > 109.875 || y > 69.875;
      return std::hypot(x - 60, y - 40) > 40.5;
    };
    for (std::int64_t y = 0; y < 81; ++y)
      for (std::int64_t x = 0; x < 121; ++x)
        ASSERT_EQ(sky(y, x),
                  is_hidden(static_cast<double>(x), static_cast<double>(y)) ? T(-3) : T(1));
    kastor::Population pairs;
    pairs.count = 300;
    pairs.pair_separation = 40;
    params.noise = 1;
    auto truth = kastor::sky_truth(params);
    const auto added = kastor::population_truth(params, {pairs});
    truth.insert(truth.end(), added.begin(), added.end());
    for (const auto& source : truth) {
      const double x = std::floor(source.x + 0.5);
      const double y = std::floor(source.y + 0.5);
      EXPECT_TRUE(x >= 0 && x < 121 && y >= 0 && y < 81 && !is_hidden(x, y)) << x << ' ' << y;
    }
  }
}

// ------------------------------------------------------------------------------------- shapes

using Shape = ts::FirstExec;

/// The sum over the image, and the brightness along a line, of a disk of small squares, each of
/// which the beam makes a Gaussian.
TEST(SourceShapes, DisksAndRingsAreConvolvedWithTheBeam) {
  auto params = empty_sky(121, 121);
  params.beam_fwhm = 5;
  const double sigma = 5 / fwhm_per_sigma;
  for (const SourceShape shape : {SourceShape::disk, SourceShape::ring}) {
    const auto image = simulate<Shape, double>(params, {source_of(shape, 60.3, 59.8, 70)});
    const double outer = 35;
    const double inner = shape == SourceShape::ring ? 28 : 0;
    const auto naive = [&](double x, double y) {
      constexpr double step = 0.1;
      double sum = 0;
      for (double dy = -outer; dy <= outer; dy += step) {
        for (double dx = -outer; dx <= outer; dx += step) {
          const double r = std::hypot(dx, dy);
          if (r > outer || r < inner) continue;
          const double ex = (60.3 + dx - x) / sigma;
          const double ey = (59.8 + dy - y) / sigma;
          sum += std::exp(-0.5 * (ex * ex + ey * ey)) * step * step;
        }
      }
      return sum;
    };
    const double brightest = *std::max_element(image.values.begin(), image.values.end());
    EXPECT_NEAR(brightest, 2, 0.02);
    const double scale = image(60, 91) / naive(91, 60);
    for (const std::int64_t x : {60, 70, 85, 88, 94, 97, 100, 104})
      EXPECT_NEAR(image(60, x), scale * naive(static_cast<double>(x), 60), 0.01) << x;
    EXPECT_NEAR(
        sum_of(image) / scale / (pi * (outer * outer - inner * inner) * 2 * pi * sigma * sigma), 1,
        0.003);
  }
}

TEST(SourceShapes, FollowTheirFormulas) {
  const auto params = empty_sky(101, 131);
  auto ellipse = source_of(SourceShape::gaussian, 60.2, 49.7, 20);
  ellipse.minor = 8;
  ellipse.angle = 30;
  const auto gaussian = simulate<Shape, double>(params, {ellipse});
  const auto star =
      simulate<Shape, double>(params, {source_of(SourceShape::moffat, 60.2, 49.7, 6)});
  auto pair = source_of(SourceShape::lobes, 60.2, 49.7, 50);
  pair.angle = 120;
  const auto lobes = simulate<Shape, double>(params, {pair});
  const double a = 3 / std::sqrt(std::pow(2, 1 / 3.5) - 1);
  for (std::int64_t y = 40; y < 60; ++y) {
    for (std::int64_t x = 50; x < 70; ++x) {
      const double dx = static_cast<double>(x) - 60.2;
      const double dy = static_cast<double>(y) - 49.7;
      const double along = dx * std::cos(pi / 6) + dy * std::sin(pi / 6);
      const double across = dy * std::cos(pi / 6) - dx * std::sin(pi / 6);
      ASSERT_NEAR(
          gaussian(y, x),
          2 * std::exp(-4 * std::numbers::ln2 * (along * along / 400 + across * across / 64)),
          1e-12);
      ASSERT_NEAR(star(y, x), 2 * std::pow(1 + (dx * dx + dy * dy) / (a * a), -3.5), 1e-12);
      double sum = 0;
      for (const double side : {-15.0, 15.0}) {
        const double ex = dx - side * std::cos(2 * pi / 3);
        const double ey = dy - side * std::sin(2 * pi / 3);
        sum += std::exp(-4 * std::numbers::ln2 * (ex * ex + ey * ey) / 225);
      }
      ASSERT_NEAR(lobes(y, x), 2 * sum / (1 + std::exp(-16 * std::numbers::ln2)), 1e-12);
    }
  }
}

/// The flux of the truth is what the pixels add up to, with and without a detector, and the S/N of
/// a detector is that of a matched filter.
TEST(SourceShapes, HaveTheFluxAndTheSignalToNoiseOfTheTruth) {
  for (const bool optical : {false, true}) {
    for (const SourceShape shape : {SourceShape::gaussian, SourceShape::disk, SourceShape::ring,
                                    SourceShape::lobes, SourceShape::moffat}) {
      auto params = empty_sky(301, 301);
      params.beam_fwhm = 4;
      params.noise = 0.25;
      params.level = optical ? 9 : 0;
      params.detector.gain = optical ? 4 : 0;
      kastor::Population one;
      one.shape = shape;
      one.count = 1;
      one.on_grid = true;
      one.size_min = one.size_max = 24;
      one.axis_ratio = shape == SourceShape::gaussian ? 0.5 : 1;
      const auto truth = kastor::population_truth(params, {one});
      ASSERT_EQ(truth.size(), 1U);
      EXPECT_NEAR(truth[0].rms, optical ? 1.5 : 0.25, 1e-12);
      auto silent = params;
      silent.noise = 0;
      silent.level = 0;
      silent.detector.gain = 0;
      const auto image = simulate<Shape, double>(silent, truth);
      const double beam = 2 * pi * 16 / (fwhm_per_sigma * fwhm_per_sigma);
      EXPECT_NEAR(sum_of(image) / (optical ? 1 : beam) / truth[0].flux_int, 1, 2e-3);
      double squares = 0;
      for (const double pixel : image.values) squares += pixel * pixel;
      const double snr = optical ? std::sqrt(squares) / 1.5 : truth[0].flux_peak / 0.25;
      EXPECT_NEAR(snr / truth[0].snr, 1, 2e-3);
      EXPECT_GE(truth[0].snr, 10);
      EXPECT_LE(truth[0].snr, 50);
    }
  }
}

TEST(SourceShapes, TheUsualSourcesHaveTheFluxOfTheirPixelsWithADetector) {
  auto params = empty_sky(400, 400);
  params.sources_per_mpx = 50;
  params.extended_fraction = 0.5;
  params.level = 1;
  params.detector.gain = 1;
  const auto truth = kastor::sky_truth(params);
  ASSERT_EQ(truth.size(), 8U);
  auto silent = empty_sky(400, 400);
  for (auto source : truth) {
    source.x = source.y = 200;
    EXPECT_NEAR(sum_of(simulate<Shape, double>(silent, {source})) / source.flux_int, 1, 1e-6);
  }
}

TEST(SourceShapes, BowlsTakeTheirFractionOfTheFlux) {
  auto params = empty_sky(701, 701);
  auto source = source_of(SourceShape::gaussian, 350, 350, 20);
  const double whole = sum_of(simulate<Shape, double>(params, {source}));
  params.bowl_fraction = 0.75;
  params.bowl_fwhm = 90;
  EXPECT_NEAR(sum_of(simulate<Shape, double>(params, {source})) / whole, 0.25, 1e-6);
  source.fwhm = 9;  // less than two beams
  EXPECT_NEAR(sum_of(simulate<Shape, double>(params, {source})) / whole, 81.0 / 400, 1e-6);
}

// -------------------------------------------------------------------------------- populations

TEST(Populations, HaveTheirNumbersRangesAndPlaces) {
  auto params = empty_sky(1000, 1500);
  params.noise = 0.1;
  params.noise_gradient = 0.5;
  kastor::Population spread;
  spread.count = 600;
  spread.snr_min = 5;
  spread.snr_max = 80;
  spread.on_grid = true;
  kastor::Population pairs;
  pairs.count = 50;
  pairs.pair_separation = 12;
  pairs.pair_ratio = 0.25;
  const auto truth = kastor::population_truth(params, {spread, pairs});
  ASSERT_EQ(truth.size(), 700U);
  double log_mean = 0;
  for (std::size_t i = 0; i < 600; ++i) {
    const auto& source = truth[i];
    EXPECT_EQ(source.fwhm, params.beam_fwhm);
    EXPECT_EQ(source.group, 0);
    EXPECT_NEAR(source.rms, 0.1 * (1 + 0.5 * (source.x - 749.5) / 749.5), 1e-12);
    EXPECT_NEAR(source.flux_peak, source.snr * source.rms, 1e-12);
    EXPECT_NEAR(source.flux_int, source.flux_peak, 1e-12);
    EXPECT_TRUE(source.snr >= 5 && source.snr <= 80);
    log_mean += std::log(source.snr / 20) / 600;
    for (std::size_t j = 0; j < i; ++j)
      ASSERT_GT(std::hypot(source.x - truth[j].x, source.y - truth[j].y), 20);
  }
  EXPECT_NEAR(log_mean, 0, 4 * std::log(16.0) / std::sqrt(12 * 600.0));
  for (std::size_t i = 600; i < 700; i += 2) {
    EXPECT_NEAR(std::hypot(truth[i].x - truth[i + 1].x, truth[i].y - truth[i + 1].y), 12, 1e-9);
    EXPECT_NEAR(truth[i + 1].flux_peak / truth[i].flux_peak, 0.25, 1e-12);
    EXPECT_EQ(truth[i].group, static_cast<std::int64_t>(i - 600) / 2 + 1);
    EXPECT_EQ(truth[i].group, truth[i + 1].group);
  }
  // One more population leaves the others as they are.
  const auto fewer = kastor::population_truth(params, {spread});
  for (std::size_t i = 0; i < 600; ++i) EXPECT_EQ(fewer[i].x, truth[i].x);
}

TEST(Populations, SourcesAreSeenThroughThePrimaryBeam) {
  auto params = empty_sky(500, 500);
  params.noise = 0.1;
  params.sources_per_mpx = 1000;
  const auto bare = kastor::sky_truth(params);
  params.primary_beam.fwhm = 400;
  const auto seen = kastor::sky_truth(params);
  params.primary_beam.corrected = true;
  const auto corrected = kastor::sky_truth(params);
  for (std::size_t i = 0; i < bare.size(); ++i) {
    const double r = std::hypot(bare[i].x - 249.5, bare[i].y - 249.5);
    const double beam = std::exp(-4 * std::numbers::ln2 * r * r / 160000);
    EXPECT_NEAR(seen[i].flux_peak, bare[i].flux_peak * beam, 1e-12);
    EXPECT_NEAR(seen[i].flux_int, bare[i].flux_int * beam, 1e-12);
    EXPECT_EQ(corrected[i].flux_peak, bare[i].flux_peak);
    EXPECT_NEAR(corrected[i].rms, 0.1 / beam, 1e-10);
    EXPECT_NEAR(corrected[i].snr, seen[i].snr, 1e-9 * seen[i].snr);
  }
}

TEST(Populations, ThrowOnParametersOutOfRange) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refuses = [](const auto& change) {
    auto params = empty_sky(10, 10);
    params.noise = 1;
    kastor::Population population;
    change(params, population);
    ts::expect_error([&] { (void)kastor::population_truth(params, {population}); },
                     {"kastor::population_truth"});
  };
  using P = kastor::Population;
  using S = kastor::SkyParams;
  refuses([](S&, P& p) { p.count = -1; });
  refuses([](S&, P& p) { p.snr_min = 0; });
  refuses([](S&, P& p) { p.snr_max = 9; });
  refuses([&](S&, P& p) { p.snr_max = nan; });
  refuses([](S&, P& p) { p.size_min = 5; });
  refuses([](S&, P& p) { p.size_min = p.size_max = 1e6; });
  refuses([](S&, P& p) { p.axis_ratio = 0; });
  refuses([](S&, P& p) { p.axis_ratio = 2; });
  refuses([](S&, P& p) { p.pair_separation = -1; });
  refuses([](S&, P& p) { p.pair_ratio = 0; });
  refuses([](S& s, P&) { s.noise = 0; });
  refuses([](S& s, P&) { s.detector.gain = 1; });
  refuses([](S& s, P&) { s.detector = {1, 1}, s.level = 1, s.level_gradient_x = 1; });
  refuses([](S& s, P&) { s.primary_beam = {2, true}; });
  refuses([](S&, P& p) { p.size_max = 5; });
  refuses([](S&, P& p) { p.size_min = p.size_max = 1, p.axis_ratio = 0.05; });
  refuses([](S& s, P&) { s.noise_gradient = 1; });
  refuses([&](S& s, P&) { s.level = nan; });
  refuses([&](S& s, P&) { s.level_gradient_x = nan; });
  refuses([](S& s, P&) { s.primary_beam.fwhm = 1; });
  refuses([](S& s, P&) { s.bowl_fraction = 1.5; });
  refuses([](S& s, P&) { s.bowl_fwhm = 1; });
  refuses([](S& s, P&) { s.detector.gain = -1; });
  refuses([](S& s, P&) { s.detector.read_noise = -1; });
}

}  // namespace
