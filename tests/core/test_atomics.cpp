// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "core/atomics.hpp"
#include "core/launch.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;

constexpr std::int64_t n = 100000;

template <class V>
struct Totals {
  V sum, lowest, highest, bits;
};

template <class V>
struct ChangeAll {
  const V* values;
  Totals<V>* totals;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    core::atomic_add(&totals->sum, values[i]);
    core::atomic_lower(&totals->lowest, values[i]);
    core::atomic_raise(&totals->highest, values[i]);
    if constexpr (std::is_unsigned_v<V>)
      core::atomic_set_bits(&totals->bits, V{1} << (values[i] % 31));
  }
};

/// All threads change the same numbers.
template <class Exec, class V>
void changes_of_all_threads_are_kept() {
  const Exec space;
  ts::Random random(5);
  std::vector<V> values(n);
  Totals<V> want{0, static_cast<V>(1000), static_cast<V>(1000), 0};
  const Totals<V> before = want;
  for (V& value : values) {
    value = static_cast<V>(random.below(3000));
    if (std::is_signed_v<V>) value = static_cast<V>(value - 1500);
    want.sum = static_cast<V>(want.sum + value);
    want.lowest = std::min(want.lowest, value);
    want.highest = std::max(want.highest, value);
    if constexpr (std::is_unsigned_v<V>) want.bits |= V{1} << (value % 31);
  }
  const auto on_device = ts::to_device_list<Exec>(values);
  const auto totals = ts::to_device_list<Exec>(std::vector<Totals<V>>{before});
  core::for_each("test::change", space, n, ChangeAll<V>{on_device.data(), totals.data()});
  space.fence("test::change");
  const Totals<V> got = ts::to_vector(totals)[0];
  EXPECT_EQ(got.sum, want.sum);
  EXPECT_EQ(got.lowest, want.lowest);
  EXPECT_EQ(got.highest, want.highest);
  EXPECT_EQ(got.bits, want.bits);
}

template <class Exec>
struct TakePlaces {
  core::SharedCounters<Exec> counters;
  std::uint32_t* counter;
  std::uint32_t* place_of;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    place_of[i] = counters.fetch_add(counter, 1U);
  }
};

template <class Exec>
class Atomics : public ::testing::Test {};
TYPED_TEST_SUITE(Atomics, ts::Execs, ts::CaseName);

/// Each thread gets a number of its own.
TYPED_TEST(Atomics, GivePlacesAwayOnce) {
  using Exec = TypeParam;
  const Exec space;
  const ts::DeviceList<Exec, std::uint32_t> counter("test::counter", 1), places("test::places", n);
  core::for_each(
      "test::places", space, n,
      TakePlaces<Exec>{core::SharedCounters<Exec>(space), counter.data(), places.data()});
  space.fence("test::places");
  EXPECT_EQ(ts::to_vector(counter)[0], static_cast<std::uint32_t>(n));
  auto got = ts::to_vector(places);
  std::sort(got.begin(), got.end());
  std::vector<std::uint32_t> want(n);
  std::iota(want.begin(), want.end(), 0U);
  EXPECT_TRUE(got == want);
}

/// Numbers whose halves are equal.
struct WriteAndRead {
  std::uint64_t* shared;
  std::uint64_t* torn;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto half = static_cast<std::uint64_t>(i);
    core::relaxed_store(shared, half << 32 | half);
    const std::uint64_t seen = core::relaxed_load(shared);
    if (seen >> 32 != (seen & 0xffffffffU)) core::relaxed_store(torn, std::uint64_t{1});
  }
};

TYPED_TEST(Atomics, ReadAndWriteNumbersWhole) {
  using Exec = TypeParam;
  const Exec space;
  const ts::DeviceList<Exec, std::uint64_t> numbers("test::numbers", 2);
  core::for_each("test::write", space, n, WriteAndRead{numbers.data(), numbers.data() + 1});
  space.fence("test::write");
  const auto got = ts::to_vector(numbers);
  EXPECT_EQ(got[0] >> 32, got[0] & 0xffffffffU);
  EXPECT_EQ(got[1], 0U) << "half of a number was read";
}

TYPED_TEST(Atomics, KeepTheChangesOfAllThreads) {
  changes_of_all_threads_are_kept<TypeParam, std::int32_t>();
  changes_of_all_threads_are_kept<TypeParam, std::uint32_t>();
  changes_of_all_threads_are_kept<TypeParam, std::int64_t>();
  changes_of_all_threads_are_kept<TypeParam, std::uint64_t>();
}

}  // namespace
