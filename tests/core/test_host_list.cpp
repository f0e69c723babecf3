// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

#include "core/host_list.hpp"
#include "core/launch.hpp"
#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;

struct WriteSquare {
  std::int64_t* list;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { list[i] = i * i; }
};

template <class Exec>
class CoreHostList : public ::testing::Test {};
TYPED_TEST_SUITE(CoreHostList, ts::Execs, ts::CaseName);

TYPED_TEST(CoreHostList, HasWhatKernelsWrote) {
  const TypeParam space;
  for (const std::int64_t n : {0, 1, 33, 70001}) {
    core::HostList<TypeParam, std::int64_t> list(space, "test::squares", n);
    core::for_each("test::squares", space, n, WriteSquare{list.data()});
    std::vector<std::int64_t> want;
    for (std::int64_t i = 0; i < n; ++i) want.push_back(i * i);
    EXPECT_EQ(list.take(space), want) << n;
  }
}

}  // namespace
