// SPDX-License-Identifier: Apache-2.0

// A few pixels put in order by the threads of a group, who write one place together where pixels
// are equal: what they write there must be the same, or a sanitizer is right to complain.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "background/cell_passes.hpp"
#include "core/group.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;
namespace kd = kastor::detail;

template <class Exec, class T>
struct SortPixels {
  using Sorted = kd::SortedPixels<T, 128>;
  const T* pixels;
  int n;
  T* in_order;     ///< (n)
  T* their_place;  ///< (n) what stands at each place
  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    Sorted& sorted = *group.template scratch<Sorted>();
    sorted.sort(group, pixels, n);
    group.for_each(n, [&](int i) {
      their_place[i] = sorted.place[i];
      in_order[i] = sorted[i];
    });
  }
};

template <class C>
class SortedPixels : public ::testing::Test {};
TYPED_TEST_SUITE(SortedPixels, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(SortedPixels, ZerosOfBothSignsBecomeOne) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  std::vector<T> pixels;
  for (int i = 0; i < 96; ++i)
    pixels.push_back(i % 3 == 0 ? T{0} : (i % 3 == 1 ? -T{0} : static_cast<T>(i - 48)));
  const auto n = static_cast<int>(pixels.size());
  const auto device = ts::to_device_list<Exec>(pixels);
  const ts::DeviceList<Exec, T> in_order("test::in_order", pixels.size()),
      place("test::place", pixels.size());
  core::for_each_group<64>("test::sort", space,
                           {1, static_cast<int>(sizeof(kd::SortedPixels<T, 128>))},
                           SortPixels<Exec, T>{device.data(), n, in_order.data(), place.data()});
  space.fence("test::sort");
  const auto sorted = ts::to_vector(in_order);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    EXPECT_TRUE(i == 0 || sorted[i - 1] <= sorted[i]) << i;
    EXPECT_FALSE(sorted[i] == 0 && std::signbit(sorted[i])) << i;
  }
  for (const T x : ts::to_vector(place)) EXPECT_FALSE(x == 0 && std::signbit(x));
}

}  // namespace
