// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/elementary.hpp"
#include "core/random_normal.hpp"
#include "core/random_poisson.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;

template <class Exec>
class Elementary : public ::testing::Test {};
TYPED_TEST_SUITE(Elementary, ts::Execs, ts::CaseName);

struct LogAndExp {
  double log, exp;
};
struct MapLogAndExp {
  const double* x;
  KOKKOS_FUNCTION LogAndExp operator()(std::int64_t i) const {
    return {core::log(x[i] < 0 ? -x[i] : x[i]), core::exp(x[i])};
  }
};

TYPED_TEST(Elementary, IsWithinTwoUnitsInTheLastPlace) {
  std::vector<double> x = {1,   0.5,  2,      1 + 0x1p-52, 1 - 0x1p-53, 1.4142135623730951,
                           700, -700, 1e-300, 1e300};
  ts::Random random(5);
  for (int i = 0; i < 20000; ++i) {
    const double u = static_cast<double>(random.next() >> 11) * 0x1p-53;
    x.push_back(1 + (u - 0.5) * 0.01);
    x.push_back((u - 0.5) * 1400);
    x.push_back(std::exp((u - 0.5) * 1200));
    x.push_back((u - 0.5) * 2);
  }
  const auto list = ts::to_device_list<TypeParam>(x);
  const auto n = static_cast<std::int64_t>(x.size());
  const auto found = ts::map_on<TypeParam>(n, MapLogAndExp{list.data()});
  const auto reference_list = ts::to_device_list<ts::FirstExec>(x);
  const auto reference = ts::map_on<ts::FirstExec>(n, MapLogAndExp{reference_list.data()});
  const auto units = [](double value, double want) {
    return std::abs(value - want) / (std::nextafter(std::abs(want), INFINITY) - std::abs(want));
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(found[i].log, reference[i].log) << x[i];
    ASSERT_EQ(found[i].exp, reference[i].exp) << x[i];
    ASSERT_LE(units(found[i].log, std::log(std::abs(x[i]))), 2) << x[i];
    if (x[i] < 709 && x[i] > -708) {
      ASSERT_LE(units(found[i].exp, std::exp(x[i])), 2) << x[i];
    }
  }
  EXPECT_EQ(core::exp(-709), 0);
  EXPECT_TRUE(std::isinf(core::exp(710)));
  EXPECT_TRUE(std::isnan(core::exp(std::nan(""))));
}

struct MapNormal {
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    return core::random_normal(7, static_cast<std::uint64_t>(i));
  }
};

TEST(NormalQuantile, IsTheInverseOfTheDistribution) {
  for (double exponent = -50; exponent <= -1; exponent += 0.01) {
    const double p = std::exp2(exponent);
    const double q = core::normal_quantile(p);
    EXPECT_NEAR(0.5 * std::erfc(-q / std::sqrt(2)) / p, 1, 2e-7 * (1 + q * q)) << p;
    if (exponent > -20) {
      EXPECT_NEAR(core::normal_quantile(1 - p), -q, 1e-6 * std::abs(q) + 1e-9);
    }
  }
}

TYPED_TEST(Elementary, NormalNumbersHaveTheirMomentsAndTails) {
  constexpr std::int64_t n = 4'000'000;
  const auto numbers = ts::map_on<TypeParam>(n, MapNormal{});
  double sum = 0;
  double squares = 0;
  std::vector<std::int64_t> beyond(5);
  for (const double x : numbers) {
    sum += x;
    squares += x * x;
    for (std::size_t k = 1; k < 5; ++k) beyond[k] += std::abs(x) > static_cast<double>(k) ? 1 : 0;
  }
  const auto count = static_cast<double>(n);
  EXPECT_NEAR(sum / count, 0, 4 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 4 * std::sqrt(2 / count));
  for (std::size_t k = 1; k < 5; ++k) {
    const double want = count * std::erfc(static_cast<double>(k) / std::sqrt(2));
    EXPECT_NEAR(static_cast<double>(beyond[k]), want, 4 * std::sqrt(want)) << k << " sigma";
  }
}

struct MapPoisson {
  double mean;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    return core::random_poisson(mean, 11, static_cast<std::uint64_t>(i));
  }
};

/// By the largest distance of the two cumulative distributions (Kolmogorov and Smirnov).
TYPED_TEST(Elementary, CountsHaveThePoissonDistribution) {
  constexpr std::int64_t n = 200'000;
  const auto count = static_cast<double>(n);
  for (const double mean : {0.01, 0.7, 5.0, 29.9, 30.0, 45.0, 1000.0, 3e5, 1e9, 1e14}) {
    const auto numbers = ts::map_on<TypeParam>(n, MapPoisson{mean});
    double sum = 0;
    double squares = 0;
    for (const double k : numbers) {
      ASSERT_EQ(k, std::floor(k));
      ASSERT_GE(k, 0);
      sum += k - mean;
      squares += (k - mean) * (k - mean);
    }
    EXPECT_NEAR(sum / count, 0, 4 * std::sqrt(mean / count)) << mean;
    EXPECT_NEAR(squares / count / mean, 1, 4 * std::sqrt((2 + 1 / mean) / count)) << mean;
    if (mean > 1e4) continue;
    const auto most = static_cast<std::size_t>(mean + 12 * std::sqrt(mean) + 12);
    std::vector<double> seen(most + 1);
    for (const double k : numbers) seen[std::min(most, static_cast<std::size_t>(k))] += 1 / count;
    double distance = 0;
    double seen_sum = 0;
    double want_sum = 0;
    for (std::size_t k = 0; k <= most; ++k) {
      const auto x = static_cast<double>(k);
      seen_sum += seen[k];
      want_sum += std::exp(x * std::log(mean) - mean - std::lgamma(x + 1));
      distance = std::max(distance, std::abs(seen_sum - want_sum));
    }
    EXPECT_LT(distance, 1.6 / std::sqrt(count)) << mean;
  }
  EXPECT_EQ(core::random_poisson(0, 1, 1), 0);
  EXPECT_EQ(core::random_poisson(-1, 1, 1), 0);
}

}  // namespace
