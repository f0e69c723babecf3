// SPDX-License-Identifier: Apache-2.0

// The masks that islands are made of, against every pixel judged by itself.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "island_scenes.hpp"
#include "islands/mark.hpp"
#include "islands_naive.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

constexpr int kinds = 5;
constexpr const char* names[kinds] = {"blank", "foreground", "seeds", "negative foreground",
                                      "negative seeds"};
struct Masks {
  ts::HostMask of[kinds];
};

/// The definition, pixel by pixel.
template <class T>
Masks mark_naive(const ts::Scene<T>& scene, double seed, double flood) {
  const std::int64_t ny = scene.image.ny, nx = scene.image.nx;
  Masks masks;
  for (ts::HostMask& mask : masks.of) mask = ts::HostMask(ny, nx);
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      const auto value = static_cast<double>(scene.image(y, x));
      const double level = scene.background.level(y, x);
      const double rms = scene.background.rms(y, x);
      if (!std::isfinite(value) || !std::isfinite(level) || !std::isfinite(rms) || !(rms > 0) ||
          (scene.region.ny > 0 && scene.region(y, x) == 0)) {
        masks.of[0](y, x) = 1;
        continue;
      }
      masks.of[1](y, x) = value - level > flood * rms;
      masks.of[2](y, x) = value - level > seed * rms;
      masks.of[3](y, x) = level - value > flood * rms;
      masks.of[4](y, x) = level - value > seed * rms;
    }
  }
  return masks;
}

template <class C>
void masks_match_naive(const ts::Scene<typename C::real>& scene, double seed, double flood,
                       const std::string& what) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Masks want = mark_naive(scene, seed, flood);
  const kd::Shape shape{scene.image.ny, scene.image.nx};
  const ts::DeviceScene<Exec, T> device(scene);
  const auto cut_out = ts::to_device_cut_out<Exec>(scene.image);
  const kd::Patches patches(shape, device.background);
  const Kokkos::View<kd::PatchLimits<T>*, typename Exec::memory_space> limits(
      "test::limits", static_cast<std::size_t>(patches.count()));
  for (const bool negative : {false, true}) {
    for (const std::int64_t bands : {0, 1, 3}) {
      kastor::BitMask<Exec> got[kinds];
      for (auto& mask : got) {
        mask = kastor::make_bit_mask(Exec{}, shape.ny, shape.nx);
        Kokkos::deep_copy(mask.words, 0x5a5a5a5a5a5a5a5a);
      }
      std::uint64_t* const below[] = {negative ? got[3].words.data() : nullptr,
                                      negative ? got[4].words.data() : nullptr};
      const std::vector<kastor::ConstImage<T, Exec>> split =
          bands == 0 ? std::vector<kastor::ConstImage<T, Exec>>{device.image}
                     : ts::split_into_bands<Exec, T>(cut_out.image, bands);
      kd::mark_islands<Exec, T>(
          Exec{}, split, patches, {device.background, seed, flood}, device.region.words.data(),
          limits.data(),
          {got[0].words.data(), got[1].words.data(), got[2].words.data(), below[0], below[1]});
      Exec{}.fence("test::mark");
      for (int kind = 0; kind < (negative ? kinds : 3); ++kind) {
        EXPECT_TRUE(
            ts::same_pixels(ts::to_host_grid(got[kind].words), ts::pack_naive(want.of[kind])))
            << what << ", " << names[kind] << ", " << bands << " bands";
      }
    }
  }
}

template <class T>
class IslandMasks : public ::testing::Test {};
TYPED_TEST_SUITE(IslandMasks, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(IslandMasks, MatchNaiveForEveryKindOfMap) {
  using T = typename TypeParam::real;
  for (const ts::Maps maps : ts::all_maps) {
    for (const auto& [ny, nx] : {std::pair{131, 203}, std::pair{1, 7}, std::pair{64, 64},
                                 std::pair{3, 2100}, std::pair{200, 1}}) {
      auto scene = ts::make_scene<T>(maps, ny, nx, 3);
      const std::string what = "maps " + std::to_string(static_cast<int>(maps));
      masks_match_naive<TypeParam>(scene, 5, 3, what);
      masks_match_naive<TypeParam>(scene, 1, 0, what + ", flood 0");
      scene.region = ts::random_mask(ny, nx, 0.9, 6);
      masks_match_naive<TypeParam>(scene, 2, 1, what + ", region");
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// Levels that fall by many rms from pixel to pixel, rms of both signs, nodes far away and nodes
/// that are not finite: pixels right at the thresholds.
TYPED_TEST(IslandMasks, MatchNaiveOnSteepMeshes) {
  using T = typename TypeParam::real;
  using Limits = std::numeric_limits<double>;
  const std::int64_t ny = 150, nx = 270;
  for (int which = 0; which < 8; ++which) {
    ts::Scene<T> scene;
    ts::HostMesh& level = scene.background.level.mesh;
    ts::HostMesh& rms = scene.background.rms.mesh;
    const auto seed = static_cast<std::uint64_t>(which);
    const std::int64_t cell = which % 2 == 0 ? 64 : 23;
    level = ts::random_mesh(ny, nx, cell, cell + 7, -5, which < 4 ? 100 : 1, which == 3, seed);
    rms = ts::random_mesh(ny, nx, 70, 41, 1, which == 2 ? 1 : 0.1, which != 2, seed + 20);
    if (which == 5) level.nodes(1, 1).d2x = Limits::quiet_NaN();
    if (which == 6) rms.nodes(0, 1).value = Limits::infinity();
    if (which == 7) level = ts::random_mesh(30, 40, 20, 20, 0, 1, false, seed);
    scene.image = ts::HostImage<T>(ny, nx);
    ts::Random random(seed);
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t x = 0; x < nx; ++x) {
        const double at = level(y, x) + 2 * rms(y, x) * static_cast<double>(random.below(5) - 2);
        const auto pixel = static_cast<T>(at);
        const T beside = std::nextafter(pixel, random.below(2) == 0 ? T(-1e30) : T(1e30));
        scene.image(y, x) = random.below(3) == 0 ? beside : pixel;
      }
    }
    masks_match_naive<TypeParam>(scene, 4, 2, "mesh " + std::to_string(which));
    masks_match_naive<TypeParam>(scene, 0, 0, "mesh " + std::to_string(which) + ", flood 0");
  }
}

/// Where thresholds are beyond all pixels, or pixels near the largest numbers.
TYPED_TEST(IslandMasks, MatchNaiveForExtremeNumbers) {
  using T = typename TypeParam::real;
  using Limits = std::numeric_limits<T>;
  auto image = ts::make_image<T>(ts::Pixels::gaussian, 30, 150, 2);
  const T special[] = {
      Limits::max(),       Limits::lowest(),     Limits::infinity(),    -Limits::infinity(),
      Limits::quiet_NaN(), Limits::denorm_min(), -Limits::denorm_min(), T(-0.0)};
  for (std::size_t i = 0; i < image.values.size(); i += 5)
    image.values[i] = special[i / 5 % std::size(special)];
  constexpr double huge = std::numeric_limits<double>::max();
  for (const double level : {0.0, 3e38, -3e38, 1e305, -huge, huge}) {
    for (const double rms : {1.0, 1e-320, 3e38, huge, 0.0, -1.0}) {
      for (const double flood : {0.0, 1.0, 1e300}) {
        masks_match_naive<TypeParam>(
            ts::scene_of(image, level, rms), flood, flood,
            "level " + std::to_string(level) + ", rms " + std::to_string(rms));
      }
    }
  }
}

/// A pixel is foreground, but level and threshold add up to just the pixel when they are rounded.
TYPED_TEST(IslandMasks, HideNoForegroundByRounding) {
  using T = typename TypeParam::real;
  constexpr double ulp = 0x1p-53;
  for (const double sign : {1.0, -1.0}) {
    const auto scene = ts::scene_of(ts::HostImage<T>(3, 70, T(sign)), sign * (1 - ulp), 0.8 * ulp);
    EXPECT_EQ(ts::count_naive(mark_naive(scene, 1, 1).of[sign > 0 ? 1 : 3]), 210);
    masks_match_naive<TypeParam>(scene, 1, 1, "rounded thresholds");
  }
}

}  // namespace
