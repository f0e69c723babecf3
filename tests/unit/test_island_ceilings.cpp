// SPDX-License-Identifier: Apache-2.0

// Islands are the same whether an image is read or its ceilings say what need not be.

#include <gtest/gtest.h>

#include <cstdint>
#include <kastor/background.hpp>
#include <kastor/island_finder.hpp>
#include <kastor/simulate.hpp>
#include <limits>
#include <string>
#include <utility>

#include "ceilings_naive.hpp"
#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "island_comparison.hpp"
#include "island_scenes.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

/// Rows that begin at multiples of 16 bytes, with bright pixels beyond them.
template <class Exec, class T>
ts::CutOut<Exec, T> to_aligned(const ts::HostImage<T>& image) {
  ts::HostImage<T> larger(image.ny, (image.nx + 7) / 4 * 4, T(1e9));
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 0; x < image.nx; ++x) larger(y, x) = image(y, x);
  }
  ts::CutOut<Exec, T> result;
  result.owner = ts::to_device<Exec>(larger);
  result.image =
      Kokkos::subview(result.owner, Kokkos::ALL, std::make_pair(std::int64_t{0}, image.nx));
  return result;
}

kastor::IslandParams params_of(double seed, double flood) {
  kastor::IslandParams params;
  params.seed = seed;
  params.flood = flood;
  return params;
}

template <class C>
void islands_are_the_same(const ts::Scene<typename C::real>& scene, const std::string& what) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const ts::DeviceMap<Exec, T> level(scene.background.level);
  const ts::DeviceMap<Exec, T> rms(scene.background.rms);
  const kastor::Background<Exec, T> background{level.map, rms.map};
  kastor::BitMask<Exec> region;
  if (scene.region.ny > 0) region = ts::to_device_mask<Exec>(scene.region);
  const auto image = to_aligned<Exec>(scene.image);
  const auto ceilings = ts::to_device_ceilings<Exec>(scene.image);
  // From few pixels above the flood to a crowd and back: what was true of one call is not of the
  // next.
  for (const bool negative : {false, true}) {
    for (const auto& [seed, flood] :
         {std::pair{4.0, 2.5}, std::pair{2.0, 0.5}, std::pair{1.0, 0.0}, std::pair{5.0, 3.0}}) {
      auto params = params_of(seed, flood);
      params.negative = negative;
      kastor::IslandFinder<Exec, T> without(Exec{}, params);
      const auto want = without(image.image, background, region);
      kastor::IslandFinder<Exec, T> with(Exec{}, params);
      const std::string where = what + ", flood " + std::to_string(flood);
      for (int call = 0; call < 3; ++call)
        EXPECT_TRUE(ts::same_bits(with(image.image, background, region, ceilings), want)) << where;
      EXPECT_TRUE(ts::same_bits(with(image.image, background, region), want)) << where;
    }
  }
}

template <class C>
void scenes_have_the_same_islands() {
  using T = typename C::real;
  for (const ts::Maps maps : ts::all_maps) {
    const std::string name = "maps " + std::to_string(static_cast<int>(maps));
    auto scene = ts::make_scene<T>(maps, 131, 203, 3);
    islands_are_the_same<C>(scene, name);
    scene.region = ts::random_mask(131, 203, 0.9, 6);
    islands_are_the_same<C>(scene, name + ", region");
  }
  islands_are_the_same<C>(ts::make_scene<T>(ts::Maps::meshes, 5, 9000, 4), "long rows");
}

/// One finder, from an image whose bright pixels have places to one with too many and back.
template <class C>
void a_finder_recovers_from_a_crowd() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const auto params = params_of(5, 3);
  kastor::IslandFinder<Exec, T> find(Exec{}, params), reference(Exec{}, params);
  const kastor::Background<Exec, T> background{0.0, 1.0};
  const auto few = ts::make_image<T>(ts::Pixels::gaussian, 150, 320, 3);
  auto many = few;
  for (std::int64_t y = 0; y < many.ny; y += 2) {
    for (std::int64_t x = 0; x < many.nx; x += 3)
      many(y, x) = many(y, x + 1 < many.nx ? x + 1 : x) = T(9);
  }
  using Host = const ts::HostImage<T>*;
  for (const Host host :
       {Host(&few), Host(&many), Host(&many), Host(&few), Host(&few), Host(&many)}) {
    const auto image = to_aligned<Exec>(*host);
    EXPECT_TRUE(
        ts::same_bits(find(image.image, background, {}, ts::to_device_ceilings<Exec>(*host)),
                      reference(image.image, background)));
  }
}

/// A device may have made a graph of the kernels for an image that lies there, and for its maps.
template <class C>
void sees_what_an_image_has_become() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Exec space;
  kastor::SkyParams sky;
  sky.ny = 400;
  sky.nx = 700;
  const auto image = ts::new_image<Exec, T>("test::sky", sky.ny, sky.nx);
  kastor::BackgroundParams with_graph;
  kastor::IslandParams island_params;
  with_graph.graph = island_params.graph = true;
  kastor::BackgroundEstimator<Exec, T> estimate(space, with_graph);
  kastor::IslandFinder<Exec, T> find(space, island_params);
  std::size_t islands = 0;
  for (const std::uint64_t seed : {1U, 1U, 1U, 1U, 2U, 3U, 3U, 4U, 5U, 5U}) {
    sky.seed = seed;
    sky.sources_per_mpx = seed == 4 ? 20000 : 100;
    kastor::simulate_sky(space, sky, kastor::sky_truth(sky), image);
    if (seed == 3) {
      const auto blank = Kokkos::subview(image, std::make_pair(100, 130), std::make_pair(120, 240));
      Kokkos::deep_copy(space, blank, std::numeric_limits<T>::quiet_NaN());
    }
    space.fence();
    kastor::BackgroundEstimator<Exec, T> other(space);
    kastor::IslandFinder<Exec, T> reference(space);
    const auto found = find(image, estimate(image).background());
    const auto want = reference(image, other(image).background());
    EXPECT_TRUE(ts::same_bits(found, want)) << "seed " << seed;
    islands += found.islands.size();
  }
  EXPECT_GT(islands, 100U);
}

/// As a BackgroundEstimator leaves them: on a device, if the image has many cells.
template <class C>
void an_estimator_leaves_ceilings_that_serve() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Exec space;
  constexpr bool on_device = !kastor::is_host_space_v<Exec>;
  kastor::SkyParams sky;
  sky.ny = on_device ? 6000 : 300;
  sky.nx = on_device ? 6100 : 300;
  const auto image = ts::new_image<Exec, T>("test::sky", sky.ny, sky.nx);
  kastor::simulate_sky(space, sky, kastor::sky_truth(sky), image);
  const auto blank = Kokkos::subview(image, std::make_pair(100, 130), std::make_pair(120, 140));
  Kokkos::deep_copy(space, blank, std::numeric_limits<T>::quiet_NaN());
  space.fence();
  kastor::BackgroundParams with_graph;
  kastor::IslandParams island_params;
  with_graph.graph = island_params.graph = true;
  kastor::BackgroundEstimator<Exec, T> estimate(space, with_graph);
  kastor::IslandFinder<Exec, T> with(space, island_params), with_constants(space, island_params);
  kastor::IslandFinder<Exec, T> without(space);
  for (int call = 0; call < 6; ++call) {
    if (call > 3) {  // other pixels, of which others are blank
      sky.seed = static_cast<std::uint64_t>(call);
      kastor::simulate_sky(space, sky, kastor::sky_truth(sky), image);
      const auto more = Kokkos::subview(image, std::make_pair(40 * call, 40 * call + 30),
                                        std::make_pair(170, 200));
      Kokkos::deep_copy(space, more, std::numeric_limits<T>::quiet_NaN());
      space.fence();
    }
    const auto mesh = estimate(image);
    EXPECT_EQ(mesh.ceilings.empty(), !on_device || sizeof(T) != 4);
    const auto want = without(image, mesh.background());
    EXPECT_GT(want.islands.size(), 0U);
    EXPECT_TRUE(ts::same_bits(with(image, mesh.background(), {}, mesh.ceilings), want));
    EXPECT_TRUE(ts::same_bits(
        with_constants(image, kastor::Background<Exec, T>{0.0, sky.noise}, {}, mesh.ceilings),
        without(image, kastor::Background<Exec, T>{0.0, sky.noise})));
  }
}

/// On a device what is below its ceiling is not looked at: false ones hide all islands. Not where
/// they say nothing.
template <class C>
void a_device_believes_its_ceilings() {
  using Exec = typename C::exec;
  using T = typename C::real;
  constexpr bool believes = !kastor::is_host_space_v<Exec>;
  ts::HostImage<T> host(40, 128);
  for (std::int64_t x = 3; x < 128; x += 20) host(7, x) = host(30, x) = T(9);
  const auto image = to_aligned<Exec>(host);
  const auto ceilings = ts::to_device_ceilings<Exec>(ts::HostImage<T>(40, 128, T(-1)));
  const kastor::Background<Exec, T> background{0.0, 1.0};
  auto params = params_of(5, 3);
  kastor::IslandFinder<Exec, T> find(Exec{}, params);
  EXPECT_EQ(find(image.image, background).islands.size(), 14U);
  EXPECT_EQ(find(image.image, background, {}, ceilings).islands.size(), believes ? 0U : 14U);
  const auto rms = ts::to_device<Exec>(ts::HostImage<T>(40, 128, T(1)));
  const kastor::Background<Exec, T> of_image{0.0, kastor::ConstImage<T, Exec>(rms)};
  EXPECT_EQ(find(image.image, of_image, {}, ceilings).islands.size(), 14U);
  const auto bands = ts::split_into_bands<Exec, T>(image.image, 2);
  EXPECT_EQ(find(bands, background, {}, ceilings).islands.size(), 14U);
  params.negative = true;
  kastor::IslandFinder<Exec, T> of_both_signs(Exec{}, params);
  EXPECT_EQ(of_both_signs(image.image, background, {}, ceilings).islands.size(), 14U);
}

template <class C>
void refuses_those_of_another_shape() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const auto image = ts::to_device<Exec>(ts::HostImage<T>(20, 30, 1));
  const auto other = ts::to_device_ceilings<Exec>(ts::HostImage<T>(20, 31, 1));
  kastor::IslandFinder<Exec, T> find(Exec{});
  ts::expect_error(
      [&] {
        (void)find(image, kastor::Background<Exec, T>{0.0, 1.0}, {}, other);
      },
      {"ceilings", "20 x 31", "20 x 30"});
  auto too_few = ts::to_device_ceilings<Exec>(ts::HostImage<T>(16, 30, 1));
  too_few.ny = 20;
  ts::expect_error(
      [&] {
        (void)find(image, kastor::Background<Exec, T>{0.0, 1.0}, {}, too_few);
      },
      {"32 ceilings", "40", "20 x 30"});
}

template <class T>
class IslandCeilings : public ::testing::Test {};
TYPED_TEST_SUITE(IslandCeilings, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(IslandCeilings, GiveTheSameIslands) { scenes_have_the_same_islands<TypeParam>(); }

TYPED_TEST(IslandCeilings, ServeAFinderThatHadACrowd) {
  a_finder_recovers_from_a_crowd<TypeParam>();
}

TYPED_TEST(IslandCeilings, AreBelievedByADevice) { a_device_believes_its_ceilings<TypeParam>(); }

TYPED_TEST(IslandCeilings, AreLeftByAnEstimator) {
  an_estimator_leaves_ceilings_that_serve<TypeParam>();
}

TYPED_TEST(IslandCeilings, AndIslandsAreThoseOfWhatAnImageHasBecome) {
  sees_what_an_image_has_become<TypeParam>();
}

TYPED_TEST(IslandCeilings, AreOfTheShapeOfTheImage) { refuses_those_of_another_shape<TypeParam>(); }

}  // namespace
