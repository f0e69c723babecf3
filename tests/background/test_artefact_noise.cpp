// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/artefact_noise.hpp>
#include <kastor/background.hpp>
#include <kastor/island_finder.hpp>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

kastor::Island peak_at(std::int64_t id, std::int32_t y, std::int32_t x, double snr) {
  kastor::Island island{};
  island.id = id;
  island.y_peak = y;
  island.x_peak = x;
  island.snr_peak = snr;
  return island;
}

/// The factors of the cells by the formula of the header, in double throughout.
struct NaiveCells {
  std::int64_t side = 1;
  ts::HostGrid<double> factors;
};

struct NaiveScene {
  ts::HostImage<double> image;
  double level = 0;
  ts::HostImage<double> rms;
  ts::HostMask region;  ///< empty: all
};

/// f of the window from cell (j, i) on; infinity if it does not count.
double naive_window(const NaiveScene& scene, std::int64_t side, std::int64_t j, std::int64_t i) {
  const auto& image = scene.image;
  double sum = 0, n = 0;
  for (std::int64_t y = std::max<std::int64_t>(0, j * side); y < std::min(image.ny, (j + 2) * side);
       ++y) {
    for (std::int64_t x = std::max<std::int64_t>(0, i * side);
         x < std::min(image.nx, (i + 2) * side); ++x) {
      if (!scene.region.values.empty() && scene.region(y, x) == 0) continue;
      const double depth = (scene.level - image(y, x)) / scene.rms(y, x);
      if (!std::isfinite(depth) || !(depth > 0)) continue;
      sum += std::min(depth, 1024.0);
      n += 1;
    }
  }
  if (8 * n < static_cast<double>(4 * side * side)) return std::numeric_limits<double>::infinity();
  return std::sqrt(std::numbers::pi / 2) * sum / n;
}

NaiveCells naive_cells(const NaiveScene& scene, const std::vector<kastor::Island>& islands,
                       const kastor::ArtefactNoiseParams& params) {
  const auto& image = scene.image;
  NaiveCells cells;
  cells.side = std::max<std::int64_t>(1, std::lround(2 * params.beam_width));
  cells.factors = {(image.ny - 1) / cells.side + 1, (image.nx - 1) / cells.side + 1, 1.0};
  for (std::int64_t j = 0; j < cells.factors.ny; ++j) {
    for (std::int64_t i = 0; i < cells.factors.nx; ++i) {
      bool is_near = false;
      for (const auto& island : islands) {
        const double dy = (static_cast<double>(j) + 0.5) * static_cast<double>(cells.side) - 0.5 -
                          static_cast<double>(island.y_peak);
        const double dx = (static_cast<double>(i) + 0.5) * static_cast<double>(cells.side) - 0.5 -
                          static_cast<double>(island.x_peak);
        is_near |= island.snr_peak > params.min_snr &&
                   std::hypot(dx, dy) <= params.radius * params.beam_width;
      }
      if (!is_near) continue;
      double factor = std::numeric_limits<double>::infinity();
      for (std::int64_t v = j - 1; v <= j; ++v) {
        for (std::int64_t u = i - 1; u <= i; ++u)
          factor = std::min(factor, naive_window(scene, cells.side, v, u));
      }
      if (std::isinf(factor)) continue;
      cells.factors(j, i) = std::max(1.0, factor);
    }
  }
  return cells;
}

/// Bilinear between the centres, constant beyond.
double naive_factor(const NaiveCells& cells, std::int64_t y, std::int64_t x) {
  const auto weights = [&](std::int64_t pixel, std::int64_t count, std::int64_t& first) {
    double at = (static_cast<double>(pixel) + 0.5) / static_cast<double>(cells.side) - 0.5;
    at = std::min(std::max(at, 0.0), static_cast<double>(count - 1));
    first = std::min(static_cast<std::int64_t>(at), std::max<std::int64_t>(count - 2, 0));
    return at - static_cast<double>(first);
  };
  std::int64_t j = 0, i = 0;
  const double v = weights(y, cells.factors.ny, j), u = weights(x, cells.factors.nx, i);
  const auto along = [&](std::int64_t row) {
    const std::int64_t next = std::min(i + 1, cells.factors.nx - 1);
    return (1 - u) * cells.factors(row, i) + u * cells.factors(row, next);
  };
  return (1 - v) * along(j) + v * along(std::min(j + 1, cells.factors.ny - 1));
}

NaiveScene scene_of(ts::Pixels kind, std::int64_t ny, std::int64_t nx, bool has_region) {
  NaiveScene scene;
  const auto pixels = ts::make_image<float>(kind, ny, nx, 7);
  scene.image = {ny, nx};
  scene.rms = {ny, nx};
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      // Three times the noise of the map in the middle rows.
      const double factor = y > ny / 3 && y < 2 * ny / 3 ? 3 : 1;
      scene.image(y, x) =
          static_cast<double>(static_cast<float>(factor * static_cast<double>(pixels(y, x))));
      scene.rms(y, x) = static_cast<double>(static_cast<float>(1 + 0.001 * static_cast<double>(x)));
    }
  }
  if (ny * nx > 100) {
    scene.rms(ny / 2, nx / 2) = std::numeric_limits<double>::quiet_NaN();
    scene.image(ny / 2, nx / 3) = -1e9;  // far beyond the cap
  }
  scene.level = 0.25;
  if (has_region) scene.region = ts::random_mask(ny, nx, 0.7, 3);
  return scene;
}

template <class T>
ts::HostImage<T> cast(const ts::HostImage<double>& image) {
  ts::HostImage<T> result(image.ny, image.nx);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    result.values[i] = static_cast<T>(image.values[i]);
  return result;
}

/// The raised map of a scene in `bands` bands.
template <class Exec, class T>
ts::HostImage<T> raised(const NaiveScene& scene, const std::vector<kastor::Island>& islands,
                        const kastor::ArtefactNoiseParams& params, std::int64_t bands,
                        kastor::ArtefactNoiseSummary* summary = nullptr) {
  const Exec space;
  const auto image = ts::to_device_cut_out<Exec>(cast<T>(scene.image));
  const auto rms = ts::to_device<Exec>(cast<T>(scene.rms));
  kastor::BitMask<Exec> region;
  if (!scene.region.values.empty()) region = ts::to_device_mask<Exec>(scene.region);
  kastor::ArtefactNoise<Exec, T> raise(space, params);
  const kastor::Background<Exec, T> given{scene.level, rms};
  const auto split = ts::split_into_bands<Exec, T>(image.image, bands);
  (void)raise(kastor::Bands<T, Exec>(split), given, islands, region);  // the plan is used again
  const auto background = bands == 1 ? raise(image.image, given, islands, region)
                                     : raise(kastor::Bands<T, Exec>(split), given, islands, region);
  if (summary != nullptr) *summary = raise.summary();
  const kastor::Image<T, Exec> map("test::map", static_cast<std::size_t>(scene.image.ny),
                                   static_cast<std::size_t>(scene.image.nx));
  kastor::fill_map<Exec, T>(space, background.rms, kastor::MutableImage<T, Exec>(map));
  space.fence("test::raised");
  return ts::to_host_grid(map);
}

template <class C>
class ArtefactNoise : public ::testing::Test {};
TYPED_TEST_SUITE(ArtefactNoise, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(ArtefactNoise, IsTheFormula) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  struct Row {
    ts::Pixels kind;
    std::int64_t ny, nx;
    double beam_width, radius;
    bool has_region;
  };
  const Row rows[] = {{ts::Pixels::gaussian, 120, 161, 3.3, 12, false},
                      {ts::Pixels::contaminated, 120, 161, 4, 6, true},
                      {ts::Pixels::half_blank, 90, 70, 0.2, 100, false},
                      {ts::Pixels::cauchy, 64, 64, 50, 12, false},
                      {ts::Pixels::constant, 40, 40, 2, 12, false},
                      {ts::Pixels::gaussian, 1, 257, 2, 12, false},
                      {ts::Pixels::gaussian, 1, 1, 4, 12, false}};
  for (const Row& row : rows) {
    SCOPED_TRACE(ts::name_of(row.kind) + ' ' + ts::shape_name(row.ny, row.nx));
    const auto scene = scene_of(row.kind, row.ny, row.nx, row.has_region);
    kastor::ArtefactNoiseParams params;
    params.beam_width = row.beam_width;
    params.radius = row.radius;
    const auto y = static_cast<std::int32_t>(row.ny), x = static_cast<std::int32_t>(row.nx);
    const std::vector<kastor::Island> islands{peak_at(1, y / 2, x / 3, 201), peak_at(2, 0, 0, 200),
                                              peak_at(3, y - 1, x - 1, 1e4)};
    kastor::ArtefactNoiseSummary summary;
    const auto got = raised<Exec, T>(scene, islands, params, 1, &summary);
    const auto cells = naive_cells(scene, islands, params);
    double largest = 1;
    std::int64_t higher = 0;
    for (std::int64_t j = 0; j < row.ny; ++j) {
      for (std::int64_t i = 0; i < row.nx; ++i) {
        const double want = scene.rms(j, i) * naive_factor(cells, j, i);
        if (std::isnan(want)) {
          EXPECT_TRUE(std::isnan(got(j, i)));
        } else {
          ASSERT_NEAR(static_cast<double>(got(j, i)), want, 1e-5 * want) << j << ' ' << i;
          higher += got(j, i) > static_cast<T>(scene.rms(j, i)) ? 1 : 0;
          largest = std::max(largest, naive_factor(cells, j, i));
        }
      }
    }
    EXPECT_EQ(summary.bright, 2);
    EXPECT_NEAR(summary.largest_factor, largest, 1e-5 * largest);
    EXPECT_EQ(summary.raised_pixels, higher);
    EXPECT_EQ(higher > 0, largest > 1);
    EXPECT_TRUE(ts::same_pixels(got, raised<ts::FirstExec, T>(scene, islands, params, 1)));
    for (const std::int64_t bands : {2, 7, 200})
      EXPECT_TRUE(ts::same_pixels(got, raised<Exec, T>(scene, islands, params, bands))) << bands;
  }
}

TYPED_TEST(ArtefactNoise, NothingBrightChangesNothing) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::gaussian, 50, 60, 1));
  kastor::ArtefactNoise<Exec, T> raise(Exec{});
  const std::vector<kastor::Island> islands{peak_at(1, 3, 4, 200)};
  const auto same = raise(image, kastor::Background<Exec, T>{0.0, 1.5}, islands);
  EXPECT_EQ(same.rms.kind(), (kastor::PixelMap<Exec, T>::Kind::constant));
  EXPECT_EQ(same.rms.constant(), 1.5);
  EXPECT_EQ(raise.summary().bright, 0);
}

TYPED_TEST(ArtefactNoise, RefusesWhatDoesNotFit) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto refuse = [](double min_snr, double width, double radius, const char* part) {
    ts::expect_error(
        [&] {
          kastor::ArtefactNoise<Exec, T>(Exec{}, {min_snr, width, radius});
        },
        {part});
  };
  refuse(0, 4, 12, "min_snr");
  refuse(std::nan(""), 4, 12, "min_snr");
  refuse(200, 0, 12, "beam_width");
  refuse(200, 4, -1, "radius");
  const auto image = ts::to_device<Exec>(ts::HostImage<T>(5, 6, T(1)));
  const auto other = ts::to_device<Exec>(ts::HostImage<T>(6, 5, T(1)));
  kastor::ArtefactNoise<Exec, T> raise(Exec{});
  using Background = kastor::Background<Exec, T>;
  const std::vector<kastor::Island> outside{peak_at(9, 5, 0, 300)};
  ts::expect_error([&] { (void)raise(image, Background{0.0, other}, {}); }, {"rms", "6 x 5"});
  ts::expect_error([&] { (void)raise(image, Background{other, 1.0}, {}); }, {"level", "6 x 5"});
  ts::expect_error(
      [&] {
        (void)raise(image, Background{0.0, 1.0}, outside);
      },
      {"island 9", "y = 5"});
}

/// A source of 1000 times the noise with rings of both signs around it, and faint sources near it.
template <class T>
ts::HostImage<T> sky_with_artefacts(bool has_rings, const std::vector<std::pair<int, int>>& faint) {
  ts::Random random(11);
  ts::HostImage<T> sky(200, 200);
  const auto blob = [](double r2) { return std::exp(-r2 / (2 * 1.7 * 1.7)); };
  for (std::int64_t y = 0; y < sky.ny; ++y) {
    for (std::int64_t x = 0; x < sky.nx; ++x) {
      const double dy = static_cast<double>(y) - 100, dx = static_cast<double>(x) - 100;
      const double r2 = dx * dx + dy * dy, r = std::sqrt(r2);
      double value = random.gaussian() + 1000 * blob(r2);
      if (has_rings && r > 8)
        value += 40 * std::exp(-r / 15) * std::cos(r) * std::cos(4 * std::atan2(dy, dx));
      for (const auto& [fy, fx] : faint) {
        const double ey = static_cast<double>(y - fy), ex = static_cast<double>(x - fx);
        value += 25 * blob(ex * ex + ey * ey);
      }
      sky(y, x) = static_cast<T>(value);
    }
  }
  return sky;
}

TYPED_TEST(ArtefactNoise, RingsAreNoSourcesAndSourcesStay) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const std::vector<std::pair<int, int>> faint{{100, 140}, {140, 100}, {72, 72}, {20, 180}};
  kastor::ArtefactNoiseParams params;
  const auto found = [&](bool has_rings, bool raises) {
    const auto image = ts::to_device<Exec>(sky_with_artefacts<T>(has_rings, faint));
    kastor::Background<Exec, T> background{0.0, 1.0};
    kastor::IslandFinder<Exec, T> find(Exec{});
    auto result = find(image, background);
    kastor::ArtefactNoise<Exec, T> raise(Exec{}, params);
    if (raises) result = find(image, raise(image, background, result.islands));
    std::size_t real = 0;
    for (const auto& island : result.islands) {
      bool is_real = std::abs(island.x_peak - 100) < 3 && std::abs(island.y_peak - 100) < 3;
      for (const auto& [y, x] : faint)
        is_real |= std::abs(island.x_peak - x) < 3 && std::abs(island.y_peak - y) < 3;
      real += is_real ? 1U : 0U;
    }
    return std::make_pair(real, result.islands.size() - real);
  };
  EXPECT_EQ(found(false, false), std::make_pair(std::size_t{5}, std::size_t{0}));
  EXPECT_EQ(found(false, true), std::make_pair(std::size_t{5}, std::size_t{0}));
  EXPECT_EQ(found(true, false).first, 5U);
  EXPECT_GE(found(true, false).second, 8U) << "the rings look like sources";
  EXPECT_EQ(found(true, true), std::make_pair(std::size_t{5}, std::size_t{0}));
}

}  // namespace
