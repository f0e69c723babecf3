// SPDX-License-Identifier: Apache-2.0

// Islands that are found in one image and measured in another.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <kastor/island_finder.hpp>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "island_comparison.hpp"
#include "island_scenes.hpp"
#include "islands_naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

/// Deviations cancel, so sums are compared on the scale of their terms.
void expect_measured(const kastor::Island& a, const ts::NaiveIsland& want,
                     const std::string& where) {
  kastor::Island b = want.island;
  EXPECT_NEAR(a.flux_sum, b.flux_sum, 1e-13 * want.absolute_flux) << where;
  EXPECT_NEAR(a.raw_sum, b.raw_sum, 1e-13 * want.absolute_raw) << where;
  EXPECT_NEAR(a.background, b.background, 1e-13 * want.absolute_background) << where;
  EXPECT_NEAR(a.rms, b.rms, 1e-13 * b.rms) << where;
  const double cancels = 1e-12 * want.absolute_flux / std::fabs(b.flux_sum);
  const double size = std::max(b.x_max - b.x_min, b.y_max - b.y_min) + 1;
  const bool has_centre = (b.flags & kastor::island_no_centre) == 0;
  for (const auto place : {&kastor::Island::x_cen, &kastor::Island::y_cen}) {
    if (has_centre) {
      EXPECT_NEAR(a.*place, b.*place, cancels * size + 1e-15 * b.*place) << where;
    }
    b.*place = a.*place;
  }
  for (const auto moment :
       {&kastor::Island::var_xx, &kastor::Island::var_yy, &kastor::Island::var_xy}) {
    if (has_centre) {
      EXPECT_NEAR(a.*moment, b.*moment, cancels * size * size) << where;
    }
    b.*moment = a.*moment;
  }
  for (const auto sum : {&kastor::Island::flux_sum, &kastor::Island::raw_sum,
                         &kastor::Island::background, &kastor::Island::rms})
    b.*sum = a.*sum;
  EXPECT_TRUE(ts::same_figures(a, b)) << where;
}

/// Compares with the reference, and the bits of all splits of both images into bands.
template <class C>
std::vector<kastor::Island> matches_naive(const ts::Scene<typename C::real>& detection,
                                          const ts::Scene<typename C::real>& scene,
                                          const kastor::IslandParams& params,
                                          const std::string& what) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const ts::DeviceScene<Exec, T> found_in(detection), device(scene);
  kastor::IslandFinder<Exec, T> find(Exec{}, params);
  const auto cut_out = ts::to_device_cut_out<Exec>(detection.image);
  kastor::IslandResult first;
  for (const auto& [of_detection, of_image] : {std::array{1, 1}, {3, 1}, {2, 5}, {1, 1000}}) {
    const auto detection_bands = ts::split_into_bands<Exec, T>(cut_out.image, of_detection);
    const auto bands = ts::split_into_bands<Exec, T>(device.image, of_image);
    const auto got =
        find({detection_bands, found_in.background}, bands, device.background, device.region);
    if (first.islands.empty()) first = got;
    EXPECT_TRUE(ts::same_bits(got, first)) << what << ' ' << of_detection << ' ' << of_image;
  }
  const ts::NaiveIslands<T> want({detection.image, detection.background}, scene.image,
                                 scene.background, params, scene.region);
  EXPECT_TRUE(ts::same_counts(first.positive, want.positive.counts)) << what;
  EXPECT_TRUE(ts::same_counts(first.negative, want.negative.counts)) << what;
  std::vector<ts::NaiveIsland> islands = want.positive.islands;
  islands.insert(islands.end(), want.negative.islands.begin(), want.negative.islands.end());
  EXPECT_EQ(first.islands.size(), islands.size()) << what;
  for (std::size_t i = 0; i < std::min(islands.size(), first.islands.size()); ++i)
    expect_measured(first.islands[i], islands[i], what + ", island " + std::to_string(i + 1));
  return first.islands;
}

kastor::IslandParams both_sides(double seed, double flood) {
  kastor::IslandParams params;
  params.seed = seed;
  params.flood = flood;
  params.negative = true;
  return params;
}

template <class T>
class DetectionImage : public ::testing::Test {};
TYPED_TEST_SUITE(DetectionImage, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(DetectionImage, MatchesNaiveForEveryKindOfMap) {
  using T = typename TypeParam::real;
  int without_centre = 0, below = 0;
  for (const ts::Maps maps : ts::all_maps) {
    const ts::Maps others = maps == ts::Maps::images ? ts::Maps::meshes : ts::Maps::images;
    // The same blobs with another noise would have no negative sum; other blobs do.
    const auto detection = ts::make_scene<T>(maps, 97, 203, 3);
    auto scene = ts::make_scene<T>(others, 97, 203, 4);
    scene.region = ts::random_mask(97, 203, 0.95, 6);
    const auto islands = matches_naive<TypeParam>(detection, scene, both_sides(2.5, 1),
                                                  "maps " + std::to_string(static_cast<int>(maps)));
    EXPECT_GT(islands.size(), 20U);
    for (const auto& island : islands) {
      EXPECT_GT(island.snr_peak, 2.5);
      without_centre += (island.flags & kastor::island_no_centre) != 0 ? 1 : 0;
      below += (island.flags & kastor::island_negative) == 0 && island.flux_peak < 0 ? 1 : 0;
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(without_centre, 10);
  EXPECT_GT(below, 5);
}

TYPED_TEST(DetectionImage, OfItselfGivesTheBitsOfTheImage) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const ts::DeviceScene<Exec, T> scene(ts::make_scene<T>(ts::Maps::meshes, 131, 203, 8));
  kastor::IslandFinder<Exec, T> find(Exec{}, both_sides(2.5, 1));
  const kastor::ConstImage<T, Exec> image = scene.image;
  const kastor::Bands<T, Exec> bands(&image, 1);
  const auto alone = find(image, scene.background);
  EXPECT_GT(alone.islands.size(), 20U);
  EXPECT_TRUE(ts::same_bits(find({bands, scene.background}, bands, scene.background), alone));
  EXPECT_TRUE(ts::same_bits(find(image, scene.background), alone));
}

/// A blank pixel of the measured image splits an island of the detection image, and is a neighbour.
TYPED_TEST(DetectionImage, UsesPixelsThatBothImagesHave) {
  using T = typename TypeParam::real;
  ts::HostImage<T> found(20, 80), measured(20, 80, T(2));
  for (std::int64_t x = 10; x < 20; ++x) found(5, x) = T(9);
  found(5, 12) = T(11);
  found(10, 40) = std::numeric_limits<T>::quiet_NaN();
  found(10, 41) = T(7);
  measured(5, 15) = std::numeric_limits<T>::infinity();
  measured(5, 11) = T(5);
  measured(10, 41) = T(-3);
  const auto rows = matches_naive<TypeParam>(ts::scene_of(found), ts::scene_of(measured),
                                             both_sides(5, 3), "blank");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].n_pix, 5);
  EXPECT_EQ(rows[1].n_pix, 4);
  EXPECT_EQ(rows[0].flags & kastor::island_near_blank, kastor::island_near_blank);
  EXPECT_EQ(rows[0].x_peak, 11);
  EXPECT_EQ(rows[0].flux_peak, 5.0);
  EXPECT_EQ(rows[0].snr_peak, 11.0);
  EXPECT_EQ(rows[2].flux_sum, -3.0);
  EXPECT_TRUE(std::isnan(rows[2].x_cen));
  EXPECT_EQ(rows[2].flags, std::uint32_t{kastor::island_near_blank | kastor::island_no_centre |
                                         kastor::island_no_shape});
}

TYPED_TEST(DetectionImage, RefusesAnotherShape) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const ts::DeviceScene<Exec, T> small(ts::scene_of(ts::HostImage<T>(9, 10)));
  const ts::DeviceScene<Exec, T> large(ts::make_scene<T>(ts::Maps::images, 10, 10, 1));
  kastor::IslandFinder<Exec, T> find(Exec{});
  const kastor::ConstImage<T, Exec> of_small = small.image, of_large = large.image;
  const kastor::Bands<T, Exec> bands(&of_large, 1), others(&of_small, 1);
  const auto says = [](const auto& run, const std::string& what) {
    try {
      (void)run();
      ADD_FAILURE() << "no error: " << what;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  says(
      [&] {
        return find({others, small.background}, bands, large.background);
      },
      "the detection image is 9 x 10 pixels; expected 10 x 10, as the image");
  says(
      [&] {
        return find({others, large.background}, others, small.background);
      },
      "the detection level map is 10 x 10 pixels; expected 9 x 10, as the image");
}

}  // namespace
