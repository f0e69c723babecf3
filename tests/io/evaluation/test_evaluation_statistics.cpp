// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/evaluation.hpp>
#include <numbers>
#include <random>
#include <vector>

namespace {

using kastor::io::beam_correlation;
using kastor::io::binomial_estimate;
using kastor::io::expected_islands_per_pixel;
using kastor::io::half_point;
using kastor::io::NoiseCorrelation;
using kastor::io::poisson_estimate;
using kastor::io::smooth_islands_per_pixel;

TEST(Intervals, Wilson) {
  // The roots of (p - found / n)^2 = p (1 - p) / n.
  for (const auto& [found, all] : {std::pair(0, 1), std::pair(0, 20), std::pair(3, 10),
                                   std::pair(10, 20), std::pair(97, 100), std::pair(7, 7)}) {
    const double n = all;
    const double share = found / n;
    const auto estimate = binomial_estimate(found, all);
    EXPECT_EQ(estimate.value, share);
    for (const double p : {estimate.low, estimate.high})
      EXPECT_NEAR((p - share) * (p - share), p * (1 - p) / n, 1e-15) << found << " of " << all;
    EXPECT_LE(estimate.low, share);
    EXPECT_GE(estimate.high, share);
  }
  EXPECT_EQ(binomial_estimate(0, 20).low, 0);
  EXPECT_EQ(binomial_estimate(7, 7).high, 1);
  EXPECT_TRUE(std::isnan(binomial_estimate(0, 0).value));
  EXPECT_THROW((void)binomial_estimate(2, 1), kastor::Error);
}

TEST(Intervals, PoissonAsInTheTablesOfGehrels) {
  // ApJ 303, 336 (1986), tables 1 and 2, for one sigma: upper and lower limits.
  struct Row {
    int count;
    double low, high;
  };
  for (const auto& [count, low, high] :
       {Row{0, 0, 1.841}, Row{1, 0.173, 3.300}, Row{2, 0.708, 4.638}, Row{5, 2.840, 8.382},
        Row{10, 6.891, 14.27}, Row{50, 42.95, 58.12}, Row{100, 90.02, 111.0}}) {
    const auto estimate = poisson_estimate(count);
    EXPECT_EQ(estimate.value, count);
    EXPECT_NEAR(estimate.low, low, 5e-4 * std::max(1.0, low)) << count;
    EXPECT_NEAR(estimate.high, high, 5e-4 * high) << count;
  }
  const auto many = poisson_estimate(1000000);
  EXPECT_NEAR(many.low, 1e6 - 1e3, 2);
  EXPECT_NEAR(many.high, 1e6 + 1e3, 2);
  EXPECT_THROW((void)poisson_estimate(-1), kastor::Error);
}

TEST(HalfPoint, OfAKnownCurve) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> snr;
  std::vector<int> found;
  for (int i = 0; i < 4000; ++i) {
    const double value = std::exp(std::log(1.0) + uniform(random) * std::log(100.0));
    // A lapse at bright sources, and faint ones that are met by chance.
    const double share = 0.02 + 0.95 / (1 + std::exp(-12 * std::log(value / 5.2)));
    snr.push_back(value);
    found.push_back(uniform(random) < share ? 1 : 0);
  }
  const auto half = half_point(snr, found);
  const double p = (0.5 - 0.02) / 0.95;
  const double truth = 5.2 * std::exp(std::log(p / (1 - p)) / 12);
  EXPECT_GT(half.error, 0.03);
  EXPECT_LT(half.error, 0.3);
  EXPECT_NEAR(half.snr, truth, 3 * half.error);
}

TEST(HalfPoint, WithoutAFit) {
  // Sharp: between the middles of what is missed and what is found.
  const std::vector<double> snr = {8, 2, 4, 16};
  const auto sharp = half_point(snr, std::vector<int>{1, 0, 0, 1});
  EXPECT_NEAR(sharp.snr, std::sqrt(std::sqrt(2.0 * 4) * std::sqrt(8.0 * 16)), 1e-12);
  EXPECT_TRUE(std::isnan(sharp.error));
  EXPECT_TRUE(std::isnan(half_point(snr, std::vector<int>{1, 1, 1, 1}).snr));
  EXPECT_TRUE(std::isnan(half_point(snr, std::vector<int>{0, 0, 0, 0}).snr));
  EXPECT_TRUE(std::isnan(half_point({}, {}).snr));
  EXPECT_THROW((void)half_point(snr, std::vector<int>{1}), kastor::Error);
  const std::vector<double> zero = {0};
  EXPECT_THROW((void)half_point(zero, std::vector<int>{1}), kastor::Error);
}

TEST(HalfPoint, OrderDoesNotMatter) {
  const std::vector<double> snr = {3, 4, 5, 6, 7, 8, 4.5, 5.5};
  const std::vector<int> found = {0, 1, 0, 1, 1, 1, 0, 1};
  auto back_snr = snr;
  auto back_found = found;
  std::reverse(back_snr.begin(), back_snr.end());
  std::reverse(back_found.begin(), back_found.end());
  EXPECT_EQ(half_point(snr, found).snr, half_point(back_snr, back_found).snr);
}

double above(double u) { return 0.5 * std::erfc(u / std::numbers::sqrt2); }

TEST(ExpectedIslands, SmoothFieldHasTheDensityOfTheBeam) {
  for (const double fwhm : {3.0, 5.0, 12.0}) {
    const double area = std::numbers::pi * fwhm * fwhm / (4 * std::numbers::ln2);
    for (const double u : {3.0, 4.0, 5.0}) {
      const double per_beam = u * std::exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi);
      EXPECT_NEAR(smooth_islands_per_pixel(u, beam_correlation(area)) * area, per_beam,
                  1e-12 * per_beam);
    }
  }
  // An elliptical beam that lies on a diagonal has the density of its area.
  const double a = 0.02;
  const double b = 0.06;
  const NoiseCorrelation turned{std::exp(-(a + b) / 4), std::exp(-(a + b) / 4), std::exp(-a),
                                std::exp(-b)};
  const double determinant = std::sqrt(a * b);
  EXPECT_NEAR(smooth_islands_per_pixel(4, turned),
              determinant * std::pow(2 * std::numbers::pi, -1.5) * 4 * std::exp(-8.0), 1e-15);
  EXPECT_TRUE(std::isnan(smooth_islands_per_pixel(4, {0, 0, 0, 0})));
  EXPECT_TRUE(std::isnan(smooth_islands_per_pixel(0.5, turned)));
}

TEST(ExpectedIslands, PixelsOfWhiteNoise) {
  // Independent pixels: the polynomial of their probability.
  for (const double u : {2.0, 3.0, 4.0}) {
    const double p = above(u);
    const double islands = p - 4 * p * p + 4 * p * p * p - p * p * p * p;
    EXPECT_NEAR(expected_islands_per_pixel(u, {0, 0, 0, 0}), islands, 1e-8 * islands);
  }
}

TEST(ExpectedIslands, PixelsMissPeaks) {
  // Ratios to the smooth field, of an independent calculation with other integrals.
  struct Row {
    double fwhm, u, ratio;
  };
  for (const auto& [fwhm, u, ratio] : {Row{3, 3, 0.6348}, Row{3, 5, 0.3591}, Row{5, 4, 0.7496},
                                       Row{6, 4, 0.8160}, Row{12, 3, 0.9700}, Row{24, 4, 0.9870}}) {
    const auto noise = beam_correlation(std::numbers::pi * fwhm * fwhm / (4 * std::numbers::ln2));
    EXPECT_NEAR(expected_islands_per_pixel(u, noise) / smooth_islands_per_pixel(u, noise), ratio,
                1e-4)
        << fwhm << " " << u;
  }
  const auto wide = beam_correlation(4000);
  EXPECT_EQ(expected_islands_per_pixel(4, wide), smooth_islands_per_pixel(4, wide));
  EXPECT_TRUE(std::isnan(expected_islands_per_pixel(4, {1, 0, 0, 0})));
  EXPECT_TRUE(std::isnan(expected_islands_per_pixel(4, {std::nan(""), 0, 0, 0})));
  EXPECT_TRUE(std::isnan(expected_islands_per_pixel(0.9, wide)));
  EXPECT_THROW((void)beam_correlation(0), kastor::Error);
}

}  // namespace
