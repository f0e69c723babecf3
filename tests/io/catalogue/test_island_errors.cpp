// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <io/catalogue/island_errors.hpp>
#include <kastor/io/island_table.hpp>
#include <numbers>
#include <random>

#include "fits_support.hpp"
#include "island_support.hpp"

namespace {

using namespace testing_support;
using kastor::Island;
using kastor::Islands;
using kastor::io::detail::island_errors;
using kastor::io::detail::NoiseModel;
using kastor::io::detail::scaled_bessel;

constexpr double k_pi = std::numbers::pi;

// ---------------------------------------------------------------------------- the formulas

/// Midpoints of n intervals.
double integral(double from, double to, int n, const std::function<double(double)>& f) {
  const double step = (to - from) / n;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += f(from + (i + 0.5) * step);
  return sum * step;
}

TEST(IslandErrors, BesselFunctionsAreTheirIntegrals) {
  for (const double z : {0.0, 1e-6, 0.3, 5.0, 29.9, 30.1, 60.0, 1e4}) {
    for (int n = 0; n <= 2; ++n) {
      // Abramowitz & Stegun 9.6.19; the trapezium rule of a periodic function is exact.
      const double want =
          integral(0, k_pi, 4000,
                   [&](double t) { return std::exp(z * (std::cos(t) - 1)) * std::cos(n * t); }) /
          k_pi;
      EXPECT_NEAR(scaled_bessel(n, z), want, 1e-11 * std::max(want, 1e-4)) << n << ' ' << z;
    }
  }
}

/// A round Gaussian of peak 1 cut at `flood`, as it would be without pixels.
struct RoundIsland {
  double sigma, flood, correlation;  // [pixel], [peak], width of the noise's autocorrelation
  [[nodiscard]] double radius() const { return sigma * std::sqrt(-2 * std::log(flood)); }
  [[nodiscard]] Island island(double rms) const {
    const double area = 2 * k_pi * sigma * sigma;
    Island result{};
    result.n_pix = std::lround(k_pi * radius() * radius());
    result.flux_peak = 1;
    result.flux_sum = area * (1 - flood);
    result.var_xx = result.var_yy = 3;
    result.rms = rms;
    return result;
  }
  /// Variance of the sum of noise of variance 1 over the disc, weight 1 (or x) inside, and along
  /// the border what moves over it: the double integral over all pairs of places, done directly.
  [[nodiscard]] double variance(bool moment) const {
    struct Place {
      double x, y, weight;
    };
    std::vector<Place> places;
    const double r = radius();
    constexpr int rings = 40;
    constexpr int spokes = 48;
    for (int i = 0; i < rings; ++i) {
      const double at = (i + 0.5) * r / rings;
      for (int k = 0; k < spokes; ++k) {
        const double x = at * std::cos(2 * k_pi * k / spokes);
        const double y = at * std::sin(2 * k_pi * k / spokes);
        const double area = at * (r / rings) * (2 * k_pi / spokes);
        places.push_back({x, y, area * (moment ? x : 1)});
      }
    }
    for (int k = 0; k < spokes; ++k) {
      const double x = r * std::cos(2 * k_pi * k / spokes);
      const double y = r * std::sin(2 * k_pi * k / spokes);
      // The border moves by noise / slope, slope = flood r / sigma^2, over pixels of value flood.
      const double length = 2 * k_pi * r / spokes;
      places.push_back({x, y, length * sigma * sigma / r * (moment ? x : 1)});
    }
    double sum = 0;
    for (const auto& a : places) {
      for (const auto& b : places) {
        const double d2 = (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
        sum += a.weight * b.weight * std::exp(-d2 / (2 * correlation * correlation));
      }
    }
    return sum;
  }
};

TEST(IslandErrors, AreTheIntegralsOverTheNoise) {
  for (const RoundIsland& each : {RoundIsland{8, 0.4, 8}, RoundIsland{8, 0.06, 8},
                                  RoundIsland{10, 0.2, 4}, RoundIsland{6, 0.5, 9}}) {
    const NoiseModel noise{2 * k_pi * each.correlation * each.correlation, 0};
    const Island island = each.island(0.01);
    const auto errors = island_errors(island, each.flood, noise);
    const double border = each.flood * each.flood * 0.4576 * each.radius();
    EXPECT_NEAR(errors.sum_err, std::sqrt(1e-4 * each.variance(false) + border),
                0.004 * errors.sum_err);
    const double moment = border * each.radius() * each.radius() / 2;
    const double x_err =
        std::sqrt(1.05 * 1.05 * 1e-4 * each.variance(true) + moment) / island.flux_sum;
    EXPECT_NEAR(std::sqrt(errors.centre_cov.xx), x_err, 0.01 * x_err);
    EXPECT_EQ(errors.centre_cov.xx, errors.centre_cov.yy);
    EXPECT_EQ(errors.centre_cov.xy, 0);
  }
}

TEST(IslandErrors, ABorderOfWholePixelsScatters) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform;
  double counts = 0;
  double moments = 0;
  constexpr int n = 20'000;
  for (int i = 0; i < n; ++i) {
    const double radius = 3 + 3 * uniform(random);
    const double at_x = uniform(random);
    const double at_y = uniform(random);
    double count = 0;
    double moment = 0;
    for (int y = -7; y <= 7; ++y) {
      for (int x = -7; x <= 7; ++x) {
        if (std::hypot(x - at_x, y - at_y) > radius) continue;
        count += 1;
        moment += x - at_x;
      }
    }
    counts += std::pow(count - k_pi * radius * radius, 2) / radius;
    moments += 2 * moment * moment / std::pow(radius, 3);
  }
  EXPECT_NEAR(counts / n, 0.4576, 0.02);
  EXPECT_NEAR(moments / n, 0.4576, 0.03);
}

TEST(IslandErrors, LargeIslandsHaveIndependentBeams) {
  Island island{};
  island.n_pix = 1'000'000;
  island.flux_sum = 2e6;
  island.flux_peak = 100;
  island.var_xx = island.var_yy = 1e5;
  island.rms = 0.5;
  // rms sqrt(N C)
  EXPECT_NEAR(island_errors(island, 0, {20, 20}).sum_err, 0.5 * std::sqrt(1e6 * 20), 20);
  EXPECT_NEAR(island_errors(island, 0, {}).sum_err, 0.5 * 1e3, 1);
}

TEST(IslandErrors, WhatIsBelowTheThresholdIsAdded) {
  const RoundIsland round{8, 0.3, 8};
  const auto errors = island_errors(round.island(1e-9), 0.3, {100, 0});
  const double area = 2 * k_pi * 64;
  // The peak is raised by what pixels hide on average.
  EXPECT_NEAR(errors.total, area, 3e-3 * area);
  // Second moment of the cut Gaussian: 1 - q ln(1/q) / (1 - q).
  const double seen =
      integral(0, round.radius(), 20'000,
               [&](double r) { return r * r * r * std::exp(-r * r / 128); }) /
      integral(0, round.radius(), 20'000, [&](double r) { return r * std::exp(-r * r / 128); }) / 2;
  EXPECT_NEAR(errors.size_factor, 8 / std::sqrt(seen), 2e-3);
}

/// The border is where the pixels end, whatever the threshold after the filter says of it.
TEST(IslandErrors, WhatIsBelowTheBorderOfAFilteredIslandIsAdded) {
  const RoundIsland round{8, 0.3, 8};
  const double area = 2 * k_pi * 64;
  const auto plain = island_errors(round.island(1e-9), 0.3, {100, 0, 1});
  for (const double flood : {0.02, 0.1, 0.3}) {
    const auto errors = island_errors(round.island(1e-9), flood, {100, 0, 0.2});
    EXPECT_NEAR(errors.total, area, 3e-3 * area) << flood;
    EXPECT_NEAR(errors.size_factor, plain.size_factor, 2e-3) << flood;
  }
  EXPECT_LT(island_errors(round.island(1e-9), 0.02, {100, 0, 1}).total, 0.8 * area);
  // A flat island may be of any size.
  Island flat = round.island(1e-9);
  flat.flux_sum = 0.97 * static_cast<double>(flat.n_pix);
  EXPECT_TRUE(std::isnan(island_errors(flat, 0.1, {100, 0, 0.2}).total));
}

TEST(IslandErrors, TheTotalOfLargeNumbersIsANumber) {
  Island island = RoundIsland{8, 0.3, 8}.island(0.1);
  const double total = island_errors(island, 0.3, {100, 0}).total;
  for (double* value : {&island.flux_peak, &island.flux_sum, &island.rms}) *value *= 1e160;
  EXPECT_NEAR(island_errors(island, 0.3e160, {100, 0}).total / 1e160, total, 1e-9 * total);
}

/// A row of pixels has hardly a minor axis.
TEST(IslandErrors, ThePeakOfAThinIslandDoesNotScatterMuch) {
  Island island{};
  island.n_pix = 300;
  island.flux_peak = 42.8;
  island.flux_sum = 300 * 40;
  island.rms = island.rms_at_peak = 1;
  for (const double minor : {1e-6, 1e-3, 0.09}) {
    island.var_xx = 7500;
    island.var_yy = minor;
    island.var_xy = 0;
    const auto errors = island_errors(island, 3, {});
    EXPECT_GT(errors.peak_err, 1);
    EXPECT_LT(errors.peak_err, 0.1 * island.flux_peak) << minor;
    // So it is along a diagonal.
    island.var_xx = island.var_yy = 3750 + minor / 2;
    island.var_xy = 3750 - minor / 2;
    EXPECT_LT(island_errors(island, 3, {}).peak_err, 0.1 * island.flux_peak) << minor;
  }
}

/// Of an island that was found in another image.
TEST(IslandErrors, NothingIsSaidOfASumOfTheOtherSign) {
  Island island = RoundIsland{4, 0.3, 4}.island(0.01);
  island.flux_sum = -island.flux_sum;
  for (const double peak : {1.0, -1.0}) {
    island.flux_peak = peak;
    const auto errors = island_errors(island, 0.3, {});
    EXPECT_TRUE(std::isnan(errors.total));
    EXPECT_TRUE(std::isnan(errors.size_factor));
    EXPECT_GT(errors.sum_err, 0);
  }
  island.flags |= kastor::island_negative;
  EXPECT_GT(island_errors(island, 0.3, {}).total, 0);
}

TEST(IslandErrors, NothingIsSaidOfWhatIsHardlyAboveTheThreshold) {
  Island island = RoundIsland{4, 0.3, 4}.island(0.01);
  EXPECT_TRUE(std::isnan(island_errors(island, 0.95, {}).total));
  EXPECT_TRUE(std::isnan(island_errors(island, 2, {}).total));
  EXPECT_TRUE(std::isnan(island_errors(island, 0, {}).size_factor));
  EXPECT_GT(island_errors(island, 0, {}).sum_err, 0);
}

TEST(IslandErrors, ThePeakScattersByTheNoiseAndByWhereItLiesInItsPixel) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> in_pixel(-0.5, 0.5);
  const struct {
    double xx, xy, yy;  // inverse of the second moments [1/pixel^2]
  } shapes[] = {{0.3, 0, 0.3}, {0.3, 0.1, 0.2}, {0.5, 0, 0.05}, {0.3, -0.25, 0.3}};
  for (const auto& m : shapes) {
    const double det = m.xx * m.yy - m.xy * m.xy;
    Island island{};
    island.n_pix = 40;
    island.flux_peak = 7;
    island.flux_sum = 7 * 2 * k_pi / std::sqrt(det) * (1 - 0.1);  // cut at 0.1 of the peak
    island.var_xx = m.yy / det;
    island.var_xy = -m.xy / det;
    island.var_yy = m.xx / det;
    double sum = 0;
    double squares = 0;
    constexpr int n = 100'000;
    for (int i = 0; i < n; ++i) {
      const double x = in_pixel(random);
      const double y = in_pixel(random);
      const double lost = 0.5 * (m.xx * x * x + 2 * m.xy * x * y + m.yy * y * y);
      sum += lost;
      squares += lost * lost;
    }
    const double scatter = 7 * std::sqrt(squares / n - sum / n * sum / n);
    for (const double rms : {0.0, 0.05}) {
      island.rms = island.rms_at_peak = rms;
      const double want = std::hypot(rms, scatter);
      EXPECT_NEAR(island_errors(island, 0.7, {}).peak_err, want, 0.02 * want) << m.xx << m.xy;
    }
    EXPECT_NEAR(sum / n, (m.xx + m.yy) / 24, 1e-3);
  }
}

// ------------------------------------------------------------------------------ simulated skies

/// White noise smoothed so that its autocorrelation is a Gaussian of width `sigma`; variance 1.
Grid correlated_noise(std::int64_t size, double sigma, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  if (sigma == 0) {
    Grid white(size, size);
    for (double& v : white.values) v = normal(random);
    return white;
  }
  const double width = sigma / std::numbers::sqrt2;
  const auto radius = static_cast<std::int64_t>(std::ceil(5 * width));
  std::vector<double> taps;
  double squares = 0;
  for (std::int64_t k = -radius; k <= radius; ++k) {
    const double t = static_cast<double>(k) / width;
    taps.push_back(std::exp(-0.5 * t * t));
    squares += taps.back() * taps.back();
  }
  for (double& tap : taps) tap /= std::sqrt(squares);
  Grid white(size + 2 * radius, size + 2 * radius);
  for (double& v : white.values) v = normal(random);
  Grid rows(size + 2 * radius, size);
  for (std::int64_t y = 0; y < rows.ny; ++y) {
    for (std::int64_t x = 0; x < size; ++x) {
      for (std::size_t k = 0; k < taps.size(); ++k) {
        rows.at(y, x) += taps[k] * white.at(y, x + static_cast<std::int64_t>(k));
      }
    }
  }
  Grid noise(size, size);
  for (std::int64_t y = 0; y < size; ++y) {
    for (std::size_t k = 0; k < taps.size(); ++k) {
      for (std::int64_t x = 0; x < size; ++x) {
        noise.at(y, x) += taps[k] * rows.at(y + static_cast<std::int64_t>(k), x);
      }
    }
  }
  return noise;
}

/// Mean and standard deviation of (measured - true) / error.
struct Pulls {
  std::vector<double> values;
  void add(double measured, double truth, double error) {
    values.push_back((measured - truth) / error);
  }
  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double v : values) sum += v;
    return sum / static_cast<double>(values.size());
  }
  [[nodiscard]] double width() const {
    double sum = 0;
    for (const double v : values) sum += (v - mean()) * (v - mean());
    return std::sqrt(sum / static_cast<double>(values.size()));
  }
};

/// Isolated sources of 8 to 100 times the noise on a grid of cells, `widen` times as wide as the
/// beam, through the table.
struct SimulatedSky {
  double beam_fwhm;  // [pixel]
  double widen;
  double flood;
  std::int64_t cells;
  std::int64_t cell;
  double noise = 1;  // width of its autocorrelation [beam]

  Pulls x, y, sum, total, size, peak;

  void run(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform;
    const double fwhm = std::sqrt(8 * std::numbers::ln2);
    const double width = beam_fwhm * widen / fwhm;
    Grid sky = correlated_noise(cells * cell, noise * beam_fwhm / fwhm, random);
    struct Truth {
      double x, y, peak;
    };
    std::vector<Truth> truth;
    for (std::int64_t i = 0; i < cells * cells; ++i) {
      const auto middle = [&](std::int64_t k) {
        return static_cast<double>(k * cell) + 0.5 * static_cast<double>(cell) + uniform(random);
      };
      truth.push_back({middle(i % cells), middle(i / cells), 8 * std::pow(12.5, uniform(random))});
      const Truth& t = truth.back();
      for (std::int64_t yy = i / cells * cell; yy < (i / cells + 1) * cell; ++yy) {
        for (std::int64_t xx = i % cells * cell; xx < (i % cells + 1) * cell; ++xx) {
          const double dx = (static_cast<double>(xx) - t.x) / width;
          const double dy = (static_cast<double>(yy) - t.y) / width;
          sky.at(yy, xx) += t.peak * std::exp(-0.5 * (dx * dx + dy * dy));
        }
      }
    }
    Islands islands;
    std::vector<Truth> found;
    for (const Truth& t : truth) {
      const Island island = island_at(sky, std::lround(t.y), std::lround(t.x), flood, 1.0);
      if (!(island.snr_peak > 5)) continue;
      islands.push_back(island);
      found.push_back(t);
    }
    ASSERT_GT(found.size(), truth.size() * 98 / 100);

    const kastor::io::Wcs wcs(
        {card("CTYPE1", "'RA---SIN'"), card("CTYPE2", "'DEC--SIN'"), card("CRVAL1", "100.0"),
         card("CRVAL2", "0.0"), card("CDELT1", "-0.001"), card("CDELT2", "0.001")},
        {1, 2});
    kastor::io::IslandTableParams params;
    params.wcs = &wcs;
    params.beam.beam = kastor::io::Beam{beam_fwhm * 0.001, beam_fwhm * 0.001, 0};
    params.unit = "Jy/beam";
    params.flood_snr = flood;
    params.noise_beams = noise > 0 ? noise * noise : 1;
    params.noise_pixels = noise > 0 ? 0 : 1;
    const auto table = kastor::io::island_table(islands, params).table;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto value = [&](const char* name) { return real_value(table, name, i); };
      const double area = widen * widen;  // [beam]
      x.add(value("x_cen"), found[i].x, value("x_cen_err"));
      y.add(value("y_cen"), found[i].y, value("y_cen_err"));
      sum.add(value("flux_iso"), (found[i].peak - flood) * area, value("flux_iso_err"));
      total.add(value("flux_int"), found[i].peak * area, value("flux_int_err"));
      const double lost = k_pi / (6 * 2 * k_pi * width * width);  // on average
      peak.add(value("flux_peak"), found[i].peak * (1 - lost), value("flux_peak_err"));
      size.add(std::sqrt(value("maj_axis_cor") * value("min_axis_cor")), 3.6 * beam_fwhm * widen,
               3.6 * beam_fwhm * widen);
    }
  }
};

void expect_calibrated(SimulatedSky sky, std::uint64_t seed) {
  sky.run(seed);
  const auto n = static_cast<double>(sky.x.values.size());
  const double mean_error = 4 / std::sqrt(n);
  for (const auto* pulls : {&sky.x, &sky.y, &sky.sum, &sky.total, &sky.peak}) {
    EXPECT_NEAR(pulls->width(), 1, 0.15);
  }
  EXPECT_NEAR(sky.x.mean(), 0, mean_error);
  EXPECT_NEAR(sky.y.mean(), 0, mean_error);
  EXPECT_NEAR(sky.total.mean(), 0, 0.15);
  EXPECT_NEAR(sky.size.mean(), 0, 0.06);
  const auto record = [seed](const char* name, const Pulls& pulls) {
    testing::Test::RecordProperty(fmt::format("{}_{}", name, seed),
                                  fmt::format("{:+.3f} {:.3f}", pulls.mean(), pulls.width()));
  };
  record("x", sky.x);
  record("y", sky.y);
  record("flux_iso", sky.sum);
  record("flux_int", sky.total);
  record("size", sky.size);
  record("flux_peak", sky.peak);
}

/// Of point sources, at a higher threshold, of extended sources.
TEST(IslandErrorsOfSimulatedSkies, AreTheScatter) {
  expect_calibrated({4, 1, 3, 24, 28, 1, {}, {}, {}, {}, {}, {}}, 1);
  expect_calibrated({5, 1, 4, 22, 32, 1, {}, {}, {}, {}, {}, {}}, 2);
  expect_calibrated({3, 2, 3, 22, 36, 1, {}, {}, {}, {}, {}, {}}, 3);
}

/// White noise convolved with the beam, and white noise.
TEST(IslandErrorsOfSimulatedSkies, AreTheScatterWhateverTheNoise) {
  expect_calibrated({4, 1, 3, 22, 28, std::numbers::sqrt2, {}, {}, {}, {}, {}, {}}, 4);
  expect_calibrated({4, 1, 3, 22, 28, 0, {}, {}, {}, {}, {}, {}}, 5);
}

}  // namespace
