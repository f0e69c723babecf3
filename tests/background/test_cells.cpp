// SPDX-License-Identifier: Apache-2.0

// Level and noise of cells, copied to scratch memory or read from the image: the same bits.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "background/cell_image.hpp"
#include "background/estimate_cells.hpp"
#include "cells_on_device.hpp"
#include "core/group.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;
namespace kd = kastor::detail;

constexpr kd::CellRules usual{3.0, 0, kastor::BackgroundEstimate::mode, 0.25};

struct Estimated {
  std::vector<kd::CellValue> values;
  std::vector<std::uint8_t> valid;
  kd::CellCounts counts{};
};

/// By `groups` groups, or by as many as there are cells.
template <class Exec, class T, bool staged, int threads = 64>
Estimated estimate(const kd::CellImage<T>& image, const kd::CellRules& rules,
                   std::int64_t groups = 0) {
  const Exec space;
  const auto cells = static_cast<std::size_t>(image.cells());
  const ts::DeviceList<Exec, kd::CellValue> values("test::values", cells);
  const ts::DeviceList<Exec, std::uint8_t> valid("test::valid", cells);
  const ts::DeviceList<Exec, kd::CellCounts> counts("test::counts", 1);
  const kd::EstimateCells<Exec, T, staged> kernel{
      image, rules, {values.data(), valid.data(), counts.data()}};
  core::GroupShape shape = kernel.shape();
  EXPECT_EQ(shape.groups, image.cells());
  if (groups > 0) shape.groups = groups;
  core::for_each_group<threads>("test::estimate_cells", space, shape, kernel);
  space.fence("test::estimate_cells");
  return {ts::to_vector(values), ts::to_vector(valid), ts::to_vector(counts).front()};
}

void expect_same(const Estimated& got, const Estimated& want, const std::string& what) {
  EXPECT_EQ(got.counts.good, want.counts.good) << what;
  EXPECT_EQ(got.counts.valid, want.counts.valid) << what;
  ASSERT_EQ(got.valid, want.valid) << what;
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  for (std::size_t i = 0; i < want.values.size(); ++i) {
    if (want.valid[i] == 0) continue;
    const std::string where = what + ", cell " + std::to_string(i);
    EXPECT_EQ(bits(got.values[i].level), bits(want.values[i].level)) << where;
    EXPECT_EQ(bits(got.values[i].rms), bits(want.values[i].rms)) << where;
  }
}

/// Every way to come by the figures of these cells.
template <class C>
void expect_one_answer(const ts::HostImage<typename C::real>& host, const kd::Shape& shape,
                       const kd::CellRules& rules, const std::string& name,
                       const ts::HostMask& exclude = {}) {
  using Exec = typename C::exec;
  using T = typename C::real;
  using First = ts::FirstExec;
  using Rows = typename ts::CellsOnDevice<Exec, T>::Rows;
  const std::string what = name + ", cells " + ts::shape_name(shape.ny, shape.nx);
  const ts::CellsOnDevice<First, T> first(host, shape, ts::CellsOnDevice<First, T>::Rows::plain,
                                          exclude);
  const Estimated want = estimate<First, T, false>(*first, rules);
  for (const Rows rows : {Rows::plain, Rows::cut_out, Rows::bands}) {
    const ts::CellsOnDevice<Exec, T> cells(host, shape, rows, exclude);
    const std::string where = what + ", rows " + std::to_string(static_cast<int>(rows));
    expect_same(estimate<Exec, T, true>(*cells, rules), want, where + ", staged");
    expect_same(estimate<Exec, T, true, 128>(*cells, rules, 2), want, where + ", by two groups");
    expect_same(estimate<Exec, T, false, 256>(*cells, rules), want, where + ", streamed");
  }
}

template <class C>
class Cells : public ::testing::Test {};
TYPED_TEST_SUITE(Cells, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Cells, OfEveryKindHaveOneAnswer) {
  using T = typename TypeParam::real;
  const kd::Shape shapes[] = {{64, 64}, {16, 4}, {13, 37}, {5, 200}};
  for (const ts::Pixels kind : ts::all_pixel_kinds)
    for (const kd::Shape& shape : shapes)
      expect_one_answer<TypeParam>(ts::make_image<T>(kind, 70, 144, 23), shape, usual,
                                   ts::name_of(kind));
}

/// So many pixels are cut that medians leave the pixels in order, tails do not fit their list, and
/// the sums begin anew on a finer grid.
TYPED_TEST(Cells, FullOfSourcesHaveOneAnswer) {
  using T = typename TypeParam::real;
  ts::Random random(29);
  for (const double share : {0.05, 0.15, 0.3, 0.6}) {
    for (const double faintest : {0.5, 3.0, 40.0, 1e7}) {
      auto host = ts::make_image<T>(ts::Pixels::gaussian, 64, 140, 5);
      for (T& x : host.values) {
        if (random.uniform() < share)
          x += static_cast<T>((random.uniform() < 0.7 ? faintest : -faintest) /
                              std::pow(random.uniform(), 1.5));
      }
      for (const double kappa : {1.2, 3.0}) {
        kd::CellRules rules = usual;
        rules.kappa = kappa;
        expect_one_answer<TypeParam>(host, {64, 64}, rules,
                                     std::to_string(share) + " from " + std::to_string(faintest) +
                                         ", kappa " + std::to_string(kappa));
      }
    }
  }
}

TYPED_TEST(Cells, FollowEveryRule) {
  using T = typename TypeParam::real;
  const auto host = ts::make_image<T>(ts::Pixels::contaminated, 64, 150, 13);
  for (const double kappa : {0.5, 2.4, 3.0, 1e300}) {
    for (const int max_passes : {0, 1, 2}) {
      for (const auto estimate :
           {kastor::BackgroundEstimate::mode, kastor::BackgroundEstimate::median}) {
        expect_one_answer<TypeParam>(
            host, {32, 50}, {kappa, max_passes, estimate, 0.5},
            "kappa " + std::to_string(kappa) + " passes " + std::to_string(max_passes));
      }
    }
  }
}

TYPED_TEST(Cells, LeaveOutExcludedAndBlankPixels) {
  using T = typename TypeParam::real;
  auto host = ts::make_image<T>(ts::Pixels::contaminated, 64, 150, 3);
  ts::HostMask exclude(64, 150);
  ts::Random random(3);
  for (std::int64_t y = 0; y < 64; ++y)
    for (std::int64_t x = 0; x < 150; ++x) exclude(y, x) = random.below(4) == 0 ? 1 : 0;
  expect_one_answer<TypeParam>(host, {30, 40}, usual, "a quarter excluded", exclude);
  // So few good ones that a sample says nothing.
  for (T& x : host.values) {
    if (random.uniform() > 0.022) x = std::numeric_limits<T>::quiet_NaN();
  }
  kd::CellRules rules = usual;
  rules.min_good_fraction = 0;
  expect_one_answer<TypeParam>(host, {64, 64}, rules, "few good pixels");
}

/// More cells than an int can count.
TEST(CellImage, CountsCellsIn64Bits) {
  kd::CellImage<float> image;
  image.image = {(std::int64_t{1} << 17) + 1, (std::int64_t{1} << 18) + 1};
  image.cell = {2, 2};
  image.mesh = {image.image.ny / 2 + 1, image.image.nx / 2 + 1};
  ASSERT_GT(image.cells(), std::int64_t{1} << 33);
  for (const std::int64_t y : {std::int64_t{0}, std::int64_t{30001}, image.mesh.ny - 1}) {
    for (const std::int64_t x : {std::int64_t{0}, std::int64_t{77777}, image.mesh.nx - 1}) {
      const kd::Cell cell = image[y * image.mesh.nx + x];
      EXPECT_EQ(cell.y, 2 * y);
      EXPECT_EQ(cell.x, 2 * x);
      EXPECT_EQ(cell.height, y == image.mesh.ny - 1 ? 1 : 2);
      EXPECT_EQ(cell.width, x == image.mesh.nx - 1 ? 1 : 2);
    }
  }
  const kd::EstimateCells<Kokkos::DefaultHostExecutionSpace, float, true> kernel{image, usual, {}};
  const core::GroupShape shape = kernel.shape();
  EXPECT_LE(shape.groups, std::numeric_limits<int>::max());
  EXPECT_GT(shape.groups, 0);
  // A cell has a bounded share of the scratch memory, whatever the image is.
  EXPECT_LT(shape.scratch_bytes, 8192);
}

}  // namespace
