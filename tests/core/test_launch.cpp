// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/launch.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;

/// Around the sizes of warps, of teams, and of what all threads of a device take at once.
constexpr std::int64_t sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 65537, 300001};

struct CountVisits {
  int* visits;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { Kokkos::atomic_add(visits + i, 1); }
};

template <class Exec>
class CoreLaunch : public ::testing::Test {};
TYPED_TEST_SUITE(CoreLaunch, ts::Execs, ts::CaseName);

TYPED_TEST(CoreLaunch, VisitsEveryIndexOnce) {
  using Exec = TypeParam;
  const Exec space;
  for (const std::int64_t n : sizes) {
    const ts::DeviceList<Exec, int> visits("test::visits", static_cast<std::size_t>(n) + 1);
    core::for_each("test::count", space, n, CountVisits{visits.data()});
    space.fence("test::count");
    std::vector<int> want(static_cast<std::size_t>(n) + 1, 1);
    want.back() = 0;
    EXPECT_EQ(ts::to_vector(visits), want) << n;
  }
}

/// Two sums at once.
struct Pair {
  std::uint64_t values = 0;
  std::int64_t odd = 0;
  KOKKOS_FUNCTION Pair& operator+=(const Pair& other) {
    values += other.values;
    odd += other.odd;
    return *this;
  }
  bool operator==(const Pair&) const = default;
};

KOKKOS_FUNCTION Pair pair_of(std::uint32_t value) {
  return {value, static_cast<std::int64_t>(value % 2)};
}

struct ScanPairs {
  using value_type = Pair;
  const std::uint32_t* values;
  Pair* before;
  int* finals;
  KOKKOS_FUNCTION void operator()(std::int64_t i, Pair& sum, bool is_final) const {
    if (is_final) {
      before[i] = sum;
      Kokkos::atomic_add(finals + i, 1);
    }
    sum += pair_of(values[i]);
  }
};

std::vector<std::uint32_t> some_values(std::int64_t n) {
  ts::Random random(static_cast<std::uint64_t>(n));
  std::vector<std::uint32_t> values(static_cast<std::size_t>(n));
  for (auto& value : values) value = static_cast<std::uint32_t>(random.next());
  return values;
}

TYPED_TEST(CoreLaunch, ScansKnowWhatCameBefore) {
  using Exec = TypeParam;
  const Exec space;
  for (const std::int64_t n : sizes) {
    const auto values = some_values(n);
    const auto on_device = ts::to_device_list<Exec>(values);
    const ts::DeviceList<Exec, Pair> before("test::before", values.size());
    const ts::DeviceList<Exec, int> finals("test::finals", values.size());
    core::scan("test::scan", space, n, ScanPairs{on_device.data(), before.data(), finals.data()});
    space.fence("test::scan");
    std::vector<Pair> want;
    Pair sum;
    for (const std::uint32_t value : values) {
      want.push_back(sum);
      sum += pair_of(value);
    }
    EXPECT_TRUE(ts::to_vector(before) == want) << n;
    EXPECT_EQ(ts::to_vector(finals), std::vector<int>(values.size(), 1)) << n;
  }
}

struct SumPairs {
  using value_type = Pair;
  const std::uint32_t* values;
  KOKKOS_FUNCTION void operator()(std::int64_t i, Pair& sum) const { sum += pair_of(values[i]); }
};

TYPED_TEST(CoreLaunch, ReductionsJoinAllValues) {
  using Exec = TypeParam;
  for (const std::int64_t n : sizes) {
    const auto values = some_values(n);
    const auto on_device = ts::to_device_list<Exec>(values);
    Pair want;
    for (const std::uint32_t value : values) want += pair_of(value);
    EXPECT_TRUE(core::reduce("test::sum", Exec{}, n, SumPairs{on_device.data()}) == want) << n;
  }
}

template <class Exec>
struct CountShare {
  std::int64_t workers, begin, end;
  int* visits;
  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const core::Share<Exec> share(worker, workers, begin, end);
    for (std::int64_t i = share.first; i < share.past; i += share.step)
      Kokkos::atomic_add(visits + i, 1);
  }
};

TYPED_TEST(CoreLaunch, SharesCoverARangeOnce) {
  using Exec = TypeParam;
  const Exec space;
  constexpr std::int64_t n = 1500;
  for (const std::int64_t workers : {1, 2, 3, 7, 64, 1000, 5000}) {
    for (const auto& [begin, end] :
         {std::pair<std::int64_t, std::int64_t>{0, 0}, {5, 5}, {0, 1}, {3, 10}, {0, n}, {71, n}}) {
      const ts::DeviceList<Exec, int> visits("test::visits", n);
      core::for_each("test::share", space, workers,
                     CountShare<Exec>{workers, begin, end, visits.data()});
      space.fence("test::share");
      std::vector<int> want(n, 0);
      for (std::int64_t i = begin; i < end; ++i) want[static_cast<std::size_t>(i)] = 1;
      EXPECT_EQ(ts::to_vector(visits), want)
          << workers << " workers, from " << begin << " to " << end;
    }
  }
}

}  // namespace
