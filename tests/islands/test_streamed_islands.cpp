// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <kastor/streamed_island_finder.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "array_source.hpp"
#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "island_comparison.hpp"
#include "island_scenes.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

[[nodiscard]] kastor::StreamParams bands_of(std::int64_t rows) {
  kastor::StreamParams stream;
  stream.band_rows = rows;
  return stream;
}

[[nodiscard]] kastor::IslandParams above(double seed, double flood) {
  kastor::IslandParams params;
  params.seed = seed;
  params.flood = flood;
  return params;
}

/// A mask as an image over a level of 0 with a noise of 1: foreground is above 3 and sometimes
/// above 5, with equal peaks.
template <class T>
[[nodiscard]] ts::Scene<T> scene_of_mask(const ts::HostMask& mask, std::uint64_t seed) {
  ts::Scene<T> scene;
  ts::Random random(seed);
  scene.background.level.constant = 0;
  scene.background.rms.constant = 1;
  scene.image = ts::HostImage<T>(mask.ny, mask.nx);
  for (std::size_t i = 0; i < mask.values.size(); ++i) {
    const T noise = static_cast<T>(random.gaussian() < 1 ? 0.5 : 2);
    const T above_flood = random.below(9) == 0 ? T(6) : static_cast<T>(3.5 + random.uniform());
    scene.image.values[i] = mask.values[i] != 0 ? above_flood : noise;
  }
  return scene;
}

/// The islands of consecutive ranges of rows as those of one search.
template <class Exec, class T>
[[nodiscard]] kastor::IslandResult in_ranges(kastor::StreamedIslandFinder<Exec, T>& find,
                                             ts::ArraySource<T>& source,
                                             const ts::DeviceScene<Exec, T>& device,
                                             const std::vector<std::int64_t>& borders) {
  kastor::IslandResult all;
  kastor::Islands below;
  const kastor::IslandVisitor<Exec, T> no_visitor;
  const auto add = [](kastor::IslandCounts& to, const kastor::IslandCounts& counts) {
    to.islands += counts.islands;
    to.dropped += counts.dropped;
    to.foreground_pixels += counts.foreground_pixels;
  };
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    const auto part = find(source, device.background, kastor::RowRange{borders[i], borders[i + 1]},
                           no_visitor, device.region)
                          .result;
    const auto middle = part.islands.begin() + static_cast<std::ptrdiff_t>(part.positive.islands);
    all.islands.insert(all.islands.end(), part.islands.begin(), middle);
    below.insert(below.end(), middle, part.islands.end());
    add(all.positive, part.positive);
    add(all.negative, part.negative);
  }
  all.islands.insert(all.islands.end(), below.begin(), below.end());
  for (std::size_t i = 0; i < all.islands.size(); ++i)
    all.islands[i].id = static_cast<std::int64_t>(i) + 1;
  return all;
}

/// The result in strips and in ranges has the bits of that of the image in memory, which it
/// returns.
template <class C>
kastor::IslandResult is_the_same_by_strips(const ts::Scene<typename C::real>& scene,
                                           const kastor::IslandParams& params,
                                           const std::string& name) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const std::string what = name + ' ' + ts::shape_name(scene.image.ny, scene.image.nx);
  const ts::DeviceScene<Exec, T> device(scene);
  const auto want =
      kastor::IslandFinder<Exec, T>(Exec{}, params)(device.image, device.background, device.region);
  ts::ArraySource<T> source(scene.image);
  const std::int64_t ny = scene.image.ny;
  for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3},
                                  std::int64_t{7}, ny / 3, ny - 1, ny, std::int64_t{0}}) {
    if (rows < 0) continue;
    kastor::StreamedIslandFinder<Exec, T> find(Exec{}, params, bands_of(rows));
    const kastor::IslandVisitor<Exec, T> visitor{{}, rows % 2 == 0 ? 5 : 0};
    const auto got = find(source, device.background, kastor::RowRange(), visitor, device.region);
    EXPECT_TRUE(ts::same_bits(got.result, want)) << what << ", strips of " << rows;
    auto places = got.given;
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < places.size(); ++i)
      EXPECT_EQ(places[i], static_cast<std::int64_t>(i)) << what;
    EXPECT_EQ(places.size(), want.islands.size()) << what;
    if (::testing::Test::HasFailure()) return want;
  }
  ts::Random random(static_cast<std::uint64_t>(ny));
  for (std::int64_t ranks = 1; ranks <= 8; ++ranks) {
    kastor::StreamedIslandFinder<Exec, T> find(Exec{}, params, bands_of(ranks % 3 == 0 ? 0 : 4));
    std::vector<std::int64_t> even{0}, uneven{0, ny};
    for (std::int64_t i = 1; i <= ranks; ++i) even.push_back(i * ny / ranks);
    for (std::int64_t i = 1; i < ranks; ++i) uneven.push_back(random.below(ny + 1));
    std::sort(uneven.begin(), uneven.end());
    for (const auto& borders : {even, uneven})
      EXPECT_TRUE(ts::same_bits(in_ranges(find, source, device, borders), want))
          << what << ", " << ranks << " ranges";
    if (::testing::Test::HasFailure()) return want;
  }
  return want;
}

template <class C>
class StreamedIslands : public ::testing::Test {};
TYPED_TEST_SUITE(StreamedIslands, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(StreamedIslands, HaveTheBitsOfTheImageInMemory) {
  using T = typename TypeParam::real;
  for (const ts::Maps maps : ts::all_maps) {
    const std::string name = "maps " + std::to_string(static_cast<int>(maps));
    auto params = above(2.5, 1);
    const auto scene = ts::make_scene<T>(maps, 131, 203, 3);
    EXPECT_GT(is_the_same_by_strips<TypeParam>(scene, params, name).islands.size(), 20U);
    params.negative = true;
    params.connectivity = kastor::Connectivity::four;
    params.min_pixels = 3;
    const auto both = is_the_same_by_strips<TypeParam>(scene, params, name + ", both sides");
    EXPECT_GT(both.negative.islands, 5);
    EXPECT_GT(both.negative.dropped, 5);
    params.drop_at_edge = true;
    is_the_same_by_strips<TypeParam>(scene, params, name + ", not at the edge");
    if (::testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(StreamedIslands, HaveThemWithARegion) {
  using T = typename TypeParam::real;
  auto scene = ts::make_scene<T>(ts::Maps::meshes, 90, 150, 4);
  scene.region = ts::random_mask(90, 150, 0.9, 6);
  auto params = above(2, 1);
  params.negative = true;
  EXPECT_GT(is_the_same_by_strips<TypeParam>(scene, params, "region").islands.size(), 20U);
}

/// Spirals, combs, rings, checkerboards: sets that leave a strip and come back.
TYPED_TEST(StreamedIslands, HaveThemForShapesThatCrossManyStrips) {
  using T = typename TypeParam::real;
  for (const auto& [ny, nx] : {std::pair<std::int64_t, std::int64_t>{37, 41}, {24, 130}}) {
    for (const ts::NamedMask& named : ts::torture_masks(ny, nx)) {
      auto params = above(5, 3);
      for (const auto connectivity : {kastor::Connectivity::four, kastor::Connectivity::eight}) {
        params.connectivity = connectivity;
        params.min_pixels = connectivity == kastor::Connectivity::four ? 1 : 5;
        is_the_same_by_strips<TypeParam>(scene_of_mask<T>(named.mask, 11), params, named.name);
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
  for (const double density : {0.2, 0.45, 0.6}) {
    const auto mask = ts::random_mask(60, 70, density, 5);
    is_the_same_by_strips<TypeParam>(scene_of_mask<T>(mask, 12), above(5, 3), "random mask");
  }
}

TYPED_TEST(StreamedIslands, HaveThemOnAwkwardShapes) {
  using T = typename TypeParam::real;
  for (const auto& [ny, nx] : ts::awkward_shapes) {
    if (ny * nx > 20000) continue;
    auto params = above(1.5, 0.5);
    params.negative = true;
    is_the_same_by_strips<TypeParam>(ts::make_scene<T>(ts::Maps::meshes, ny, nx, 9, ny * nx > 100),
                                     params, "awkward");
  }
}

/// A blank row below an island, which is the next strip's, is a neighbour of it all the same.
TYPED_TEST(StreamedIslands, KnowTheBlankPixelsBeyondAStrip) {
  using T = typename TypeParam::real;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  for (std::int64_t row = 0; row < 12; ++row) {
    auto scene = scene_of_mask<T>(ts::HostMask(12, 20), 1);
    for (std::int64_t y = 4; y < 8; ++y)
      if (y != row) scene.image(y, 10) = T(9);
    for (std::int64_t x = 0; x < 20; ++x) scene.image(row, x) = nan;
    const auto found = is_the_same_by_strips<TypeParam>(scene, above(5, 3), "blank row");
    ASSERT_FALSE(found.islands.empty());
    const bool is_near = row >= 3 && row <= 8;
    EXPECT_EQ((found.islands.front().flags & kastor::island_near_blank) != 0, is_near) << row;
  }
}

TYPED_TEST(StreamedIslands, AreGivenWithTheirStrips) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto scene = ts::make_scene<T>(ts::Maps::meshes, 150, 120, 17);
  const ts::DeviceScene<Exec, T> device(scene);
  auto params = above(2.5, 1.2);
  params.negative = true;
  kastor::IslandFinder<Exec, T> find_all(Exec{}, params);
  const auto want = find_all(device.image, device.background);
  ts::ArraySource<T> source(scene.image);
  kastor::StreamedIslandFinder<Exec, T> find(Exec{}, params, bands_of(30));
  constexpr std::int64_t reach = 4;
  kastor::Islands given;
  std::int64_t strips = 0;
  const auto visit = [&](const kastor::IslandStrip<Exec, T>& strip) {
    ++strips;
    const auto rows = static_cast<std::int64_t>(strip.image.extent(0));
    EXPECT_EQ(strip.ny, 150);
    ts::HostImage<T> expected(rows, 120);
    std::copy_n(scene.image.values.begin() + static_cast<std::ptrdiff_t>(120 * strip.first_row),
                expected.values.size(), expected.values.begin());
    EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(strip.image), expected));
    const auto take = [&](const auto& found, const auto& places, const auto& labels) {
      const auto ids = ts::to_host_labels<std::int32_t>(labels);
      EXPECT_EQ(labels.components, static_cast<std::int64_t>(found.size()));
      for (const std::int64_t i : places) {
        const kastor::Island& island = found[static_cast<std::size_t>(i)];
        EXPECT_GE(std::max<std::int64_t>(0, island.y_min - reach), strip.first_row);
        EXPECT_LE(std::min<std::int64_t>(150, island.y_max + reach + 1), strip.first_row + rows);
        EXPECT_EQ(ids(island.y_peak - strip.first_row, island.x_peak), i + 1);
        given.push_back(island);
      }
    };
    take(strip.found.above, strip.given_above, strip.above);
    take(strip.found.below, strip.given_below, strip.below);
  };
  const auto got = find(source, device.background, kastor::RowRange(),
                        kastor::IslandVisitor<Exec, T>{visit, reach});
  EXPECT_TRUE(ts::same_bits(got.result, want));
  EXPECT_GT(strips, 4);
  ASSERT_EQ(given.size(), want.islands.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_TRUE(ts::same_figures(given[static_cast<std::size_t>(got.given[i])], want.islands[i]));
  }
}

/// Islands of a detection image with other noise, both images in strips.
TYPED_TEST(StreamedIslands, HaveThemWithADetectionImage) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto scene = ts::make_scene<T>(ts::Maps::meshes, 100, 130, 23);
  auto other = ts::make_scene<T>(ts::Maps::images, 100, 130, 23);
  const ts::DeviceScene<Exec, T> device(scene), detects(other);
  auto params = above(2.5, 1);
  params.negative = true;
  params.drop_at_edge = true;
  const kastor::ConstImage<T, Exec> image(device.image), detection_image(detects.image);
  const kastor::Detection<Exec, T> detection{kastor::Bands<T, Exec>(&detection_image, 1),
                                             detects.background};
  const auto want = kastor::IslandFinder<Exec, T>(Exec{}, params)(
      detection, kastor::Bands<T, Exec>(&image, 1), device.background);
  EXPECT_GT(want.islands.size(), 20U);
  ts::ArraySource<T> source(scene.image), detection_source(other.image);
  const kastor::StreamedDetection<Exec, T> streamed{&detection_source, detects.background};
  for (const std::int64_t rows : {1, 9, 50, 0}) {
    kastor::StreamedIslandFinder<Exec, T> find(Exec{}, params, bands_of(rows));
    const auto visit = [&](const kastor::IslandStrip<Exec, T>& strip) {
      ASSERT_EQ(strip.detection.bands.size(), 1U);
      EXPECT_EQ(strip.detection.bands.front().extent(0), strip.image.extent(0));
    };
    const auto got = find(streamed, source, device.background, kastor::RowRange(),
                          kastor::IslandVisitor<Exec, T>{visit, 0});
    EXPECT_TRUE(ts::same_bits(got.result, want)) << rows;
  }
  kastor::StreamedIslandFinder<Exec, T> find(Exec{}, params);
  ts::ArraySource<T> small(ts::HostImage<T>(99, 130));
  const kastor::StreamedDetection<Exec, T> too_small{&small, detects.background}, none;
  ts::expect_error([&] { (void)find(too_small, source, device.background); },
                   {"the detection image is 99 x 130"});
  ts::expect_error([&] { (void)find(none, source, device.background); },
                   {"detection image has no source"});
}

TYPED_TEST(StreamedIslands, HoldNoMoreRowsThanFit) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto scene = ts::make_scene<T>(ts::Maps::meshes, 400, 64, 5);
  const ts::DeviceScene<Exec, T> device(scene);
  const auto params = above(3, 2);
  const auto want = kastor::find_islands(Exec{}, device.image, device.background, params);
  ts::ArraySource<T> source(scene.image);
  kastor::StreamParams stream;
  stream.memory = 60 * (64 * (static_cast<std::int64_t>(sizeof(T)) + 1) + 1);
  kastor::StreamedIslandFinder<Exec, T> find(Exec{}, params, stream);
  EXPECT_TRUE(ts::same_bits(find(source, device.background).result, want));
  EXPECT_EQ(source.most_rows, 60);
  EXPECT_LT(source.rows_read, 700);
  // One range of rows reads little beyond it.
  source.rows_read = 0;
  (void)find(source, device.background, kastor::RowRange{100, 150});
  EXPECT_LT(source.rows_read, 120);
  source.rows_read = 0;
  const auto none = find(source, device.background, kastor::RowRange{100, 100});
  EXPECT_EQ(source.rows_read, 0);
  EXPECT_TRUE(none.result.islands.empty());
}

TYPED_TEST(StreamedIslands, RefuseAnIslandThatDoesNotFit) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  auto scene = scene_of_mask<T>(ts::HostMask(200, 64), 1);
  for (std::int64_t y = 17; y < 117; ++y) scene.image(y, 10) = T(9);
  const ts::DeviceScene<Exec, T> device(scene);
  ts::ArraySource<T> source(scene.image);
  kastor::StreamParams stream;
  const std::int64_t row = 64 * (static_cast<std::int64_t>(sizeof(T)) + 1) + 1;
  const auto search = [&](std::int64_t rows) {
    stream.memory = rows * row;
    return kastor::StreamedIslandFinder<Exec, T>(Exec{}, above(5, 3), stream)(source,
                                                                              device.background);
  };
  EXPECT_EQ(search(102).result.islands.size(), 1U);  // with a row above and below
  EXPECT_THROW((void)search(101), kastor::ResourceError);
  ts::expect_error([&] { (void)search(60); },
                   {"the island that begins in row 17 has", "rows or more", "bytes of memory"});
  EXPECT_THROW((void)search(2), kastor::ResourceError);
  ts::expect_error([&] { (void)search(2); }, {"an island of one row with 1 rows above and below"});
}

TYPED_TEST(StreamedIslands, RefuseWhatMakesNoSense) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Finder = kastor::StreamedIslandFinder<Exec, T>;
  ts::expect_error([] { Finder(Exec{}, above(2, 3)); }, {"StreamedIslandFinder", "seed is 2"});
  ts::expect_error([] { Finder(Exec{}, kastor::IslandParams(), bands_of(-1)); }, {"-1 rows"});
  ts::ArraySource<T> source(ts::HostImage<T>(10, 20));
  Finder find(Exec{});
  const kastor::Background<Exec, T> background{0.0, 1.0};
  const kastor::IslandVisitor<Exec, T> no_visitor, visitor{{}, -1};
  for (const kastor::RowRange rows : {kastor::RowRange{-1, 5}, {6, 5}, {0, 11}, {11, 11}})
    ts::expect_error([&] { (void)find(source, background, rows); }, {"the rows are", "10 rows"});
  ts::expect_error([&] { (void)find(source, background, kastor::RowRange(), visitor); },
                   {"the reach is -1"});
  const auto other = ts::new_image<Exec, T>("test::other", 10, 21);
  const kastor::Background<Exec, T> of_other{0.0, other};
  const auto region = ts::to_device_mask<Exec>(ts::HostMask(9, 20));
  ts::expect_error([&] { (void)find(source, of_other); }, {"rms", "10 x 21", "10 x 20"});
  ts::expect_error([&] { (void)find(source, background, kastor::RowRange(), no_visitor, region); },
                   {"region", "9 x 20"});
  for (const auto& [ny, nx] : {std::pair<std::int64_t, std::int64_t>{0, 5}, {5, 0}, {0, 0}}) {
    ts::ArraySource<T> empty(ts::HostImage<T>(ny, nx));
    EXPECT_TRUE(find(empty, background).result.islands.empty());
  }
}

}  // namespace
