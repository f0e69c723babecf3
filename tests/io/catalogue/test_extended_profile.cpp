// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <io/catalogue/extended_profile.hpp>
#include <io/catalogue/island_errors.hpp>
#include <numbers>
#include <tuple>

namespace {

using kastor::Island;
using kastor::io::detail::extended_profile;
using kastor::io::detail::ExtendedProfile;
using kastor::io::detail::is_extended;
using kastor::io::detail::island_errors;
using kastor::io::detail::NoiseModel;

constexpr NoiseModel noise_of_a_beam{30, 30};

/// The round source exp(-(r / a)^(2 / beta)), as it would be without pixels; sums up to a radius.
struct RoundProfile {
  double beta;
  double a = 200;  // [pixel]

  struct Sums {
    double area = 0, flux = 0, moment = 0;
  };
  [[nodiscard]] Sums within(double radius) const {
    constexpr int steps = 20000;
    Sums sums;
    for (int i = 0; i < steps; ++i) {
      const double r = radius * (i + 0.5) / steps;
      const double ring = 2 * std::numbers::pi * r * radius / steps;
      const double value = beta == 0 ? 1.0 : std::exp(-std::pow(r / a, 2 / beta));
      sums.area += ring;
      sums.flux += ring * value;
      sums.moment += ring * value * r * r;
    }
    return sums;
  }
  /// Where it falls to this fraction of the peak.
  [[nodiscard]] double radius_at(double fraction) const {
    return a * std::pow(-std::log(fraction), beta / 2);
  }
};

Island island_of(const RoundProfile::Sums& sums, double peak) {
  Island island{};
  island.n_pix = std::llround(sums.area);
  island.flux_peak = peak;
  island.flux_sum = peak * sums.flux;
  if (peak < 0) island.flags |= kastor::island_negative;
  island.rms = 1e-9 * std::abs(peak);
  island.var_xx = island.var_yy = 1;
  return island;
}

TEST(ExtendedProfile, KnowsTheWholeFromThePartAboveTheThreshold) {
  for (const double beta : {0.0, 0.3, 0.7, 1.0}) {
    for (const double fraction : {0.02, 0.15, 0.6}) {
      const RoundProfile profile{beta};
      const auto seen = profile.within(profile.radius_at(fraction));
      const auto whole = beta == 0 ? seen : profile.within(profile.radius_at(1e-13));
      const Island island = island_of(seen, -3);
      const ExtendedProfile got = extended_profile(island, 3, 3 * fraction, noise_of_a_beam);
      const double factor = std::sqrt(whole.moment / whole.flux / (seen.moment / seen.flux));
      EXPECT_NEAR(got.total, 3 * whole.flux, 2e-3 * 3 * whole.flux) << beta << ' ' << fraction;
      EXPECT_NEAR(got.size_factor, factor, 2e-3 * factor) << beta << ' ' << fraction;
      // The island table has these figures.
      const auto errors = island_errors(island, 3 * fraction, noise_of_a_beam);
      EXPECT_NEAR(errors.total, got.total, 1e-3 * got.total);
      EXPECT_NEAR(errors.size_factor, got.size_factor, 1e-3 * got.size_factor);
    }
  }
}

/// It may be a blend.
TEST(ExtendedProfile, WhatIsMorePeakedCountsAsAGaussian) {
  const RoundProfile exponential{2};
  const Island island = island_of(exponential.within(exponential.radius_at(0.2)), 5);
  const auto got = extended_profile(island, 5, 1, noise_of_a_beam);
  EXPECT_NEAR(got.total, island.flux_sum / 0.8, 1e-6 * got.total);
  EXPECT_NEAR(got.size_factor, 1 / std::sqrt(1 - 0.2 * std::log(5) / 0.8), 1e-6);
}

/// A disk of 20 rms has its brightest pixel at about 24 rms.
TEST(ExtendedProfile, TakesFromThePeakWhatNoiseAdds) {
  const auto disk = RoundProfile{0}.within(200);
  Island island = island_of(disk, 20);
  island.rms = 1;
  const double draws = disk.flux * 20 / (24 - 3.0) / 24 / 30;
  island.flux_peak = 20 + std::sqrt(2 * std::log(draws));
  const auto got = extended_profile(island, island.flux_peak, 3, noise_of_a_beam);
  EXPECT_NEAR(got.total, island.flux_sum, 0.005 * island.flux_sum);
  // Nothing is known of what is below a threshold as high as the peak.
  const auto high = extended_profile(island, island.flux_peak, 19, noise_of_a_beam);
  EXPECT_EQ(high.total, island.flux_sum);
  EXPECT_EQ(high.size_factor, 1);
}

TEST(ExtendedProfile, IsForLargeIslandsInImagesWithABeam) {
  Island island{};
  for (const auto& [pixels, noise, wanted] :
       {std::tuple{2999, NoiseModel{30, 30}, false}, std::tuple{3000, NoiseModel{30, 30}, true},
        std::tuple{3000, NoiseModel{60, 30}, false}, std::tuple{3000, NoiseModel{1, 31}, false},
        std::tuple{1000000, NoiseModel{1, 0}, false}}) {
    island.n_pix = pixels;
    EXPECT_EQ(is_extended(island, noise), wanted) << pixels;
  }
  // A Gaussian keeps its total where it becomes extended.
  const RoundProfile gaussian{1, 40};
  const Island bell = island_of(gaussian.within(gaussian.radius_at(0.15)), 20);
  const auto as_small = island_errors(bell, 3, {1000, 1000});
  const auto as_large = island_errors(bell, 3, {30, 30});
  EXPECT_NEAR(as_small.total / as_large.total, 1, 0.03);
  EXPECT_NEAR(as_small.size_factor / as_large.size_factor, 1, 0.03);
}

}  // namespace
