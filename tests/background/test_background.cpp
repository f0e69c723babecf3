// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/background.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "background_naive.hpp"
#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "host_nodes.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

using ts::HostNodes;
using ts::nodes_of;
using ts::same_bits;

/// Levels and noise of the nodes within `tolerance` of the noise.
void expect_near(const HostNodes& got, const ts::NaiveMesh& want, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.level.ny, want.level.ny) << what;
  ASSERT_EQ(got.level.nx, want.level.nx) << what;
  for (std::int64_t j = 0; j < want.level.ny; ++j) {
    for (std::int64_t i = 0; i < want.level.nx; ++i) {
      const std::string where = what + ", node " + std::to_string(j) + ' ' + std::to_string(i);
      const double level = want.level(j, i), rms = want.rms(j, i);
      EXPECT_NEAR(got.level(j, i).value, level, tolerance * rms + 1e-15 * std::fabs(level))
          << where;
      EXPECT_NEAR(got.rms(j, i).value, rms, tolerance * rms) << where;
    }
  }
}

/// Estimates in every form that must give the same bits and compares with the reference.
template <class C>
void matches_naive(const ts::HostImage<typename C::real>& host,
                   const kastor::BackgroundParams& params, const std::string& name,
                   const ts::HostMask& exclude = {}) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Exec space;
  const std::string what = name + ' ' + ts::shape_name(host.ny, host.nx) + " in cells of " +
                           ts::shape_name(params.cell_height, params.cell_width);
  const ts::NaiveMesh want = ts::background_naive(host, exclude, params);
  kastor::BitMask<Exec> mask;
  if (!exclude.values.empty()) mask = ts::to_device_mask<Exec>(exclude);

  kastor::BackgroundEstimator<Exec, T> estimate(space, params);
  const auto image = ts::to_device<Exec>(host);
  const HostNodes got = nodes_of<Exec, T>(estimate(image, mask));
  const std::int64_t cells = want.level.ny * want.level.nx;
  if (want.filled == cells) {
    for (const kastor::MeshNode& node : got.level.values) EXPECT_TRUE(std::isnan(node.value));
    ts::expect_error([&] { (void)estimate.summary(); }, {"none of the", "cells"});
    ts::expect_error([&] { (void)kastor::estimate_background(space, image, params, mask); },
                     {"none of the", "cells"});
    return;
  }
  expect_near(got, want, 1e-9, what);
  const kastor::BackgroundSummary summary = estimate.summary();
  EXPECT_EQ(summary.pixels, host.ny * host.nx) << what;
  EXPECT_EQ(summary.good, want.good) << what;
  EXPECT_EQ(summary.cells, cells) << what;
  EXPECT_EQ(summary.filled, want.filled) << what;

  const auto cut_out = ts::to_device_cut_out<Exec>(host);
  EXPECT_TRUE(same_bits(nodes_of<Exec, T>(estimate(cut_out.image, mask)), got))
      << what << ", as a cut-out";
  for (const std::int64_t count : {3, 100}) {
    const auto bands = ts::split_into_bands<Exec, T>(cut_out.image, count);
    EXPECT_TRUE(same_bits(nodes_of<Exec, T>(estimate(bands, mask)), got))
        << what << ", in " << count << " bands";
  }
  using First = ts::FirstExec;
  kastor::BitMask<First> first_mask;
  if (!exclude.values.empty()) first_mask = ts::to_device_mask<First>(exclude);
  const auto first =
      kastor::estimate_background(First{}, ts::to_device<First>(host), params, first_mask);
  EXPECT_TRUE(same_bits(nodes_of<First, T>(first), got)) << what << ", on the first backend";
}

kastor::BackgroundParams with_cells(std::int64_t height, std::int64_t width) {
  kastor::BackgroundParams params;
  params.cell_height = height;
  params.cell_width = width;
  return params;
}

/// Each cell on its own.
kastor::BackgroundParams unfiltered(std::int64_t height, std::int64_t width) {
  kastor::BackgroundParams params = with_cells(height, width);
  params.filter_height = params.filter_width = 1;
  return params;
}

template <class C>
class Background : public ::testing::Test {};
TYPED_TEST_SUITE(Background, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Background, MatchesNaiveOnAllPixelKinds) {
  using T = typename TypeParam::real;
  for (const ts::Pixels kind : ts::all_pixel_kinds) {
    for (const auto estimate :
         {kastor::BackgroundEstimate::mode, kastor::BackgroundEstimate::median}) {
      auto params = unfiltered(40, 50);
      params.estimate = estimate;
      matches_naive<TypeParam>(ts::make_image<T>(kind, 100, 130, 5), params, ts::name_of(kind));
    }
  }
}

TYPED_TEST(Background, MatchesNaiveOnShapesOfCells) {
  using T = typename TypeParam::real;
  const std::pair<std::int64_t, std::int64_t> cells[] = {{1, 1},   {1, 7},      {7, 1},   {2, 3},
                                                         {16, 16}, {64, 64},    {63, 65}, {5, 300},
                                                         {300, 5}, {1000, 1000}};
  for (const auto& [ny, nx] : ts::awkward_shapes) {
    const auto image = ts::make_image<T>(ts::Pixels::contaminated, ny, nx, 3);
    for (const auto& [height, width] : cells) {
      if (ny * nx > 800 * height * width) continue;  // a mesh too large for the reference
      matches_naive<TypeParam>(image, with_cells(height, width), "contaminated");
      matches_naive<TypeParam>(image, unfiltered(height, width), "contaminated, not filtered");
    }
  }
}

/// So many cells that a device takes them all at once; some have no pixel, some a source.
TYPED_TEST(Background, OfManyCellsIsTheSameEverywhere) {
  using Exec = typename TypeParam::exec;
  using First = ts::FirstExec;
  using T = typename TypeParam::real;
  auto host = ts::make_image<T>(ts::Pixels::contaminated, 1700, 1760, 31);
  for (std::int64_t y = 0; y < 40; ++y)
    for (std::int64_t x = 0; x < 100; ++x) host(y, x) = std::numeric_limits<T>::quiet_NaN();
  host(200, 200) = T(1e6);
  ts::HostMask exclude(host.ny, host.nx);
  for (std::int64_t y = 0; y < host.ny; ++y)
    for (std::int64_t x = 0; x < host.nx; ++x) exclude(y, x) = (x * 7 + y * 3) % 19 == 0;
  for (const double kappa : {2.5, 3.0}) {
    auto params = unfiltered(32, 32);
    params.clip.kappa = kappa;
    const std::string what = "kappa " + std::to_string(kappa);
    for (const bool excludes : {false, true}) {
      kastor::BitMask<Exec> mask;
      kastor::BitMask<First> first_mask;
      if (excludes) {
        mask = ts::to_device_mask<Exec>(exclude);
        first_mask = ts::to_device_mask<First>(exclude);
      }
      const auto want = nodes_of<First, T>(
          kastor::estimate_background(First{}, ts::to_device<First>(host), params, first_mask));
      kastor::BackgroundEstimator<Exec, T> estimate(Exec{}, params);
      const auto image = ts::to_device<Exec>(host);
      EXPECT_TRUE(same_bits(nodes_of<Exec, T>(estimate(image, mask)), want)) << what;
      const auto bands = ts::split_into_bands<Exec, T>(image, 7);
      EXPECT_TRUE(same_bits(nodes_of<Exec, T>(estimate(bands, mask)), want)) << what << ", bands";
    }
  }
}

/// Cells that a device's threads read in turns, with a row or a few left over for some of them; and
/// such as begin anywhere.
TYPED_TEST(Background, OfManyShapesOfCellsIsTheSameEverywhere) {
  using Exec = typename TypeParam::exec;
  using First = ts::FirstExec;
  using T = typename TypeParam::real;
  auto host = ts::make_image<T>(ts::Pixels::contaminated, 1700, 1760, 37);
  host(1000, 1000) = std::numeric_limits<T>::infinity();
  host(700, 300) = -std::numeric_limits<T>::infinity();
  const auto image = ts::to_device<Exec>(host);
  const auto first_image = ts::to_device<First>(host);
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{33, 32}, {37, 32},  {65, 16}, {39, 28},
                                                          {35, 31}, {13, 128}, {62, 64}, {3, 512}};
  for (const auto& [height, width] : shapes) {
    const auto params = unfiltered(height, width);
    const auto want = nodes_of<First, T>(kastor::estimate_background(First{}, first_image, params));
    const auto got = nodes_of<Exec, T>(kastor::estimate_background(Exec{}, image, params));
    EXPECT_TRUE(same_bits(got, want)) << ts::shape_name(height, width);
  }
}

TYPED_TEST(Background, MatchesNaiveWithEveryParameter) {
  using T = typename TypeParam::real;
  const auto image = ts::make_image<T>(ts::Pixels::contaminated, 150, 170, 11);
  for (const double kappa : {1.5, 2.5, 3.0, 10.0}) {
    for (const int max_passes : {0, 1, 2, 5}) {
      auto params = unfiltered(32, 32);
      params.clip = {kappa, max_passes};
      matches_naive<TypeParam>(
          image, params,
          "kappa " + std::to_string(kappa) + " max_passes " + std::to_string(max_passes));
    }
  }
  for (const auto& [height, width] : {std::pair{1, 3}, {3, 1}, {5, 3}, {7, 7}, {101, 3}}) {
    auto params = with_cells(9, 11);
    params.filter_height = height;
    params.filter_width = width;
    matches_naive<TypeParam>(image, params, "filter " + ts::shape_name(height, width));
  }
}

TYPED_TEST(Background, FillsCellsWithoutEnoughGoodPixels) {
  using T = typename TypeParam::real;
  const auto image = ts::make_image<T>(ts::Pixels::contaminated, 100, 130, 21);
  ts::Random random(4);
  for (const double empty : {0.1, 0.5, 0.9, 0.99}) {
    // Whole cells of 8 x 8 without a pixel, others half full.
    ts::HostMask exclude(image.ny, image.nx);
    for (std::int64_t y = 0; y < image.ny; y += 8) {
      for (std::int64_t x = 0; x < image.nx; x += 8) {
        const bool is_empty = random.uniform() < empty;
        for (std::int64_t v = y; v < std::min(y + 8, image.ny); ++v)
          for (std::int64_t u = x; u < std::min(x + 8, image.nx); ++u)
            exclude(v, u) = is_empty || random.below(2) == 0 ? 1 : 0;
      }
    }
    for (const double fraction : {0.0, 0.3, 0.5, 1.0}) {
      for (const bool filtered : {true, false}) {
        auto params = filtered ? with_cells(8, 8) : unfiltered(8, 8);
        params.min_good_fraction = fraction;
        matches_naive<TypeParam>(
            image, params, std::to_string(empty) + " empty, fraction " + std::to_string(fraction),
            exclude);
      }
    }
  }
}

TYPED_TEST(Background, RefusesImagesWithoutAGoodCell) {
  using T = typename TypeParam::real;
  ts::HostImage<T> image(30, 40, std::numeric_limits<T>::quiet_NaN());
  matches_naive<TypeParam>(image, with_cells(8, 8), "blank");
  image(3, 3) = 1;
  matches_naive<TypeParam>(image, with_cells(8, 8), "one pixel");
  image.values.assign(image.values.size(), T(2));
  matches_naive<TypeParam>(image, with_cells(8, 8), "all excluded",
                           ts::HostMask(30, 40, std::uint8_t{1}));
}

TYPED_TEST(Background, CellsOfEqualPixelsHaveNoNoise) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::HostImage<T> image(128, 128, T(0.1));
  for (std::int64_t y = 0; y < 64; ++y)
    for (std::int64_t x = 0; x < 64; ++x) image(y, x) = y == 0 ? T(1e6) : T(-3.25);
  const auto nodes = nodes_of<Exec, T>(
      kastor::estimate_background(Exec{}, ts::to_device<Exec>(image), unfiltered(64, 64)));
  for (const kastor::MeshNode& node : nodes.rms.values) EXPECT_EQ(node.value, 0);
  EXPECT_EQ(nodes.level(0, 0).value, -3.25);
  EXPECT_EQ(nodes.level(0, 1).value, static_cast<double>(T(0.1)));
}

TYPED_TEST(Background, MapsAreNaturalBicubicSplines) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{30, 50}, {1, 50}, {410, 9}, {17, 331}};
  for (const auto& [ny, nx] : shapes) {
    const auto host = ts::make_image<T>(ts::Pixels::gaussian, ny, nx, 8);
    auto params = unfiltered(8, 6);
    const auto mesh = kastor::estimate_background(space, ts::to_device<Exec>(host), params);
    const ts::NaiveMesh want = ts::background_naive(host, {}, params);
    const auto level = ts::new_image<Exec, T>("test::level", ny, nx);
    const auto rms = ts::new_image<Exec, T>("test::rms", ny, nx);
    kastor::fill_map<Exec, T>(space, mesh.background().level, level);
    kastor::fill_map<Exec, T>(space, mesh.background().rms, rms);
    space.fence("test::background");
    const auto got = ts::to_host_grid(level), noise = ts::to_host_grid(rms);
    constexpr double tolerance = std::is_same_v<T, float> ? 1e-6 : 1e-8;
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t x = 0; x < nx; ++x) {
        EXPECT_NEAR(got(y, x), ts::surface_naive(want.level, 8, 6, y, x), tolerance);
        EXPECT_GE(noise(y, x), 0);
        const double smooth = ts::surface_naive(want.rms, 8, 6, y, x);
        if (smooth > 0.8) {
          EXPECT_NEAR(noise(y, x), smooth, tolerance);
        }
      }
    }
    // Whatever way it is filled, pixel for pixel the surface.
    using First = ts::FirstExec;
    const auto first = kastor::estimate_background(First{}, ts::to_device<First>(host), params);
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t x = 0; x < nx; ++x) {
        EXPECT_EQ(got(y, x), static_cast<T>(first.level(y, x))) << y << ' ' << x;
        EXPECT_EQ(noise(y, x), static_cast<T>(first.rms(y, x))) << y << ' ' << x;
      }
    }
    // The lower half alone, as a band of the map.
    const std::int64_t half = ny / 2;
    const auto below = ts::new_image<Exec, T>("test::level", ny - half, nx);
    kastor::fill_map<Exec, T>(space, mesh.background().level, below, half);
    space.fence("test::background");
    const auto lower = ts::to_host_grid(below);
    for (std::int64_t y = half; y < ny; ++y)
      for (std::int64_t x = 0; x < nx; ++x) EXPECT_EQ(lower(y - half, x), got(y, x));
  }
}

TYPED_TEST(Background, FollowsAGradientToTheEdges) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  ts::HostImage<T> image(96, 160);
  for (std::int64_t y = 0; y < image.ny; ++y)
    for (std::int64_t x = 0; x < image.nx; ++x) image(y, x) = static_cast<T>(3 * y - 2 * x + 7);
  for (const auto interpolation :
       {kastor::MeshInterpolation::bicubic, kastor::MeshInterpolation::bilinear}) {
    auto params = unfiltered(16, 32);
    params.interpolation = interpolation;
    const auto mesh = kastor::estimate_background(space, ts::to_device<Exec>(image), params);
    const auto level = ts::new_image<Exec, T>("test::level", image.ny, image.nx);
    kastor::fill_map<Exec, T>(space, mesh.background().level, level);
    space.fence("test::background");
    const auto got = ts::to_host_grid(level);
    for (std::int64_t y = 0; y < image.ny; ++y)
      for (std::int64_t x = 0; x < image.nx; ++x)
        EXPECT_NEAR(got(y, x), image(y, x), 1e-4) << y << ' ' << x;
  }
}

TYPED_TEST(Background, SummaryIsTheMedianOfTheNodes) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto host = ts::make_image<T>(ts::Pixels::contaminated, 100, 120, 2);
  for (const std::int64_t cell : {20, 30, 100}) {
    kastor::BackgroundEstimator<Exec, T> estimate(Exec{}, with_cells(cell, cell));
    const auto nodes = nodes_of<Exec, T>(estimate(ts::to_device<Exec>(host)));
    std::vector<double> level;
    for (const kastor::MeshNode& node : nodes.level.values) level.push_back(node.value);
    std::sort(level.begin(), level.end());
    EXPECT_EQ(estimate.summary().level,
              (level[(level.size() - 1) / 2] + level[level.size() / 2]) / 2);
  }
}

TYPED_TEST(Background, OneObjectTakesImagesOfDifferentSizes) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  kastor::BackgroundEstimator<Exec, T> estimate(space, with_cells(16, 16));
  ts::expect_error([&] { (void)estimate.summary(); }, {"no image"});
  for (const auto& [ny, nx] : {std::pair{40, 50}, {200, 30}, {3, 3}, {100, 100}}) {
    const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, ny, nx, 9));
    const auto again = nodes_of<Exec, T>(estimate(image));
    const auto fresh =
        nodes_of<Exec, T>(kastor::estimate_background(space, image, with_cells(16, 16)));
    EXPECT_TRUE(same_bits(again, fresh)) << ts::shape_name(ny, nx);
  }
}

TYPED_TEST(Background, RefusesWrongArguments) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const auto refused = [&](const kastor::BackgroundParams& params, const char* word) {
    ts::expect_error([&] { const kastor::BackgroundEstimator<Exec, T> estimate(space, params); },
                     {"kastor::BackgroundEstimator", word});
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  refused(with_cells(0, 64), "cells");
  refused(with_cells(64, -1), "cells");
  kastor::BackgroundParams params;
  params.clip.kappa = nan;
  refused(params, "kappa");
  params = {};
  params.clip.max_passes = -1;
  refused(params, "max_passes");
  for (const double fraction : {-0.1, 1.1, nan}) {
    params = {};
    params.min_good_fraction = fraction;
    refused(params, "min_good_fraction");
  }
  for (const int size : {0, 2, -3}) {
    params = {};
    params.filter_width = size;
    refused(params, "median filter");
  }
  kastor::BackgroundEstimator<Exec, T> estimate(space);
  const auto image = ts::to_device<Exec>(ts::HostImage<T>(8, 9, T(1)));
  const auto mask = ts::to_device_mask<Exec>(ts::HostMask(9, 8));
  ts::expect_error([&] { (void)estimate(image, mask); }, {"mask is 9 x 8", "8 x 9"});
  ts::expect_error([&] { (void)estimate(kastor::Image<T, Exec>("test::empty", 0, 9)); },
                   {"at least one pixel"});
  ts::expect_error(
      [&] {
        kastor::fill_map<Exec, T>(space, kastor::PixelMap<Exec, T>(1.0),
                                  kastor::Image<T, Exec>("test::map", 2, 2), -1);
      },
      {"first row"});
}

}  // namespace
