// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <kastor/background.hpp>
#include <limits>
#include <string>
#include <vector>

#include "background_naive.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

constexpr std::int64_t side = 24;  // of a cell [pixel]

/// Values of the nodes, levels first.
template <class Exec, class T>
std::vector<double> values_of(const kastor::BackgroundMesh<Exec, T>& mesh) {
  Exec{}.fence("test::background");
  std::vector<double> values;
  for (const auto* surface : {&mesh.level, &mesh.rms}) {
    const auto copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, surface->nodes);
    for (std::size_t j = 0; j < copy.extent(0); ++j)
      for (std::size_t i = 0; i < copy.extent(1); ++i) values.push_back(copy(j, i).value);
  }
  return values;
}

void expect_same_bits(const std::vector<double>& got, const std::vector<double>& want,
                      const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(got[i]), std::bit_cast<std::uint64_t>(want[i]))
        << what << ", value " << i;
}

/// Brightness of a scene at a position in cells, with noise of 1 times `noise`.
struct SkyScene {
  std::int64_t rows = 14, columns = 15;  // cells; the last ones are cut
  std::function<double(double, double)> level = [](double, double) { return 0.0; };
  std::function<double(double, double)> noise = [](double, double) { return 1.0; };
};

template <class T>
ts::HostImage<T> image_of(const SkyScene& scene) {
  ts::HostImage<T> image(scene.rows * side - 5, scene.columns * side - 7);
  ts::Random random(9);
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 0; x < image.nx; ++x) {
      const double v = static_cast<double>(y) / side, u = static_cast<double>(x) / side;
      image(y, x) = static_cast<T>(scene.level(v, u) + scene.noise(v, u) * random.gaussian());
    }
  }
  return image;
}

double distance(double v, double u, double v0, double u0) { return std::hypot(v - v0, u - u0); }

double disk(double v, double u) { return distance(v, u, 6.3, 7.1) < 2.2 ? 20 : 0; }
double slope(double v, double u) { return 0.3 * v - 0.2 * u; }
double bell(double v, double u) {
  const double d = distance(v, u, 3.2, 11.4) / 1.1;
  return 30 * std::exp(-d * d / 2);
}

kastor::BackgroundParams masking(bool masks = true) {
  kastor::BackgroundParams params;
  params.cell_height = params.cell_width = side;
  params.estimate = kastor::BackgroundEstimate::median;
  params.mask_large_sources = masks;
  return params;
}

template <class C>
class SourceCells : public ::testing::Test {};
TYPED_TEST_SUITE(SourceCells, ts::ExecsAndReals, ts::CaseName);

template <class C>
void masks_as_naive(const ts::HostImage<typename C::real>& host, const std::string& what,
                    const ts::HostMask& exclude = {}) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const kastor::BackgroundParams params = masking();
  const ts::NaiveMesh want = ts::background_naive(host, exclude, params);
  kastor::BitMask<Exec> mask;
  if (!exclude.values.empty()) mask = ts::to_device_mask<Exec>(exclude);
  kastor::BackgroundEstimator<Exec, T> estimate(Exec{}, params);
  const auto image = ts::to_device<Exec>(host);
  const auto got = values_of<Exec, T>(estimate(image, mask));
  const kastor::BackgroundSummary summary = estimate.summary();
  EXPECT_GT(summary.source_cells, 0) << what;
  EXPECT_EQ(summary.source_cells, want.source_cells) << what;
  EXPECT_EQ(summary.filled, want.filled) << what;
  const std::size_t cells = want.level.values.size();
  ASSERT_EQ(got.size(), 2 * cells) << what;
  for (std::size_t i = 0; i < cells; ++i) {
    EXPECT_NEAR(got[i], want.level.values[i], 1e-8) << what << ", level " << i;
    EXPECT_NEAR(got[cells + i], want.rms.values[i], 1e-8) << what << ", rms " << i;
  }
  const auto cut_out = ts::to_device_cut_out<Exec>(host);
  const auto bands = ts::split_into_bands<Exec, T>(cut_out.image, 5);
  expect_same_bits(values_of<Exec, T>(estimate(bands, mask)), got, what + ", in bands");
  using First = ts::FirstExec;
  kastor::BitMask<First> first_mask;
  if (!exclude.values.empty()) first_mask = ts::to_device_mask<First>(exclude);
  const auto first =
      kastor::estimate_background(First{}, ts::to_device<First>(host), params, first_mask);
  expect_same_bits(values_of<First, T>(first), got, what + ", on the first backend");
}

TYPED_TEST(SourceCells, MatchNaive) {
  using T = typename TypeParam::real;
  SkyScene scene;
  scene.level = [](double v, double u) { return disk(v, u) + bell(v, u) + slope(v, u) / 4; };
  masks_as_naive<TypeParam>(image_of<T>(scene), "disk and bell");
  scene.level = [](double v, double u) { return 1e6 * disk(v, u) + slope(v, u); };
  scene.noise = [](double v, double) { return 0.5 + 0.1 * v; };
  masks_as_naive<TypeParam>(image_of<T>(scene), "bright disk in rising noise");
  scene.level = [](double v, double u) { return disk(v + 5, u + 6); };
  masks_as_naive<TypeParam>(image_of<T>(scene), "in a corner");
  scene.level = [](double v, double u) { return 1e3 * disk(v, u) + 20 * slope(v, u); };
  masks_as_naive<TypeParam>(image_of<T>(scene), "on a steep slope");
  // Far above the lowest level and noise of the image, and found in several rounds.
  scene.rows = 21;
  scene.columns = 26;
  scene.level = [](double v, double u) {
    const double d = distance(v, u, 12, 20) / 2, e = distance(v, u, 9, 6) / 3;
    return 300 * std::exp(-d * d / 2) - 200 * std::exp(-e * e / 2);
  };
  scene.noise = [](double, double u) { return u < 2 ? 0.01 : 1.0; };
  masks_as_naive<TypeParam>(image_of<T>(scene), "a wide bell beside a bowl");
  scene.noise = [](double, double) { return 1.0; };
  // A single row of sky cells on either side: no plane is determined.
  scene.rows = 1;
  scene.columns = 19;
  scene.level = [](double, double u) { return u > 6 && u < 9 ? 25.0 : 0.0; };
  masks_as_naive<TypeParam>(image_of<T>(scene), "one row");
}

TYPED_TEST(SourceCells, MayLieBesideBlankPixels) {
  using T = typename TypeParam::real;
  SkyScene scene;
  scene.level = [](double v, double u) { return disk(v, u) + slope(v, u) / 8; };
  auto host = image_of<T>(scene);
  ts::HostMask exclude(host.ny, host.nx);
  for (std::int64_t y = 0; y < host.ny; ++y) {
    for (std::int64_t x = 0; x < host.nx; ++x) {
      if (x > 5 * side && x < 7 * side) host(y, x) = std::numeric_limits<T>::quiet_NaN();
      exclude(y, x) = y < 5 * side ? 1 : 0;
    }
  }
  masks_as_naive<TypeParam>(host, "blank columns, excluded rows", exclude);
}

/// The level under a source is that of the sky around it, also on a slope.
TYPED_TEST(SourceCells, DoNotRaiseTheSky) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  SkyScene scene;
  scene.level = [](double v, double u) { return disk(v, u) + slope(v, u) / 2; };
  const auto image = ts::to_device<Exec>(image_of<T>(scene));
  for (const bool masks : {false, true}) {
    kastor::BackgroundEstimator<Exec, T> estimate(Exec{}, masking(masks));
    const auto got = values_of<Exec, T>(estimate(image));
    const std::size_t centre = 6 * 15 + 7;
    const double sky = slope(6.5, 7.5) / 2;
    if (masks) {
      EXPECT_NEAR(got[centre], sky, 0.25);
      EXPECT_NEAR(got[14 * 15 + centre], 1, 0.1);
    } else {
      EXPECT_GT(got[centre], sky + 10);
    }
    const kastor::BackgroundSummary summary = estimate.summary();
    EXPECT_EQ(summary.masks_sources, masks);
    EXPECT_EQ(summary.source_cells > 0, masks);
  }
}

/// These have no source as large as a cell, or too many: their mesh is that without masks.
TYPED_TEST(SourceCells, LeaveTheSkyAlone) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  struct Case {
    const char* name;
    SkyScene scene;
    bool finds = false;
  };
  std::vector<Case> cases(8);
  cases[0].name = "plain";
  cases[1].name = "slope";
  cases[1].scene.level = [](double v, double u) { return 20 * slope(v, u); };
  cases[2].name = "rising noise";
  cases[2].scene.noise = [](double v, double u) {
    return std::exp(distance(v, u, 7, 7) * distance(v, u, 7, 7) / 50);
  };
  cases[3].name = "bowl";
  cases[3].scene.level = [](double v, double u) { return -disk(v, u); };
  cases[4].name = "points";
  cases[4].scene.level = [](double v, double u) {
    return std::fmod(v, 0.5) < 0.05 && std::fmod(u, 0.4) < 0.05 ? 500.0 : 0.0;
  };
  cases[5].name = "waves of many cells";
  cases[5].scene.level = [](double v, double u) { return 30 * std::sin(v / 3) * std::sin(u / 3); };
  cases[6].name = "few cells";
  cases[6].scene.rows = cases[6].scene.columns = 2;
  cases[6].scene.level = [](double v, double u) { return v < 1 && u < 1 ? 50.0 : 0.0; };
  cases[7].name = "source over more than half";
  cases[7].finds = true;
  cases[7].scene.rows = 6;
  cases[7].scene.columns = 6;
  cases[7].scene.level = [](double v, double u) { return distance(v, u, 3, 3) < 2 ? 50.0 : 0.0; };
  for (const Case& each : cases) {
    const auto image = ts::to_device<Exec>(image_of<T>(each.scene));
    kastor::BackgroundEstimator<Exec, T> plain(Exec{}, masking(false)), masks(Exec{}, masking());
    expect_same_bits(values_of<Exec, T>(masks(image)), values_of<Exec, T>(plain(image)), each.name);
    const kastor::BackgroundSummary summary = masks.summary();
    EXPECT_EQ(summary.source_cells > summary.cells / 2, each.finds) << each.name;
    EXPECT_EQ(summary.source_cells > 0, each.finds) << each.name;
    EXPECT_FALSE(summary.masks_sources) << each.name;
  }
}

/// A call does not know of the one before.
TYPED_TEST(SourceCells, AreForgotten) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  SkyScene source;
  source.level = disk;
  const auto empty = ts::to_device<Exec>(image_of<T>({}));
  kastor::BackgroundEstimator<Exec, T> estimate(Exec{}, masking());
  const auto want = values_of<Exec, T>(estimate(empty));
  (void)values_of<Exec, T>(estimate(ts::to_device<Exec>(image_of<T>(source))));
  EXPECT_TRUE(estimate.summary().masks_sources);
  expect_same_bits(values_of<Exec, T>(estimate(empty)), want, "after a source");
  EXPECT_EQ(estimate.summary().source_cells, 0);
}

}  // namespace
