// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <kastor/aperture.hpp>
#include <kastor/convolve.hpp>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "aperture/circle_overlap.hpp"
#include "device.hpp"
#include "island_scenes.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

/// Every pixel of the image, in long double.
template <class T>
kastor::ApertureFlux naive_aperture(const ts::Scene<T>& scene, const kastor::AperturePosition& at,
                                    double radius, const ts::HostMask& region) {
  long double light = 0, variance = 0, area = 0;
  kastor::ApertureFlux flux{};
  for (std::int64_t y = 0; y < scene.image.ny; ++y) {
    for (std::int64_t x = 0; x < scene.image.nx; ++x) {
      const long double weight = kastor::detail::circle_overlap(
          static_cast<double>(x) - at.x, static_cast<double>(y) - at.y, radius);
      if (!(weight > 0)) continue;
      const auto value = static_cast<double>(scene.image(y, x));
      const double level = scene.background.level(y, x);
      const double rms = scene.background.rms(y, x);
      const bool is_usable = std::isfinite(value) && std::isfinite(level) && std::isfinite(rms) &&
                             rms > 0 && (region.values.empty() || region(y, x) != 0);
      if (!is_usable) {
        ++flux.n_missing;
        continue;
      }
      light += weight * (value - level);
      variance += weight * rms * rms;
      area += weight;
    }
  }
  flux.flux = static_cast<double>(light);
  flux.variance = static_cast<double>(variance);
  flux.area = static_cast<double>(area);
  return flux;
}

bool same_flux_bits(const std::vector<kastor::ApertureFlux>& a,
                    const std::vector<kastor::ApertureFlux>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double of_a[] = {a[i].flux, a[i].variance, a[i].area};
    const double of_b[] = {b[i].flux, b[i].variance, b[i].area};
    if (std::memcmp(of_a, of_b, sizeof of_a) != 0) return false;
    if (a[i].n_missing != b[i].n_missing || a[i].flags != b[i].flags) return false;
  }
  return true;
}

template <class T>
class Aperture : public ::testing::Test {};
TYPED_TEST_SUITE(Aperture, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Aperture, MatchesTheReference) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const std::vector<double> radii = {0.4, 2.5, 6, 37};
  std::vector<kastor::AperturePosition> positions = {{0, 0}, {64.5, 30}, {130.2, 96.4}, {-2, 50}};
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 20; ++i) positions.push_back({131 * unit(random), 97 * unit(random)});
  for (const ts::Maps maps : ts::all_maps) {
    auto scene = ts::make_scene<T>(maps, 97, 131, 7);
    scene.region = ts::HostMask(97, 131);
    for (std::int64_t y = 0; y < 97; ++y)
      for (std::int64_t x = 0; x < 131; ++x) scene.region(y, x) = x < 60 || x > 64;
    const ts::DeviceScene<Exec, T> device(scene);
    kastor::AperturePhotometer<Exec, T> photometer(Exec{}, radii);
    const auto got = photometer(device.image, device.background, positions, device.region);
    ASSERT_EQ(got.size(), positions.size() * radii.size());
    std::int64_t missing = 0;
    for (std::size_t i = 0; i < got.size() && !this->HasFailure(); ++i) {
      const auto& at = positions[i / radii.size()];
      const auto want = naive_aperture(scene, at, radii[i % radii.size()], scene.region);
      missing += want.n_missing;
      EXPECT_EQ(got[i].n_missing, want.n_missing);
      EXPECT_EQ((got[i].flags & kastor::aperture_missing) != 0, want.n_missing > 0);
      EXPECT_NEAR(got[i].area, want.area, 1e-12 * want.area);
      if (want.area == 0) {
        EXPECT_TRUE(std::isnan(got[i].flux) && std::isnan(got[i].variance));
        EXPECT_NE(got[i].flags & kastor::aperture_no_pixels, 0U);
        continue;
      }
      EXPECT_NEAR(got[i].variance, want.variance, 1e-12 * want.variance);
      EXPECT_NEAR(got[i].flux, want.flux, 1e-10 * (1 + std::sqrt(want.variance)));
    }
    EXPECT_GT(missing, 100);
    const ts::DeviceScene<ts::FirstExec, T> first(scene);
    EXPECT_TRUE(
        same_flux_bits(got, kastor::aperture_fluxes(ts::FirstExec{}, first.image, first.background,
                                                    positions, radii, first.region)));
    EXPECT_TRUE(
        same_flux_bits(got, photometer(device.image, device.background, positions, device.region)));
  }
}

TYPED_TEST(Aperture, SaysWhereItEnds) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::HostImage<T> image(40, 50, T(2));
  image(20, 20) = std::numeric_limits<T>::quiet_NaN();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<kastor::AperturePosition> positions = {
      {10, 10}, {2.5, 10}, {2.4, 10}, {20, 20}, {nan, 3}, {1e300, 3}, {-1e9, -1e9}, {21, 20}};
  const auto there = ts::to_device<Exec>(image);
  const kastor::Background<Exec, T> sky{1.0, 0.5};
  const auto got = kastor::aperture_fluxes(Exec{}, there, sky, positions, {3});
  const double area = 9 * std::numbers::pi;
  EXPECT_NEAR(got[0].flux, area, 1e-12);
  EXPECT_NEAR(got[0].variance, area / 4, 1e-12);
  EXPECT_NEAR(got[0].area, area, 1e-12);
  EXPECT_EQ(got[0].flags, 0U);
  EXPECT_EQ(got[1].flags, 0U);
  EXPECT_EQ(got[2].flags, kastor::aperture_at_edge);
  EXPECT_EQ(got[3].flags, kastor::aperture_missing);
  EXPECT_EQ(got[3].n_missing, 1);
  EXPECT_NEAR(got[3].flux, area - 1, 1e-12);
  for (const std::size_t i : {4U, 5U, 6U}) {
    EXPECT_EQ(got[i].flags, kastor::aperture_at_edge | kastor::aperture_no_pixels);
    EXPECT_TRUE(std::isnan(got[i].flux));
    EXPECT_EQ(got[i].area, 0);
  }
  // The one pixel of an aperture is blank.
  const auto none = kastor::aperture_fluxes(Exec{}, there, sky, {positions.data() + 3, 1}, {0.4});
  EXPECT_EQ(none[0].flags, kastor::aperture_missing | kastor::aperture_no_pixels);
  EXPECT_TRUE(kastor::aperture_fluxes(Exec{}, there, sky, {}, {3}).empty());
}

TYPED_TEST(Aperture, RefusesWhatHasNoMeaning) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Photometer = kastor::AperturePhotometer<Exec, T>;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double radius : {0.0, -1.0, 1.1e6, nan})
    EXPECT_THROW((Photometer(Exec{}, {3, radius})), kastor::Error) << radius;
  EXPECT_THROW((Photometer(Exec{}, {})), kastor::Error);
  const auto image = ts::new_image<Exec, T>("test::image", 5, 6);
  const auto other = ts::new_image<Exec, T>("test::other", 6, 5);
  Photometer photometer(Exec{}, {1});
  const std::vector<kastor::AperturePosition> positions = {{1, 1}};
  const kastor::PixelMap<Exec, T> map(other);
  EXPECT_THROW((void)photometer(image, {map, 1.0}, positions), kastor::Error);
  EXPECT_THROW((void)photometer(image, {0.0, map}, positions), kastor::Error);
  const auto region = kastor::make_bit_mask(Exec{}, 6, 5);
  EXPECT_THROW((void)photometer(image, {0.0, 1.0}, positions, region), kastor::Error);
}

// ------------------------------------------------------------------------------------- noise

/// The scatter of sums of noise, in units of its variance times the area.
double measured_factor(const ts::HostImage<double>& noise, double radius) {
  using Exec = ts::FirstExec;
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<kastor::AperturePosition> positions;
  const auto step = static_cast<std::int64_t>(2 * radius) + 8;
  for (std::int64_t y = step; y < noise.ny - step; y += step) {
    for (std::int64_t x = step; x < noise.nx - step; x += step)
      positions.push_back(
          {static_cast<double>(x) + unit(random), static_cast<double>(y) + unit(random)});
  }
  const auto fluxes =
      kastor::aperture_fluxes(Exec{}, ts::to_device<Exec>(noise),
                              kastor::Background<Exec, double>{0.0, 1.0}, positions, {radius});
  double squares = 0;
  for (const auto& flux : fluxes) squares += flux.flux * flux.flux / flux.variance;
  double variance = 0;
  for (const double value : noise.values) variance += value * value;
  variance /= static_cast<double>(noise.values.size());
  return squares / static_cast<double>(fluxes.size()) / variance;
}

TEST(ApertureNoise, IsThatOfSimulatedNoise) {
  ts::HostImage<double> white(1024, 1024);
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, 1);
  for (double& value : white.values) value = normal(random);
  // The scatter of some 5000 sums has an error of 2 % of the variance.
  EXPECT_NEAR(measured_factor(white, 3) / kastor::aperture_noise_factor(3), 1, 0.07);
  EXPECT_NEAR(measured_factor(white, 0.5) / kastor::aperture_noise_factor(0.5), 1, 0.07);

  // White noise smoothed twice by a box of 5: its autocorrelation is nearly a Gaussian.
  const auto smooth = [](const ts::HostImage<double>& from) {
    ts::HostImage<double> to(from.ny, from.nx);
    for (std::int64_t y = 0; y < from.ny; ++y) {
      for (std::int64_t x = 0; x < from.nx; ++x) {
        for (int j = -2; j <= 2; ++j)
          for (int i = -2; i <= 2; ++i)
            to(y, x) += from((y + j + from.ny) % from.ny, (x + i + from.nx) % from.nx);
      }
    }
    return to;
  };
  const auto smoothed = smooth(smooth(white));
  // The area of the autocorrelation: the square of the sum of the kernel over the sum of squares,
  // (625 / 85)^2 for weights 1, 2, 3, 4, 5, 4, 3, 2, 1 along each axis.
  const double area = (625.0 / 85) * (625.0 / 85);
  for (const double radius : {1.5, 4.0, 9.0}) {
    EXPECT_NEAR(measured_factor(smoothed, radius) / kastor::aperture_noise_factor(radius, area), 1,
                radius < 5 ? 0.08 : 0.15)
        << radius;
  }
}

TEST(ApertureNoise, HasItsLimits) {
  EXPECT_NEAR(kastor::aperture_noise_factor(50), 1 - 0.332 / 50, 1e-4);
  EXPECT_NEAR(kastor::aperture_noise_factor(300, 20), 20, 0.3);
  const kastor::PixelEllipse beam{6, 3, 0.4};
  const double round = kastor::aperture_noise_factor(60, kastor::area_of(beam));
  EXPECT_NEAR(kastor::aperture_noise_factor(60, kastor::area_of(beam), beam) / round, 1, 0.02);
  // Within a small part of the beam the noise is the same: the variance is that of one pixel times
  // the square of the area.
  EXPECT_NEAR(kastor::aperture_noise_factor(2, 5000) / (4 * std::numbers::pi), 1, 0.02);
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW((void)kastor::aperture_noise_factor(bad), kastor::Error);
  EXPECT_THROW((void)kastor::aperture_noise_factor(1, 0.5), kastor::Error);
  EXPECT_THROW((void)kastor::aperture_noise_factor(1, 2, {1, 2, 0}), kastor::Error);
}

}  // namespace
