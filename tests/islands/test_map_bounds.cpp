// SPDX-License-Identifier: Apache-2.0

// What maps are said not to leave, and maps at one pixel after the other.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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

TEST(NearbyMap, IsAConstantOrAnImage) {
  const auto image = ts::make_image<double>(ts::Pixels::gaussian, 5, 7, 3);
  const auto on_device = ts::to_device<First>(image);
  const kastor::PixelMap<First, double> of_image{kastor::ConstImage<double, First>(on_device)};
  const kastor::PixelMap<First, double> constant(2.5);
  kastor::detail::NearbyMap<First, double> nearby(of_image), everywhere(constant);
  for (std::int64_t i = 0; i < 35; ++i) {
    EXPECT_EQ(nearby(i / 7, i % 7), image(i / 7, i % 7));
    EXPECT_EQ(everywhere(i / 7, i % 7), 2.5);
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

/// A few rounding errors wide where a surface is flat; on a smooth one a few per cent of its range.
TEST(MapBounds, AreTight) {
  ts::HostMesh mesh = ts::random_mesh(256, 256, 64, 64, 7, 0, false, 1);
  const Patch patch{64, 127, 64, 127};
  const Bounds flat = kastor::detail::bounds_of(ts::to_device_surface<First>(mesh), patch);
  EXPECT_LE(flat.low, 7);
  EXPECT_GE(flat.high, 7);
  EXPECT_LT(flat.high - flat.low, 1e-9);
  for (std::int64_t j = 0; j < 4; ++j) {
    for (std::int64_t i = 0; i < 4; ++i)
      mesh.nodes(j, i) = {std::sin(0.3 * static_cast<double>(i + j)), -0.09, -0.09, 0.01};
  }
  const Bounds smooth = kastor::detail::bounds_of(ts::to_device_surface<First>(mesh), patch);
  const Bounds want = extremes(mesh, patch);
  EXPECT_LT(smooth.high - smooth.low, 1.1 * (want.high - want.low));
}

TEST(MapBounds, AreUnknownWhereANodeIsNotFinite) {
  const ts::HostMesh mesh = ts::random_mesh(90, 170, 32, 64, 1, 1, false, 1);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (double kastor::MeshNode::*field : {&kastor::MeshNode::value, &kastor::MeshNode::d2x,
                                            &kastor::MeshNode::d2y, &kastor::MeshNode::d2x2y}) {
      for (std::int64_t node = 0; node < 4; ++node) {
        ts::HostMesh broken = mesh;
        broken.nodes(node / 2, node % 2).*field = bad;
        const auto surface = ts::to_device_surface<First>(broken);
        EXPECT_FALSE(kastor::detail::bounds_of(surface, {17, 20, 40, 50}).known);
      }
    }
  }
}

template <class T>
void image_bounds_are_its_extremes() {
  using Limits = std::numeric_limits<T>;
  const auto host = ts::make_image<T>(ts::Pixels::gaussian, rows, columns, 4);
  const auto image = ts::to_device<First>(host);
  const kastor::PixelMap<First, T> map{kastor::ConstImage<T, First>(image)};
  ts::Random random(9);
  for (int trial = 0; trial < 100; ++trial) {
    const Patch patch = random_patch(random);
    const Bounds want =
        extremes([&](auto y, auto x) { return static_cast<double>(host(y, x)); }, patch);
    const Bounds got = kastor::detail::bounds_of(map, patch);
    EXPECT_TRUE(got.known);
    EXPECT_EQ(got.low, want.low);
    EXPECT_EQ(got.high, want.high);
  }
  for (const T bad :
       {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
    auto broken = host;
    broken(20, 30) = bad;
    const auto on_device = ts::to_device<First>(broken);
    const kastor::PixelMap<First, T> of_broken{kastor::ConstImage<T, First>(on_device)};
    EXPECT_FALSE(kastor::detail::bounds_of(of_broken, {20, 20, 0, 63}).known);
    EXPECT_FALSE(kastor::detail::bounds_of(of_broken, {20, 20, 30, 30}).known);
    EXPECT_TRUE(kastor::detail::bounds_of(of_broken, {21, 21, 0, 63}).known);
  }
}
TEST(MapBounds, OfImagesAreTheirExtremes) {
  image_bounds_are_its_extremes<float>();
  image_bounds_are_its_extremes<double>();
}

TEST(MapBounds, OfConstantsAreThese) {
  using Map = kastor::PixelMap<First, float>;
  const Bounds bounds = kastor::detail::bounds_of(Map(-2.5), Patch{0, 3, 0, 3});
  EXPECT_TRUE(bounds.known);
  EXPECT_EQ(bounds.low, -2.5);
  EXPECT_EQ(bounds.high, -2.5);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_FALSE(kastor::detail::bounds_of(Map(bad), Patch{0, 3, 0, 3}).known);
}

}  // namespace
