// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <kastor/label.hpp>
#include <string>
#include <utility>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

constexpr kastor::Connectivity both_connectivities[] = {kastor::Connectivity::four,
                                                        kastor::Connectivity::eight};

std::string name_of(const std::string& name, const kastor::LabelParams& params) {
  return name + ", " + std::to_string(static_cast<int>(params.connectivity)) +
         "-connectivity, min_pixels " + std::to_string(params.min_pixels);
}

/// Lists and both dense forms of what `labeller`, made with `params`, says about the mask.
template <class Exec>
void matches_flood_fill(kastor::Labeller<Exec>& labeller, const kastor::LabelParams& params,
                        const ts::HostMask& mask, const std::string& name) {
  const std::string what = name_of(name, params);
  auto want = ts::label_naive(mask, params.connectivity);
  if (params.min_pixels > 1) want = ts::drop_small_naive(want, params.min_pixels);
  const auto& got = labeller(ts::to_device_mask<Exec>(mask));
  ts::expect_matches_naive(ts::to_host_runs(got), ts::runs_naive(mask, want), what);
  EXPECT_TRUE(ts::same_pixels(ts::to_host_labels<std::int32_t>(got), want.image)) << what;
  EXPECT_TRUE(ts::same_pixels(ts::to_host_labels<std::int64_t>(got), want.image)) << what;
}

template <class Exec>
void matches_flood_fill(const ts::HostMask& mask, const std::string& name,
                        std::int64_t min_pixels = 1) {
  for (const kastor::Connectivity connectivity : both_connectivities) {
    const kastor::LabelParams params{connectivity, min_pixels};
    kastor::Labeller<Exec> labeller(Exec{}, params);
    matches_flood_fill(labeller, params, mask, name);
  }
}

template <class Exec>
void torture_masks_match_flood_fill(std::int64_t ny, std::int64_t nx) {
  for (const auto& [name, mask] : ts::torture_masks(ny, nx)) {
    matches_flood_fill<Exec>(mask, name);
    if (::testing::Test::HasFailure()) return;
  }
}

/// Masks of very many runs.
template <class Exec>
void crowded_masks_match_flood_fill(std::int64_t ny, std::int64_t nx) {
  ts::HostMask chequered(ny, nx, 0);
  for (std::int64_t y = 0; y < ny; ++y)
    for (std::int64_t x = y % 2; x < nx; x += 2) chequered(y, x) = 1;
  for (const auto connectivity : both_connectivities) {
    const kastor::LabelParams params{connectivity};
    kastor::Labeller<Exec> labeller(Exec{}, params);
    for (const double density : {0.5, 0.5, 0.6, 0.3})
      matches_flood_fill(labeller, params, ts::random_mask(ny, nx, density, 7), "crowded");
    matches_flood_fill(labeller, params, chequered, "chequered");
  }
}

template <class Exec>
void random_masks_match_flood_fill(std::int64_t ny, std::int64_t nx) {
  for (const double density : {0.01, 0.1, 0.3, 0.407, 0.5, 0.593, 0.7, 0.9, 0.99}) {
    const auto mask = ts::random_mask(ny, nx, density, 77);
    const std::string name = "density " + std::to_string(density) + ' ' + ts::shape_name(ny, nx);
    matches_flood_fill<Exec>(mask, name);
    if (::testing::Test::HasFailure()) return;
  }
}

template <class Exec>
class Labels : public ::testing::Test {};
TYPED_TEST_SUITE(Labels, ts::Execs, ts::CaseName);

/// Any order of the unions must give the same links: the same mask again and again.
TYPED_TEST(Labels, AreTheSameInEveryCall) {
  using Exec = TypeParam;
  const Exec space;
  const auto host = ts::random_mask(400, 700, 0.593, 5);
  const auto mask = ts::to_device_mask<Exec>(host);
  const auto want = ts::runs_naive(host, ts::label_naive(host, kastor::Connectivity::four));
  kastor::Labeller<Exec> labeller(space);
  for (int i = 0; i < 10; ++i) {
    ts::expect_matches_naive(ts::to_host_runs(labeller(mask)), want, "call " + std::to_string(i));
    if (::testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(Labels, LeaveOutComponentsBelowMinPixels) {
  using Exec = TypeParam;
  for (const std::int64_t min_pixels : {2, 3, 10, 1000, 1000000}) {
    matches_flood_fill<Exec>(ts::random_mask(83, 131, 0.4, 9), "random", min_pixels);
    matches_flood_fill<Exec>(ts::spiral_mask(83, 131), "spiral", min_pixels);
    matches_flood_fill<Exec>(ts::HostMask(5, 200, 1), "ones", min_pixels);
    matches_flood_fill<Exec>(ts::HostMask(5, 200, 0), "zeros", min_pixels);
  }
  // A component of exactly min_pixels stays.
  matches_flood_fill<Exec>(ts::HostMask(5, 200, 1), "ones", 1000);
  matches_flood_fill<Exec>(ts::HostMask(5, 200, 1), "ones", 1001);
}

/// Hysteresis: only components with a seed of their own stay, and those away from the border if so
/// asked. Without seeds the same object keeps what it always kept.
TYPED_TEST(Labels, LeaveOutComponentsWithoutASeed) {
  using Exec = TypeParam;
  for (const double density : {0.0, 0.001, 0.02, 0.5, 1.1}) {
    for (const bool drop_at_edge : {false, true}) {
      for (const std::int64_t min_pixels : {1, 4}) {
        for (const kastor::Connectivity connectivity : both_connectivities) {
          const kastor::LabelParams params{connectivity, min_pixels, drop_at_edge};
          const std::string what =
              name_of("seeds " + std::to_string(density) + (drop_at_edge ? ", inner" : ""), params);
          kastor::Labeller<Exec> labeller(Exec{}, params);
          for (const auto& mask : {ts::random_mask(83, 301, 0.4, 9), ts::spiral_mask(60, 200),
                                   ts::HostMask(5, 200, 1), ts::HostMask(5, 200, 0)}) {
            // Seeds beyond the mask are nobody's.
            const auto seeds = ts::random_mask(mask.ny, mask.nx, density, 10);
            const auto all = ts::label_naive(mask, connectivity);
            auto own = mask;
            for (std::size_t i = 0; i < own.values.size(); ++i) own.values[i] &= seeds.values[i];
            const auto want = ts::keep_naive(all, own, min_pixels, drop_at_edge);
            const auto device_mask = ts::to_device_mask<Exec>(mask);
            const auto& got = labeller(device_mask, ts::to_device_mask<Exec>(seeds));
            ts::expect_matches_naive(ts::to_host_runs(got), ts::runs_naive(mask, want), what);
            EXPECT_EQ(got.dropped, all.components - want.components) << what;

            const auto any = ts::keep_naive(all, mask, min_pixels, drop_at_edge);
            const auto& without = labeller(device_mask);
            ts::expect_matches_naive(ts::to_host_runs(without), ts::runs_naive(mask, any),
                                     what + ", not used");
            EXPECT_EQ(without.dropped, all.components - any.components) << what;
            if (::testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
  kastor::Labeller<Exec> labeller{Exec{}};
  ts::expect_error(
      [&] {
        (void)labeller(ts::to_device_mask<Exec>(ts::HostMask(5, 200, 1)),
                       ts::to_device_mask<Exec>(ts::HostMask(5, 201, 1)));
      },
      {"kastor::label", "5 x 201", "5 x 200"});
}

/// What a mask before has left must not matter.
TYPED_TEST(Labels, ComeFromOneObjectForFullAndEmptyMasks) {
  using Exec = TypeParam;
  const kastor::LabelParams params{kastor::Connectivity::four, 1};
  kastor::Labeller<Exec> labeller(Exec{}, params);
  std::uint64_t seed = 1;
  for (const double density : {0.0, 0.4, 0.0, 0.001, 0.02, 0.5, 0.5, 0.0, 0.03, 0.0, 0.4}) {
    matches_flood_fill(labeller, params, ts::random_mask(300, 400, density, seed++),
                       "density " + std::to_string(density));
    if (::testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(Labels, ComeFromOneObjectForMasksOfDifferentSizes) {
  using Exec = TypeParam;
  const kastor::LabelParams params{kastor::Connectivity::eight, 2};
  kastor::Labeller<Exec> labeller(Exec{}, params);
  std::uint64_t seed = 1;
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{20, 30},   {300, 500}, {1, 1},
                                                          {500, 300}, {7, 700},   {300, 500}};
  for (const auto& [ny, nx] : shapes) {
    for (const double density : {0.02, 0.6}) {
      matches_flood_fill(labeller, params, ts::random_mask(ny, nx, density, seed++),
                         ts::shape_name(ny, nx));
    }
  }
}

TYPED_TEST(Labels, SurviveAMoveOfTheLabeller) {
  using Exec = TypeParam;
  const kastor::LabelParams params;
  const auto mask = ts::random_mask(20, 30, 0.5, 1);
  kastor::Labeller<Exec> first{Exec{}};
  (void)first(ts::to_device_mask<Exec>(mask));
  kastor::Labeller<Exec> second(std::move(first));
  matches_flood_fill(second, params, mask, "moved");
  first = std::move(second);
  matches_flood_fill(first, params, mask, "moved back");
}

TYPED_TEST(Labels, OwnTheirViewsInTheOneShotForm) {
  using Exec = TypeParam;
  const auto host = ts::random_mask(50, 70, 0.5, 1);
  const auto labels = kastor::label(Exec{}, ts::to_device_mask<Exec>(host));
  const auto other = ts::random_mask(50, 70, 0.5, 2);
  const auto other_labels =
      kastor::label(Exec{}, ts::to_device_mask<Exec>(other), kastor::Connectivity::eight);
  ts::expect_matches_naive(ts::to_host_runs(labels),
                           ts::runs_naive(host, ts::label_naive(host, kastor::Connectivity::four)),
                           "first");
  ts::expect_matches_naive(
      ts::to_host_runs(other_labels),
      ts::runs_naive(other, ts::label_naive(other, kastor::Connectivity::eight)), "second");
}

TYPED_TEST(Labels, ThrowOnParametersOutOfRange) {
  using Exec = TypeParam;
  const Exec space;
  for (const std::int64_t min_pixels : {0, -1}) {
    ts::expect_error(
        [&] {
          kastor::Labeller<Exec> labeller(space, {kastor::Connectivity::four, min_pixels});
        },
        {"kastor::", "min_pixels", std::to_string(min_pixels).c_str()});
  }
  ts::expect_error(
      [&] {
        kastor::Labeller<Exec> labeller(space, {static_cast<kastor::Connectivity>(6), 1});
      },
      {"kastor::", "connectivity", "6"});
}

template <class Exec, class Label>
void dense_labels_of_another_shape_throw() {
  const Exec space;
  const auto labels = kastor::label(space, ts::to_device_mask<Exec>(ts::HostMask(5, 70, 1)));
  for (const auto& [ny, nx] : {std::pair{5U, 71U}, std::pair{5U, 69U}, std::pair{4U, 70U}}) {
    const kastor::Image<Label, Exec> image("test::labels", ny, nx);
    ts::expect_error([&] { kastor::write_labels(space, labels, image); }, {"kastor::write_labels"});
  }
}

TYPED_TEST(Labels, MatchFloodFillOnTortureMasks) {
  for (const std::int64_t nx : {1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193}) {
    torture_masks_match_flood_fill<TypeParam>(37, nx);
  }
  torture_masks_match_flood_fill<TypeParam>(1, 1);
  torture_masks_match_flood_fill<TypeParam>(1, 300);
  torture_masks_match_flood_fill<TypeParam>(2, 130);
  torture_masks_match_flood_fill<TypeParam>(300, 3);
}

TYPED_TEST(Labels, MatchFloodFillOnLargeTortureMasks) {
  torture_masks_match_flood_fill<TypeParam>(300, 389);
}

TYPED_TEST(Labels, MatchFloodFillOnRandomMasks) {
  for (const std::int64_t nx : {63, 64, 65, 129, 193}) {
    random_masks_match_flood_fill<TypeParam>(50, nx);
  }
  random_masks_match_flood_fill<TypeParam>(300, 701);
}

TYPED_TEST(Labels, MatchFloodFillOnCrowdedMasks) {
  crowded_masks_match_flood_fill<TypeParam>(60, 2200);
  crowded_masks_match_flood_fill<TypeParam>(1, 70000);
}

TYPED_TEST(Labels, ThrowOnADenseImageOfAnotherShape) {
  dense_labels_of_another_shape_throw<TypeParam, std::int32_t>();
  dense_labels_of_another_shape_throw<TypeParam, std::int64_t>();
}

}  // namespace
