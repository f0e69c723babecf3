// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "aperture/circle_overlap.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
using kastor::detail::circle_overlap;

/// The same by strips.
double overlap_by_strips(double dx, double dy, double radius) {
  constexpr int strips = 20000;
  long double sum = 0;
  for (int i = 0; i < strips; ++i) {
    const long double x = dx - 0.5L + (i + 0.5L) / strips;
    const long double squared = static_cast<long double>(radius) * radius - x * x;
    if (squared <= 0) continue;
    const long double half = std::sqrt(squared);
    const long double low = std::max<long double>(dy - 0.5L, -half);
    const long double high = std::min<long double>(dy + 0.5L, half);
    if (high > low) sum += high - low;
  }
  return static_cast<double>(sum / strips);
}

TEST(CircleOverlap, IsThatOfStrips) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 400; ++i) {
    const double radius = i % 4 == 0 ? 0.05 + unit(random) : 0.3 + 12 * unit(random);
    const double angle = 2 * std::numbers::pi * unit(random);
    const double away = std::max(0.0, radius + 1.6 * (unit(random) - 0.5));
    const double dx = away * std::cos(angle);
    const double dy = away * std::sin(angle);
    const double part = circle_overlap(dx, dy, radius);
    EXPECT_NEAR(part, overlap_by_strips(dx, dy, radius), 2e-6) << dx << " " << dy << " " << radius;
    EXPECT_GE(part, 0);
    EXPECT_LE(part, 1);
    EXPECT_EQ(part, circle_overlap(-dx, dy, radius));
    EXPECT_EQ(part, circle_overlap(dx, -dy, radius));
  }
}

TEST(CircleOverlap, AddsUpToTheCircle) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> unit(-0.5, 0.5);
  for (const double radius : {0.01, 0.3, 0.5, 0.7, 1.0, std::sqrt(0.5), 1.5, 3.0, 7.25, 40.0}) {
    for (int i = 0; i < 20; ++i) {
      const double x = i == 0 ? 0 : (i == 1 ? 0.5 : unit(random));
      const double y = i < 2 ? 0 : (i == 2 ? 0.5 : unit(random));
      const int reach = static_cast<int>(radius) + 2;
      double sum = 0;
      for (int py = -reach; py <= reach; ++py)
        for (int px = -reach; px <= reach; ++px) sum += circle_overlap(px - x, py - y, radius);
      const double area = std::numbers::pi * radius * radius;
      EXPECT_NEAR(sum / area, 1, 3e-14) << x << " " << y << " " << radius;
    }
  }
}

TEST(CircleOverlap, HasKnownValues) {
  constexpr double pi = std::numbers::pi;
  EXPECT_NEAR(circle_overlap(0, 0, 0.5), pi / 4, 1e-16);
  EXPECT_EQ(circle_overlap(0, 0, std::sqrt(0.5) + 1e-15), 1);
  EXPECT_NEAR(circle_overlap(0.5, 0.5, 1), pi / 4, 2e-16);
  EXPECT_NEAR(circle_overlap(0.5, 0, 0.5), pi / 8, 1e-16);
  EXPECT_EQ(circle_overlap(1.5, 0, 1), 0);
  EXPECT_EQ(circle_overlap(5, 0, 5.5), circle_overlap(0, 5, 5.5));
  EXPECT_NEAR(kastor::detail::half_segment(1), pi / 2, 4e-16);
  for (const double s : {0.01, 0.2499, 0.2501, 0.5, 0.9, 0.999}) {
    const long double exact =
        std::asin(static_cast<long double>(s)) - s * std::sqrt(1 - static_cast<long double>(s) * s);
    EXPECT_NEAR(kastor::detail::half_segment(s) / static_cast<double>(exact), 1, 1e-12 * 0.01 / s);
  }
}

struct OverlapsOf {
  const double* numbers;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    return circle_overlap(numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]);
  }
};

template <class Exec>
class CircleOverlapOn : public ::testing::Test {};
TYPED_TEST_SUITE(CircleOverlapOn, ts::Execs, ts::CaseName);

TYPED_TEST(CircleOverlapOn, HasTheSameBits) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> number(0, 20);
  std::vector<double> numbers;
  for (int i = 0; i < 3 * 5000; ++i) numbers.push_back(number(random));
  const auto list = ts::to_device_list<TypeParam>(numbers);
  const auto there = ts::map_on<TypeParam>(5000, OverlapsOf{list.data()});
  for (std::int64_t i = 0; i < 5000; ++i)
    ASSERT_EQ(there[static_cast<std::size_t>(i)], OverlapsOf{numbers.data()}(i));
}

}  // namespace
