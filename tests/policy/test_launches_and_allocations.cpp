// SPDX-License-Identifier: Apache-2.0

// What a call costs beside its work: few kernels, one fence, and no allocation that a call before
// could have made.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/kastor.hpp>

#include "device.hpp"
#include "generators.hpp"
#include "recorded_events.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
using ts::count_of, ts::events_of, ts::expect_no_allocation, ts::instance_of_its_own,
    ts::mesh_background;
using ts::Event, ts::What;

template <class T>
class Launches : public ::testing::Test {};
TYPED_TEST_SUITE(Launches, ts::ExecsAndReals, ts::CaseName);

/// The host waits once, for positive and negative islands alike.
TYPED_TEST(Launches, FromImageToIslandsTheHostWaitsOnceForFewKernels) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 300, 401, 1));
  const auto background = mesh_background<TypeParam>();
  for (const bool negative : {false, true}) {
    kastor::IslandParams params;
    params.negative = negative;
    kastor::IslandFinder<Exec, T> find(instance, params);
    (void)find(image, background);
    kastor::IslandResult result;
    const auto events = events_of([&] { result = find(image, background); });
    EXPECT_GT(result.islands.size(), 0U);
    EXPECT_EQ(count_of(events, What::fence), 1);
    // Two to mark, then for each side seven or less to label and four to measure.
    EXPECT_LE(count_of(events, What::kernel), 2 + (negative ? 2 : 1) * (7 + 4));
  }
}

/// Work space grows to the largest image seen, and then no more: a smaller image in between changes
/// nothing.
TYPED_TEST(Launches, PlansDoNotAllocateForASmallerImage) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec instance = instance_of_its_own<Exec>();
  const auto large =
      ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 1100, 1000, 1));
  const auto small = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 300, 401, 1));
  kastor::SigmaClipper<Exec, T> clip(instance);
  kastor::SourceFinder<Exec, T> find(instance);
  (void)clip(large);
  (void)find(large);
  expect_no_allocation(events_of([&] { (void)clip(small); }), "SigmaClipper, smaller image");
  expect_no_allocation(events_of([&] { (void)clip(large); }), "SigmaClipper, largest image again");
  expect_no_allocation(events_of([&] { (void)find(small); }), "SourceFinder, smaller image");
  expect_no_allocation(events_of([&] { (void)find(large); }), "SourceFinder, largest image again");
}

/// Nor does another image of the size, with runs that are long.
TYPED_TEST(Launches, PlansDoNotAllocateForLongRuns) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec instance = instance_of_its_own<Exec>();
  const auto sky = ts::make_image<T>(ts::Pixels::contaminated, 1100, 1000, 1);
  auto bars = sky;
  for (std::int64_t y = 5; y < bars.ny; y += 100) {
    for (std::int64_t x = 100; x < 900; ++x) bars(y, x) += T(50);
  }
  const auto first = ts::to_device<Exec>(sky), second = ts::to_device<Exec>(bars);
  kastor::FindParams params;
  params.level = 20;
  kastor::SourceFinder<Exec, T> find(instance, params);
  (void)find.find(first);
  kastor::FoundSources found;
  expect_no_allocation(events_of([&] { found = find.find(second); }), "SourceFinder, long runs");
  EXPECT_GE(found.sources.size(), 11U);
  EXPECT_GE(found.foreground_pixels, 16 * find.labels().runs) << "they are long in the mean";
}

/// Each launch and each fence costs some microseconds, whatever the image: from a mask to rows on
/// the host there are few launches, and the host waits once.
TYPED_TEST(Launches, FromMaskToRowsTheHostWaitsOnceForFewKernels) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  constexpr bool on_host = kastor::is_host_space_v<Exec>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 300, 401, 1));
  const auto mask = kastor::threshold(instance, image, 0.03);
  for (const std::int64_t min_pixels : {1, 3}) {
    kastor::Labeller<Exec> label(instance, {kastor::Connectivity::four, min_pixels});
    kastor::Measurer<Exec, T> measure(instance);
    for (const std::int64_t split : {1, 8}) {
      const auto bands = ts::split_into_bands<Exec, T>(image, split);
      const auto once = [&] {
        label.enqueue(mask);
        measure.enqueue(bands, label.labels(), label.counts());
        instance.fence("kastor::test::rows");
        return label.finish() && measure.finish(label.labels().components);
      };
      while (!once()) {
      }
      bool done = false;
      const auto events = events_of([&] { done = once(); });
      EXPECT_TRUE(done);
      EXPECT_GT(measure.rows().size(), 0U);
      EXPECT_EQ(count_of(events, What::fence), 1);
      EXPECT_EQ(count_of(events, What::allocation), 0);
      // Hosts add up the totals of their parts, and make the rows, in kernels of their own.
      EXPECT_LE(count_of(events, What::kernel), (on_host ? 9 : 7) + (min_pixels > 1 ? 1 : 0));
    }
  }
}

/// From the image to the rows the host waits once. Two launches are the zeroing of the mask and of
/// the counters, nine are the clip's, one the foreground's, then labels and measures.
TYPED_TEST(Launches, FindingSourcesTakesFew) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  constexpr bool on_host = kastor::is_host_space_v<Exec>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image =
      ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 1100, 1000, 1));
  kastor::SourceFinder<Exec, T> find(instance);
  (void)find(image);
  const auto events = events_of([&] {
    const auto result = find(image);
    EXPECT_EQ(result.clip.route, kastor::ClipRoute::bracketed);
  });
  EXPECT_EQ(count_of(events, What::allocation), 0);
  EXPECT_LE(count_of(events, What::kernel), 20);
  EXPECT_LE(count_of(events, What::fence), on_host ? 6 : 1);
}

}  // namespace
