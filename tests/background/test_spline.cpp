// SPDX-License-Identifier: Apache-2.0

// The derivatives at the nodes of a mesh.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "background/mesh.hpp"
#include "background/spline.hpp"
#include "background_naive.hpp"
#include "core/launch.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;
using kastor::MeshNode;

ts::HostGrid<MeshNode> random_nodes(std::int64_t ny, std::int64_t nx, std::uint64_t seed) {
  ts::Random random(seed);
  ts::HostGrid<MeshNode> nodes(ny, nx);
  for (MeshNode& node : nodes.values)
    node = {random.uniform() - 0.5, random.gaussian(), random.gaussian(), random.gaussian()};
  return nodes;
}

template <class Exec>
using Nodes = Kokkos::View<MeshNode**, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class Exec>
Nodes<Exec> to_device_nodes(const ts::HostGrid<MeshNode>& grid) {
  const Nodes<Exec> nodes("test::nodes", static_cast<std::size_t>(grid.ny),
                          static_cast<std::size_t>(grid.nx));
  Kokkos::deep_copy(nodes, ts::view_of(grid));
  return nodes;
}

/// What a spline through values has for second derivatives, in a line of a mesh.
template <class Get>
void expect_spline(std::int64_t n, const Get& value, const Get& derivative) {
  std::vector<double> values;
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    values.push_back(value(i));
    largest = std::max(largest, std::fabs(value(i)));
  }
  const std::vector<double> want = ts::spline_naive(values);
  for (std::int64_t i = 0; i < n; ++i)
    ASSERT_NEAR(derivative(i), want[static_cast<std::size_t>(i)], 1e-12 * largest)
        << i << " of " << n;
  EXPECT_EQ(derivative(0), 0);
  EXPECT_EQ(derivative(n - 1), 0);
}

const std::pair<std::int64_t, std::int64_t> meshes[] = {
    {1, 1}, {1, 5}, {5, 1}, {2, 2}, {3, 7}, {2, 90}, {24, 25}, {26, 49}, {51, 3}, {40, 70}};

template <class Exec>
void derivatives_are_those_of_splines() {
  const Exec space;
  for (const auto& [ny, nx] : meshes) {
    const auto level = random_nodes(ny, nx, 1), rms = random_nodes(ny, nx, 2);
    const auto level_nodes = to_device_nodes<Exec>(level), rms_nodes = to_device_nodes<Exec>(rms);
    for (const bool along_rows : {false, true}) {
      const kd::DifferentiateTwice kernel{{ny, nx},
                                          {level_nodes.data(), rms_nodes.data()},
                                          along_rows,
                                          &MeshNode::value,
                                          along_rows ? &MeshNode::d2x : &MeshNode::d2y};
      kastor::core::for_each("test::differentiate", space, kernel.size(), kernel);
    }
    // Of derivatives, those of the other direction.
    const kd::DifferentiateTwice mixed{
        {ny, nx}, {level_nodes.data(), rms_nodes.data()}, true, &MeshNode::d2y, &MeshNode::d2x2y};
    kastor::core::for_each("test::differentiate", space, mixed.size(), mixed);
    space.fence("test::spline");
    const std::pair<ts::HostGrid<MeshNode>, const ts::HostGrid<MeshNode>*> both[] = {
        {ts::to_host_grid(level_nodes), &level}, {ts::to_host_grid(rms_nodes), &rms}};
    for (const auto& [got, before] : both) {
      for (std::size_t i = 0; i < got.values.size(); ++i)
        EXPECT_EQ(got.values[i].value, before->values[i].value);
      using Line = std::function<double(std::int64_t)>;
      for (std::int64_t x = 0; x < nx; ++x)
        expect_spline<Line>(
            ny, [&, x = x](std::int64_t i) { return got(i, x).value; },
            [&, x = x](std::int64_t i) { return got(i, x).d2y; });
      for (std::int64_t y = 0; y < ny; ++y) {
        expect_spline<Line>(
            nx, [&, y = y](std::int64_t i) { return got(y, i).value; },
            [&, y = y](std::int64_t i) { return got(y, i).d2x; });
        expect_spline<Line>(
            nx, [&, y = y](std::int64_t i) { return got(y, i).d2y; },
            [&, y = y](std::int64_t i) { return got(y, i).d2x2y; });
      }
    }
  }
}

template <class Exec>
class Spline : public ::testing::Test {};
TYPED_TEST_SUITE(Spline, ts::Execs, ts::CaseName);

TYPED_TEST(Spline, HasTheDerivativesOfANaiveSolver) {
  derivatives_are_those_of_splines<TypeParam>();
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

}  // namespace
