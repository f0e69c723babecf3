// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <kastor/island_finder.hpp>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "failing_kernel.hpp"
#include "generators.hpp"
#include "island_comparison.hpp"
#include "island_scenes.hpp"
#include "islands_naive.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
using ts::same_bits;
using ts::same_counts;
using ts::same_figures;

// ------------------------------------------------------------------------------- comparisons

/// The figures that are sums within the rounding of a sum, all others to the last bit.
void expect_matches_naive(const kastor::Island& a, const ts::NaiveIsland& want, std::int64_t id,
                          const std::string& where) {
  kastor::Island b = want.island;
  EXPECT_EQ(a.id, id) << where;
  EXPECT_NEAR(a.flux_sum, b.flux_sum, 1e-13 * std::fabs(b.flux_sum)) << where;
  EXPECT_NEAR(a.raw_sum, b.raw_sum, 1e-13 * want.absolute_raw) << where;
  EXPECT_NEAR(a.background, b.background, 1e-13 * want.absolute_background) << where;
  EXPECT_NEAR(a.rms, b.rms, 1e-13 * b.rms) << where;
  const auto off_x = static_cast<double>(b.x_peak) - b.x_cen;
  const auto off_y = static_cast<double>(b.y_peak) - b.y_cen;
  const double spread_x = b.var_xx + off_x * off_x;
  const double spread_y = b.var_yy + off_y * off_y;
  EXPECT_NEAR(a.x_cen, b.x_cen, 1e-13 * std::sqrt(spread_x) + 1e-15 * b.x_cen) << where;
  EXPECT_NEAR(a.y_cen, b.y_cen, 1e-13 * std::sqrt(spread_y) + 1e-15 * b.y_cen) << where;
  EXPECT_NEAR(a.var_xx, b.var_xx, 1e-12 * spread_x) << where;
  EXPECT_NEAR(a.var_yy, b.var_yy, 1e-12 * spread_y) << where;
  EXPECT_NEAR(a.var_xy, b.var_xy, 1e-12 * std::sqrt(spread_x * spread_y)) << where;
  for (const auto sum :
       {&kastor::Island::flux_sum, &kastor::Island::raw_sum, &kastor::Island::background,
        &kastor::Island::rms, &kastor::Island::x_cen, &kastor::Island::y_cen,
        &kastor::Island::var_xx, &kastor::Island::var_yy, &kastor::Island::var_xy})
    b.*sum = a.*sum;
  EXPECT_TRUE(same_figures(a, b)) << where;
}

template <class Exec>
void expect_labels(const kastor::RunLabels<Exec>& got, const ts::NaiveSide& want,
                   const std::string& what) {
  EXPECT_TRUE(ts::same_pixels(ts::to_host_labels<std::int32_t>(got), want.labels.image)) << what;
}

/// Finds the islands in every form that must give the same bits, compares with the reference.
template <class C>
kastor::IslandResult matches_naive(const ts::Scene<typename C::real>& scene,
                                   const std::string& name,
                                   const kastor::IslandParams& params = {}) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const std::string what = name + ' ' + ts::shape_name(scene.image.ny, scene.image.nx);
  const ts::DeviceScene<Exec, T> device(scene);
  kastor::IslandFinder<Exec, T> find(Exec{}, params);
  const auto got = find(device.image, device.background, device.region);

  const ts::NaiveIslands<T> want(scene.image, scene.background, params, scene.region);
  EXPECT_TRUE(same_counts(got.positive, want.positive.counts)) << what;
  EXPECT_TRUE(same_counts(got.negative, want.negative.counts)) << what << ", negative";
  expect_labels(find.labels(), want.positive, what);
  if (params.negative) expect_labels(find.negative_labels(), want.negative, what + ", negative");
  std::vector<ts::NaiveIsland> islands = want.positive.islands;
  islands.insert(islands.end(), want.negative.islands.begin(), want.negative.islands.end());
  EXPECT_EQ(got.islands.size(), islands.size()) << what;
  if (got.islands.size() != islands.size()) return got;
  for (std::size_t i = 0; i < islands.size() && !::testing::Test::HasFailure(); ++i) {
    expect_matches_naive(got.islands[i], islands[i], static_cast<std::int64_t>(i) + 1,
                         what + ", island " + std::to_string(i + 1));
  }

  const auto cut_out = ts::to_device_cut_out<Exec>(scene.image);
  for (const std::int64_t count : {1, 2, 3, 5, 1000}) {
    const auto bands = ts::split_into_bands<Exec, T>(cut_out.image, count);
    EXPECT_TRUE(same_bits(find(bands, device.background, device.region), got))
        << what << ", cut-out in " << count << " bands";
  }
  return got;
}

kastor::IslandParams params_of(double seed, double flood) {
  kastor::IslandParams params;
  params.seed = seed;
  params.flood = flood;
  return params;
}

// -------------------------------------------------------------------------------------- cases

template <class T>
class IslandFinder : public ::testing::Test {};
TYPED_TEST_SUITE(IslandFinder, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(IslandFinder, MatchesNaiveForEveryKindOfMap) {
  using T = typename TypeParam::real;
  for (const ts::Maps maps : ts::all_maps) {
    const std::string name = "maps " + std::to_string(static_cast<int>(maps));
    auto params = params_of(2.5, 1);
    const auto scene = ts::make_scene<T>(maps, 131, 203, 3);
    EXPECT_GT(matches_naive<TypeParam>(scene, name, params).islands.size(), 20U);
    params.negative = true;
    params.connectivity = kastor::Connectivity::four;
    EXPECT_GT(matches_naive<TypeParam>(scene, name + ", negative", params).negative.islands, 5);
    params.min_pixels = 4;
    params.drop_at_edge = true;
    matches_naive<TypeParam>(scene, name + ", large ones", params);
    if (::testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(IslandFinder, MatchesNaiveOnAwkwardShapes) {
  using T = typename TypeParam::real;
  for (const auto& [ny, nx] : ts::awkward_shapes) {
    if (ny * nx > 50000) continue;
    for (const ts::Maps maps : ts::all_maps) {
      auto params = params_of(1.5, 0.5);
      params.negative = true;
      matches_naive<TypeParam>(ts::make_scene<T>(maps, ny, nx, 9, ny * nx > 100),
                               "maps " + std::to_string(static_cast<int>(maps)), params);
    }
  }
}

/// Runs within words of a mask and across them, across what one group marks, and dense words of
/// both signs.
TYPED_TEST(IslandFinder, MatchesNaiveWhereRunsCrossWords) {
  using T = typename TypeParam::real;
  for (const ts::Maps maps : {ts::Maps::meshes, ts::Maps::images}) {
    auto scene = ts::make_scene<T>(maps, 16, 9000, 7);
    const auto fill = [&](std::int64_t y, std::int64_t begin, std::int64_t end, double factor) {
      for (std::int64_t x = begin; x < end; ++x)
        scene.image(y, x) = static_cast<T>(factor * static_cast<double>(50 + (7 * x + y) % 13));
    };
    for (std::int64_t x = 60; x + 8 < 9000; x += 128) fill(1, x, x + 8, 1);
    fill(3, 4090, 4100, 1);
    fill(3, 8190, 8195, -1);
    for (std::int64_t x = 0; x + 3 < 9000; x += 3) fill(5, x, x + 2, x % 2 == 0 ? 1 : -1);
    fill(7, 4000, 4300, 1);
    fill(7, 8000, 8400, -1);
    fill(9, 0, 9000, 1);
    for (std::int64_t x = 200; x < 8900; x += 1000) fill(11, x, x + 70, 1);
    for (std::int64_t x = 0; x < 9000; x += 64) fill(13, x, x + 1, x % 128 == 0 ? 1 : -1);
    auto params = params_of(5, 3);
    matches_naive<TypeParam>(scene, "few and many", params);
    params.negative = true;
    matches_naive<TypeParam>(scene, "few and many of both signs", params);
  }
}

TYPED_TEST(IslandFinder, LooksOnlyInTheRegion) {
  using T = typename TypeParam::real;
  for (const ts::Maps maps : {ts::Maps::constants, ts::Maps::meshes}) {
    auto scene = ts::make_scene<T>(maps, 90, 150, 5);
    auto params = params_of(2.5, 1);
    params.negative = true;
    scene.region = ts::random_mask(90, 150, 0.9, 6);
    matches_naive<TypeParam>(scene, "region with holes", params);
    scene.region = ts::mask_where(
        90, 150, [](auto y, auto x) { return (y - 45) * (y - 45) + (x - 70) * (x - 70) < 1000; });
    matches_naive<TypeParam>(scene, "round region", params);
    scene.region = ts::HostMask(90, 150, 0);
    EXPECT_TRUE(matches_naive<TypeParam>(scene, "empty region", params).islands.empty());
  }
}

/// A faint island in the box of a bright one has no seed of its own.
TYPED_TEST(IslandFinder, AsksForASeedAmongTheIslandsOwnPixels) {
  using T = typename TypeParam::real;
  ts::HostImage<T> image(20, 80);
  for (std::int64_t x = 10; x < 75; ++x) image(5, x) = image(15, x) = T(10);
  for (std::int64_t y = 5; y < 16; ++y) image(y, 10) = T(10);
  image(10, 40) = image(10, 41) = T(4);  // inside of the bright one's box
  image(2, 3) = T(5);                    // not strictly above
  image(2, 70) = T(4);
  image(3, 71) = T(5.5);  // across a corner
  auto result = matches_naive<TypeParam>(ts::scene_of(image), "own seed");
  EXPECT_EQ(result.positive.islands, 2);
  EXPECT_EQ(result.positive.dropped, 2);
  EXPECT_EQ(result.islands[0].n_pix, 2);
  auto params = params_of(5, 3);
  params.connectivity = kastor::Connectivity::four;
  result = matches_naive<TypeParam>(ts::scene_of(image), "own seed, 4-connectivity", params);
  EXPECT_EQ(result.positive.islands, 2);
  EXPECT_EQ(result.islands[0].n_pix, 1);
}

TYPED_TEST(IslandFinder, TakesThresholdsThatAreEqualOrZero) {
  using T = typename TypeParam::real;
  const auto scene = ts::make_scene<T>(ts::Maps::meshes, 70, 90, 12);
  const auto equal = matches_naive<TypeParam>(scene, "flood = seed", params_of(2, 2));
  EXPECT_EQ(equal.positive.dropped, 0);
  auto params = params_of(0, 0);
  params.negative = true;
  matches_naive<TypeParam>(scene, "0", params);
}

TYPED_TEST(IslandFinder, TakesImagesOfForegroundOrNothing) {
  using T = typename TypeParam::real;
  const auto all = matches_naive<TypeParam>(ts::scene_of(ts::HostImage<T>(70, 130, T(9))), "all");
  ASSERT_EQ(all.islands.size(), 1U);
  EXPECT_EQ(all.islands[0].x_peak, 0);
  EXPECT_EQ(all.islands[0].flags, kastor::island_at_edge);
  EXPECT_TRUE(matches_naive<TypeParam>(ts::scene_of(ts::HostImage<T>(70, 130, T(1))), "none")
                  .islands.empty());
  const T nan = std::numeric_limits<T>::quiet_NaN();
  EXPECT_TRUE(matches_naive<TypeParam>(ts::scene_of(ts::HostImage<T>(7, 13, nan)), "blank")
                  .islands.empty());
  const ts::HostImage<T> bright(7, 13, T(9));
  for (const double bad : {0.0, -1.0, double(nan), std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(matches_naive<TypeParam>(ts::scene_of(bright, 0, bad), "rms").islands.empty());
  EXPECT_TRUE(
      matches_naive<TypeParam>(ts::scene_of(bright, double(nan), 1), "level").islands.empty());
}

TYPED_TEST(IslandFinder, FlagsShapesThatAreNoEllipse) {
  using T = typename TypeParam::real;
  ts::HostImage<T> image(40, 150);
  image(3, 3) = T(6);                                                          // one pixel
  for (std::int64_t x = 20; x < 30; ++x) image(3, x) = T(6 + x % 3);           // one row
  for (std::int64_t y = 3; y < 9; ++y) image(y, 70) = T(6 + y % 4);            // one column
  for (std::int64_t i = 0; i < 9; ++i) image(20 + i, 10 + i) = T(6 + i % 5);   // a diagonal
  for (std::int64_t i = 0; i < 9; ++i) image(20 + i, 100 - i) = T(7 + i % 5);  // the other one
  image(20, 120) = image(20, 121) = image(21, 120) = T(7);  // the least that has a shape
  const auto rows = matches_naive<TypeParam>(ts::scene_of(image), "lines").islands;
  ASSERT_EQ(rows.size(), 6U);
  int with_shape = 0;
  for (const kastor::Island& row : rows) {
    EXPECT_FALSE(std::isnan(row.x_cen));
    EXPECT_GE(row.var_xx, 0);
    if ((row.flags & kastor::island_no_shape) == 0) {
      ++with_shape;
      EXPECT_EQ(row.n_pix, 3);
    }
  }
  EXPECT_EQ(with_shape, 1);
  EXPECT_EQ(rows[0].var_xx, 0.0);
  EXPECT_EQ(rows[0].snr_peak, 6.0);
}

TYPED_TEST(IslandFinder, FlagsBlankNeighboursAndEdges) {
  using T = typename TypeParam::real;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  // One island a place around the blank pixel (10, 64), across words of the mask.
  for (std::int64_t dy = -2; dy <= 2; ++dy) {
    for (std::int64_t dx = -2; dx <= 2; ++dx) {
      if (dy == 0 && dx == 0) continue;
      ts::HostImage<T> image(20, 130);
      image(10, 64) = nan;
      image(10 + dy, 64 + dx) = T(9);
      const auto rows = matches_naive<TypeParam>(ts::scene_of(image), "near blank").islands;
      ASSERT_EQ(rows.size(), 1U);
      const bool near = std::abs(dy) < 2 && std::abs(dx) < 2;
      EXPECT_EQ((rows[0].flags & kastor::island_near_blank) != 0, near) << dy << ' ' << dx;
    }
  }
  const std::pair<std::int64_t, std::int64_t> places[] = {{0, 5}, {19, 5}, {5, 0}, {5, 129}};
  for (const auto& [y, x] : places) {
    ts::HostImage<T> image(20, 130);
    image(y, x) = T(9);
    image(10, 70) = T(9);
    auto params = params_of(5, 3);
    EXPECT_EQ(matches_naive<TypeParam>(ts::scene_of(image), "edge", params).islands.size(), 2U);
    params.drop_at_edge = true;
    const auto kept = matches_naive<TypeParam>(ts::scene_of(image), "edge dropped", params);
    ASSERT_EQ(kept.islands.size(), 1U);
    EXPECT_EQ(kept.islands[0].x_peak, 70);
    EXPECT_EQ(kept.positive.dropped, 1);
  }
}

TYPED_TEST(IslandFinder, TakesTheFirstOfEqualPeaksInRasterOrder) {
  using T = typename TypeParam::real;
  auto image = ts::make_image<T>(ts::Pixels::narrow_integers, 90, 170, 11);
  auto params = params_of(0.5, 0.5);
  params.negative = true;
  matches_naive<TypeParam>(ts::scene_of(image), "ties", params);
  params.connectivity = kastor::Connectivity::four;
  matches_naive<TypeParam>(ts::scene_of(image), "ties, 4-connectivity", params);
}

/// Sums beyond the largest double, deviations beyond it, signal to noise beyond it.
TYPED_TEST(IslandFinder, FlagsFiguresThatOverflow) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto rows_of = [](const ts::HostImage<T>& image, double level, double rms) {
    const kastor::Background<Exec, T> background{level, rms};
    return kastor::find_islands(Exec{}, ts::to_device<Exec>(image), background).islands;
  };
  if constexpr (std::is_same_v<T, double>) {
    ts::HostImage<T> image(12, 40);
    image(2, 2) = 1e308;
    image(2, 3) = image(3, 2) = image(3, 3) = 1.5e308;  // the sum overflows, the centre does not
    image(6, 20) = 1e308;                               // fits
    const auto rows = rows_of(image, 0.0, 1.0);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_TRUE(std::isnan(rows[0].flux_sum));
    EXPECT_TRUE(std::isnan(rows[0].raw_sum));
    EXPECT_EQ(rows[0].flux_peak, 1.5e308);
    EXPECT_NEAR(rows[0].x_cen, 2 + 3.0 / 5.5, 1e-14);
    EXPECT_EQ(rows[0].flags, kastor::island_overflow);
    EXPECT_EQ(rows[1].flux_sum, 1e308);
    EXPECT_EQ(rows[1].flags, kastor::island_no_shape);

    // value - level is infinite.
    const auto far = rows_of(image, -1e308, 1e307);
    ASSERT_EQ(far.size(), 1U);
    EXPECT_EQ(far[0].n_pix, 480);
    EXPECT_EQ(far[0].x_peak, 2);  // 1e308 + 1e308 is infinite already
    EXPECT_EQ(far[0].y_peak, 2);
    EXPECT_TRUE(std::isnan(far[0].flux_sum));
    EXPECT_TRUE(std::isnan(far[0].flux_peak));
    EXPECT_TRUE(std::isnan(far[0].x_cen));
    EXPECT_TRUE(std::isnan(far[0].var_xy));
    EXPECT_EQ(far[0].background, -1e308);
    EXPECT_EQ(far[0].flags, kastor::island_overflow | kastor::island_no_centre |
                                kastor::island_no_shape | kastor::island_at_edge);
  }
  // A float image over a tiny rms: nothing overflows but what must.
  ts::HostImage<T> image(9, 20, T(1e-30));
  const auto tiny = rows_of(image, 0.0, 1e-320);
  ASSERT_EQ(tiny.size(), 1U);
  EXPECT_NEAR(tiny[0].snr_peak, double(T(1e-30)) / 1e-320, 1e278);
  EXPECT_EQ(tiny[0].rms, 1e-320);
}

TYPED_TEST(IslandFinder, MatchesNaiveOnHugeAndTinyPixels) {
  using T = typename TypeParam::real;
  for (const double scale : {1e-35, 1e30}) {
    auto scene = ts::make_scene<T>(ts::Maps::constants, 40, 70, 4);
    for (T& pixel : scene.image.values) pixel = static_cast<T>(static_cast<double>(pixel) * scale);
    scene.background.level.constant *= scale;
    scene.background.rms.constant *= scale;
    matches_naive<TypeParam>(scene, "scaled by " + std::to_string(std::log10(scale)),
                             params_of(2, 1));
  }
}

/// A sharp peak with a very long faint arm: second moments of many powers of two.
TYPED_TEST(IslandFinder, MatchesNaiveOnLongIslands) {
  using T = typename TypeParam::real;
  for (const auto& [ny, nx] : {std::pair{3, 20000}, std::pair{20000, 3}}) {
    ts::HostImage<T> image(ny, nx, T(1.0625));
    image(ny / 2, nx / 2) = T(1e7);
    image(ny / 2 + 1, nx / 2) = T(1e7) / 3;
    const auto rows =
        matches_naive<TypeParam>(ts::scene_of(image), "long", params_of(5, 1)).islands;
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].n_pix, 60000);
  }
}

TYPED_TEST(IslandFinder, MeasuresEveryIslandAsIfItWereAlone) {
  using T = typename TypeParam::real;
  auto scene = ts::make_scene<T>(ts::Maps::meshes, 120, 300, 21, false);
  scene.region = ts::mask_where(120, 300, [](auto, auto x) { return x < 150; });
  const auto alone = matches_naive<TypeParam>(scene, "half", params_of(2, 1));
  ts::Random random(3);
  for (std::int64_t y = 0; y < 120; ++y) {
    for (std::int64_t x = 151; x < 300; ++x) {
      scene.image(y, x) = static_cast<T>(random.below(3) == 0 ? 1e20 * random.uniform() : -1e20);
    }
  }
  scene.region = ts::mask_where(120, 300, [](auto, auto x) { return x != 150; });
  const auto among = matches_naive<TypeParam>(scene, "whole", params_of(2, 1));
  std::size_t found = 0;
  for (const kastor::Island& a : alone.islands) {
    for (const kastor::Island& b : among.islands) {
      if (a.x_peak != b.x_peak || a.y_peak != b.y_peak) continue;
      ++found;
      EXPECT_TRUE(same_figures(a, b));
    }
  }
  EXPECT_GT(found, 30U);
  EXPECT_EQ(found, alone.islands.size());
}

/// More islands than there is room for at first.
TYPED_TEST(IslandFinder, FindsManyMoreIslandsThanItsWorkSpaceHoldsAtFirst) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::HostImage<T> image(200, 400);
  for (std::int64_t y = 0; y < 200; y += 2) {
    for (std::int64_t x = 0; x < 400; x += 2) {
      image(y, x) = T(7 + x % 5);
      image(y + 1, x + 1) = T(-8);
    }
  }
  auto params = params_of(5, 3);
  params.negative = true;
  const auto scene = ts::scene_of(image);
  EXPECT_EQ(matches_naive<TypeParam>(scene, "lattice", params).islands.size(), 40000U);
  // The same object, from an image of few to one of many and back.
  kastor::IslandFinder<Exec, T> find(Exec{}, params);
  const kastor::Background<Exec, T> background{0.0, 1.0};
  const auto few = ts::to_device<Exec>(ts::HostImage<T>(30, 40, T(6)));
  const auto many = ts::to_device<Exec>(image);
  const auto first = find(few, background);
  EXPECT_EQ(find(many, background).islands.size(), 40000U);
  EXPECT_TRUE(same_bits(find(few, background), first));
}

/// The sums of a call that failed must not become part of the next one's.
TYPED_TEST(IslandFinder, IsNotSpoiltByACallThatFailed) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto scene = ts::make_scene<T>(ts::Maps::images, 120, 210, 17);
  const ts::DeviceScene<Exec, T> device(scene);
  const auto params = params_of(2.5, 0.7);
  kastor::IslandFinder<Exec, T> find(Exec{}, params), other(Exec{}, params);
  (void)find(device.image, device.background);  // its lists are long enough now
  {
    const ts::FailingKernel failing("kastor::islands::make_rows");
    EXPECT_THROW((void)find(device.image, device.background), std::runtime_error);
  }
  Exec{}.fence("test::failed");
  const kastor::IslandResult wanted = other(device.image, device.background);
  EXPECT_GT(wanted.islands.size(), 10U);
  EXPECT_TRUE(same_bits(find(device.image, device.background), wanted));
}

/// `find` says the same as a call, and leaves its rows where they are.
TYPED_TEST(IslandFinder, FindsWithoutACopy) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  auto params = params_of(2.5, 0.7);
  params.negative = true;
  kastor::IslandFinder<Exec, T> one(Exec{}, params);
  kastor::IslandFinder<Exec, T> other(Exec{}, params);
  const kastor::Island* above = nullptr;
  const kastor::Island* below = nullptr;
  for (const std::uint64_t seed : {14U, 15U, 16U}) {
    const auto scene = ts::make_scene<T>(ts::Maps::images, 300, 411, seed);
    const ts::DeviceScene<Exec, T> device(scene);
    const kastor::FoundIslands found = one.find(device.image, device.background);
    EXPECT_GT(found.above.size(), 50U);
    EXPECT_GT(found.below.size(), 50U);
    kastor::IslandResult copied{{}, found.positive, found.negative};
    copied.islands.assign(found.above.begin(), found.above.end());
    copied.islands.insert(copied.islands.end(), found.below.begin(), found.below.end());
    EXPECT_TRUE(same_bits(copied, other(device.image, device.background)));
    EXPECT_TRUE(above == nullptr || above == found.above.data());
    EXPECT_TRUE(below == nullptr || below == found.below.data());
    above = found.above.data();
    below = found.below.data();
  }
}

TYPED_TEST(IslandFinder, IsTheSameBitsOnEveryBackend) {
  using T = typename TypeParam::real;
  if constexpr (std::is_same_v<typename TypeParam::exec, ts::FirstExec>)
    GTEST_SKIP() << "would be compared with itself";
  for (const ts::Maps maps : ts::all_maps) {
    const auto scene = ts::make_scene<T>(maps, 300, 411, 14);
    auto params = params_of(2.5, 0.7);
    params.negative = true;
    const auto on = [&](auto space) {
      using E = decltype(space);
      const ts::DeviceScene<E, T> device(scene);
      return kastor::find_islands(space, device.image, device.background, params);
    };
    const auto got = on(typename TypeParam::exec{});
    EXPECT_GT(got.islands.size(), 100U);
    EXPECT_TRUE(same_bits(got, on(ts::FirstExec{})));
  }
}

/// One finder, on images and maps of other kinds, sizes and numbers of islands: nothing stays of
/// the call before.
TYPED_TEST(IslandFinder, StartsAnewWithEveryCall) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  for (const bool negative : {false, true}) {
    auto params = params_of(2.5, 1.5);
    params.negative = negative;
    kastor::IslandFinder<Exec, T> find(Exec{}, params);
    std::uint64_t seed = 30;
    for (const auto& [ny, nx] : {std::pair{150, 320}, std::pair{40, 700}, std::pair{150, 320}}) {
      for (const ts::Maps maps : ts::all_maps) {
        auto scene = ts::make_scene<T>(maps, ny, nx, ++seed);
        if (seed % 3 == 0) {  // many islands of one pixel
          for (std::int64_t i = 0; i < ny * nx; i += 2) {
            if (i / nx % 2 == 0) scene.image(i / nx, i % nx) = T(1000 + i % 7);
          }
        }
        const ts::DeviceScene<Exec, T> device(scene);
        const auto want = kastor::find_islands(Exec{}, device.image, device.background, params);
        EXPECT_GT(want.islands.size(), seed % 3 == 0 ? 1000U : 0U);
        EXPECT_TRUE(same_bits(find(device.image, device.background), want)) << "seed " << seed;
      }
    }
  }
}

TYPED_TEST(IslandFinder, ThrowsOnWhatDoesNotFit) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const auto refuses = [&](const char* part, const auto& change) {
    kastor::IslandParams params;
    change(params);
    ts::expect_error([&] { kastor::IslandFinder<Exec, T> find(space, params); },
                     {"kastor::", part});
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -1.0})
    refuses("flood", [&](kastor::IslandParams& p) { p.flood = bad; });
  for (const double bad : {nan, infinity, 2.0})
    refuses("seed", [&](kastor::IslandParams& p) { p.seed = bad; });
  refuses("min_pixels", [](kastor::IslandParams& p) { p.min_pixels = 0; });

  const auto image = ts::to_device<Exec>(ts::HostImage<T>(20, 30, 1));
  const auto other = ts::to_device<Exec>(ts::HostImage<T>(20, 31, 1));
  const kastor::PixelMap<Exec, T> wrong{kastor::ConstImage<T, Exec>(other)};
  const kastor::PixelMap<Exec, T> empty{kastor::MeshSurface<Exec>{}};
  using Background = kastor::Background<Exec, T>;
  const auto find = [&](const Background& background, const kastor::BitMask<Exec>& region = {}) {
    (void)kastor::find_islands(space, image, background, {}, region);
  };
  ts::expect_error([&] { find(Background{wrong, 1.0}); }, {"level map", "20 x 31", "20 x 30"});
  ts::expect_error([&] { find(Background{0.0, wrong}); }, {"rms map", "20 x 31"});
  ts::expect_error([&] { find(Background{empty, 1.0}); }, {"level map", "nodes"});
  ts::expect_error(
      [&] {
        find(Background{0.0, 1.0}, ts::to_device_mask<Exec>(ts::HostMask(21, 30, 1)));
      },
      {"region", "21 x 30"});
}

}  // namespace
