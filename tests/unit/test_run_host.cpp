// SPDX-License-Identifier: Apache-2.0

// What a host asks of the pixels of runs, and of a window in which many are equal.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/found_sums.hpp>
#include <kastor/detail/run_host.hpp>
#include <limits>
#include <string>
#include <vector>

#include "generators.hpp"
#include "host_levels.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

template <class T>
class RunHost : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
struct RealName {
  template <class T>
  static std::string GetName(int) {
    return sizeof(T) == 4 ? "float" : "double";
  }
};
TYPED_TEST_SUITE(RunHost, Reals, RealName);

constexpr std::size_t lengths[] = {1,   2,   3,   4,   7,   8,   15,   16,   31,
                                   32,  33,  63,  64,  65,  100, 127,  128,  129,
                                   255, 256, 257, 511, 512, 513, 1000, 4096, 4099};

template <class T>
std::vector<T> gaussian(std::size_t n, std::uint64_t seed) {
  ts::Random random(seed);
  std::vector<T> pixels(n);
  for (T& x : pixels) x = static_cast<T>(random.gaussian());
  return pixels;
}

TYPED_TEST(RunHost, ExtremesAreFoundWhereverTheyAre) {
  using T = TypeParam;
  for (const std::size_t n : lengths) {
    // Without a pixel to spare: what is read beyond them shows with the address sanitizer.
    std::vector<T> pixels = gaussian<T>(n, n);
    pixels.shrink_to_fit();
    for (std::size_t at = 0; at < n; at += 1 + n / 40) {
      for (const T extreme :
           {T(-100), T(100), std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()}) {
        std::vector<T> changed = pixels;
        changed[at] = extreme;
        const auto [low, high] = std::minmax_element(changed.begin(), changed.end());
        for (const auto level : ts::host_levels()) {
          kd::ExtremesOfRuns<T> runs;
          runs.used = 1;
          runs.pixels[0] = changed.data();
          runs.n[0] = static_cast<std::int64_t>(n);
          kd::extremes_on_host(level, runs);
          ASSERT_EQ(runs.lowest[0], *low) << n << " pixels, " << at;
          ASSERT_EQ(runs.highest[0], *high) << n << " pixels, " << at;
        }
      }
    }
  }
}

TYPED_TEST(RunHost, ExtremesOfManyRunsAreThoseOfEach) {
  using T = TypeParam;
  ts::Random random(8);
  const std::vector<T> pixels = gaussian<T>(5000, 4);
  for (int trial = 0; trial < 100; ++trial) {
    kd::ExtremesOfRuns<T> runs;
    runs.used = trial % (runs.most + 1);
    for (int r = 0; r < runs.used; ++r) {
      runs.pixels[r] = pixels.data() + random.below(4000);
      runs.n[r] = 1 + random.below(trial % 3 == 0 ? 300 : 20);
    }
    for (const auto level : ts::host_levels()) {
      kd::ExtremesOfRuns<T> found = runs;
      kd::extremes_on_host(level, found);
      for (int r = 0; r < runs.used; ++r) {
        const auto [low, high] = std::minmax_element(runs.pixels[r], runs.pixels[r] + runs.n[r]);
        EXPECT_EQ(found.lowest[r], *low) << "run " << r << " of " << runs.n[r];
        EXPECT_EQ(found.highest[r], *high) << "run " << r << " of " << runs.n[r];
      }
    }
  }
}

/// Whole numbers: their sums are exact in any order. Runs end where memory does.
TYPED_TEST(RunHost, LongRunsAreSummed) {
  using T = TypeParam;
  ts::Random random(10);
  for (std::int64_t n = kd::SummedRuns<T>::fewest; n < 400; n += n < 100 ? 1 : 7) {
    std::vector<T> pixels(static_cast<std::size_t>(n));
    for (T& x : pixels) x = static_cast<T>(random.below(20000) - 5000);
    pixels.shrink_to_fit();
    for (const auto level : ts::host_levels()) {
      kd::SummedRuns<T> runs;
      runs.used = static_cast<int>(1 + n % runs.most);
      for (int r = 0; r < runs.used; ++r) {
        runs.n[r] = std::max(n - r, kd::SummedRuns<T>::fewest);
        runs.pixels[r] = pixels.data() + (n - runs.n[r]);
      }
      kd::extremes_and_sums_on_host(level, runs);
      for (int r = 0; r < runs.used; ++r) {
        const T* const begin = runs.pixels[r];
        const auto [low, high] = std::minmax_element(begin, begin + runs.n[r]);
        ASSERT_EQ(runs.lowest[r], *low) << n;
        ASSERT_EQ(runs.highest[r], *high) << n;
        if constexpr (sizeof(T) == sizeof(float)) {
          double flux = 0, x_moment = 0;
          for (std::int64_t i = 0; i < runs.n[r]; ++i) {
            flux += static_cast<double>(begin[i]);
            x_moment += static_cast<double>(begin[i]) * static_cast<double>(i);
          }
          ASSERT_EQ(runs.flux[r], flux) << n;
          ASSERT_EQ(runs.x_moment[r], x_moment) << n;
        }
      }
    }
  }
}

/// In units of the pixels' last place, if a double holds the sum of any of them times the reach.
TEST(FoundSums, AreExactWhereTheyAreSaidToBe) {
  ts::Random random(11);
  int exact = 0, others = 0;
  for (const std::int64_t n : {16, 17, 100, 3000}) {
    for (int smaller = 0; smaller < 34;
         ++smaller) {  // the smallest pixels by so many powers of two
      std::vector<float> pixels(static_cast<std::size_t>(n));
      for (float& x : pixels)
        x = static_cast<float>(
            std::ldexp(1 + random.uniform(), -static_cast<int>(random.below(smaller + 1))));
      const auto reach = static_cast<double>(2 * n + random.below(10000));
      for (const auto level : ts::host_levels()) {
        kd::SummedRuns<float> runs;
        runs.used = 1;
        runs.n[0] = n;
        runs.pixels[0] = pixels.data();
        kd::extremes_and_sums_on_host(level, runs);
        const kd::FoundSums<float> found{runs.flux[0], runs.x_moment[0], runs.lowest[0]};
        ++(found.are_exact(reach) ? exact : others);
        if (!found.are_exact(reach)) continue;
        const int last_place = std::ilogb(found.lowest) - 23;
        __int128 flux = 0, x_moment = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          const auto units = static_cast<__int128>(
              std::ldexp(static_cast<double>(pixels[static_cast<std::size_t>(i)]), -last_place));
          flux += units;
          x_moment += units * i;
        }
        ASSERT_TRUE((flux * static_cast<__int128>(reach)) >> 53 == 0) << "a double rounds it";
        ASSERT_EQ(found.flux, std::ldexp(static_cast<double>(flux), last_place));
        ASSERT_EQ(found.x_moment, std::ldexp(static_cast<double>(x_moment), last_place));
      }
    }
  }
  EXPECT_GT(exact, 30);
  EXPECT_GT(others, 30);
}

TEST(FoundSums, OfPixelsThatAreNotAboveZeroAndFiniteAreNotSaidToBeExact) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr double wide = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE((kd::FoundSums<float>{0, 0, 0}.are_exact(10)));
  EXPECT_FALSE((kd::FoundSums<float>{1, 1, -0.0F}.are_exact(10)));
  EXPECT_FALSE((kd::FoundSums<float>{1, 1, -1}.are_exact(10)));
  EXPECT_FALSE((kd::FoundSums<float>{-9, -9, -1}.are_exact(10)));
  EXPECT_FALSE((kd::FoundSums<float>{wide, wide, 1}.are_exact(10)));
  EXPECT_FALSE((kd::FoundSums<float>{nan, nan, 1}.are_exact(10)));
  EXPECT_FALSE((kd::FoundSums<float>{wide, wide, infinity}.are_exact(10)));
  EXPECT_TRUE((kd::FoundSums<float>{30, 30, 1}.are_exact(10)));
}

TYPED_TEST(RunHost, TheFirstPixelOfAValueIsFound) {
  using T = TypeParam;
  for (const std::size_t n : lengths) {
    const std::vector<T> pixels = gaussian<T>(n, n);
    for (const auto level : ts::host_levels()) {
      const auto find = [&](T value, const std::vector<T>& among) {
        return kd::find_on_host(level, value, among.data(), static_cast<std::int64_t>(n));
      };
      EXPECT_EQ(find(T(7), pixels), -1);
      for (std::size_t at = 0; at < n; at += 1 + n / 40) {
        std::vector<T> changed = pixels;
        for (std::size_t i = at; i < n; i += 3) changed[i] = T(7);
        ASSERT_EQ(find(T(7), changed), static_cast<std::int64_t>(at)) << n;
        changed[at] = -T(0);
        ASSERT_EQ(find(T(0), changed), static_cast<std::int64_t>(at)) << n;
      }
    }
  }
}

std::int64_t rounded(double sum, double per_unit) {
  return static_cast<std::int64_t>(std::floor(sum * per_unit + 0.5));
}

/// By the definition: from left to right.
template <class T>
void sum_naive(kd::SumsOfRuns<T>& runs) {
  for (int r = 0; r < runs.used; ++r) {
    volatile double flux = 0, x_moment = 0;  // no sum is fused with a product
    for (std::int64_t i = 0; i < runs.n[r]; ++i) {
      const auto pixel = static_cast<double>(runs.pixels[r][i]);
      const volatile double v = pixel * runs.scale[r] * runs.scale_more[r];
      const volatile double term = v * static_cast<double>(runs.x[r] + i);
      flux = flux + v;
      x_moment = x_moment + term;
    }
    const volatile double y_moment = flux * runs.y[r];
    runs.flux[r] = rounded(flux, runs.flux_per_unit[r]);
    runs.x_moment[r] = rounded(x_moment, runs.x_per_unit[r]);
    runs.y_moment[r] = rounded(y_moment, runs.y_per_unit[r]);
  }
}

TYPED_TEST(RunHost, RunsAreAddedUpFromLeftToRight) {
  using T = TypeParam;
  ts::Random random(5);
  std::vector<T> pixels = gaussian<T>(5000, 9);
  for (std::size_t i = 0; i < pixels.size(); i += 7) pixels[i] *= T(1e-12);  // sums are rounded
  for (int trial = 0; trial < 400; ++trial) {
    kd::SumsOfRuns<T> runs;
    runs.used = trial % (runs.most + 1);
    for (int r = 0; r < runs.used; ++r) {
      runs.n[r] = 1 + random.below(trial % 3 == 0 ? 400 : (trial % 3 == 1 ? 6 : 20));
      runs.pixels[r] = pixels.data() + random.below(4000);
      runs.x[r] = static_cast<std::int32_t>(random.below(10000));
      runs.y[r] = static_cast<std::int32_t>(random.below(10000));
      const auto exponent = [&] { return static_cast<int>(random.below(40)) - 20; };
      runs.scale[r] = std::ldexp(1.0, exponent());
      runs.scale_more[r] = std::ldexp(1.0, -exponent());
      runs.flux_per_unit[r] = std::ldexp(1.0, exponent() - 10);
      runs.x_per_unit[r] = std::ldexp(1.0, exponent() - 25);
      runs.y_per_unit[r] = std::ldexp(1.0, exponent() - 25);
    }
    kd::SumsOfRuns<T> expected = runs;
    sum_naive(expected);
    for (const auto level : ts::host_levels()) {
      kd::SumsOfRuns<T> found = runs;
      kd::sum_runs_on_host(level, found);
      for (int r = 0; r < runs.used; ++r) {
        EXPECT_EQ(found.flux[r], expected.flux[r]) << "run " << r << " of " << runs.n[r];
        EXPECT_EQ(found.x_moment[r], expected.x_moment[r]) << "run " << r << " of " << runs.n[r];
        EXPECT_EQ(found.y_moment[r], expected.y_moment[r]) << "run " << r << " of " << runs.n[r];
      }
    }
  }
}

/// Pixels end where memory does, so that the address sanitizer sees what is read beyond them.
TYPED_TEST(RunHost, NoPixelBeyondARunIsRead) {
  using T = TypeParam;
  for (std::size_t n = 1; n < 40; ++n) {
    std::vector<T> pixels(n, T(3));
    pixels.shrink_to_fit();
    for (const auto level : ts::host_levels()) {
      kd::SumsOfRuns<T> runs;
      runs.used = 3;
      for (int r = 0; r < 3; ++r) {
        const std::size_t begin =
            r == 0 ? 0 : n - std::min<std::size_t>(n, static_cast<std::size_t>(r));
        runs.pixels[r] = pixels.data() + begin;
        runs.n[r] = static_cast<std::int64_t>(n - begin);
        runs.scale[r] = runs.scale_more[r] = runs.flux_per_unit[r] = 1;
      }
      kd::sum_runs_on_host(level, runs);
      for (int r = 0; r < 3; ++r) {
        EXPECT_EQ(runs.flux[r], 3 * runs.n[r]);
      }
    }
  }
}

TYPED_TEST(RunHost, ValuesAreCountedAndTakenOut) {
  using T = TypeParam;
  const T values[] = {T(2), T(0), T(-3.5), std::numeric_limits<T>::max()};
  ts::Random random(3);
  for (const std::size_t n : lengths) {
    for (const int share : {0, 1, 50, 99, 100}) {  // per cent that equal one of them
      std::vector<T> pixels = gaussian<T>(n, n);
      for (T& x : pixels)
        if (random.below(100) < share) x = values[random.below(4)];
      if (n > 3) pixels[3] = -T(0);  // equals 0
      for (const int of_values : {0, 1, 4}) {
        std::vector<T> others;
        std::vector<std::int64_t> expected(4, 10);
        for (const T x : pixels) {
          const T* const at = std::find(values, values + of_values, x);
          if (at == values + of_values) {
            others.push_back(x);
          } else {
            ++expected[static_cast<std::size_t>(at - values)];
          }
        }
        for (const auto level : ts::host_levels()) {
          std::vector<T> list = pixels;
          list.push_back(T(-77));
          std::vector<std::int64_t> counts(4, 10);
          const std::int64_t kept = kd::take_out_on_host(
              level, values, of_values, list.data(), static_cast<std::int64_t>(n), counts.data());
          EXPECT_EQ(list.back(), T(-77));
          list.resize(static_cast<std::size_t>(kept));
          EXPECT_EQ(list, others) << n << " pixels, " << of_values << " values";
          EXPECT_EQ(counts, expected);
        }
      }
    }
  }
}

}  // namespace
