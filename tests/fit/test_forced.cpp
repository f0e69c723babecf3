// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <kastor/forced.hpp>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "device.hpp"
#include "fit/forced_groups.hpp"
#include "island_scenes.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
using kastor::ForcedParams;
using kastor::ForcedPosition;
using kastor::FreeParameters;
using kastor::Gaussian;
using kastor::PixelEllipse;
using Image = ts::HostImage<double>;
using Matrix = std::vector<std::vector<double>>;

constexpr double fwhm = 2.3548200450309493;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const PixelEllipse beam{5, 3.5, 0.6};

double height(const Gaussian& g, double y, double x) {
  return std::exp(-(g.s(x, y) * g.s(x, y) + g.z(y) * g.z(y)) / 2);
}

void add(Image& image, const Gaussian& g) {
  for (std::int64_t y = 0; y < image.ny; ++y)
    for (std::int64_t x = 0; x < image.nx; ++x)
      image(y, x) += g.peak * height(g, static_cast<double>(y), static_cast<double>(x));
}

/// Noise of rms 1 whose autocorrelation is a Gaussian of this shape.
Image correlated_noise(std::int64_t ny, std::int64_t nx, const PixelEllipse& shape,
                       std::uint64_t seed) {
  const double root = std::sqrt(2.0);
  const Gaussian kernel =
      kastor::gaussian_of({shape.major / root, shape.minor / root, shape.angle});
  constexpr int reach = 7;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 1);
  Image white(ny + 2 * reach, nx + 2 * reach), noise(ny, nx);
  for (double& value : white.values) value = normal(random);
  double squares = 0;
  for (int j = -reach; j <= reach; ++j)
    for (int i = -reach; i <= reach; ++i) squares += std::pow(height(kernel, j, i), 2);
  for (int j = -reach; j <= reach; ++j) {
    for (int i = -reach; i <= reach; ++i) {
      const double weight = height(kernel, j, i) / std::sqrt(squares);
      for (std::int64_t y = 0; y < ny; ++y)
        for (std::int64_t x = 0; x < nx; ++x)
          noise(y, x) += weight * white(y + j + reach, x + i + reach);
    }
  }
  return noise;
}

template <class T>
ts::HostImage<T> pixels_of(const Image& image) {
  ts::HostImage<T> result(image.ny, image.nx);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    result.values[i] = static_cast<T>(image.values[i]);
  return result;
}

template <class Exec, class T>
kastor::FittedComponents measure(const Image& image, const std::vector<ForcedPosition>& positions,
                                 const ForcedParams& params, std::int64_t bands = 1,
                                 double level = 0, double rms = 1) {
  const auto there = ts::to_device<Exec>(pixels_of<T>(image));
  const auto split = ts::split_into_bands<Exec, T>(kastor::as_const_image<Exec>(there), bands);
  kastor::ForcedPhotometer<Exec, T> photometer(Exec{}, params);
  return photometer(split, {level, rms}, positions);
}

// ---------------------------------------------------------------------------------- reference

/// The inverse, by Gauss and Jordan.
Matrix inverse(Matrix a) {
  const std::size_t n = a.size();
  Matrix result(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) result[i][i] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double pivot = a[i][i];
    for (std::size_t j = 0; j < n; ++j) {
      a[i][j] /= pivot;
      result[i][j] /= pivot;
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (k == i) continue;
      const double factor = a[k][i];
      for (std::size_t j = 0; j < n; ++j) {
        a[k][j] -= factor * a[i][j];
        result[k][j] -= factor * result[i][j];
      }
    }
  }
  return result;
}

/// Heights by the normal equations of all positions, and their covariance matrix.
struct NaiveHeights {
  std::vector<double> heights;
  Matrix covariance;
  std::int64_t n_pix = 0;

  /// \param correlation  of the noise; null: white
  NaiveHeights(const Image& image, const std::vector<Gaussian>& at, const Gaussian* correlation) {
    const double radius = 0.6 * fwhm;
    std::vector<std::pair<std::int64_t, std::int64_t>> pixels;
    for (std::int64_t y = 0; y < image.ny; ++y) {
      for (std::int64_t x = 0; x < image.nx; ++x) {
        bool is_in = false;
        for (const Gaussian& g : at) {
          const double s = g.s(static_cast<double>(x), static_cast<double>(y));
          const double z = g.z(static_cast<double>(y));
          is_in = is_in || s * s + z * z <= radius * radius;
        }
        if (is_in && std::isfinite(image(y, x))) pixels.emplace_back(y, x);
      }
    }
    n_pix = static_cast<std::int64_t>(pixels.size());
    const std::size_t n = at.size();
    Matrix j(pixels.size(), std::vector<double>(n));
    Matrix h(n, std::vector<double>(n)), middle = h;
    std::vector<double> right(n);
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      const auto [y, x] = pixels[p];
      for (std::size_t i = 0; i < n; ++i) {
        j[p][i] = height(at[i], static_cast<double>(y), static_cast<double>(x));
        right[i] += j[p][i] * image(y, x);
      }
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k) h[i][k] += j[p][i] * j[p][k];
    }
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      for (std::size_t q = 0; q < pixels.size(); ++q) {
        const auto dy = static_cast<double>(pixels[p].first - pixels[q].first);
        const auto dx = static_cast<double>(pixels[p].second - pixels[q].second);
        const double rho = correlation != nullptr ? height(*correlation, dy, dx) : (p == q);
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t k = 0; k < n; ++k) middle[i][k] += j[p][i] * rho * j[q][k];
      }
    }
    const Matrix inverted = inverse(h);
    heights.resize(n);
    covariance = Matrix(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) heights[i] += inverted[i][k] * right[k];
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t a = 0; a < n; ++a)
          for (std::size_t b = 0; b < n; ++b)
            covariance[i][k] += inverted[i][a] * middle[a][b] * inverted[b][k];
      }
    }
  }
};

std::vector<Gaussian> gaussians_at(const std::vector<ForcedPosition>& positions) {
  std::vector<Gaussian> result;
  for (const auto& each : positions)
    result.push_back(kastor::gaussian_of(each.shape.value_or(beam), 1, each.x, each.y));
  return result;
}

bool same_component_bits(const kastor::FittedComponents& a, const kastor::FittedComponents& b) {
  if (a.components.size() != b.components.size() || a.covariance.size() != b.covariance.size() ||
      a.covariance_begin != b.covariance_begin)
    return false;
  for (std::size_t i = 0; i < a.components.size(); ++i) {
    const auto &p = a.components[i], &q = b.components[i];
    if (std::memcmp(&p.gaussian, &q.gaussian, sizeof p.gaussian) != 0) return false;
    if (std::memcmp(p.covariance, q.covariance, sizeof p.covariance) != 0) return false;
    const double of_p[] = {p.rms, p.background, p.chi_squared, p.residual_rms};
    const double of_q[] = {q.rms, q.background, q.chi_squared, q.residual_rms};
    if (std::memcmp(of_p, of_q, sizeof of_p) != 0) return false;
    if (p.n_pix != q.n_pix || p.group_id != q.group_id || p.flags != q.flags) return false;
  }
  return std::memcmp(a.covariance.data(), b.covariance.data(),
                     a.covariance.size() * sizeof(double)) == 0;
}

// ------------------------------------------------------------------------------------- groups

TEST(ForcedGroups, JoinsWhatTouches) {
  const auto at = [](double x, double y) { return kastor::gaussian_of({4, 4, 0}, 1, x, y); };
  const std::vector<Gaussian> list = {at(10, 10), at(40, 40), at(17.9, 10), at(40, 48.1),
                                      at(25.8, 10)};
  const auto groups = kastor::detail::forced_groups(list, 1, 64);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].core, (std::vector<std::int32_t>{0, 2, 4}));
  EXPECT_EQ(groups[1].core, (std::vector<std::int32_t>{1}));
  EXPECT_EQ(groups[2].core, (std::vector<std::int32_t>{3}));
  EXPECT_TRUE(groups[0].halo.empty() && groups[0].fixed.empty() && !groups[0].is_split);
  // Along their major axes ellipses reach further.
  const auto long_at = [](double x, double y) { return kastor::gaussian_of({8, 4, 0}, 1, x, y); };
  EXPECT_TRUE(kastor::detail::ellipses_touch(long_at(0, 0), long_at(15.9, 0), 1));
  EXPECT_FALSE(kastor::detail::ellipses_touch(long_at(0, 0), long_at(0, 8.1), 1));
  EXPECT_TRUE(kastor::detail::ellipses_touch(long_at(0, 0), at(11.9, 0), 1));
  EXPECT_FALSE(kastor::detail::ellipses_touch(long_at(0, 0), at(12.1, 0), 1));
}

TEST(ForcedGroups, SplitsWhatIsTooLarge) {
  std::vector<Gaussian> list;
  for (int i = 0; i < 300; ++i)
    list.push_back(kastor::gaussian_of({4, 4, 0}, 1, 3.0 * (i % 60), 3.0 * (i / 60)));
  const auto groups = kastor::detail::forced_groups(list, 1, 32);
  std::vector<int> seen(list.size());
  for (const auto& group : groups) {
    EXPECT_TRUE(group.is_split);
    EXPECT_LE(group.core.size(), 16U);
    EXPECT_LE(group.core.size() + group.halo.size(), 32U);
    EXPECT_FALSE(group.fixed.empty());
    for (const auto i : group.core) ++seen[static_cast<std::size_t>(i)];
    for (const auto i : group.halo)
      EXPECT_EQ(std::count(group.core.begin(), group.core.end(), i), 0);
    for (const auto i : group.fixed) {
      EXPECT_EQ(std::count(group.core.begin(), group.core.end(), i), 0);
      EXPECT_EQ(std::count(group.halo.begin(), group.halo.end(), i), 0);
    }
  }
  for (const int count : seen) EXPECT_EQ(count, 1);
}

TEST(ForcedGroups, FindsRepeatedPlaces) {
  const auto at = [](double x, const PixelEllipse& shape = beam) {
    return kastor::gaussian_of(shape, 1, x, 7);
  };
  const std::vector<Gaussian> list = {at(1), at(2), at(1 + 1e-5), at(1, {6, 3.5, 0.6}),
                                      at(2), at(1)};
  EXPECT_EQ(kastor::detail::first_at_place(list), (std::vector<std::int32_t>{0, 1, 0, 3, 1, 0}));
}

// -------------------------------------------------------------------------------------- fits

template <class T>
class Forced : public ::testing::Test {};
TYPED_TEST_SUITE(Forced, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Forced, SolvesTheNormalEquations) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  auto image = correlated_noise(60, 70, beam, 4);
  const std::vector<ForcedPosition> positions = {
      {20.3, 20.8, {}}, {23.1, 22.2, {}}, {26.9, 21, PixelEllipse{7, 5, 1.2}}, {55.2, 40.6, {}}};
  auto sources = gaussians_at(positions);
  const double peaks[] = {10, -4, 7, 0.5};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    sources[i].peak = peaks[i];
    add(image, sources[i]);
  }
  for (double& value : image.values) value = static_cast<double>(static_cast<T>(value));
  const bool is_float = std::is_same_v<T, float>;
  for (const double area : {1.0, kastor::area_of(beam)}) {
    const ForcedParams params{beam, area, FreeParameters::flux};
    const auto got = measure<Exec, T>(image, positions, params);
    ASSERT_EQ(got.components.size(), 4U);
    const Gaussian correlation = kastor::gaussian_of(beam);
    std::vector<Gaussian> blend(sources.begin(), sources.begin() + 3);
    const NaiveHeights of_blend(image, blend, area > 1 ? &correlation : nullptr);
    const NaiveHeights of_last(image, {sources[3]}, area > 1 ? &correlation : nullptr);
    for (std::size_t i = 0; i < 4; ++i) {
      const auto& row = got.components[i];
      const NaiveHeights& want = i < 3 ? of_blend : of_last;
      const std::size_t k = i < 3 ? i : 0;
      const double error = std::sqrt(want.covariance[k][k]);
      EXPECT_NEAR(row.gaussian.peak, want.heights[k], (is_float ? 1e-5 : 1e-6) * error) << i;
      // The autocorrelation is cut at 0.01.
      EXPECT_NEAR(std::sqrt(row.covariance[0]), error, 0.01 * error) << i;
      EXPECT_EQ(row.n_pix, want.n_pix);
      EXPECT_EQ(row.id, static_cast<std::int64_t>(i) + 1);
      EXPECT_EQ(row.group_id, i < 3 ? 1 : 2);
      EXPECT_EQ(row.group_size, i < 3 ? 3 : 1);
      EXPECT_EQ(row.gaussian.x, sources[i].x);
      EXPECT_EQ(row.gaussian.u, sources[i].u);
      EXPECT_EQ((row.flags & kastor::component_beam_shape) != 0, i != 2);
      EXPECT_EQ((row.flags & kastor::component_negative) != 0, row.gaussian.peak < 0);
      EXPECT_NE(row.flags & kastor::component_forced, 0U);
    }
    EXPECT_EQ(got.covariance_begin, (std::vector<std::size_t>{0, 18 * 18, 18 * 18 + 36}));
    EXPECT_NEAR(got.covariance[6], of_blend.covariance[0][1],
                0.02 * std::abs(of_blend.covariance[0][1]));
  }
}

TYPED_TEST(Forced, HasTheSameBits) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto image = correlated_noise(90, 80, beam, 9);
  std::vector<ForcedPosition> positions;
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 60; ++i) positions.push_back({-5 + 90 * unit(random), 95 * unit(random), {}});
  for (const auto free : {FreeParameters::flux, FreeParameters::position, FreeParameters::shape}) {
    const ForcedParams params{beam, kastor::area_of(beam), free};
    const auto got = measure<Exec, T>(image, positions, params);
    EXPECT_TRUE(same_component_bits(got, measure<Exec, T>(image, positions, params, 7)));
    EXPECT_TRUE(same_component_bits(got, measure<ts::FirstExec, T>(image, positions, params)));
  }
}

TYPED_TEST(Forced, RecoversPairs) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  for (const double apart : {0.25, 0.5, 1.0, 2.2}) {
    Image image(50, 60);
    const std::vector<ForcedPosition> positions = {{25.2, 24.7, {}}, {25.2 + 5 * apart, 24.7, {}}};
    auto sources = gaussians_at(positions);
    sources[0].peak = 30;
    sources[1].peak = -9;
    for (const auto& each : sources) add(image, each);
    const auto got = measure<Exec, T>(image, positions, {beam, 1, FreeParameters::flux});
    EXPECT_NEAR(got.components[0].gaussian.peak, 30, apart > 2 ? 0.02 : 1e-3) << apart;
    EXPECT_NEAR(got.components[1].gaussian.peak, -9, apart > 2 ? 0.02 : 1e-3) << apart;
  }
}

TYPED_TEST(Forced, FitsLargeGroupsInParts) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  Image image(80, 260);
  std::vector<ForcedPosition> positions;
  std::vector<double> peaks;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int i = 0; i < 120; ++i) {
    positions.push_back(
        {10 + 6.0 * (i % 40) + unit(random), 30 + 6.0 * (i / 40) + unit(random), {}});
    peaks.push_back(20 * unit(random) - 5);
  }
  auto sources = gaussians_at(positions);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    sources[i].peak = peaks[i];
    add(image, sources[i]);
  }
  const auto got = measure<Exec, T>(image, positions, {beam, 1, FreeParameters::flux});
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    EXPECT_NEAR(got.components[i].gaussian.peak, peaks[i], 0.03) << i;
    EXPECT_NE(got.components[i].flags & kastor::component_group_split, 0U);
    EXPECT_LE(got.components[i].group_size, 16);
  }
}

TYPED_TEST(Forced, SaysWhatCannotBeMeasured) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  Image image(40, 50);
  add(image, kastor::gaussian_of(beam, 10, 20, 20));
  for (std::int64_t y = 0; y < 12; ++y)
    for (std::int64_t x = 36; x < 50; ++x) image(y, x) = nan;
  image(20, 20) = nan;
  const std::vector<ForcedPosition> positions = {{nan, 4, {}},   {-0.6, 20, {}},  {49.6, 20, {}},
                                                 {45, 4, {}},    {20, 20, {}},    {20, 20, {}},
                                                 {1e300, 5, {}}, {-0.4, 39.2, {}}};
  const auto got = measure<Exec, T>(image, positions, {beam, 1, FreeParameters::flux}, 3, 0.5, 2);
  ASSERT_EQ(got.components.size(), positions.size());
  for (const std::size_t i : {0U, 1U, 2U, 3U, 6U}) {
    const auto& row = got.components[i];
    EXPECT_EQ(row.flags & (kastor::component_off_image | kastor::component_no_pixels),
              i == 3 ? kastor::component_no_pixels : kastor::component_off_image);
    EXPECT_TRUE(std::isnan(row.gaussian.peak) && std::isnan(row.covariance[0]));
    EXPECT_TRUE(std::isnan(row.chi_squared));
    EXPECT_EQ(row.n_pix, 0);
    EXPECT_EQ(row.group_id, 0);
    EXPECT_EQ(row.id, static_cast<std::int64_t>(i) + 1);
  }
  const auto &first = got.components[4], &second = got.components[5];
  EXPECT_NEAR(first.gaussian.peak, 10 - 0.5, 0.6);
  EXPECT_EQ(first.background, 0.5);
  EXPECT_EQ(first.rms, 2);
  EXPECT_NE(first.flags & kastor::component_near_blank, 0U);
  EXPECT_EQ(second.gaussian.peak, first.gaussian.peak);
  EXPECT_EQ(second.id, 6);
  EXPECT_EQ(second.group_id, first.group_id);
  EXPECT_EQ(first.group_size, 1);
  EXPECT_EQ(first.flags & kastor::component_same_place, 0U);
  EXPECT_NE(second.flags & kastor::component_same_place, 0U);
  EXPECT_NE(got.components[7].flags & kastor::component_at_edge, 0U);
  EXPECT_TRUE(std::isfinite(got.components[7].gaussian.peak));
  EXPECT_TRUE((measure<Exec, T>(image, {}, {beam, 1, FreeParameters::flux}).components.empty()));
}

TYPED_TEST(Forced, FitsPositionsAndShapes) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  auto image = correlated_noise(60, 60, beam, 21);
  const PixelEllipse shape{8, 5, 0.3};
  const Gaussian source = kastor::gaussian_of(shape, 60, 30.4, 29.7);
  const Gaussian hole = kastor::gaussian_of(beam, -40, 10, 48);
  add(image, source);
  add(image, hole);
  const std::vector<ForcedPosition> positions = {{31, 29, shape}, {10.5, 47.6, {}}};
  const auto moved =
      measure<Exec, T>(image, positions, {beam, kastor::area_of(beam), FreeParameters::position});
  EXPECT_NEAR(moved.components[0].gaussian.x, 30.4, 0.3);
  EXPECT_NEAR(moved.components[0].gaussian.y, 29.7, 0.3);
  EXPECT_EQ(moved.components[0].gaussian.u, source.u);
  EXPECT_NEAR(moved.components[1].gaussian.peak, -40, 4);
  EXPECT_NEAR(moved.components[1].gaussian.x, 10, 0.3);
  EXPECT_GT(moved.components[0].covariance[7], 0);
  EXPECT_EQ(moved.components[0].covariance[21], 0);
  const auto shaped =
      measure<Exec, T>(image, positions, {beam, kastor::area_of(beam), FreeParameters::shape});
  EXPECT_NEAR(kastor::ellipse_of(shaped.components[0].gaussian).major, 8, 0.6);
  EXPECT_GT(shaped.components[0].covariance[21], 0);
}

TYPED_TEST(Forced, RefusesWhatHasNoMeaning) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Photometer = kastor::ForcedPhotometer<Exec, T>;
  for (const PixelEllipse bad : {PixelEllipse{0, 0, 0}, {3, 4, 0}, {nan, 2, 0}, {1e6, 2, 0}})
    EXPECT_THROW((Photometer(Exec{}, {bad, 1, FreeParameters::flux})), kastor::Error);
  for (const double area : {0.5, nan, std::numeric_limits<double>::infinity()})
    EXPECT_THROW((Photometer(Exec{}, {beam, area, FreeParameters::flux})), kastor::Error);
  const auto image = ts::new_image<Exec, T>("test::image", 8, 9);
  const auto other = ts::new_image<Exec, T>("test::other", 9, 8);
  const auto pixels = kastor::as_const_image<Exec>(image);
  const kastor::Bands<T, Exec> bands(&pixels, 1);
  const kastor::PixelMap<Exec, T> map(other);
  const std::vector<ForcedPosition> positions = {{4, 4, {}}};
  Photometer photometer(Exec{}, {beam, 1, FreeParameters::flux});
  EXPECT_THROW((void)photometer(bands, {map, 1.0}, positions), kastor::Error);
  EXPECT_THROW((void)photometer(bands, {0.0, map}, positions), kastor::Error);
  const auto region = kastor::make_bit_mask(Exec{}, 9, 8);
  EXPECT_THROW((void)photometer(bands, {0.0, 1.0}, positions, region), kastor::Error);
  const std::vector<ForcedPosition> bad = {{4, 4, PixelEllipse{2, 3, 0}}};
  EXPECT_THROW((void)photometer(bands, {0.0, 1.0}, bad), kastor::Error);
}

// ------------------------------------------------------------------------------------- errors

TEST(ForcedErrors, AreThoseOfSimulatedNoise) {
  constexpr int side = 42, step = 15;
  auto image = correlated_noise(side * step, side * step, beam, 77);
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<ForcedPosition> positions;
  for (int i = 0; i < side * side; ++i)
    positions.push_back(
        {step * (i % side) + 4 + 7 * unit(random), step * (i / side) + 4 + 7 * unit(random), {}});
  auto sources = gaussians_at(positions);
  for (Gaussian& each : sources) {
    each.peak = 10 * unit(random);
    for (auto y = static_cast<std::int64_t>(each.y) - 15; y < each.y + 15; ++y)
      for (auto x = static_cast<std::int64_t>(each.x) - 15; x < each.x + 15; ++x)
        if (y >= 0 && x >= 0 && y < image.ny && x < image.nx)
          image(y, x) += each.peak * height(each, static_cast<double>(y), static_cast<double>(x));
  }
  const auto got = measure<ts::FirstExec, double>(
      image, positions, {beam, kastor::area_of(beam), FreeParameters::flux});
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto& row = got.components[i];
    const double pull = (row.gaussian.peak - sources[i].peak) / std::sqrt(row.covariance[0]);
    sum += pull;
    squares += pull * pull;
  }
  const auto n = static_cast<double>(sources.size());
  const double mean = sum / n;
  const double width = std::sqrt(squares / n - mean * mean);
  // The error of a width is 1 / sqrt(2 n) = 0.017.
  EXPECT_NEAR(width, 1, 0.05);
  EXPECT_NEAR(mean, 0, 0.08);
  RecordProperty("width", std::to_string(width));
}

}  // namespace
