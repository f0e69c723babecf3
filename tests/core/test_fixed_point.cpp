// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/fixed_point.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

Wide wide_of(const core::Int128& x) {
  return static_cast<Wide>(static_cast<UnsignedWide>(static_cast<std::uint64_t>(x.high)) << 64 |
                           x.low);
}

/// Two roundings at most: of both halves of the magnitude.
double double_of(Wide x) {
  const auto size = static_cast<UnsignedWide>(x < 0 ? -x : x);
  const double sum = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(size >> 64)), 64) +
                     static_cast<double>(static_cast<std::uint64_t>(size));
  return x < 0 ? -sum : sum;
}

// --------------------------------------------------------------------- 128-bit integers

struct Terms {
  std::int64_t a, b;
  core::Int128 wide;
};
struct Results {
  core::Int128 sum, difference, of_parts;
  double number;
};
struct Calculate {
  const Terms* terms;
  KOKKOS_FUNCTION Results operator()(std::int64_t i) const {
    const Terms& t = terms[i];
    Results r;
    r.sum = t.wide;
    r.sum.add(t.a);
    r.sum += core::Int128{0, t.b};
    r.sum.add(t.b);
    r.difference = t.wide;
    r.difference -= r.sum;
    r.of_parts = core::joined(static_cast<std::uint64_t>(t.a), static_cast<std::uint64_t>(t.b));
    r.number = t.wide.to_double();
    return r;
  }
};

template <class Exec>
class FixedPoint : public ::testing::Test {};
TYPED_TEST_SUITE(FixedPoint, ts::Execs, ts::CaseName);

TYPED_TEST(FixedPoint, IntegersAddUp) {
  using Exec = TypeParam;
  std::vector<Terms> terms;
  ts::Random random(2);
  const auto number = [&random] {
    const std::uint64_t edges[] = {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63,
                                   (std::uint64_t{1} << 63) - 1};
    return random.below(3) == 0 ? edges[random.below(5)] : random.next() >> random.below(64);
  };
  for (int i = 0; i < 20000; ++i) {
    terms.push_back({static_cast<std::int64_t>(number()),
                     static_cast<std::int64_t>(number()),
                     {number(), static_cast<std::int64_t>(number())}});
  }
  const auto on_device = ts::to_device_list<Exec>(terms);
  const auto found =
      ts::map_on<Exec>(static_cast<std::int64_t>(terms.size()), Calculate{on_device.data()});
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Terms& t = terms[i];
    // Modulo 2^128.
    const auto modulo = [](Wide x) { return static_cast<UnsignedWide>(x); };
    const UnsignedWide sum =
        modulo(wide_of(t.wide)) + modulo(t.a) + (modulo(t.b) << 64) + modulo(t.b);
    const UnsignedWide parts =
        (modulo(t.b) << 32) + static_cast<UnsignedWide>(static_cast<std::uint64_t>(t.a));
    ASSERT_TRUE(modulo(wide_of(found[i].sum)) == sum) << i;
    ASSERT_TRUE(modulo(wide_of(found[i].difference)) == modulo(wide_of(t.wide)) - sum) << i;
    ASSERT_TRUE(modulo(wide_of(found[i].of_parts)) == parts) << i;
    if (t.wide.high != std::numeric_limits<std::int64_t>::min()) {
      ASSERT_EQ(found[i].number, double_of(wide_of(t.wide))) << i;
    }
  }
}

// ----------------------------------------------------------------------- powers of two

struct Scaled {
  double value;
  int exponent;
};
struct Powers {
  double scaled;
  int above;
  std::int64_t floor;
};
struct PowersOf {
  const Scaled* list;
  KOKKOS_FUNCTION Powers operator()(std::int64_t i) const {
    const double value = list[i].value;
    const bool is_small = value > -9.2e18 && value < 9.2e18;
    return {core::scale_by_power_of_two(value, list[i].exponent), core::exponent_above(value),
            is_small ? core::floor_to_integer(value) : 0};
  }
};

/// From the smallest number above 0 to the largest.
TYPED_TEST(FixedPoint, PowersOfTwoAreExact) {
  using Exec = TypeParam;
  using Limits = std::numeric_limits<double>;
  std::vector<Scaled> list{
      {0.0, 5}, {-0.0, 5}, {Limits::denorm_min(), 1074}, {Limits::max(), -2000}};
  ts::Random random(3);
  for (int e = -1074; e <= 1023; ++e) {
    const double power = std::ldexp(1.0, e);
    for (const double x : {power, std::nextafter(power, 0.0), std::nextafter(power, 1e308),
                           power * (1 + random.uniform()), power * 1.5}) {
      const int exponent = -e + static_cast<int>(random.below(100)) - 50;
      list.push_back({x, exponent});
      list.push_back({-x, exponent});
    }
  }
  for (int i = 0; i < 2000; ++i)
    list.push_back({static_cast<double>(random.below(2000) - 1000) / 4, 0});
  const auto on_device = ts::to_device_list<Exec>(list);
  const auto found =
      ts::map_on<Exec>(static_cast<std::int64_t>(list.size()), PowersOf{on_device.data()});
  for (std::size_t i = 0; i < list.size(); ++i) {
    const double x = list[i].value;
    ASSERT_EQ(found[i].scaled, std::ldexp(x, list[i].exponent)) << x << ", " << list[i].exponent;
    int above = 0;
    if (x != 0) std::frexp(x, &above);
    ASSERT_EQ(found[i].above, above) << x;
    if (std::fabs(x) < 9.2e18) {
      ASSERT_EQ(found[i].floor, static_cast<std::int64_t>(std::floor(x))) << x;
    }
  }
}

struct PowerAt {
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    return core::power_of_two(static_cast<int>(i) - 1022);
  }
};

TYPED_TEST(FixedPoint, PowersHaveTheirBits) {
  using Exec = TypeParam;
  const auto found = ts::map_on<Exec>(1022 + 1024, PowerAt{});
  for (int e = -1022; e <= 1023; ++e)
    ASSERT_EQ(found[static_cast<std::size_t>(e + 1022)], std::ldexp(1.0, e)) << e;
}

// -------------------------------------------------------------------------- the grid

/// Pixels of a range, what the grid makes of each, and their sum in units of 2^-88.
struct OnGrid {
  double u;
  std::uint64_t first, rest;
};
struct MapToGrid {
  const double* pixels;
  core::Grid grid;
  KOKKOS_FUNCTION OnGrid operator()(std::int64_t i) const {
    const double u = grid.map(pixels[i]);
    return {u, core::to_grid_biased(u), core::to_grid_biased(core::grid_remainder(u))};
  }
};

TYPED_TEST(FixedPoint, PixelsAreRoundedToTheGrid) {
  using Exec = TypeParam;
  struct Range {
    double middle, low, high;
  };
  for (const Range& range :
       {Range{0, -1, 1}, Range{5, 4, 11}, Range{1e300, -1e300, 1.7e308}, Range{0, 0, 0},
        Range{1e-310, 0, 3e-310}, Range{-3e-5, -4e-5, 1e-5}, Range{7, 7, 7}}) {
    const core::Grid grid(range.middle, range.low, range.high);
    ts::Random random(6);
    std::vector<double> pixels{range.low, range.high, range.middle};
    for (int i = 0; i < 3000; ++i) {
      const double part = random.uniform();
      pixels.push_back(range.low * part + range.high * (1 - part));
    }
    const auto on_device = ts::to_device_list<Exec>(pixels);
    const auto n = static_cast<std::int64_t>(pixels.size());
    const auto found = ts::map_on<Exec>(n, MapToGrid{on_device.data(), grid});
    std::uint64_t sum = 0;
    Wide want = 0;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const double u = found[i].u;
      ASSERT_LE(std::fabs(u), 1.0) << pixels[i];
      const long double distance = static_cast<long double>(pixels[i]) - range.middle;
      ASSERT_NEAR(u, static_cast<double>(std::ldexp(distance, -grid.exponent)), 0x1p-51)
          << pixels[i] << " about " << range.middle;
      const std::int64_t first = core::unbias(found[i].first, 1);
      ASSERT_EQ(first, std::llrint(std::ldexp(u, core::grid_bits))) << u;
      const double rest = std::ldexp(u, core::grid_bits) - static_cast<double>(first);
      ASSERT_EQ(core::unbias(found[i].rest, 1), std::llrint(std::ldexp(rest, core::grid_bits)));
      sum += found[i].first;
      want += first;
    }
    EXPECT_EQ(core::unbias(sum, n), static_cast<std::int64_t>(want));
  }
}

/// No larger sum of pixels fits 64 bits, and this one does.
TEST(Grid, HasRoomForItsTerms) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < core::max_grid_terms; ++i) sum += core::to_grid_biased(1.0);
  EXPECT_EQ(core::unbias(sum, core::max_grid_terms), core::max_grid_terms << core::grid_bits);
}

}  // namespace
