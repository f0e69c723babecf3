// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <kastor/island_finder.hpp>
#include <kastor/island_maps.hpp>
#include <limits>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "island_scenes.hpp"
#include "islands_naive.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

/// Images for maps, and pixels without a use of every kind.
template <class T>
ts::Scene<T> make_scene(std::int64_t ny, std::int64_t nx, std::uint64_t seed) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  auto scene = ts::make_scene<T>(ts::Maps::images, ny, nx, seed);
  ts::Random random(seed);
  const T odd[] = {nan, inf, -inf, T(-1), T(0)};  // the last two only as an rms
  for (auto* pixels : {&scene.image, &scene.background.level.image, &scene.background.rms.image})
    for (T& pixel : pixels->values)
      if (random.below(200) == 0) pixel = odd[random.below(5)];
  return scene;
}

/// What `fill(space, map)` leaves in a map of a pitch of its own.
template <class Exec, class T, class Fill>
ts::HostImage<T> filled(std::int64_t ny, std::int64_t nx, const Fill& fill) {
  const Exec space;
  const auto cut_out = ts::to_device_cut_out<Exec>(ts::HostImage<T>(ny, nx, T(-77)));
  const kastor::MutableImage<T, Exec> whole(cut_out.owner);
  const kastor::MutableImage<T, Exec> map = Kokkos::subview(
      whole, std::make_pair(std::int64_t{2}, 2 + ny), std::make_pair(std::int64_t{3}, 3 + nx));
  fill(space, map);
  space.fence("test::filled");
  const auto all = ts::to_host_grid(cut_out.owner);
  ts::HostImage<T> result(ny, nx);
  for (std::int64_t y = 0; y < all.ny; ++y) {
    for (std::int64_t x = 0; x < all.nx; ++x) {
      const bool inside = y >= 2 && y < 2 + ny && x >= 3 && x < 3 + nx;
      if (inside) {
        result(y - 2, x - 3) = all(y, x);
      } else {
        EXPECT_EQ(all(y, x), T(1e9)) << "written beside the map at " << y << ", " << x;
      }
    }
  }
  return result;
}

kastor::IslandParams both_signs() {
  kastor::IslandParams params;
  params.seed = 2;
  params.flood = 1;
  params.negative = true;
  return params;
}

// ------------------------------------------------------------------------------------- S/N

template <class T>
ts::HostImage<T> snr_naive(const ts::Scene<T>& scene) {
  ts::HostImage<T> snr(scene.image.ny, scene.image.nx, std::numeric_limits<T>::quiet_NaN());
  for (std::int64_t y = 0; y < snr.ny; ++y) {
    for (std::int64_t x = 0; x < snr.nx; ++x) {
      const double value = static_cast<double>(scene.image(y, x));
      const double level = scene.background.level(y, x);
      const double rms = scene.background.rms(y, x);
      if (!std::isfinite(value) || !std::isfinite(level)) continue;
      if (!std::isfinite(rms) || rms <= 0) continue;
      snr(y, x) = static_cast<T>((value - level) / rms);
    }
  }
  return snr;
}

template <class C>
class IslandMaps : public ::testing::Test {};
TYPED_TEST_SUITE(IslandMaps, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(IslandMaps, SignalToNoiseMatchesNaive) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto matches_naive = [](const ts::Scene<T>& scene) {
    const ts::DeviceScene<Exec, T> device(scene);
    const auto got =
        filled<Exec, T>(scene.image.ny, scene.image.nx, [&](const Exec& space, const auto& map) {
          kastor::fill_snr_map<Exec, T>(space, device.image, device.background, map);
        });
    EXPECT_TRUE(ts::same_pixels(got, snr_naive(scene)));
  };
  for (const auto& [ny, nx] : {std::pair{1, 1}, std::pair{37, 130}, std::pair{3, 64}}) {
    matches_naive(make_scene<T>(ny, nx, 5));
    for (const ts::Maps maps : ts::all_maps) matches_naive(ts::make_scene<T>(maps, ny, nx, 6));
  }
}

// -------------------------------------------------------------------------------- residual

template <class C>
void residual_matches_naive(kastor::IslandParams params) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const auto scene = make_scene<T>(53, 141, 8);
  const ts::DeviceScene<Exec, T> device(scene);
  kastor::IslandFinder<Exec, T> find(Exec{}, params);
  const auto found = find(device.image, device.background);
  EXPECT_GT(found.positive.islands, 5);
  EXPECT_EQ(found.negative.islands > 5, params.negative);
  const auto got = filled<Exec, T>(53, 141, [&](const Exec& space, const auto& map) {
    kastor::fill_residual_map<Exec, T>(space, device.image, device.background, find.labels(),
                                       find.negative_labels(), map);
  });

  const ts::NaiveIslands<T> naive(scene.image, scene.background, params);
  ts::HostImage<T> want = scene.image;
  for (std::int64_t y = 0; y < want.ny; ++y) {
    for (std::int64_t x = 0; x < want.nx; ++x) {
      const bool below = params.negative && naive.negative.labels.image(y, x) > 0;
      if (naive.positive.labels.image(y, x) > 0 || below)
        want(y, x) = static_cast<T>(scene.background.level(y, x));
    }
  }
  EXPECT_TRUE(ts::same_pixels(got, want));
}

TYPED_TEST(IslandMaps, ResidualOfNothingIsTheImage) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto scene = make_scene<T>(20, 30, 9);
  const ts::DeviceScene<Exec, T> device(scene);
  const auto got = filled<Exec, T>(20, 30, [&](const Exec& space, const auto& map) {
    kastor::fill_residual_map<Exec, T>(space, device.image, device.background, {}, {}, map);
  });
  EXPECT_TRUE(ts::same_pixels(got, scene.image));
}

// ---------------------------------------------------------------------------------- labels

template <class C, class Label>
void ids_match_naive(kastor::IslandParams params) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const auto scene = make_scene<T>(53, 141, 10);
  const ts::DeviceScene<Exec, T> device(scene);
  const Exec space;
  kastor::IslandFinder<Exec, T> find(space, params);
  const auto found = find(device.image, device.background);
  const kastor::Image<Label, Exec> ids("test::ids", 53, 141);
  Kokkos::deep_copy(ids, Label{-1});
  kastor::write_island_labels<Exec, Label>(space, find.labels(), find.negative_labels(), ids);
  space.fence("test::ids");

  const ts::NaiveIslands<T> naive(scene.image, scene.background, params);
  ts::HostGrid<Label> want(53, 141);
  for (std::int64_t y = 0; y < want.ny; ++y) {
    for (std::int64_t x = 0; x < want.nx; ++x) {
      std::int64_t id = naive.positive.labels.image(y, x);
      if (params.negative && naive.negative.labels.image(y, x) > 0)
        id = naive.positive.counts.islands + naive.negative.labels.image(y, x);
      want(y, x) = static_cast<Label>(id);
    }
  }
  const auto got = ts::to_host_grid(ids);
  EXPECT_TRUE(ts::same_pixels(got, want));
  // The ids are those of the rows.
  for (const kastor::Island& island : found.islands)
    EXPECT_EQ(got(island.y_peak, island.x_peak), island.id);
}

// ---------------------------------------------------------------------------------- errors

TYPED_TEST(IslandMaps, OtherShapesAreErrors) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const auto scene = make_scene<T>(20, 30, 11);
  const ts::DeviceScene<Exec, T> device(scene);
  const ts::DeviceScene<Exec, T> other(make_scene<T>(20, 31, 11));
  kastor::IslandFinder<Exec, T> find(space, both_signs()), find_other(space, both_signs());
  ASSERT_FALSE(find(device.image, device.background).islands.empty());
  ASSERT_GT(find_other(other.image, other.background).negative.islands, 0);
  const kastor::Image<T, Exec> right("test::map", 20, 30), wrong("test::map", 30, 20);
  const kastor::MutableImage<T, Exec> map(right), turned(wrong);

  const auto snr = [&](const auto& background, const auto& target) {
    kastor::fill_snr_map<Exec, T>(space, device.image, background, target);
  };
  ts::expect_error([&] { snr(device.background, turned); },
                   {"kastor::fill_snr_map", "20 x 30 pixels", "expected 30 x 20"});
  auto background = device.background;
  background.rms = other.background.rms;
  ts::expect_error([&] { snr(background, map); },
                   {"kastor::fill_snr_map", "the rms is 31 x 20", "expected 30 x 20"});

  const auto residual = [&](const auto& positive, const auto& negative, const auto& target) {
    kastor::fill_residual_map<Exec, T>(space, device.image, device.background, positive, negative,
                                       target);
  };
  ts::expect_error([&] { residual(find.labels(), find.negative_labels(), turned); },
                   {"kastor::fill_residual_map", "the map is 20 x 30"});
  ts::expect_error([&] { residual(find_other.labels(), find.negative_labels(), map); },
                   {"kastor::fill_residual_map", "the positive labels are 31 x 20"});
  ts::expect_error([&] { residual(find.labels(), find_other.negative_labels(), map); },
                   {"kastor::fill_residual_map", "the negative labels are 31 x 20"});

  const kastor::Image<std::int32_t, Exec> ids("test::ids", 20, 30);
  const auto write = [&](const auto& positive, const auto& negative) {
    kastor::write_island_labels<Exec, std::int32_t>(space, positive, negative, ids);
  };
  ts::expect_error([&] { write(find_other.labels(), find.negative_labels()); },
                   {"kastor::write_island_labels", "31 x 20", "expected 30 x 20"});
  ts::expect_error([&] { write(find.labels(), find_other.negative_labels()); },
                   {"kastor::write_island_labels", "the negative labels are 31 x 20"});
  auto many = find.labels();
  many.components = std::numeric_limits<std::int32_t>::max();
  ts::expect_error([&] { write(many, find.negative_labels()); },
                   {"kastor::write_island_labels", "at most 2147483647"});
}

TYPED_TEST(IslandMaps, ResidualMatchesNaive) {
  residual_matches_naive<TypeParam>(both_signs());
  auto params = both_signs();
  params.negative = false;
  params.min_pixels = 4;
  params.connectivity = kastor::Connectivity::four;
  residual_matches_naive<TypeParam>(params);
}
TYPED_TEST(IslandMaps, IdsMatchNaive) {
  ids_match_naive<TypeParam, std::int32_t>(both_signs());
  ids_match_naive<TypeParam, std::int64_t>(both_signs());
  auto params = both_signs();
  params.negative = false;
  ids_match_naive<TypeParam, std::int32_t>(params);
  params.seed = params.flood = 1e6;  // none
  ids_match_naive<TypeParam, std::int64_t>(params);
}

}  // namespace
