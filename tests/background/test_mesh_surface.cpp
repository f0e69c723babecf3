// SPDX-License-Identifier: Apache-2.0

// Surfaces over a mesh, and maps at one pixel after the other.

#include <gtest/gtest.h>

#include <cstdint>
#include <kastor/pixel_map.hpp>
#include <vector>

#include "background/map_walk.hpp"
#include "background/spline.hpp"
#include "generators.hpp"
#include "island_scenes.hpp"
#include "islands_naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

using First = ts::FirstExec;

/// Within and beyond the outermost nodes, one node or one row of them.
std::vector<ts::HostMesh> meshes() {
  return {ts::random_mesh(90, 170, 32, 64, 1, 1, false, 1),
          ts::random_mesh(90, 170, 32, 64, 1, 1, true, 2),
          ts::random_mesh(90, 170, 5, 3, 0, 5, true, 3),
          ts::random_mesh(1, 170, 20, 20, 2, 1, false, 4),
          ts::random_mesh(90, 1, 20, 20, 2, 1, true, 5),
          ts::random_mesh(9, 9, 90, 170, 2, 1, false, 6),
          ts::random_mesh(20, 30, 10, 10, 1e10, 1, false, 7)};
}

TEST(MeshSurface, IsTheFormulaInEveryBit) {
  for (const ts::HostMesh& mesh : meshes()) {
    const auto surface = ts::to_device_surface<First>(mesh);
    const kastor::PixelMap<First, float> map(surface);
    kd::MapWalk<First, float> walk(map);
    for (std::int64_t y = 0; y < 95; ++y) {
      for (std::int64_t x = 0; x < 180; ++x) {
        ASSERT_EQ(surface(y, x), mesh(y, x)) << y << ' ' << x;
        ASSERT_EQ(walk(y, x), mesh(y, x)) << y << ' ' << x;
      }
    }
    // In any order.
    ts::Random random(3);
    for (int i = 0; i < 1000; ++i) {
      const std::int64_t y = random.below(95), x = random.below(180);
      ASSERT_EQ(walk(y, x), mesh(y, x)) << y << ' ' << x;
    }
  }
}

/// What defines a natural cubic spline: d[i-1] + 4 d[i] + d[i+1] = 6 (v[i-1] - 2 v[i] + v[i+1]).
TEST(NaturalSpline, SolvesItsEquations) {
  ts::Random random(9);
  for (const std::int64_t count : {1, 2, 3, 5, 24, 25, 48, 49, 100}) {
    constexpr std::int64_t stride = 3;
    std::vector<double> values(static_cast<std::size_t>(count * stride));
    for (double& value : values) value = random.uniform() - 0.5;
    const kd::NaturalSpline line{values.data(), stride, count};
    const auto d = [&](std::int64_t i) { return line.second_derivative(i); };
    const auto v = [&](std::int64_t i) { return values[static_cast<std::size_t>(i * stride)]; };
    EXPECT_EQ(d(0), 0);
    EXPECT_EQ(d(count - 1), 0);
    for (std::int64_t i = 1; i + 1 < count; ++i)
      EXPECT_NEAR(d(i - 1) + 4 * d(i) + d(i + 1), 6 * (v(i - 1) - 2 * v(i) + v(i + 1)), 1e-12)
          << i << " of " << count;
  }
}

TEST(MapWalk, TakesConstantsAndImages) {
  const kastor::PixelMap<First, double> constant(2.5);
  const auto host = ts::make_image<double>(ts::Pixels::gaussian, 7, 9, 1);
  const auto owner = ts::to_device<First>(host);
  const kastor::PixelMap<First, double> image{kastor::ConstImage<double, First>(owner)};
  kd::MapWalk<First, double> constant_walk(constant), image_walk(image);
  for (std::int64_t y = 0; y < 7; ++y) {
    for (std::int64_t x = 0; x < 9; ++x) {
      EXPECT_EQ(constant_walk(y, x), 2.5);
      EXPECT_EQ(image_walk(y, x), host(y, x));
    }
  }
}

}  // namespace
