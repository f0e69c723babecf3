// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "core/keyed_sums.hpp"
#include "core/launch.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;

using Sets = std::vector<std::uint32_t>;

struct AddAtomically {
  std::int64_t* totals;
  KOKKOS_FUNCTION void operator()(std::uint32_t set, std::int64_t part) const {
    Kokkos::atomic_add(totals + set, part);
  }
};

template <class Exec>
struct SumUp {
  const std::uint32_t* sets;
  std::int64_t n, workers;
  std::int64_t* totals;
  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const AddAtomically add{totals};
    core::KeyedSums<std::int64_t, AddAtomically> sums(add);
    const core::Share<Exec> share(worker, workers, 0, n);
    for (std::int64_t i = share.first; i < share.past; i += share.step) sums.take(sets[i], i);
    sums.flush();
  }
};

template <class Exec>
class KeyedSumsOn : public ::testing::Test {};
TYPED_TEST_SUITE(KeyedSumsOn, ts::Execs, ts::CaseName);

/// Sets of any length: the same totals for any number of workers.
TYPED_TEST(KeyedSumsOn, AreCompleteForAnyNumberOfWorkers) {
  using Exec = TypeParam;
  const Exec space;
  constexpr std::int64_t of_sets = 50;
  ts::Random random(3);
  Sets sets;
  std::vector<std::int64_t> want(of_sets, 0);
  for (std::uint32_t set = 0; sets.size() < 20000;) {
    if (random.below(3) == 0) set = static_cast<std::uint32_t>(random.below(of_sets));
    const bool is_large = random.below(2) == 0;
    want[is_large ? 0 : set] += static_cast<std::int64_t>(sets.size());
    sets.push_back(is_large ? 0 : set);
  }
  const auto on_device = ts::to_device_list<Exec>(sets);
  for (const std::int64_t workers : {1, 2, 33, 20000, 30000}) {
    const ts::DeviceList<Exec, std::int64_t> totals("test::totals", of_sets);
    core::for_each("test::sum", space, workers,
                   SumUp<Exec>{on_device.data(), static_cast<std::int64_t>(sets.size()), workers,
                               totals.data()});
    space.fence("test::sum");
    EXPECT_EQ(ts::to_vector(totals), want) << workers << " workers";
  }
}

}  // namespace
