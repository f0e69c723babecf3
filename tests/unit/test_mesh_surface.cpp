// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
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
