// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <kastor/constant_fill.hpp>
#include <limits>
#include <string>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
using kastor::FillValue;

constexpr std::int64_t side = 320;

/// Gaussian noise about a level.
template <class T>
ts::HostImage<T> noise(double level, double std, std::int64_t ny = side, std::int64_t nx = side) {
  ts::HostImage<T> image(ny, nx);
  ts::Random random(11);
  for (T& pixel : image.values) pixel = static_cast<T>(level + std * random.gaussian());
  return image;
}

/// Where a mosaic has no sky.
using Region = std::function<bool(std::int64_t y, std::int64_t x, std::int64_t n)>;
struct Place {
  const char* name;
  Region region;
};
const std::vector<Place> places = {
    {"outside a circle",
     [](auto y, auto x, auto n) {
       return (2 * y - n) * (2 * y - n) + (2 * x - n) * (2 * x - n) > n * n * 8 / 10;
     }},
    {"a border",
     [](auto y, auto x, auto n) {
       return std::min({y, x, n - 1 - y, n - 1 - x}) < n / 12;
     }},
    {"half", [](auto, auto x, auto n) { return x >= n / 2; }},
    {"a corner", [](auto y, auto x, auto n) { return y < n / 5 && x < n / 4; }},
    {"most", [](auto y, auto x, auto n) { return y > n / 3 || x < n / 4; }}};

/// Replaces the region by these numbers in turn; returns how many pixels it has.
template <class T>
std::int64_t fill_in(ts::HostImage<T>& image, const Region& region, const std::vector<T>& numbers) {
  std::int64_t count = 0;
  ts::Random random(5);
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 0; x < image.nx; ++x) {
      if (!region(y, x, image.nx)) continue;
      const auto which = random.below(static_cast<std::int64_t>(numbers.size()));
      image(y, x) = numbers[static_cast<std::size_t>(which)];
      ++count;
    }
  }
  return count;
}

/// The next numbers of the type, `first` included.
template <class T>
std::vector<T> neighbours(T first, int count) {
  std::vector<T> numbers{first};
  while (static_cast<int>(numbers.size()) < count)
    numbers.push_back(std::nextafter(numbers.back(), std::numeric_limits<T>::max()));
  return numbers;
}

template <class C>
std::vector<FillValue> find_in(const ts::HostImage<typename C::real>& image, double seed = 5) {
  using Exec = typename C::exec;
  const Exec space;
  const auto found = kastor::find_constant_fill(space, ts::to_device<Exec>(image), {seed});
  const auto cut_out = ts::to_device_cut_out<Exec>(image);
  const auto again = kastor::find_constant_fill(space, cut_out.image, {seed});
  EXPECT_EQ(found.size(), again.size());
  for (std::size_t i = 0; i < std::min(found.size(), again.size()); ++i) {
    EXPECT_EQ(found[i].low, again[i].low);
    EXPECT_EQ(found[i].high, again[i].high);
    EXPECT_EQ(found[i].pixels, again[i].pixels);
  }
  return found;
}

template <class C>
class ConstantFill : public ::testing::Test {};
TYPED_TEST_SUITE(ConstantFill, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(ConstantFill, IsFoundWhereverItIs) {
  using T = typename TypeParam::real;
  struct Sky {
    double level, std;
  };
  const T tiny = static_cast<T>(3.20375e-07);
  for (const auto& [level, std] : {Sky{0, 1e-4}, Sky{0, 1}, Sky{1234, 30}}) {
    for (const auto& numbers : {std::vector<T>{0}, std::vector<T>{T(-0.25)}, neighbours(tiny, 4),
                                std::vector<T>{T(-0.0), T(0)}}) {
      for (const auto& [name, region] : places) {
        auto image = noise<T>(level, std);
        const auto count = fill_in(image, region, numbers);
        const auto found = find_in<TypeParam>(image);
        const std::string what = std::string(name) + ", level " + std::to_string(level);
        ASSERT_EQ(found.size(), 1u) << what;
        EXPECT_EQ(found[0].low, static_cast<double>(numbers.front())) << what;
        EXPECT_EQ(found[0].high, static_cast<double>(numbers.back())) << what;
        EXPECT_EQ(found[0].pixels, count) << what;
        EXPECT_FALSE(std::signbit(found[0].low) && found[0].low == 0) << what;
      }
    }
  }
}

TYPED_TEST(ConstantFill, MayHaveSeveralValuesAndBlankPixelsAround) {
  using T = typename TypeParam::real;
  auto image = noise<T>(0, 1);
  const auto zeros = fill_in<T>(image, places[3].region, {0});
  const auto others =
      fill_in<T>(image, [](auto y, auto x, auto n) { return y > n / 2 && x > n / 2; }, {T(-99)});
  fill_in<T>(image, [](auto y, auto x, auto) { return y < 40 && x > 250; },
             {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()});
  const auto found = find_in<TypeParam>(image);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].low, -99);
  EXPECT_EQ(found[0].pixels, others);
  EXPECT_EQ(found[1].low, 0);
  EXPECT_EQ(found[1].pixels, zeros);
}

TYPED_TEST(ConstantFill, SkiesOfFewValuesAreKept) {
  using T = typename TypeParam::real;
  for (const auto pixels : {ts::Pixels::constant, ts::Pixels::two_values, ts::Pixels::tenths,
                            ts::Pixels::narrow_integers, ts::Pixels::wide_integers,
                            ts::Pixels::sixteen_bit, ts::Pixels::gaussian, ts::Pixels::denormal}) {
    const auto image = ts::make_image<T>(pixels, side, side, 3);
    EXPECT_TRUE(find_in<TypeParam>(image).empty()) << static_cast<int>(pixels);
  }
  ts::Random random(8);
  for (const double mean : {0.001, 0.03, 0.3, 1.0, 3.0, 10.0}) {
    ts::HostImage<T> counts(side, side);  // of photons (Knuth's way)
    for (T& pixel : counts.values) {
      for (double p = random.uniform(); p > std::exp(-mean); p *= random.uniform()) pixel += 1;
    }
    EXPECT_TRUE(find_in<TypeParam>(counts).empty()) << mean;
  }
  for (const double step : {0.5, 1.0, 2.0, 4.0}) {  // a sky with a gradient, in steps of the noise
    auto image = noise<T>(100, 1);
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x)
        image(y, x) = std::round((image(y, x) + T(0.02) * static_cast<T>(x + y)) / T(step));
    }
    EXPECT_TRUE(find_in<TypeParam>(image).empty()) << step;
  }
  // Smooth maps in few values, whose levels lie in pieces.
  for (const double levels : {1.5, 3.0, 8.0}) {
    ts::HostImage<T> map(side, side);
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x) {
        const double wave = std::sin(0.023 * static_cast<double>(x + 9)) +
                            std::cos(0.031 * static_cast<double>(y - x / 3));
        map(y, x) = static_cast<T>(std::round(levels * wave));
      }
    }
    EXPECT_TRUE(find_in<TypeParam>(map).empty()) << levels;
  }
  // A sky whose noise is in the last digits.
  auto last_digits = noise<T>(0, 1.2);
  const T ulp = std::numeric_limits<T>::epsilon();
  for (T& pixel : last_digits.values) pixel = T(1) + ulp * std::round(pixel);
  fill_in<T>(last_digits, places[3].region, {T(2)});
  EXPECT_TRUE(find_in<TypeParam>(last_digits, 1e9).empty());
}

TYPED_TEST(ConstantFill, TheLowerEndOfTheSkyIsKept) {
  using T = typename TypeParam::real;
  // Noise without its negative half, smooth over up to 30 pixels: zeros lie in patches.
  for (const int smooth : {1, 8, 30}) {
    const auto coarse = noise<T>(0, 1, side, side + 1);
    ts::HostImage<T> image(side, side);
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x) {
        const T a = coarse(y / smooth, x / smooth), b = coarse(y / smooth, x / smooth + 1);
        const T f = static_cast<T>(x % smooth) / static_cast<T>(smooth);
        image(y, x) = std::max(T(0), (1 - f) * a + f * b);
      }
    }
    EXPECT_TRUE(find_in<TypeParam>(image).empty()) << smooth;
  }
  // A model without noise: large sources over 0.
  ts::HostImage<T> model(side, side);
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      const double r = std::hypot(static_cast<double>(y - 150), static_cast<double>(x - 140));
      model(y, x) =
          r < 90 ? static_cast<T>(std::exp(-r * r / 800) - std::exp(-90. * 90 / 800)) : T(0);
    }
  }
  EXPECT_TRUE(find_in<TypeParam>(model).empty());
}

TYPED_TEST(ConstantFill, IsNeverAboveTheSeed) {
  using T = typename TypeParam::real;
  const Region disk = [](auto y, auto x, auto) {
    return (y - 100) * (y - 100) + (x - 190) * (x - 190) < 60 * 60;
  };
  for (const double height : {-100.0, 0.0, 1.0, 4.5, 5.5, 100.0, 65535.0}) {
    auto image = noise<T>(10, 2);
    const auto count = fill_in<T>(image, disk, {static_cast<T>(10 + 2 * height)});
    const auto found = find_in<TypeParam>(image);
    EXPECT_EQ(found.size(), height < 5 ? 1u : 0u) << height;
    for (const auto& value : found) EXPECT_EQ(value.pixels, count);
    EXPECT_EQ(find_in<TypeParam>(image, 1.5).size(), height < 1.5 ? 1u : 0u) << height;
    EXPECT_EQ(find_in<TypeParam>(image, 1e9).size(), 1u) << height;
  }
}

TYPED_TEST(ConstantFill, NeedsARestAndRoom) {
  using T = typename TypeParam::real;
  for (const auto& [ny, nx] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 0}, {0, 7}, {1, 1}, {1, 3000}, {3000, 1}, {5, 5}, {33, 65}}) {
    EXPECT_TRUE(find_in<TypeParam>(noise<T>(0, 1, ny, nx)).empty()) << ny << " x " << nx;
    EXPECT_TRUE(find_in<TypeParam>(ts::HostImage<T>(ny, nx)).empty()) << ny << " x " << nx;
  }
  EXPECT_TRUE(find_in<TypeParam>(ts::HostImage<T>(side, side, std::numeric_limits<T>::quiet_NaN()))
                  .empty());
  auto halves = ts::HostImage<T>(side, side);  // of two constants: no sky is left
  fill_in<T>(halves, places[2].region, {1});
  EXPECT_TRUE(find_in<TypeParam>(halves).empty());
  auto scattered = noise<T>(0, 1);  // zeros here and there, as many as there are others
  ts::Random random(9);
  fill_in<T>(scattered, [&](auto, auto, auto) { return random.below(2) == 0; }, {0});
  EXPECT_TRUE(find_in<TypeParam>(scattered).empty());
  const typename TypeParam::exec space;
  const auto image = ts::to_device<typename TypeParam::exec>(noise<T>(0, 1, 4, 4));
  EXPECT_THROW((void)kastor::find_constant_fill(space, image, {-1}), kastor::Error);
  EXPECT_THROW((void)kastor::find_constant_fill(space, image, {std::nan("")}), kastor::Error);
}

TYPED_TEST(ConstantFill, IsTheSameBitsOnEveryBackend) {
  using T = typename TypeParam::real;
  using First = ts::Case<ts::FirstExec, T>;
  auto image = noise<T>(0, 1, 300, 517);
  fill_in(image, places[0].region, neighbours(T(-0.25), 4));
  fill_in<T>(image, places[3].region, {T(-7)});
  const auto found = find_in<TypeParam>(image);
  const auto first = find_in<First>(image);
  ASSERT_EQ(found.size(), 2u);
  ASSERT_EQ(first.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found[i].low, first[i].low);
    EXPECT_EQ(found[i].high, first[i].high);
    EXPECT_EQ(found[i].pixels, first[i].pixels);
  }
}

TYPED_TEST(ConstantFill, IsExcluded) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  for (const std::int64_t nx : {1, 63, 64, 65, 200}) {
    auto host = ts::make_image<T>(ts::Pixels::contaminated, 37, nx, 3);
    for (std::size_t i = 0; i < host.values.size(); i += 3)
      host.values[i] = T(i % 2 == 0 ? 0. : -0.);
    const std::vector<FillValue> fill{{-0.5, -0.25, 0}, {0, 0, 0}};
    ts::HostMask is_fill(37, nx), above(37, nx), usable(37, nx), excluded(37, nx);
    for (std::size_t i = 0; i < host.values.size(); ++i) {
      const T x = host.values[i];
      is_fill.values[i] = x == 0 || (x >= T(-0.5) && x <= T(-0.25)) ? 1 : 0;
      above.values[i] = std::isfinite(x) && x > T(0.1) ? 1 : 0;
      const bool below = std::isfinite(x) && x > T(-0.3);
      usable.values[i] = below && is_fill.values[i] == 0 ? 1 : 0;
      excluded.values[i] = above.values[i] != 0 || is_fill.values[i] != 0 ? 1 : 0;
    }
    const auto check = [&](const auto& image) {
      const auto first = kastor::threshold(space, image, -0.3);
      const auto second = kastor::threshold(space, image, 0.1);
      kastor::exclude_fill(space, image, fill, first, second);
      space.fence("test::exclude");
      EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(first.words), ts::pack_naive(usable))) << nx;
      EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(second.words), ts::pack_naive(excluded))) << nx;
    };
    const auto image = ts::to_device<Exec>(host);
    check(image);
    check(ts::to_device_cut_out<Exec>(host).image);
    const auto narrow = kastor::make_bit_mask(space, 37, nx + 1);
    const auto right = kastor::make_bit_mask(space, 37, nx);
    EXPECT_THROW(kastor::exclude_fill(space, image, fill, narrow, right), kastor::Error);
    EXPECT_THROW(kastor::exclude_fill(space, image, fill, right, narrow), kastor::Error);
  }
}

}  // namespace
