// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <kastor/island_finder.hpp>
#include <kastor/island_maps.hpp>
#include <limits>
#include <string>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "islands_naive.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

template <class T>
constexpr T k_nan = std::numeric_limits<T>::quiet_NaN();
template <class T>
constexpr T k_infinity = std::numeric_limits<T>::infinity();

template <class T>
struct Scene {
  ts::HostImage<T> image;
  ts::HostBackground<T> background;  ///< images
};

/// Blobs of both signs over an uneven level and noise; pixels without a use of every kind.
template <class T>
Scene<T> make_scene(std::int64_t ny, std::int64_t nx, std::uint64_t seed) {
  ts::Random random(seed);
  Scene<T> scene{ts::HostImage<T>(ny, nx), {}};
  scene.background.level.image = scene.background.rms.image = scene.image;
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      T& level = scene.background.level.image(y, x);
      T& rms = scene.background.rms.image(y, x);
      level = static_cast<T>(3 + 0.01 * static_cast<double>(x) + 0.1 * random.gaussian());
      rms = static_cast<T>(0.5 + random.uniform());
      const bool blob = y % 9 < 2 && x % 11 < 3;
      const double sign = (y / 9 + x / 11) % 2 == 0 ? 1 : -1;
      scene.image(y, x) = static_cast<T>(level + random.gaussian() + (blob ? sign * 12 : 0));
      const T odd_rms[] = {T(0), T(-1), k_nan<T>, k_infinity<T>};
      if (random.below(60) == 0) rms = odd_rms[random.below(4)];
      const T odd[] = {k_nan<T>, k_infinity<T>, -k_infinity<T>};
      if (random.below(60) == 0) scene.image(y, x) = odd[random.below(3)];
      if (random.below(200) == 0) level = odd[random.below(3)];
    }
  }
  return scene;
}

/// A scene where kernels can work on it.
template <class C>
struct OnDevice {
  using Exec = typename C::exec;
  using T = typename C::real;
  kastor::Image<T, Exec> image, level, rms;

  explicit OnDevice(const Scene<T>& scene)
      : image(ts::to_device<Exec>(scene.image)),
        level(ts::to_device<Exec>(scene.background.level.image)),
        rms(ts::to_device<Exec>(scene.background.rms.image)) {}
  [[nodiscard]] kastor::ConstImage<T, Exec> pixels() const { return image; }
  [[nodiscard]] kastor::Background<Exec, T> background() const {
    return {kastor::PixelMap<Exec, T>(kastor::ConstImage<T, Exec>(level)),
            kastor::PixelMap<Exec, T>(kastor::ConstImage<T, Exec>(rms))};
  }
};

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
  params.seed = 3;
  params.flood = 1;
  params.negative = true;
  return params;
}

// ------------------------------------------------------------------------------------- S/N

template <class T>
ts::HostImage<T> snr_naive(const Scene<T>& scene) {
  ts::HostImage<T> snr(scene.image.ny, scene.image.nx, k_nan<T>);
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
void snr_matches_naive() {
  using Exec = typename C::exec;
  using T = typename C::real;
  for (const auto& [ny, nx] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {37, 130}, {3, 64}}) {
    const auto scene = make_scene<T>(ny, nx, 5);
    const OnDevice<C> device(scene);
    const auto got = filled<Exec, T>(ny, nx, [&](const Exec& space, const auto& map) {
      kastor::fill_snr_map<Exec, T>(space, device.pixels(), device.background(), map);
    });
    EXPECT_TRUE(ts::same_pixels(got, snr_naive(scene)));
  }
}

template <class C>
void snr_takes_every_kind_of_map() {
  using Exec = typename C::exec;
  using T = typename C::real;
  auto scene = make_scene<T>(40, 70, 6);
  scene.background.level.mesh.cell_height = 13;
  scene.background.level.mesh.cell_width = 20;
  auto& nodes = scene.background.level.mesh.nodes;
  nodes = ts::HostGrid<kastor::MeshNode>(4, 4);
  ts::Random random(7);
  for (auto& node : nodes.values) node = {3 + random.gaussian(), random.gaussian(), 0.5, 0.25};
  scene.background.rms.image = {};
  scene.background.rms.constant = 0.75;

  using Nodes = Kokkos::View<kastor::MeshNode**, Kokkos::LayoutRight, typename Exec::memory_space>;
  const Nodes on_device("test::nodes", 4, 4);
  Kokkos::deep_copy(on_device, ts::HostView<const kastor::MeshNode>(nodes.values.data(), 4, 4));
  kastor::Background<Exec, T> background;
  background.level = kastor::MeshSurface<Exec>{13, 20, false, on_device};
  background.rms = 0.75;
  const auto image = ts::to_device<Exec>(scene.image);
  const auto got = filled<Exec, T>(40, 70, [&](const Exec& space, const auto& map) {
    kastor::fill_snr_map<Exec, T>(space, kastor::ConstImage<T, Exec>(image), background, map);
  });
  EXPECT_TRUE(ts::same_pixels(got, snr_naive(scene)));
}

// -------------------------------------------------------------------------------- residual

template <class C>
void residual_matches_naive(kastor::IslandParams params) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const auto scene = make_scene<T>(53, 141, 8);
  const OnDevice<C> device(scene);
  kastor::IslandFinder<Exec, T> find(Exec{}, params);
  const auto found = find(device.pixels(), device.background());
  EXPECT_GT(found.positive.islands, 10);
  EXPECT_EQ(found.negative.islands > 10, params.negative);
  const auto got = filled<Exec, T>(53, 141, [&](const Exec& space, const auto& map) {
    kastor::fill_residual_map<Exec, T>(space, device.pixels(), device.background(), find.labels(),
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

template <class C>
void residual_of_nothing_is_the_image() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const auto scene = make_scene<T>(20, 30, 9);
  const OnDevice<C> device(scene);
  const auto got = filled<Exec, T>(20, 30, [&](const Exec& space, const auto& map) {
    kastor::fill_residual_map<Exec, T>(space, device.pixels(), device.background(), {}, {}, map);
  });
  EXPECT_TRUE(ts::same_pixels(got, scene.image));
}

// ---------------------------------------------------------------------------------- labels

template <class Label, class Exec>
using Ids = Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class C, class Label>
void ids_match_naive(kastor::IslandParams params) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const auto scene = make_scene<T>(53, 141, 10);
  const OnDevice<C> device(scene);
  const Exec space;
  kastor::IslandFinder<Exec, T> find(space, params);
  const auto found = find(device.pixels(), device.background());
  const Ids<Label, Exec> ids("test::ids", 53, 141);
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

template <class C>
void other_shapes_are_errors() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Exec space;
  const auto scene = make_scene<T>(20, 30, 11);
  const OnDevice<C> device(scene);
  const OnDevice<C> other(make_scene<T>(20, 31, 11));
  kastor::IslandFinder<Exec, T> find(space, both_signs()), find_other(space, both_signs());
  ASSERT_FALSE(find(device.pixels(), device.background()).islands.empty());
  ASSERT_GT(find_other(other.pixels(), other.background()).negative.islands, 0);
  const kastor::Image<T, Exec> right("test::map", 20, 30), wrong("test::map", 30, 20);
  const kastor::MutableImage<T, Exec> map(right), turned(wrong);

  const auto snr = [&](const auto& background, const auto& target) {
    kastor::fill_snr_map<Exec, T>(space, device.pixels(), background, target);
  };
  ts::expect_error([&] { snr(device.background(), turned); },
                   {"kastor::fill_snr_map", "20 x 30 pixels", "expected 30 x 20"});
  auto background = device.background();
  background.rms = other.background().rms;
  ts::expect_error([&] { snr(background, map); },
                   {"kastor::fill_snr_map", "the rms is 31 x 20", "expected 30 x 20"});

  const auto residual = [&](const auto& positive, const auto& negative, const auto& target) {
    kastor::fill_residual_map<Exec, T>(space, device.pixels(), device.background(), positive,
                                       negative, target);
  };
  ts::expect_error([&] { residual(find.labels(), find.negative_labels(), turned); },
                   {"kastor::fill_residual_map", "the map is 20 x 30"});
  ts::expect_error([&] { residual(find_other.labels(), find.negative_labels(), map); },
                   {"kastor::fill_residual_map", "the positive labels are 31 x 20"});
  ts::expect_error([&] { residual(find.labels(), find_other.negative_labels(), map); },
                   {"kastor::fill_residual_map", "the negative labels are 31 x 20"});

  const Ids<std::int32_t, Exec> ids("test::ids", 20, 30);
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

template <class C>
class IslandMaps : public ::testing::Test {};
TYPED_TEST_SUITE(IslandMaps, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(IslandMaps, SignalToNoiseMatchesNaive) { snr_matches_naive<TypeParam>(); }
TYPED_TEST(IslandMaps, SignalToNoiseTakesEveryKindOfMap) {
  snr_takes_every_kind_of_map<TypeParam>();
}
TYPED_TEST(IslandMaps, ResidualMatchesNaive) {
  residual_matches_naive<TypeParam>(both_signs());
  auto params = both_signs();
  params.negative = false;
  params.min_pixels = 4;
  params.connectivity = kastor::Connectivity::four;
  residual_matches_naive<TypeParam>(params);
}
TYPED_TEST(IslandMaps, ResidualOfNothingIsTheImage) {
  residual_of_nothing_is_the_image<TypeParam>();
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
TYPED_TEST(IslandMaps, OtherShapesAreErrors) { other_shapes_are_errors<TypeParam>(); }

}  // namespace
