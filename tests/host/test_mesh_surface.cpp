// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <kastor/detail/bend_nodes.hpp>
#include <kastor/detail/map_along_row.hpp>
#include <kastor/detail/map_bounds.hpp>
#include <kastor/pixel_map.hpp>
#include <limits>
#include <vector>

#include "generators.hpp"
#include "island_scenes.hpp"
#include "islands_naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

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

TEST(MeshSurface, IsTheFormulaInEveryBitAlongRowsToo) {
  for (const ts::HostMesh& mesh : meshes()) {
    const auto surface = ts::to_device_surface<First>(mesh);
    const kastor::PixelMap<First, float> map(surface);
    for (std::int64_t y = 0; y < 95; ++y) {
      kastor::detail::MapAlongRow<First, float> along(map, y);
      for (std::int64_t x = 0; x < 180; ++x) {
        ASSERT_EQ(surface(y, x), mesh(y, x)) << y << ' ' << x;
        ASSERT_EQ(along(x), mesh(y, x)) << y << ' ' << x;
      }
    }
  }
}

/// The bounds hold for every pixel of a patch, and are not far from the extremes.
TEST(MeshSurface, StaysWithinItsBoundsOnPatches) {
  ts::Random random(8);
  for (const ts::HostMesh& mesh : meshes()) {
    const auto surface = ts::to_device_surface<First>(mesh);
    for (int trial = 0; trial < 300; ++trial) {
      kastor::detail::Patch patch{random.below(95), 0, random.below(180), 0};
      patch.y_last = patch.y_first + random.below(20);
      patch.x_last = patch.x_first + random.below(70);
      const auto bounds = kastor::detail::bounds_of(surface, patch);
      ASSERT_TRUE(bounds.finite());
      double low = std::numeric_limits<double>::infinity();
      double high = -low;
      for (std::int64_t y = patch.y_first; y <= patch.y_last; ++y) {
        for (std::int64_t x = patch.x_first; x <= patch.x_last; ++x) {
          low = std::min(low, mesh(y, x));
          high = std::max(high, mesh(y, x));
        }
      }
      ASSERT_LE(bounds.low, low);
      ASSERT_GE(bounds.high, high);
    }
  }
}

void expect_same(const kastor::detail::Bounds& a, const kastor::detail::Bounds& b) {
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_EQ(a.size, b.size);
}

/// Over one mesh, or over two.
TEST(MeshSurface, HasTheSameBoundsAsOneOfTwo) {
  using Background = kastor::Background<First, float>;
  const ts::HostMesh level = ts::random_mesh(90, 170, 32, 64, 1, 1, false, 1);
  for (const std::int64_t cell : {64, 50}) {
    const ts::HostMesh rms = ts::random_mesh(90, 170, 32, cell, 1, 1, true, 2);
    const auto level_surface = ts::to_device_surface<First>(level);
    const auto rms_surface = ts::to_device_surface<First>(rms);
    const Background background{level_surface, rms_surface};
    for (const kastor::detail::Patch& patch :
         {kastor::detail::Patch{0, 89, 0, 169}, {3, 40, 60, 70}, {88, 89, 0, 0}}) {
      const auto both = kastor::detail::bounds_of(background, patch);
      expect_same(both.level, kastor::detail::bounds_of(level_surface, patch));
      expect_same(both.rms, kastor::detail::bounds_of(rms_surface, patch));
    }
  }
}

TEST(NaturalSpline, HasTheSameBitsForOneNodeAndForALine) {
  ts::Random random(9);
  for (const std::int64_t count : {1, 2, 3, 5, 24, 31, 32, 33, 64, 100}) {
    constexpr std::int64_t stride = 3;
    std::vector<double> values(static_cast<std::size_t>(count * stride));
    for (double& value : values) value = random.uniform() - 0.5;
    const kastor::detail::NaturalSpline line{values.data(), stride, count};
    std::vector<double> right_sides;
    for (std::int64_t i = -line.reach; i < count + line.reach; ++i)
      right_sides.push_back(line.right_side(i));
    std::int64_t next = 0;
    line.for_each_second_derivative([&](std::int64_t i, double derivative) {
      EXPECT_EQ(i, next++);
      EXPECT_EQ(derivative, line.second_derivative(i, right_sides.data() + i))
          << i << " of " << count;
    });
    EXPECT_EQ(next, count);
  }
}

TEST(MeshSurface, HasNoBoundsWhereANodeIsNotFinite) {
  ts::HostMesh mesh = ts::random_mesh(90, 170, 32, 64, 1, 1, false, 1);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (double kastor::MeshNode::*field : {&kastor::MeshNode::value, &kastor::MeshNode::d2x,
                                            &kastor::MeshNode::d2y, &kastor::MeshNode::d2x2y}) {
      for (std::int64_t node = 0; node < 4; ++node) {
        ts::HostMesh broken = mesh;
        broken.nodes(node / 2, node % 2).*field = bad;
        const auto surface = ts::to_device_surface<First>(broken);
        EXPECT_FALSE(kastor::detail::bounds_of(surface, {17, 20, 40, 50}).finite());
      }
    }
  }
}

}  // namespace
