// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/interval.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;

/// Around pixels and the middles between them, and beyond all pixels.
template <class T>
std::vector<double> hard_limits() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto largest = static_cast<double>(std::numeric_limits<T>::max());
  std::vector<double> list{0.0,    -0.0,    1e-60,    -1e-60, 7.1e-46, -7.1e-46, 1e-45,
                           -1e-45, largest, -largest, 1e300,  -1e300,  infinity, -infinity};
  ts::Random random(19);
  for (int i = 0; i < 30'000; ++i) {
    const std::uint64_t bits = random.next();
    T x = 0;
    std::memcpy(&x, &bits, sizeof(x));
    if (!std::isfinite(x)) continue;
    const auto exact = static_cast<double>(x);
    const auto next = static_cast<double>(std::nextafter(x, std::numeric_limits<T>::infinity()));
    for (const double near : {exact, 0.5 * exact + 0.5 * next}) {
      list.push_back(near);
      list.push_back(std::nextafter(near, infinity));
      list.push_back(std::nextafter(near, -infinity));
    }
  }
  return list;
}

template <class T>
struct Limits {
  core::Interval<T> interval;
  T above, below, bound;
};
template <class T>
struct LimitsOf {
  const double* list;
  KOKKOS_FUNCTION Limits<T> operator()(std::int64_t i) const {
    const auto interval = core::interval_between<T>(list[i], list[i]);
    return {interval, core::next_above(interval.low), core::next_below(interval.high),
            core::bound_below<T>(list[i])};
  }
};

template <class T>
class Intervals : public ::testing::Test {};
TYPED_TEST_SUITE(Intervals, ts::ExecsAndReals, ts::CaseName);

/// Comparing with the limits is comparing with the numbers in double; no tighter ones do that.
TYPED_TEST(Intervals, AreTheTightestOnes) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const std::vector<double> list = hard_limits<T>();
  const auto on_device = ts::to_device_list<Exec>(list);
  const auto found =
      ts::map_on<Exec>(static_cast<std::int64_t>(list.size()), LimitsOf<T>{on_device.data()});
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Limits<T>& limits = found[i];
    const T low = limits.interval.low, high = limits.interval.high;
    const T tried[] = {low, high, limits.above, limits.below, T(0), infinity, -infinity};
    for (const T x : tried) {
      const auto exact = static_cast<double>(x);
      ASSERT_EQ(x > low, exact > list[i]) << list[i] << ", " << x;
      ASSERT_EQ(x < high, exact < list[i]) << list[i] << ", " << x;
    }
    ASSERT_EQ(limits.bound, low);
    if (low > -infinity && low < infinity) {
      ASSERT_EQ(limits.above, std::nextafter(low, infinity));
    }
    if (high > -infinity && high < infinity) {
      ASSERT_EQ(limits.below, std::nextafter(high, -infinity));
    }
  }
}

template <class T>
struct IsIn {
  const T* pixels;
  core::Interval<T> interval;
  KOKKOS_FUNCTION int operator()(std::int64_t i) const {
    return (interval.contains(pixels[i]) ? 1 : 0) + (core::is_finite(pixels[i]) ? 2 : 0);
  }
};

TYPED_TEST(Intervals, DoNotHoldTheirBounds) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Numbers = std::numeric_limits<T>;
  const std::vector<T> pixels{T(1),
                              T(2),
                              T(3),
                              std::nextafter(T(1), T(2)),
                              std::nextafter(T(3), T(2)),
                              Numbers::max(),
                              Numbers::lowest(),
                              Numbers::infinity(),
                              -Numbers::infinity(),
                              Numbers::quiet_NaN()};
  const auto on_device = ts::to_device_list<Exec>(pixels);
  EXPECT_EQ(ts::map_on<Exec>(10, IsIn<T>{on_device.data(), {T(1), T(3)}}),
            (std::vector<int>{2, 3, 2, 3, 3, 2, 2, 0, 0, 0}));
  EXPECT_EQ(ts::map_on<Exec>(10, IsIn<T>{on_device.data(), {}}),
            (std::vector<int>{3, 3, 3, 3, 3, 3, 3, 0, 0, 0}));
}

template <class T>
void extremes_are_joined() {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  core::MinMaxCount<T> none, found;
  EXPECT_EQ(none.count, 0);
  EXPECT_EQ(none.min, infinity);
  EXPECT_EQ(none.max, -infinity);
  for (const T x : {T(3), T(-2), T(5), T(0)}) found += core::MinMaxCount<T>{1, x, x};
  found += none;
  EXPECT_EQ(found.count, 4);
  EXPECT_EQ(found.min, T(-2));
  EXPECT_EQ(found.max, T(5));
}

template <class T>
void zeros_lose_their_sign() {
  EXPECT_FALSE(std::signbit(core::without_sign_of_zero(-T(0))));
  EXPECT_FALSE(std::signbit(core::without_sign_of_zero(T(0))));
  for (const T x : {T(1), T(-1), std::numeric_limits<T>::denorm_min()}) {
    EXPECT_EQ(core::without_sign_of_zero(x), x);
    EXPECT_EQ(core::without_sign_of_zero(-x), -x);
  }
}

TEST(MinMaxCount, JoinsExtremes) {
  extremes_are_joined<float>();
  extremes_are_joined<double>();
}
TEST(WithoutSignOfZero, ChangesZerosOnly) {
  zeros_lose_their_sign<float>();
  zeros_lose_their_sign<double>();
}

}  // namespace
