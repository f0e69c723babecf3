// SPDX-License-Identifier: Apache-2.0

// What maps are said not to leave, and maps at one pixel after the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "generators.hpp"
#include "island_scenes.hpp"
#include "islands/map_bounds.hpp"
#include "islands/nearby_background.hpp"
#include "islands_naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
using kastor::detail::Bounds;
using kastor::detail::Patch;

using First = ts::FirstExec;

constexpr std::int64_t rows = 95;
constexpr std::int64_t columns = 180;

/// All nodes alike, but for the sign of their derivatives.
ts::HostMesh regular_mesh(std::int64_t cell, const kastor::MeshNode& node, bool alternating) {
  ts::HostMesh mesh = ts::random_mesh(60, 120, cell, cell, 0, 0, false, 1);
  for (std::int64_t j = 0; j < mesh.nodes.ny; ++j) {
    for (std::int64_t i = 0; i < mesh.nodes.nx; ++i) {
      const double sign = alternating && (i + j) % 2 != 0 ? -1 : 1;
      mesh.nodes(j, i) = {node.value, sign * node.d2x, sign * node.d2y, sign * node.d2x2y};
    }
  }
  return mesh;
}

/// Within and beyond the outermost nodes, one node or one row of them; bent as far as can be;
/// flat, but for roundings.
std::vector<ts::HostMesh> meshes() {
  std::vector<ts::HostMesh> result = {ts::random_mesh(90, 170, 32, 64, 1, 1, false, 1),
                                      ts::random_mesh(90, 170, 32, 64, 1, 1, true, 2),
                                      ts::random_mesh(90, 170, 5, 3, 0, 5, true, 3),
                                      ts::random_mesh(1, 170, 20, 20, 2, 1, false, 4),
                                      ts::random_mesh(90, 1, 20, 20, 2, 1, true, 5),
                                      ts::random_mesh(9, 9, 90, 170, 2, 1, false, 6),
                                      ts::random_mesh(20, 30, 10, 10, 1e10, 1, false, 7),
                                      ts::random_mesh(90, 170, 31, 47, -1e300, 1e290, false, 8),
                                      ts::random_mesh(90, 170, 64, 64, 0, 1e-310, true, 9)};
  for (const bool alternating : {false, true}) {
    for (const std::int64_t cell : {20, 64}) {
      for (const kastor::MeshNode& node :
           {kastor::MeshNode{0.1, 0, 0, 0}, kastor::MeshNode{0, 1, 0, 0},
            kastor::MeshNode{0, -1, 0, 0}, kastor::MeshNode{0, 0, 1, 0},
            kastor::MeshNode{0, 0, -1, 0}, kastor::MeshNode{0, 0, 0, 1},
            kastor::MeshNode{0, 0, 0, -1}})
        result.push_back(regular_mesh(cell, node, alternating));
    }
  }
  return result;
}

Patch random_patch(ts::Random& random) {
  Patch patch{random.below(rows), 0, random.below(columns), 0};
  patch.y_last = std::min(rows - 1, patch.y_first + random.below(70));
  patch.x_last = std::min(columns - 1, patch.x_first + random.below(70));
  return patch;
}

/// Smallest and largest of a patch.
template <class Map>
Bounds extremes(const Map& map, const Patch& patch) {
  Bounds result;
  for (std::int64_t y = patch.y_first; y <= patch.y_last; ++y) {
    for (std::int64_t x = patch.x_first; x <= patch.x_last; ++x) {
      result.low = std::min(result.low, map(y, x));
      result.high = std::max(result.high, map(y, x));
    }
  }
  return result;
}

TEST(NearbyMap, HasTheBitsOfTheMapInAnyOrder) {
  for (const ts::HostMesh& mesh : meshes()) {
    const auto surface = ts::to_device_surface<First>(mesh);
    const kastor::PixelMap<First, float> map(surface);
    kastor::detail::NearbyMap<First, float> nearby(map);
    ts::Random random(5);
    for (std::int64_t y = 0; y < rows; ++y) {
      for (std::int64_t x = 0; x < columns; ++x) {
        ASSERT_EQ(surface(y, x), mesh(y, x)) << y << ' ' << x;
        ASSERT_EQ(nearby(y, x), mesh(y, x)) << y << ' ' << x;
      }
      const std::int64_t other_y = random.below(rows), other_x = random.below(columns);
      ASSERT_EQ(nearby(other_y, other_x), mesh(other_y, other_x)) << other_y << ' ' << other_x;
    }
  }
}

/// The bounds hold for every pixel of a patch.
TEST(MapBounds, HoldOnPatchesOfSurfaces) {
  ts::Random random(8);
  for (const ts::HostMesh& mesh : meshes()) {
    const auto surface = ts::to_device_surface<First>(mesh);
    int known = 0;
    for (int trial = 0; trial < 300; ++trial) {
      Patch patch = random_patch(random);
      if (trial % 10 == 0)  // from node to node
        patch = {mesh.cell_height / 2, mesh.cell_height * 3 / 2, mesh.cell_width / 2,
                 mesh.cell_width * 3 / 2};
      const Bounds bounds = kastor::detail::bounds_of(surface, patch);
      if (!bounds.known) continue;
      ++known;
      const Bounds want = extremes(mesh, patch);
      ASSERT_LE(bounds.low, want.low);
      ASSERT_GE(bounds.high, want.high);
    }
    // Only beside numbers near the largest double is nothing known.
    EXPECT_EQ(known, mesh.nodes(0, 0).value < -1e299 ? 0 : 300);
  }
}

}  // namespace
