// SPDX-License-Identifier: Apache-2.0

// Arithmetic that a device does by other instructions than a host, and whose bits must be the same.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <kastor/detail/divisor.hpp>
#include <kastor/detail/moments.hpp>
#include <limits>
#include <vector>

#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

template <class V>
[[nodiscard]] std::uint64_t bits_of(V value) {
  std::uint64_t bits = 0;
  if (value != value) return ~bits;  // one NaN is as good as another
  std::memcpy(&bits, &value, sizeof(V));
  return bits;
}

struct Quotient {
  double x;
  std::int64_t n;
};

/// Of all sizes; close to whole quotients, and to the middles between two doubles.
[[nodiscard]] std::vector<Quotient> hard_quotients() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<Quotient> list{{0.0, 3}, {infinity, 7}, {-infinity, 1}, {std::nan(""), 5}};
  ts::Random random(17);
  for (int i = 0; i < 300'000; ++i) {
    const std::int64_t n = 1 + static_cast<std::int64_t>(random.next() >> (14 + random.below(50)));
    const auto divisor = static_cast<double>(n);
    const double size = std::ldexp(1.0, static_cast<int>(random.below(600)) - 300);
    const double x = (random.uniform() - 0.5) * size;
    // The product of the divisor and the middle between x and the next double.
    const double half = 0.5 * (std::nextafter(x, infinity) - x);
    const double of_middle = std::fma(divisor, x, divisor * half);
    for (const double near : {x, x * divisor, of_middle, divisor * size}) {
      list.push_back({near, n});
      list.push_back({std::nextafter(near, infinity), n});
      list.push_back({std::nextafter(near, -infinity), n});
    }
  }
  return list;
}

TEST(Divisor, IsRightByReciprocal) {
  std::int64_t wrong = 0;
  for (const auto& [x, n] : hard_quotients())
    wrong +=
        bits_of(kd::Divisor::by_reciprocal(x, n)) == bits_of(x / static_cast<double>(n)) ? 0 : 1;
  EXPECT_EQ(wrong, 0);
}

/// Around floats and the middles between them, and beyond all floats.
[[nodiscard]] std::vector<double> hard_limits() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double largest = std::numeric_limits<float>::max();
  std::vector<double> list{0.0,     -0.0,     1e-60,         -1e-60,      largest, -largest,
                           1e300,   -1e300,   largest * 1.1, infinity,    1e-45,   -1e-45,
                           7.1e-46, -7.1e-46, -infinity,     std::nan("")};
  ts::Random random(19);
  for (int i = 0; i < 100'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random.next());
    float x = 0;
    std::memcpy(&x, &bits, sizeof x);
    if (!std::isfinite(x)) continue;
    const double next = std::nextafter(x, std::numeric_limits<float>::infinity());
    for (const double near : {static_cast<double>(x), 0.5 * x + 0.5 * next}) {
      list.push_back(near);
      list.push_back(std::nextafter(near, infinity));
      list.push_back(std::nextafter(near, -infinity));
    }
  }
  return list;
}

TEST(IntervalBetween, IsTheTightestOneOfPixels) {
  for (const double limit : hard_limits()) {
    if (std::isnan(limit)) continue;
    const kd::Interval<float> interval = kd::interval_between<float>(limit, limit);
    const float around[] = {interval.low, interval.high, kd::next_below(interval.high),
                            kd::next_above(interval.low)};
    for (const float x : around) {
      ASSERT_EQ(x > interval.low, x > limit) << limit << ", " << x;
      ASSERT_EQ(x < interval.high, x < limit) << limit << ", " << x;
    }
  }
}

template <class Exec>
class ExactArithmetic : public ::testing::Test {};
TYPED_TEST_SUITE(ExactArithmetic, ts::Execs, ts::CaseName);

template <class Exec, class V>
[[nodiscard]] auto on_device(const std::vector<V>& values) {
  const Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      values.data(), values.size());
  return Kokkos::create_mirror_view_and_copy(typename Exec::memory_space{}, host);
}

template <class Exec>
void quotients_are_those_of_ieee_754() {
  const std::vector<Quotient> list = hard_quotients();
  const auto device = on_device<Exec>(list);
  const Kokkos::View<double*, typename Exec::memory_space> result("test::quotients", list.size());
  Kokkos::parallel_for(
      "test::quotients", Kokkos::RangePolicy<Exec>(0, list.size()),
      KOKKOS_LAMBDA(std::size_t i) { result(i) = kd::Divisor(device(i).n).quotient(device(i).x); });
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < list.size(); ++i)
    wrong += bits_of(found(i)) == bits_of(list[i].x / static_cast<double>(list[i].n)) ? 0 : 1;
  EXPECT_EQ(wrong, 0);
}

TYPED_TEST(ExactArithmetic, QuotientsAreThoseOfIeee754) {
  quotients_are_those_of_ieee_754<TypeParam>();
}

template <class Exec>
void limits_of_pixels_are_rounded_as_on_a_host() {
  const std::vector<double> list = hard_limits();
  const auto device = on_device<Exec>(list);
  const Kokkos::View<kd::Interval<float>*, typename Exec::memory_space> result("test::limits",
                                                                               list.size());
  Kokkos::parallel_for(
      "test::limits", Kokkos::RangePolicy<Exec>(0, list.size()), KOKKOS_LAMBDA(std::size_t i) {
        result(i) = kd::interval_between<float>(device(i), device(i));
      });
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const kd::Interval<float> want = kd::interval_between<float>(list[i], list[i]);
    wrong += bits_of(found(i).low) == bits_of(want.low) ? 0 : 1;
    wrong += bits_of(found(i).high) == bits_of(want.high) ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
}

TYPED_TEST(ExactArithmetic, LimitsOfPixelsAreRoundedAsOnAHost) {
  limits_of_pixels_are_rounded_as_on_a_host<TypeParam>();
}

}  // namespace
