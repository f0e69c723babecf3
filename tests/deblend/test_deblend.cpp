// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <kastor/deblend.hpp>
#include <kastor/island_maps.hpp>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "island_scenes.hpp"
#include "naive_deblend.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
using kastor::Connectivity;

// ------------------------------------------------------------------------------------ helpers

/// One side of an image: its islands, and what became of them.
struct Side {
  kastor::Islands islands;
  ts::HostGrid<std::int64_t> labels, children;
  kastor::IslandPeaks peaks;
  kastor::DeblendedIslands measured;
};

template <class Exec, class T>
std::vector<kastor::ConstImage<T, Exec>> rows_in_bands(const kastor::Image<T, Exec>& image,
                                                       std::int64_t height) {
  std::vector<kastor::ConstImage<T, Exec>> bands;
  const auto ny = static_cast<std::int64_t>(image.extent(0));
  for (std::int64_t y = 0; y < ny; y += height)
    bands.push_back(
        Kokkos::subview(image, std::make_pair(y, std::min(ny, y + height)), Kokkos::ALL));
  return bands;
}

template <class Exec, class T>
std::array<Side, 2> deblend(const ts::Scene<T>& scene, const kastor::IslandParams& find,
                            const kastor::DeblendParams& params, std::int64_t band = 1 << 20) {
  const ts::DeviceScene<Exec, T> device(scene);
  kastor::IslandFinder<Exec, T> finder(Exec{}, find);
  kastor::Deblender<Exec, T> deblender(Exec{}, params);
  const auto found = finder(device.image, device.background, device.region);
  const auto bands = rows_in_bands<Exec, T>(device.image, band);
  std::array<Side, 2> sides;
  for (const bool below : {false, true}) {
    if (below && !find.negative) continue;
    Side& side = sides[below ? 1 : 0];
    for (const kastor::Island& island : found.islands)
      if (((island.flags & kastor::island_negative) != 0) == below) side.islands.push_back(island);
    const auto& labels = below ? finder.negative_labels() : finder.labels();
    side.labels = ts::to_host_labels<std::int64_t>(labels);
    side.peaks = deblender.peaks(bands, device.background, side.islands, labels);
    side.measured = deblender.children(bands, device.background, device.region);
    if (side.peaks.empty()) continue;
    side.children = ts::to_host_labels<std::int64_t>(deblender.labels());
    // The same, pixel by pixel.
    const auto at = ts::new_image<Exec, std::int64_t>("test::at", labels.ny, labels.nx);
    kastor::write_island_labels(Exec{}, deblender.labels(), {}, at);
    Exec{}.fence("test::at");
    EXPECT_EQ(ts::to_host_grid(at).values, side.children.values);
  }
  return sides;
}

template <class V>
bool same_bytes(const V& a, const V& b) {
  return std::memcmp(&a, &b, sizeof(V)) == 0;
}

::testing::AssertionResult same_peaks(const kastor::IslandPeaks& a, const kastor::IslandPeaks& b) {
  if (a.size() != b.size())
    return ::testing::AssertionFailure() << a.size() << " peaks, " << b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const kastor::IslandPeak &u = a[i], &v = b[i];
    if (u.island_id != v.island_id || u.x != v.x || u.y != v.y || u.n_pix != v.n_pix ||
        u.is_capped != v.is_capped || !same_bytes(u.deviation, v.deviation) ||
        !same_bytes(u.rms, v.rms) || !same_bytes(u.saddle, v.saddle)) {
      return ::testing::AssertionFailure()
             << "peak " << i << ": island " << u.island_id << ", " << v.island_id << "; (" << u.y
             << ", " << u.x << "), (" << v.y << ", " << v.x << "); pixels " << u.n_pix << ", "
             << v.n_pix << "; saddle " << u.saddle << ", " << v.saddle;
    }
  }
  return ::testing::AssertionSuccess();
}

bool same_islands(const kastor::Islands& a, const kastor::Islands& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const kastor::Island &u = a[i], &v = b[i];
    if (u.id != v.id || u.n_pix != v.n_pix || u.flags != v.flags || u.y_max != v.y_max ||
        !same_bytes(u.flux_sum, v.flux_sum) || !same_bytes(u.x_cen, v.x_cen) ||
        !same_bytes(u.var_xy, v.var_xy) || !same_bytes(u.rms, v.rms) ||
        !same_bytes(u.snr_peak, v.snr_peak))
      return false;
  }
  return true;
}

/// Children share out the pixels and the light of their islands.
void expect_shares(const Side& side) {
  std::vector<std::int64_t> pixels(side.islands.size());
  std::vector<double> light(side.islands.size()), size(side.islands.size());
  ASSERT_EQ(side.measured.children.size(), side.peaks.size());
  ASSERT_EQ(side.measured.parents.size(), side.peaks.size());
  for (std::size_t i = 0; i < side.peaks.size(); ++i) {
    const kastor::Island& child = side.measured.children[i];
    const kastor::IslandPeak& peak = side.peaks[i];
    EXPECT_EQ(child.id, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(side.measured.parents[i], peak.island_id);
    EXPECT_EQ(child.n_pix, peak.n_pix);
    EXPECT_EQ(child.x_peak, peak.x);
    EXPECT_EQ(child.y_peak, peak.y);
    EXPECT_EQ(std::fabs(child.flux_peak), peak.deviation);
    EXPECT_EQ(child.rms_at_peak, peak.rms);
    const auto at = static_cast<std::size_t>(peak.island_id - side.islands[0].id);
    const kastor::Island& parent = side.islands[at];
    EXPECT_EQ(parent.flags & kastor::island_negative, child.flags & kastor::island_negative);
    EXPECT_TRUE(child.x_min >= parent.x_min && child.x_max <= parent.x_max);
    EXPECT_TRUE(child.y_min >= parent.y_min && child.y_max <= parent.y_max);
    pixels[at] += child.n_pix;
    light[at] += child.flux_sum;
    size[at] += std::fabs(child.flux_sum);
    if (::testing::Test::HasFailure()) return;
  }
  for (std::size_t i = 0; i < side.islands.size(); ++i) {
    EXPECT_EQ(pixels[i], side.islands[i].n_pix);
    EXPECT_NEAR(light[i], side.islands[i].flux_sum, 1e-12 * size[i]);
  }
}

template <class Exec, class T>
std::array<Side, 2> expect_like_reference(const ts::Scene<T>& scene,
                                          const kastor::IslandParams& find,
                                          const kastor::DeblendParams& params,
                                          const std::string& what) {
  const auto sides = deblend<Exec>(scene, find, params);
  for (const Side& side : sides) {
    if (side.islands.empty()) continue;
    const ts::NaiveDeblend naive(scene, side.islands, side.labels, params);
    EXPECT_TRUE(same_peaks(side.peaks, naive.peaks)) << what;
    EXPECT_EQ(side.children.values, naive.children.values) << what;
    expect_shares(side);
  }
  return sides;
}

/// Noise that is smooth over `width` pixels, of standard deviation about 1.
template <class T>
ts::HostImage<T> smooth_noise(std::int64_t ny, std::int64_t nx, std::int64_t width,
                              std::uint64_t seed) {
  ts::Random random(seed);
  ts::HostGrid<double> white(ny + width, nx + width);
  for (double& pixel : white.values) pixel = random.gaussian();
  ts::HostImage<T> image(ny, nx);
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      double sum = 0;
      for (std::int64_t dy = 0; dy < width; ++dy)
        for (std::int64_t dx = 0; dx < width; ++dx) sum += white(y + dy, x + dx);
      image(y, x) = static_cast<T>(sum / static_cast<double>(width));
    }
  }
  return image;
}

struct Blob {
  double y, x, sigma, height;
};
template <class T>
ts::HostImage<T> blobs(std::int64_t ny, std::int64_t nx, const std::vector<Blob>& list) {
  ts::HostImage<T> image(ny, nx);
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      double sum = 0;
      for (const Blob& b : list) {
        const double dy = static_cast<double>(y) - b.y, dx = static_cast<double>(x) - b.x;
        sum += b.height * std::exp(-(dy * dy + dx * dx) / (2 * b.sigma * b.sigma));
      }
      image(y, x) = static_cast<T>(sum);
    }
  }
  return image;
}

kastor::IslandParams above(double flood, bool negative = false,
                           Connectivity connectivity = Connectivity::eight) {
  kastor::IslandParams params;
  params.seed = params.flood = flood;
  params.negative = negative;
  params.connectivity = connectivity;
  return params;
}

/// Every rule, alone and with the others.
std::vector<kastor::DeblendParams> rules() {
  std::vector<kastor::DeblendParams> list(7);
  list[1].prominence = 0.7;
  list[2].contrast = 0.02;
  list[3].min_peak = 1.5;
  list[4].min_pixels = 7;
  list[5].min_size = 20;
  list[6] = {0.3, 0.005, 1.2, 4, 12, Connectivity::eight};
  return list;
}

template <class T>
class Deblend : public ::testing::Test {};
TYPED_TEST_SUITE(Deblend, ts::ExecsAndReals, ts::CaseName);

// -------------------------------------------------------------------------------------- cases

TYPED_TEST(Deblend, MatchesTheReferenceOnNoise) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  for (const kastor::DeblendParams& rule : rules()) {
    for (const std::int64_t width : {1, 3, 5}) {
      auto image = smooth_noise<T>(70, 83, width, static_cast<std::uint64_t>(width));
      image(20, 30) = image(21, 31) = std::numeric_limits<T>::quiet_NaN();
      const std::string what = "width " + std::to_string(width);
      const auto sides =
          expect_like_reference<Exec>(ts::scene_of(image), above(0.2, true), rule, what);
      EXPECT_GT(sides[0].peaks.size(), sides[0].islands.size());
      EXPECT_GT(sides[1].peaks.size(), sides[1].islands.size());
    }
  }
}

/// Steps, and plateaus at the top, at saddles and on slopes.
TYPED_TEST(Deblend, MatchesTheReferenceOnPlateaus) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  for (const kastor::DeblendParams& rule : rules()) {
    for (const double steps : {1.0, 2.0, 5.0}) {
      auto image = smooth_noise<T>(61, 130, 4, 7);
      for (T& pixel : image.values) pixel = static_cast<T>(std::round(pixel * steps) / steps);
      (void)expect_like_reference<Exec>(ts::scene_of(image), above(0, true), rule,
                                        "steps " + std::to_string(steps));
    }
  }
}

TYPED_TEST(Deblend, MatchesTheReferenceForEveryConnectivity) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  for (const Connectivity of_islands : {Connectivity::four, Connectivity::eight}) {
    for (kastor::DeblendParams rule : rules()) {
      rule.connectivity = Connectivity::four;
      const auto scene = ts::scene_of(smooth_noise<T>(60, 90, 2, 11));
      (void)expect_like_reference<Exec>(scene, above(0.3, true, of_islands), rule, "four");
      rule.connectivity = Connectivity::eight;
      (void)expect_like_reference<Exec>(scene, above(0.3, true, of_islands), rule, "eight");
    }
  }
}

/// Maps of every kind, so that the rms differs from peak to peak; blank pixels; a region.
TYPED_TEST(Deblend, MatchesTheReferenceOnEveryMap) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  for (const ts::Maps maps : ts::all_maps) {
    auto scene = ts::make_scene<T>(maps, 97, 131, 5);
    scene.region = ts::mask_where(97, 131, [](auto, auto x) { return x < 60 || x > 64; });
    kastor::IslandParams find = above(0.8, true);
    find.seed = 2.5;
    for (const kastor::DeblendParams& rule : rules())
      (void)expect_like_reference<Exec>(scene, find, rule,
                                        "maps " + std::to_string(static_cast<int>(maps)));
  }
}

TYPED_TEST(Deblend, GivesTheSameBitsEverywhere) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  auto scene = ts::make_scene<T>(ts::Maps::meshes, 97, 131, 5);
  for (std::size_t i = 0; i < scene.image.values.size(); i += 3)
    scene.image.values[i] = static_cast<T>(std::round(scene.image.values[i]));
  for (const kastor::DeblendParams& rule : rules()) {
    const auto expected = deblend<ts::FirstExec>(scene, above(0.5, true), rule);
    for (const std::int64_t band : {97, 33, 1}) {
      const auto got = deblend<Exec>(scene, above(0.5, true), rule, band);
      for (const std::size_t s : {0U, 1U}) {
        EXPECT_TRUE(same_peaks(got[s].peaks, expected[s].peaks)) << band;
        EXPECT_TRUE(same_islands(got[s].measured.children, expected[s].measured.children)) << band;
        EXPECT_EQ(got[s].children.values, expected[s].children.values) << band;
      }
    }
  }
}

TYPED_TEST(Deblend, TellsBlobsApart) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto scene =
      ts::scene_of(blobs<T>(40, 60, {{20, 15, 3, 100}, {20, 25, 3, 60}, {14, 45, 3, 30}}));
  const auto got = deblend<Exec>(scene, above(0.01), {})[0];
  ASSERT_EQ(got.islands.size(), 1U);
  ASSERT_EQ(got.peaks.size(), 3U);
  const std::int32_t x[] = {15, 25, 45}, y[] = {20, 20, 14};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(got.peaks[i].x, x[i]);
    EXPECT_EQ(got.peaks[i].y, y[i]);
    EXPECT_EQ(got.peaks[i].island_id, 1);
    EXPECT_FALSE(got.peaks[i].is_capped);
    EXPECT_NEAR(got.measured.children[i].x_cen, x[i], 1.5);
  }
  EXPECT_EQ(got.peaks[0].saddle, -std::numeric_limits<double>::infinity());
  // About 100 exp(-6^2 / 18) + 60 exp(-4^2 / 18), between the two.
  EXPECT_TRUE(got.peaks[1].saddle > 34 && got.peaks[1].saddle < 41) << got.peaks[1].saddle;
  EXPECT_LT(got.peaks[2].saddle, 10);
  expect_shares(got);
}

/// Each rule alone joins the faint blob with the bright one, just when it should.
TYPED_TEST(Deblend, JoinsWhatDoesNotStandForItself) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto scene = ts::scene_of(blobs<T>(40, 60, {{20, 15, 3, 100}, {20, 32, 3, 40}}));
  const auto both = deblend<Exec>(scene, above(1), {})[0];
  ASSERT_EQ(both.peaks.size(), 2U);
  const kastor::IslandPeak faint = both.peaks[1];
  const double height = faint.deviation - faint.saddle;
  double light = 0;
  std::int64_t n = 0;
  for (std::int64_t py = 0; py < 40; ++py) {
    for (std::int64_t px = 0; px < 60; ++px) {
      const auto d = static_cast<double>(scene.image(py, px));
      if (both.children(py, px) != 2 || d <= faint.saddle) continue;
      light += d - faint.saddle;
      ++n;
    }
  }
  const double share = light / both.islands[0].flux_sum;
  const auto count = [&](double prominence, double contrast, double min_peak,
                         std::int64_t min_pixels, std::int64_t min_size = 1) {
    const kastor::DeblendParams params{prominence, contrast, min_peak,
                                       min_pixels, min_size, Connectivity::eight};
    const auto got = deblend<Exec>(scene, above(1), params)[0];
    EXPECT_EQ(got.peaks.at(0).x, 15);
    EXPECT_TRUE(got.peaks.size() == 2 || got.peaks[0].n_pix == got.islands[0].n_pix);
    return got.peaks.size();
  };
  EXPECT_EQ(count(height, 0, 0, 1), 2U);
  EXPECT_EQ(count(height * (1 + 1e-9), 0, 0, 1), 1U);
  EXPECT_EQ(count(0, share * (1 - 1e-9), 0, 1), 2U);
  EXPECT_EQ(count(0, share * (1 + 1e-9), 0, 1), 1U);
  EXPECT_EQ(count(0, 0, faint.deviation, 1), 2U);
  EXPECT_EQ(count(0, 0, faint.deviation * (1 + 1e-9), 1), 1U);
  EXPECT_EQ(count(0, 0, 0, n), 2U);
  EXPECT_EQ(count(0, 0, 0, n + 1), 1U);
  EXPECT_EQ(count(0, 0, 0, 1, faint.n_pix), 2U);
  EXPECT_EQ(count(0, 0, 0, 1, faint.n_pix + 1), 1U);
  EXPECT_EQ(count(0, 1, 1e9, 1 << 20), 1U) << "an island has a row whatever the rules are";
}

/// A spike is higher than what it sits on, but no source.
TYPED_TEST(Deblend, ASpikeDoesNotTakeTheSourceAway) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  auto image = blobs<T>(40, 60, {{20, 15, 3, 100}, {20, 32, 3, 40}});
  image(22, 36) = 300;
  kastor::DeblendParams params;
  params.min_pixels = 12;
  const auto got = expect_like_reference<Exec>(ts::scene_of(image), above(1), params, "spike")[0];
  ASSERT_EQ(got.peaks.size(), 2U);
  EXPECT_EQ(got.peaks[0].x, 36);
  EXPECT_EQ(got.peaks[1].x, 15);
}

TYPED_TEST(Deblend, TakesAwkwardIslands) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  for (const auto& [ny, nx] : ts::awkward_shapes) {
    const std::string shape = ts::shape_name(ny, nx);
    ts::HostImage<T> flat(ny, nx);
    std::fill(flat.values.begin(), flat.values.end(), T(3));
    const auto one = expect_like_reference<Exec>(ts::scene_of(flat), above(1), {}, shape)[0];
    EXPECT_EQ(one.peaks.size(), 1U) << shape << ": all pixels of one value are one plateau";
    EXPECT_EQ(one.peaks[0].x + one.peaks[0].y, 0);
    auto noise = ts::make_image<T>(ts::Pixels::gaussian, ny, nx, 3);
    kastor::DeblendParams rule;
    if (ny * nx < 5000) rule.contrast = 1e-4;  // the reference counts anew at every saddle
    (void)expect_like_reference<Exec>(ts::scene_of(noise), above(0, true), rule, shape);
    for (T& pixel : noise.values) pixel = pixel + T(100);
    (void)expect_like_reference<Exec>(ts::scene_of(noise), above(0), rule, shape + ", all");
  }
}

TYPED_TEST(Deblend, TakesIslandsOfAnyForm) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto noise = ts::make_image<T>(ts::Pixels::gaussian, 61, 67, 3);
  for (const auto& [name, mask] : ts::torture_masks(61, 67)) {
    auto image = noise;
    for (std::size_t i = 0; i < image.values.size(); ++i)
      image.values[i] = mask.values[i] == 0 ? T(0) : image.values[i] + T(100);
    (void)expect_like_reference<Exec>(ts::scene_of(image), above(1), {}, name);
  }
}

TYPED_TEST(Deblend, NoIslandsNoPeaks) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto got = deblend<Exec>(ts::scene_of(ts::HostImage<T>(30, 30)), above(1, true), {});
  for (const Side& side : got) {
    EXPECT_TRUE(side.peaks.empty());
    EXPECT_TRUE(side.measured.children.empty());
  }
}

/// One object, images of different sizes and sides: nothing is left over.
TYPED_TEST(Deblend, OneObjectTakesManyImages) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  kastor::IslandFinder<Exec, T> finder(Exec{}, above(0.1));
  kastor::DeblendParams params;
  params.contrast = 0.001;
  kastor::Deblender<Exec, T> many(Exec{}, params);
  for (const std::int64_t n : {20, 150, 64, 150}) {
    const auto scene = ts::scene_of(smooth_noise<T>(n, n + 3, n == 64 ? 1 : 3, 3));
    const ts::DeviceScene<Exec, T> device(scene);
    const auto found = finder(device.image, device.background);
    kastor::Deblender<Exec, T> once(Exec{}, params);
    EXPECT_TRUE(
        same_peaks(many.peaks(device.image, device.background, found.islands, finder.labels()),
                   once.peaks(device.image, device.background, found.islands, finder.labels())));
    EXPECT_TRUE(same_islands(many.children(device.image, device.background).children,
                             once.children(device.image, device.background).children));
  }
}

/// 10^4 peaks on a grid, in one island; the bound is far above what it takes.
TYPED_TEST(Deblend, TenThousandPeaksTakeNoTime) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::HostImage<T> image(500, 500);
  ts::Random random(5);
  for (std::int64_t y = 0; y < 500; ++y) {
    for (std::int64_t x = 0; x < 500; ++x)
      image(y, x) = static_cast<T>(y % 5 == 2 && x % 5 == 2 ? 10 + random.uniform()
                                                            : 1 + random.uniform() / 10);
  }
  kastor::DeblendParams params;
  params.prominence = 5;
  const auto start = std::chrono::steady_clock::now();
  const auto got = deblend<Exec>(ts::scene_of(image), above(0.5), params)[0];
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(got.islands.size(), 1U);
  EXPECT_EQ(got.peaks.size(), 10000U);
  EXPECT_LT(took.count(), 5);
  expect_shares(got);
}

/// More basins than are told apart.
TYPED_TEST(Deblend, OfTooManyBasinsTheHighestRemain) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  if (std::is_same_v<T, float>) GTEST_SKIP() << "the reference takes its time";
  auto image = ts::make_image<T>(ts::Pixels::gaussian, 810, 820, 3);
  for (T& pixel : image.values) pixel = pixel + T(100);
  const auto got = expect_like_reference<Exec>(ts::scene_of(image), above(1), {}, "capped")[0];
  ASSERT_EQ(got.islands.size(), 1U);
  EXPECT_EQ(got.peaks.size(), 65536U);
  EXPECT_TRUE(got.peaks[0].is_capped);
}

/// Islands of a smooth image, measured in a sharp one.
TYPED_TEST(Deblend, MeasuresInAnotherImage) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto smooth = ts::scene_of(smooth_noise<T>(80, 90, 5, 3));
  auto sharp = ts::scene_of(ts::make_image<T>(ts::Pixels::gaussian, 80, 90, 4), 0.0, 2.0);
  sharp.image(40, 41) = std::numeric_limits<T>::quiet_NaN();
  const ts::DeviceScene<Exec, T> found_in(smooth), measured_in(sharp);
  const auto keeps = rows_in_bands<Exec, T>(found_in.image, 80);
  const auto bands = rows_in_bands<Exec, T>(measured_in.image, 17);
  kastor::IslandFinder<Exec, T> finder(Exec{}, above(0.3));
  const kastor::Detection<Exec, T> decides{keeps, found_in.background};
  const auto found = finder(decides, bands, measured_in.background);
  kastor::Deblender<Exec, T> deblender(Exec{});
  const auto peaks = deblender.peaks(keeps, found_in.background, found.islands, finder.labels());
  const auto got = deblender.children(decides, bands, measured_in.background);
  ASSERT_GT(peaks.size(), found.islands.size());
  std::vector<double> raw(found.islands.size()), snr(found.islands.size());
  std::uint32_t near_blank = 0;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const auto at = static_cast<std::size_t>(got.parents[i] - 1);
    raw[at] += got.children[i].raw_sum;
    snr[at] = std::max(snr[at], got.children[i].snr_peak);
    EXPECT_EQ(got.children[i].snr_peak, peaks[i].deviation / peaks[i].rms);
    near_blank |= got.children[i].flags & kastor::island_near_blank;
  }
  for (std::size_t i = 0; i < raw.size(); ++i) {
    EXPECT_NEAR(raw[i], found.islands[i].raw_sum, 1e-9);
    EXPECT_EQ(snr[i], found.islands[i].snr_peak);
  }
  EXPECT_NE(near_blank, 0U);
}

TYPED_TEST(Deblend, SaysWhatIsWrong) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Deblender = kastor::Deblender<Exec, T>;
  const auto with = [](auto set) {
    kastor::DeblendParams params;
    set(params);
    return [params] { (void)Deblender(Exec{}, params); };
  };
  ts::expect_error(with([](auto& p) { p.prominence = -1; }), {"prominence", "0 or more"});
  ts::expect_error(with([](auto& p) { p.contrast = 1.5; }), {"contrast", "0 to 1"});
  ts::expect_error(with([](auto& p) { p.min_peak = std::nan(""); }), {"min_peak", "0 or more"});
  ts::expect_error(with([](auto& p) { p.min_pixels = 0; }), {"min_pixels", "1 or more"});
  ts::expect_error(with([](auto& p) { p.min_size = 0; }), {"min_size", "1 or more"});
  ts::expect_error(with([](auto& p) { p.connectivity = Connectivity{6}; }), {"4 or 8"});

  const auto scene = ts::scene_of(blobs<T>(40, 60, {{20, 15, 3, 100}, {20, 32, 3, -40}}));
  const ts::DeviceScene<Exec, T> device(scene);
  kastor::IslandFinder<Exec, T> finder(Exec{}, above(1, true));
  const auto found = finder(device.image, device.background);
  Deblender deblender(Exec{});
  const auto call = [&](const auto& image, const auto& background, const auto& islands) {
    return [&] { (void)deblender.peaks(image, background, islands, finder.labels()); };
  };
  const kastor::Islands above_only{found.islands[0]}, below_only{found.islands[1]};
  const auto small = ts::to_device<Exec>(ts::HostImage<T>(30, 60));
  const kastor::Background<Exec, T> of_small{small, 1.0};
  ts::expect_error(call(device.image, device.background, found.islands), {"2 islands", "1 labels"});
  ts::expect_error(call(small, device.background, above_only), {"labels", "40 x 60", "30 x 60"});
  ts::expect_error(call(device.image, of_small, above_only), {"the level map", "30 x 60"});
  EXPECT_EQ(deblender.peaks(device.image, device.background, above_only, finder.labels()).size(),
            1U);
  ts::expect_error([&] { (void)deblender.children(small, device.background); },
                   {"labels", "40 x 60"});
  ts::expect_error([&] { (void)deblender.children(device.image, of_small); }, {"level map"});
  (void)deblender.children(device.image, device.background);
  ts::expect_error(
      [&] {
        (void)deblender.peaks(device.image, device.background, above_only, deblender.labels());
      },
      {"labels are those of children"});
}

}  // namespace
