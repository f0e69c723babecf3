// SPDX-License-Identifier: Apache-2.0

// What a host asks of the pixels of long runs, and of a window in which many are equal.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
    std::vector<T> pixels = gaussian<T>(n, n);
    for (std::size_t at = 0; at < n; at += 1 + n / 40) {
      for (const T extreme :
           {T(-100), T(100), std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()}) {
        std::vector<T> changed = pixels;
        changed[at] = extreme;
        const auto [low, high] = std::minmax_element(changed.begin(), changed.end());
        for (const auto level : ts::host_levels()) {
          const auto found =
              kd::extremes_on_host(level, changed.data(), static_cast<std::int64_t>(n));
          ASSERT_EQ(found.lowest, *low) << n << " pixels, " << at;
          ASSERT_EQ(found.highest, *high) << n << " pixels, " << at;
        }
      }
    }
  }
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

/// By the definition: from left to right.
template <class T>
void sum_naive(kd::FourRuns<T>& runs) {
  for (int r = 0; r < 4; ++r) {
    volatile double flux = 0, x_moment = 0;  // no sum is fused with a product
    for (std::int64_t i = 0; i < runs.n[r]; ++i) {
      const volatile double v =
          static_cast<double>(runs.pixels[r][i]) * runs.scale[r] * runs.scale_more[r];
      const volatile double term = v * (runs.x[r] + static_cast<double>(i));
      flux = flux + v;
      x_moment = x_moment + term;
    }
    runs.flux[r] = flux;
    runs.x_moment[r] = x_moment;
  }
}

TYPED_TEST(RunHost, FourRunsAreAddedUpFromLeftToRight) {
  using T = TypeParam;
  ts::Random random(5);
  const std::vector<T> pixels = gaussian<T>(5000, 9);
  for (int trial = 0; trial < 300; ++trial) {
    kd::FourRuns<T> runs{};
    const int used = trial % 5;  // the others have no pixels
    for (int r = 0; r < used; ++r) {
      runs.n[r] = trial < 20 ? 32 + r : random.below(400);
      runs.pixels[r] = pixels.data() + random.below(4000);
      runs.x[r] = static_cast<double>(random.below(10000));
      runs.scale[r] = std::ldexp(1.0, static_cast<int>(random.below(40)) - 20);
      runs.scale_more[r] = std::ldexp(1.0, static_cast<int>(random.below(40)) - 20);
    }
    kd::FourRuns<T> expected = runs;
    sum_naive(expected);
    for (const auto level : ts::host_levels()) {
      kd::FourRuns<T> found = runs;
      kd::sum_runs_on_host(level, found);
      for (int r = 0; r < 4; ++r) {
        EXPECT_EQ(found.flux[r], expected.flux[r]) << "run " << r << " of " << runs.n[r];
        EXPECT_EQ(found.x_moment[r], expected.x_moment[r]) << "run " << r << " of " << runs.n[r];
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
