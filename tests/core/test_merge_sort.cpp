// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/merge_sort.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

struct Numbered {
  std::int32_t key, number;
  bool operator==(const Numbered&) const = default;
};
struct LowerKey {
  KOKKOS_FUNCTION bool operator()(const Numbered& a, const Numbered& b) const {
    return a.key < b.key;
  }
};

template <class Exec>
class MergeSort : public ::testing::Test {};
TYPED_TEST_SUITE(MergeSort, ts::Execs, ts::CaseName);

/// Of every length about those of tiles and passes; with many equal keys, few, and in order.
TYPED_TEST(MergeSort, IsTheStableSort) {
  using Exec = TypeParam;
  using List = Kokkos::View<Numbered*, typename Exec::memory_space>;
  ts::Random random(1);
  const Exec space;
  for (const std::int64_t n :
       {0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 97, 127, 128, 129, 1000, 4097}) {
    for (const std::int64_t keys : {1, 3, 50, 1000000}) {
      std::vector<Numbered> expected(static_cast<std::size_t>(n));
      std::int32_t number = 0;
      for (Numbered& one : expected) {
        one = {static_cast<std::int32_t>(random.below(keys)), number};
        ++number;
      }
      const List list("test::list", expected.size()), spare("test::spare", expected.size());
      Kokkos::deep_copy(
          list, Kokkos::View<const Numbered*, Kokkos::HostSpace>(expected.data(), expected.size()));
      const Numbered* const sorted =
          kastor::core::merge_sort("test::sort", space, list.data(), spare.data(), n, LowerKey{});
      space.fence("test::sort");
      std::stable_sort(expected.begin(), expected.end(), LowerKey{});
      EXPECT_EQ(ts::to_host_list(sorted == list.data() ? list : spare, n), expected) << n;
    }
  }
}

}  // namespace
