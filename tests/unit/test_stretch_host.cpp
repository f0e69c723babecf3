// SPDX-License-Identifier: Apache-2.0

// What a host asks of runs of one component that follow one another in a row.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/found_stretches.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "generators.hpp"
#include "host_levels.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

template <class T>
class StretchHost : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
struct RealName {
  template <class T>
  static std::string GetName(int) {
    return sizeof(T) == 4 ? "float" : "double";
  }
};
TYPED_TEST_SUITE(StretchHost, Reals, RealName);

/// A row of runs. Background is NaN, which would spread.
template <class T>
struct Row {
  std::vector<T> pixels;
  std::vector<std::uint64_t> words;
  std::vector<std::int32_t> begin, end;

  Row(std::int64_t nx, double density, ts::Random& random)
      : pixels(static_cast<std::size_t>(nx), std::numeric_limits<T>::quiet_NaN()),
        words(static_cast<std::size_t>((nx + 63) / 64)) {
    for (std::int32_t x = 0; x < nx; ++x) {
      if (random.uniform() >= density) continue;
      if (end.empty() || end.back() != x) {
        begin.push_back(x);
        end.push_back(x);
      }
      ++end.back();
      words[static_cast<std::size_t>(x / 64)] |= std::uint64_t{1} << x % 64;
    }
  }
  [[nodiscard]] std::int64_t runs() const { return static_cast<std::int64_t>(begin.size()); }
  [[nodiscard]] kd::Stretch<T> stretch(std::int64_t first, std::int64_t n) const {
    return {pixels.data(),        words.data(),       static_cast<std::int64_t>(pixels.size()),
            begin.data() + first, end.data() + first, n};
  }
  /// `pixel(x)` in the foreground.
  template <class Pixel>
  void fill(const Pixel& pixel) {
    for (std::size_t r = 0; r < begin.size(); ++r)
      for (std::int32_t x = begin[r]; x < end[r]; ++x)
        pixels[static_cast<std::size_t>(x)] = pixel(x);
  }
};

template <class T>
kd::SumsOfStretch<T> sum_naive(const kd::Stretch<T>& stretch) {
  kd::SumsOfStretch<T> sums{};
  sums.lowest = sums.highest = stretch.pixels[stretch.begin[0]];
  for (std::int64_t r = 0; r < stretch.runs; ++r) {
    const std::int32_t n = stretch.end[r] - stretch.begin[r];
    sums.n_pix += n;
    sums.longest_run = std::max(sums.longest_run, n);
    for (std::int32_t x = stretch.begin[r]; x < stretch.end[r]; ++x) {
      const T pixel = stretch.pixels[x];
      sums.lowest = std::min(sums.lowest, pixel);
      sums.highest = std::max(sums.highest, pixel);
      if constexpr (sizeof(T) == 4) {
        sums.flux += static_cast<double>(pixel);
        sums.x_moment += static_cast<double>(pixel) * x;
      }
    }
  }
  return sums;
}

template <class T>
void expect_naive(const kd::Stretch<T>& stretch) {
  const kd::SumsOfStretch<T> want = sum_naive(stretch);
  for (const auto level : ts::host_levels()) {
    const kd::SumsOfStretch<T> got = kd::sum_stretch_on_host(level, stretch);
    const std::string what =
        std::to_string(stretch.runs) + " runs from " + std::to_string(stretch.begin[0]) + " of " +
        std::to_string(stretch.nx) + ", level " + std::to_string(static_cast<int>(level));
    ASSERT_EQ(got.n_pix, want.n_pix) << what;
    ASSERT_EQ(got.longest_run, want.longest_run) << what;
    ASSERT_EQ(got.lowest, want.lowest) << what;
    ASSERT_EQ(got.highest, want.highest) << what;
    ASSERT_EQ(got.flux, want.flux) << what;
    ASSERT_EQ(got.x_moment, want.x_moment) << what;
  }
}

/// Widths about the multiples of words and vectors; without a pixel to spare, so that the address
/// sanitizer sees what is read beyond the row.
constexpr std::int64_t widths[] = {1,   2,   7,   8,   9,   15,  16,  17,  31,   32,   33,  63,
                                   64,  65,  71,  72,  73,  127, 128, 129, 191,  192,  193, 255,
                                   256, 257, 300, 511, 512, 513, 640, 700, 1000, 2048, 4099};

/// Whole numbers: their sums are exact in any order.
TYPED_TEST(StretchHost, WholeRowsAreSummed) {
  using T = TypeParam;
  ts::Random random(1);
  for (const std::int64_t nx : widths) {
    for (const double density : {0.05, 0.3, 0.6, 0.95, 1.1}) {
      Row<T> row(nx, density, random);
      if (row.runs() == 0) continue;
      row.fill([&](std::int32_t) { return static_cast<T>(random.below(2000) - 1000); });
      expect_naive(row.stretch(0, row.runs()));
    }
  }
}

/// What lies before and behind the stretch in the same words is of others.
TYPED_TEST(StretchHost, PartsOfRowsAreSummed) {
  using T = TypeParam;
  ts::Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    Row<T> row(1 + random.below(700), 0.1 + 0.8 * random.uniform(), random);
    if (row.runs() == 0) continue;
    row.fill([&](std::int32_t) { return static_cast<T>(1 + random.below(1 << 20)); });
    for (int part = 0; part < 20; ++part) {
      const std::int64_t first = random.below(row.runs());
      expect_naive(row.stretch(first, 1 + random.below(row.runs() - first)));
    }
  }
}

TYPED_TEST(StretchHost, ExtremesAreFoundWhereverTheyAre) {
  using T = TypeParam;
  ts::Random random(3);
  for (const std::int64_t nx : {70, 128, 300}) {
    Row<T> row(nx, 0.6, random);
    for (std::int32_t at = 0; at < nx; ++at) {
      for (const T extreme : {T(-70000), T(70000)}) {
        row.fill([&](std::int32_t x) { return x == at ? extreme : T(x % 7); });
        expect_naive(row.stretch(0, row.runs()));
      }
    }
    row.fill([](std::int32_t x) { return x % 2 == 0 ? T(0) : -T(0); });
    expect_naive(row.stretch(0, row.runs()));
  }
}

/// In units of the pixels' last place.
double sum_exactly(const kd::Stretch<float>& stretch, int last_place, bool of_moments) {
  __int128 sum = 0;
  for (std::int64_t r = 0; r < stretch.runs; ++r) {
    for (std::int32_t x = stretch.begin[r]; x < stretch.end[r]; ++x) {
      const auto units = static_cast<__int128>(std::ldexp(stretch.pixels[x], -last_place));
      sum += of_moments ? units * x : units;
    }
  }
  EXPECT_TRUE(sum >> 53 == 0) << "a double rounds it";
  return std::ldexp(static_cast<double>(sum), last_place);
}

TEST(FoundStretch, SumsAreExactWhereTheyAreSaidToBe) {
  ts::Random random(4);
  int exact = 0, others = 0;
  for (const std::int64_t nx : {20, 300, 2048, 30000}) {
    for (int smaller = 0; smaller < 32;
         ++smaller) {  // the smallest pixels by so many powers of two
      Row<float> row(nx, 0.6, random);
      row.fill([&](std::int32_t) {
        return static_cast<float>(
            std::ldexp(1 + random.uniform(), -static_cast<int>(random.below(smaller + 1))));
      });
      const kd::Stretch<float> stretch = row.stretch(0, row.runs());
      for (const auto level : ts::host_levels()) {
        const kd::FoundStretch<float> found{0,
                                            row.runs(),
                                            {row.begin.front(), row.end.back(), 7, 1},
                                            kd::sum_stretch_on_host(level, stretch)};
        ++(found.sums_are_exact() ? exact : others);
        if (!found.sums_are_exact()) continue;
        ASSERT_EQ(found.sums.flux, sum_exactly(stretch, found.last_place(), false)) << nx;
        ASSERT_EQ(found.sums.x_moment, sum_exactly(stretch, found.last_place(), true)) << nx;
      }
    }
  }
  EXPECT_GT(exact, 30);
  EXPECT_GT(others, 30);
}

TEST(FoundStretch, SumsOfPixelsThatAreNotAboveZeroAndFiniteAreNotSaidToBeExact) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [lowest, highest] :
       {std::pair{0.0F, 1.0F}, std::pair{-0.0F, 1.0F}, std::pair{-1.0F, 1.0F},
        std::pair{1.0F, infinity}, std::pair{infinity, infinity}}) {
    const kd::FoundStretch<float> found{0, 1, {0, 2, 0, 1}, {2, 2, lowest, highest, 1, 1}};
    EXPECT_FALSE(found.sums_are_exact()) << lowest << ", " << highest;
  }
  const kd::FoundStretch<float> plain{0, 1, {0, 2, 0, 1}, {2, 2, 1, 2, 3, 2}};
  EXPECT_TRUE(plain.sums_are_exact());
}

}  // namespace
