// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "fit/ellipse_algebra.hpp"
#include "fit/fit_input.hpp"
#include "fit/island_fit.hpp"

namespace {

namespace kd = kastor::detail;
constexpr double infinity = std::numeric_limits<double>::infinity();

kastor::FitParams with_beam(double major, double minor, double angle) {
  kastor::FitParams params;
  params.beam = kastor::PixelEllipse{major, minor, angle};
  return params;
}

/// The island of a Gaussian without noise, rms 1, measured in the obvious way.
kastor::Island island_of(const kastor::Gaussian& g, double flood) {
  kastor::Island island{};
  island.id = 1;
  island.x_min = island.y_min = 1000;
  double light = 0;
  double sums[5] = {};
  for (std::int32_t y = 0; y < 200; ++y) {
    for (std::int32_t x = 0; x < 200; ++x) {
      const double value = g.peak * std::exp(-(g.s(x, y) * g.s(x, y) + g.z(y) * g.z(y)) / 2);
      if (!(value > flood)) continue;
      ++island.n_pix;
      island.x_min = std::min(island.x_min, x);
      island.x_max = std::max(island.x_max, x);
      island.y_min = std::min(island.y_min, y);
      island.y_max = std::max(island.y_max, y);
      if (value > island.flux_peak) {
        island.flux_peak = value;
        island.x_peak = x;
        island.y_peak = y;
      }
      light += value;
      const double terms[5] = {x * value, y * value, x * x * value, x * y * value, y * y * value};
      for (int k = 0; k < 5; ++k) sums[k] += terms[k];
    }
  }
  for (double& sum : sums) sum /= light;
  island.x_cen = sums[0];
  island.y_cen = sums[1];
  island.var_xx = sums[2] - sums[0] * sums[0];
  island.var_xy = sums[3] - sums[0] * sums[1];
  island.var_yy = sums[4] - sums[1] * sums[1];
  island.rms_at_peak = island.rms = 1;
  return island;
}

kastor::IslandPeak peak_of(const kastor::Island& island) {
  return {
      island.id,          island.x_peak, island.y_peak, island.n_pix, std::fabs(island.flux_peak),
      island.rms_at_peak, -infinity,     false};
}

kd::IslandFit begun(const kastor::Island& island, const std::vector<kastor::IslandPeak>& peaks,
                    const kastor::FitParams& params) {
  kd::IslandFit fit;
  const kd::FitRules rules(params);
  kd::begin_island(island, 1, peaks, rules, fit);
  for (kd::FitPart& part : fit.parts) kd::begin_part(fit, rules, part);
  return fit;
}

TEST(EllipseAlgebra, AgreesWithAngles) {
  for (const double angle : {0.0, 0.4, 1.5, 2.8}) {
    const kastor::Gaussian g = kastor::gaussian_of({9, 4, angle});
    const kd::ShapeAxes axes = kd::axes_of(g);
    EXPECT_NEAR(axes.major, 9, 1e-12);
    EXPECT_NEAR(axes.minor, 4, 1e-12);
    EXPECT_NEAR(axes.mean(), 6, 1e-12);
    const double sigma = std::sqrt(kd::fwhm_squared_of_sigma);
    EXPECT_NEAR(kd::reach_along(g, 2 * std::cos(angle), 2 * std::sin(angle)), 2 * 9 / sigma, 1e-12);
    EXPECT_NEAR(kd::reach_along(g, -std::sin(angle), std::cos(angle)), 4 / sigma, 1e-12);
  }
}

TEST(EllipseAlgebra, MomentsAreNotBelowTheLeast) {
  const kastor::Gaussian g = kastor::gaussian_of({9, 4, 0.4});
  // The moments of g are the inverse of its precision matrix.
  const double determinant = g.u * g.u * g.t * g.t;
  const kd::SecondMoments moments{(g.w * g.w + g.t * g.t) / determinant, -g.u * g.w / determinant,
                                  g.u * g.u / determinant};
  const kastor::Gaussian same = kd::gaussian_of_moments(moments, kd::circle_of(3));
  EXPECT_NEAR(same.u, g.u, 1e-14);
  EXPECT_NEAR(same.w, g.w, 1e-14);
  EXPECT_NEAR(same.t, g.t, 1e-14);
  const kastor::PixelEllipse thicker =
      kastor::ellipse_of(kd::gaussian_of_moments(moments, kd::circle_of(5)));
  EXPECT_NEAR(thicker.major, 9, 1e-12);
  EXPECT_NEAR(thicker.minor, 5, 1e-12);
  EXPECT_NEAR(thicker.angle, 0.4, 1e-12);
  const kastor::Gaussian beam = kastor::gaussian_of({12, 11, 1});
  EXPECT_EQ(kd::gaussian_of_moments(moments, beam).w, beam.w);
  EXPECT_EQ(kd::gaussian_of_moments({0, 0, 0}, beam).u, beam.u);
  EXPECT_NEAR(kd::axes_of(kd::gaussian_of_moments({4, 0, 4}, kd::circle_of(1))).major,
              2 * std::sqrt(kd::fwhm_squared_of_sigma), 1e-12);
}

TEST(IslandFit, MomentsAreCorrectedForWhatLiesBelowTheIsland) {
  for (const double peak : {8.0, 20.0, 100.0}) {
    const kastor::Gaussian truth = kastor::gaussian_of({18, 12, 0.6}, peak, 100.2, 99.7);
    const kastor::Island island = island_of(truth, 3);
    const auto fit = begun(island, {peak_of(island)}, with_beam(5, 4, 0));
    ASSERT_EQ(fit.parts.size(), 1U);
    const kastor::Gaussian& start = fit.parts[0].fit.start;
    const kastor::PixelEllipse ellipse = kastor::ellipse_of(start);
    EXPECT_NEAR(ellipse.major, 18, 0.4) << peak;
    EXPECT_NEAR(ellipse.minor, 12, 0.4) << peak;
    EXPECT_NEAR(ellipse.angle, 0.6, 0.05) << peak;
    EXPECT_NEAR(start.x, 100.2, 0.1);
    EXPECT_NEAR(start.y, 99.7, 0.1);
    EXPECT_EQ(start.peak, island.flux_peak);
    EXPECT_EQ(fit.parts[0].fit.free, 6);
  }
}

TEST(IslandFit, BoundsContainTheGuess) {
  const kastor::Gaussian truth = kastor::gaussian_of({5, 4, 0.6}, 10, 50.2, 60.7);
  const kastor::Island faint = island_of(truth, 9);
  ASSERT_LT(faint.n_pix, 6);
  for (const bool has_beam : {false, true}) {
    auto params = with_beam(5, 4, 0.6);
    if (!has_beam) params.beam.reset();
    const auto fit = begun(faint, {peak_of(faint)}, params);
    const kastor::detail::FitComponent& c = fit.parts[0].fit;
    const kd::ShapeAxes axes = kd::axes_of(c.start);
    EXPECT_LT(c.min_fwhm, axes.minor);
    EXPECT_GT(c.max_fwhm, axes.major);
    EXPECT_LT(c.min_peak, c.start.peak);
    EXPECT_GT(c.max_peak, c.start.peak);
    EXPECT_GT(c.max_shift, 0);
    if (has_beam) {
      EXPECT_GE(axes.minor, 4 - 1e-9);
      EXPECT_NEAR(c.min_fwhm, 1.2, 1e-12);
      EXPECT_GT(c.max_fwhm, 14.9);  // a few pixels do not say that a source is narrow
    }
  }
}

TEST(IslandFit, SeveralPeaksBeginWithTheShapeOfTheBeam) {
  const kastor::Island island = island_of(kastor::gaussian_of({18, 12, 0.6}, 20, 100, 100), 3);
  const std::vector<kastor::IslandPeak> peaks{{1, 100, 99, 50, 20, 1, -infinity, false},
                                              {1, 105, 101, 30, 15, 1.5, 10, false},
                                              {1, 90, 101, 30, 9, 1, 7, false}};
  auto params = with_beam(5, 4, 0.3);
  const kastor::Gaussian beam = kastor::gaussian_of(*params.beam);
  auto fit = begun(island, peaks, params);
  ASSERT_EQ(fit.parts.size(), 3U);
  EXPECT_EQ(fit.count(), 3);
  EXPECT_EQ(fit.parts[1].fit.start.u, beam.u);
  EXPECT_EQ(fit.parts[1].fit.start.x, 105);
  EXPECT_EQ(fit.parts[1].fit.start.y, 101);
  EXPECT_EQ(fit.parts[1].fit.start.peak, 15);
  EXPECT_EQ(fit.parts[1].rms, 1.5);
  EXPECT_EQ(fit.flags & kastor::component_capped, 0U);

  params.max_components = 2;
  fit = begun(island, peaks, params);
  EXPECT_EQ(fit.parts.size(), 2U);
  EXPECT_NE(fit.flags & kastor::component_capped, 0U);
}

TEST(IslandFit, OfManyPeaksThoseHardlyAboveTheirSaddlesAreFew) {
  const kastor::Island island = island_of(kastor::gaussian_of({80, 80, 0}, 40, 100, 100), 3);
  // The i-th peak is i / 10 times its noise above its saddle, the first one above all.
  const auto peaks_of = [](int count) {
    std::vector<kastor::IslandPeak> peaks{{1, 100, 100, 9, 40, 1, -infinity, false}};
    for (int i = 1; i < count; ++i)
      peaks.push_back({1, 60 + i, 90, 9, 40.0 - i, 0.5, 40.0 - i - 0.05 * i, false});
    return peaks;
  };
  const auto params = with_beam(5, 4, 0.3);
  EXPECT_EQ(begun(island, peaks_of(16), params).parts.size(), 16U);
  const auto some = begun(island, peaks_of(19), params);
  ASSERT_EQ(some.parts.size(), 16U);
  EXPECT_EQ(some.parts[1].fit.start.x, 64);  // the three least prominent ones are left out
  EXPECT_NE(some.flags & kastor::component_capped, 0U);
  // Of 38 all that are twice the noise above their saddle, and the highest one.
  EXPECT_EQ(begun(island, peaks_of(38), params).parts.size(), 19U);
}

TEST(IslandFit, PeaksThatCannotBeSignificantAreNotFitted) {
  const kastor::Island island = island_of(kastor::gaussian_of({8, 8, 0}, 9, 100, 100), 3);
  const std::vector<kastor::IslandPeak> peaks{{1, 100, 100, 9, 2.5, 1, -infinity, false},
                                              {1, 105, 100, 9, 2.4, 1, 1, false}};
  EXPECT_EQ(begun(island, peaks, with_beam(5, 4, 0.3)).parts.size(), 1U);
}

TEST(IslandFit, TheShapeIsTheBeamsIfOnlyPositionsAreFree) {
  const kastor::Island island = island_of(kastor::gaussian_of({18, 12, 0.6}, 20, 100, 100), 3);
  auto params = with_beam(5, 4, 0.3);
  params.free = kastor::FreeParameters::position;
  const auto fit = begun(island, {peak_of(island)}, params);
  EXPECT_EQ(fit.parts[0].fit.free, 3);
  EXPECT_EQ(fit.parts[0].fit.start.u, kastor::gaussian_of(*params.beam).u);
  EXPECT_EQ(fit.parts[0].fit.start.x, island.x_peak);
}

TEST(IslandFit, EveryIslandHasAPart) {
  kastor::Island island{};
  island.id = 4;
  island.n_pix = 1;
  island.x_min = island.x_max = island.x_peak = 3;
  island.y_min = island.y_max = island.y_peak = 7;
  island.flags = kastor::island_no_centre | kastor::island_no_shape | kastor::island_at_edge |
                 kastor::island_near_blank | kastor::island_negative;
  island.x_cen = island.var_xx = std::numeric_limits<double>::quiet_NaN();
  island.rms_at_peak = 1;
  for (const bool has_beam : {false, true}) {
    kastor::FitParams params;
    if (has_beam) params = with_beam(5, 4, 0);
    // Without a peak in the list, the brightest pixel is one; the flux of a negative one is < 0.
    for (const double flux : {-10.0, 10.0, std::numeric_limits<double>::quiet_NaN()}) {
      island.flux_peak = flux;
      const auto fit = begun(island, {}, params);
      ASSERT_EQ(fit.parts.size(), 1U);
      EXPECT_EQ(fit.parts[0].mode == kd::FitMode::estimate, flux != -10.0);
      EXPECT_EQ(fit.parts[0].now.x, 3);
      EXPECT_EQ(fit.parts[0].now.y, 7);
      EXPECT_GT(fit.parts[0].now.u, 0);
      EXPECT_EQ(fit.flags, kastor::component_at_edge | kastor::component_near_blank |
                               kastor::component_negative);
    }
  }
}

TEST(FitInput, TheNoiseHasTheAreaThatIsAskedFor) {
  const kastor::PixelEllipse beam{5, 4, 0.3};
  EXPECT_TRUE(kd::noise_of(beam, 1).is_white);
  const kd::FitNoise noise = kd::noise_of(beam, 50);
  EXPECT_FALSE(noise.is_white);
  EXPECT_NEAR(kastor::volume_of(noise.correlation), 50, 1e-11);
  EXPECT_NEAR(kastor::ellipse_of(noise.correlation).angle, 0.3, 1e-12);
  EXPECT_NEAR(kd::axes_of(noise.correlation).major / kd::axes_of(noise.correlation).minor, 1.25,
              1e-12);
  const kd::FitNoise as_beam = kd::noise_of(beam, kastor::area_of(beam));
  EXPECT_NEAR(as_beam.correlation.u, as_beam.beam.u, 1e-15);
  const kd::FitNoise round = kd::noise_of(std::nullopt, 30);
  EXPECT_NEAR(kastor::volume_of(round.correlation), 30, 1e-11);
  EXPECT_EQ(round.correlation.w, 0);
  EXPECT_FALSE(round.has_beam);
}

TEST(FitInput, ThePixelOfACentreIsInTheImage) {
  const auto at = [](double x, double y) { return kd::pixel_of({1, x, y, 1, 0, 1}, {20, 10}); };
  EXPECT_EQ(at(3.4, 7.6).x, 3);
  EXPECT_EQ(at(3.4, 7.6).y, 8);
  EXPECT_EQ(at(-5, 1e30).x, 0);
  EXPECT_EQ(at(-5, 1e30).y, 19);
  EXPECT_EQ(at(std::numeric_limits<double>::quiet_NaN(), 3).x, 0);
}

}  // namespace
