// SPDX-License-Identifier: Apache-2.0

// The derivatives at the nodes of a mesh: by tiles, as devices find them, and line by line.

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <kastor/detail/bend_nodes.hpp>
#include <string>
#include <utility>
#include <vector>

#include "emulated_team.hpp"
#include "generators.hpp"
#include "naive.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;
using kastor::MeshNode;

struct TwoMaps {
  std::vector<MeshNode> level, rms;
  [[nodiscard]] kd::BothNodes nodes() { return {level.data(), rms.data()}; }
};

TwoMaps random_maps(const kd::Shape& mesh) {
  ts::Random random(static_cast<std::uint64_t>(100 * mesh.ny + mesh.nx));
  TwoMaps maps;
  for (std::int64_t i = 0; i < mesh.ny * mesh.nx; ++i) {
    maps.level.push_back({random.uniform() - 0.5, 0, 0, 0});
    maps.rms.push_back({1 + random.uniform(), 0, 0, 0});
  }
  return maps;
}

template <class Bend>
void bend_lines(const Bend& bend) {
  for (std::int64_t line = 0; line < bend.lines(); ++line) kd::BendLine<Bend>{bend}(line);
}
template <class Bend>
void bend_tiles(const Bend& bend) {
  const kd::BendTiles<ts::EmulatedTeams, Bend> tiles{bend};
  ts::EmulatedLauncher{}("bend", tiles.teams(), tiles);
}

void expect_same(const std::vector<MeshNode>& a, const std::vector<MeshNode>& b,
                 const std::string& what) {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(bits(a[i].d2y), bits(b[i].d2y)) << what << ", node " << i;
    EXPECT_EQ(bits(a[i].d2x), bits(b[i].d2x)) << what << ", node " << i;
    EXPECT_EQ(bits(a[i].d2x2y), bits(b[i].d2x2y)) << what << ", node " << i;
  }
}

TEST(BendNodes, TilesHaveTheBitsOfLines) {
  for (const auto& [ny, nx] : {std::pair{1, 1},
                               {1, 5},
                               {5, 1},
                               {2, 2},
                               {3, 7},
                               {8, 32},
                               {33, 9},
                               {9, 33},
                               {24, 25},
                               {40, 70}}) {
    const kd::Shape mesh{ny, nx};
    TwoMaps lines = random_maps(mesh), tiles = lines;
    bend_lines(kd::BendAlongY{mesh, lines.nodes()});
    bend_lines(kd::BendAlongX{mesh, lines.nodes()});
    bend_tiles(kd::BendAlongY{mesh, tiles.nodes()});
    bend_tiles(kd::BendAlongX{mesh, tiles.nodes()});
    expect_same(lines.level, tiles.level, "level " + ts::shape_name(ny, nx));
    expect_same(lines.rms, tiles.rms, "rms " + ts::shape_name(ny, nx));
  }
}

/// What defines a natural cubic spline: d[i-1] + 4 d[i] + d[i+1] = 6 (v[i-1] - 2 v[i] + v[i+1]).
TEST(BendNodes, LinesSolveTheEquationsOfASpline) {
  const kd::Shape mesh{45, 1};
  TwoMaps maps = random_maps(mesh);
  bend_lines(kd::BendAlongY{mesh, maps.nodes()});
  const std::vector<MeshNode>& v = maps.level;
  EXPECT_EQ(v.front().d2y, 0);
  EXPECT_EQ(v.back().d2y, 0);
  for (std::size_t i = 1; i + 1 < v.size(); ++i)
    EXPECT_NEAR(v[i - 1].d2y + 4 * v[i].d2y + v[i + 1].d2y,
                6 * (v[i - 1].value - 2 * v[i].value + v[i + 1].value), 1e-12)
        << i;
}

}  // namespace
