// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/simulate.hpp>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "core/random.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

kastor::SkyParams sky_of(std::int64_t ny, std::int64_t nx, std::uint64_t seed = 42) {
  kastor::SkyParams params;
  params.ny = ny;
  params.nx = nx;
  params.seed = seed;
  return params;
}

template <class Exec, class T>
ts::HostImage<T> simulate(const kastor::SkyParams& params) {
  const auto image = ts::new_image<Exec, T>("test::sky", params.ny, params.nx);
  kastor::simulate_sky<Exec, T>(Exec{}, params, kastor::sky_truth(params), image);
  return ts::to_host_grid(image);
}

/// The noise as it is defined, pixel by pixel: a row's numbers begin at row * (nx + taps), and
/// every sum is taken in the order of the taps.
template <class T>
ts::HostImage<T> noise_naive(const kastor::SkyParams& params) {
  const double sigma = params.beam_fwhm / 2.3548200450309493;
  const auto reach = static_cast<std::int64_t>(std::ceil(3.5 * sigma));
  std::vector<double> taps;
  double squares = 0;
  for (std::int64_t k = -reach; k <= reach; ++k) {
    const double d = static_cast<double>(k) / sigma;
    taps.push_back(std::exp(-d * d));
    squares += taps.back() * taps.back();
  }
  const std::size_t n = taps.size();
  ts::HostImage<T> image(params.ny, params.nx);
  for (std::int64_t y = 0; y < params.ny; ++y) {
    for (std::int64_t x = 0; x < params.nx; ++x) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t row = static_cast<std::uint64_t>(y) + i;
        const std::uint64_t at =
            row * (static_cast<std::uint64_t>(params.nx) + n) + static_cast<std::uint64_t>(x);
        double along_x = 0;
        for (std::size_t j = 0; j < n; ++j)
          along_x += taps[j] * kastor::core::random_bell(params.seed, at + j);
        sum += taps[i] * (params.noise / squares) * along_x;
      }
      image(y, x) = static_cast<T>(sum);
    }
  }
  return image;
}

/// Adds every source to the box around it, one after the other.
template <class T>
void add_sources_naive(const std::vector<kastor::TrueSource>& truth, ts::HostImage<T>& image) {
  for (const auto& source : truth) {
    const double sigma = source.fwhm / 2.3548200450309493;
    const double reach = std::ceil(6 * sigma);
    const auto profile = [&](std::int64_t i, double centre, double height) {
      const double d = (static_cast<double>(i) - centre) / sigma;
      return height * std::exp(-0.5 * d * d);
    };
    for (std::int64_t y = 0; y < image.ny; ++y) {
      if (std::fabs(static_cast<double>(y) - std::floor(source.y)) > reach) continue;
      for (std::int64_t x = 0; x < image.nx; ++x) {
        if (std::fabs(static_cast<double>(x) - std::floor(source.x)) > reach) continue;
        image(y, x) =
            static_cast<T>(static_cast<double>(image(y, x)) +
                           profile(y, source.y, source.flux_peak) * profile(x, source.x, 1.0));
      }
    }
  }
}

template <class T>
class Simulate : public ::testing::Test {};
TYPED_TEST_SUITE(Simulate, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Simulate, GivesTheBitsOfTheDefinition) {
  using T = typename TypeParam::real;
  auto crowded = sky_of(300, 517);
  crowded.sources_per_mpx = 500;
  auto wide = sky_of(40, 50, 3);
  wide.sources_per_mpx = 5000;
  wide.beam_fwhm = 20;
  for (const auto& sky : {crowded, wide, sky_of(1, 1), sky_of(1, 300), sky_of(300, 1)}) {
    auto want = noise_naive<T>(sky);
    add_sources_naive(kastor::sky_truth(sky), want);
    EXPECT_TRUE(ts::same_pixels(simulate<typename TypeParam::exec, T>(sky), want))
        << ts::shape_name(sky.ny, sky.nx);
  }
}

/// A cut-out of a larger image is filled, and its surroundings stay.
TYPED_TEST(Simulate, FillsCutOuts) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  auto params = sky_of(30, 40);
  params.sources_per_mpx = 3000;
  const auto truth = kastor::sky_truth(params);
  const kastor::Image<T, Exec> owner("test::owner", 35, 50);
  const auto cut_out = Kokkos::subview(owner, std::make_pair(std::size_t{2}, std::size_t{32}),
                                       std::make_pair(std::size_t{5}, std::size_t{45}));
  const auto check = [&](const ts::HostImage<T>& want) {
    const auto got = ts::to_host_grid(owner);
    for (std::int64_t y = 0; y < got.ny; ++y) {
      for (std::int64_t x = 0; x < got.nx; ++x) {
        const bool inside = y >= 2 && y < 32 && x >= 5 && x < 45;
        ASSERT_EQ(got(y, x), inside ? want(y - 2, x - 5) : T(7)) << y << ' ' << x;
      }
    }
  };
  Kokkos::deep_copy(owner, T(7));
  kastor::simulate_sky(space, params, truth, cut_out);
  auto want = noise_naive<T>(params);
  add_sources_naive(truth, want);
  check(want);

  Kokkos::deep_copy(owner, T(7));
  kastor::simulate_diracs(space, 3, cut_out);
  space.fence("test::diracs");
  ts::HostImage<T> diracs(30, 40, T(0));
  for (std::int64_t y = 1; y < 30; y += 3)
    for (std::int64_t x = 1; x < 40; x += 3) diracs(y, x) = T(1);
  check(diracs);
}

TYPED_TEST(Simulate, MakesGaussianNoiseOfTheRequestedWidthAndBeam) {
  using T = typename TypeParam::real;
  for (const double beam_fwhm : {1.0, 3.0, 5.0}) {
    auto params = sky_of(700, 900);
    params.sources_per_mpx = 0;
    params.noise = 0.25;
    params.beam_fwhm = beam_fwhm;
    const auto sky = simulate<typename TypeParam::exec, T>(params);
    const auto statistics = ts::statistics_naive(sky);
    EXPECT_EQ(statistics.count, 700 * 900);
    EXPECT_NEAR(statistics.std, params.noise, 0.03 * params.noise) << "beam " << beam_fwhm;
    EXPECT_NEAR(statistics.mean, 0, 0.05 * params.noise) << "beam " << beam_fwhm;

    // The beam as seen along a row and along a column: exp(-d^2 / 2 sigma^2).
    const double sigma = beam_fwhm / std::sqrt(8 * std::numbers::ln2);
    double along_x = 0;
    double along_y = 0;
    for (std::int64_t y = 0; y + 2 < params.ny; ++y) {
      for (std::int64_t x = 0; x + 2 < params.nx; ++x) {
        along_x += static_cast<double>(sky(y, x)) * static_cast<double>(sky(y, x + 2));
        along_y += static_cast<double>(sky(y, x)) * static_cast<double>(sky(y + 2, x));
      }
    }
    const double scale =
        statistics.std * statistics.std * static_cast<double>((params.ny - 2) * (params.nx - 2));
    EXPECT_NEAR(along_x / scale, std::exp(-2 / (sigma * sigma)), 0.03) << "beam " << beam_fwhm;
    EXPECT_NEAR(along_y / scale, std::exp(-2 / (sigma * sigma)), 0.03) << "beam " << beam_fwhm;

    if (beam_fwhm < 5) continue;  // few numbers a pixel
    const auto beyond = [&](double sigmas) {
      const auto outside = [&](T pixel) { return std::fabs(pixel) > sigmas * params.noise; };
      return static_cast<double>(std::count_if(sky.values.begin(), sky.values.end(), outside)) /
             (700 * 900);
    };
    EXPECT_NEAR(beyond(1), 0.3173, 0.02);
    EXPECT_NEAR(beyond(2), 0.0455, 0.008);
    EXPECT_NEAR(beyond(3), 0.0027, 0.0012);
  }
}

TYPED_TEST(Simulate, PlacesDiracsAtHalfTheSpacing) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  // Kernels fill pieces of 4096 pixels.
  const std::pair<std::int64_t, std::int64_t> shapes[] = {
      {64, 130}, {1, 1}, {33, 17}, {300, 1}, {2, 4095}, {2, 4096}, {2, 4097}, {9, 8200}};
  for (const std::int64_t spacing : {1, 2, 3, 16, 100, 4097, 100000}) {
    for (const auto& [ny, nx] : shapes) {
      const auto image = ts::new_image<Exec, T>("test::diracs", ny, nx);
      Kokkos::deep_copy(image, T(7));
      kastor::simulate_diracs<Exec, T>(Exec{}, spacing, image);
      Exec{}.fence("test::diracs");
      ts::HostImage<T> want(ny, nx, T(0));
      for (std::int64_t y = spacing / 2; y < ny; y += spacing) {
        for (std::int64_t x = spacing / 2; x < nx; x += spacing) want(y, x) = T(1);
      }
      EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(image), want)) << "spacing " << spacing;
      const std::int64_t first = ny / 3;
      const auto rows = Kokkos::subview(image, Kokkos::make_pair(first, ny), Kokkos::ALL());
      Kokkos::deep_copy(image, T(7));
      kastor::simulate_diracs(Exec{}, spacing, rows, first);
      Exec{}.fence("test::diracs");
      std::fill_n(want.values.begin(), first * nx, T(7));
      EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(image), want)) << "from row " << first;
    }
  }
}

TYPED_TEST(Simulate, ThrowsOnBadParametersAndShapes) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const kastor::Image<T, Exec> image("test::sky", 20, 30);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refuses = [&](const auto& change) {
    auto params = sky_of(20, 30);
    change(params);
    ts::expect_error([&] { kastor::simulate_sky<Exec, T>(space, params, {}, image); },
                     {"kastor::simulate_sky"});
  };
  refuses([](kastor::SkyParams& p) { p.ny = 21; });
  refuses([](kastor::SkyParams& p) { p.nx = 29; });
  refuses([](kastor::SkyParams& p) { p.noise = -1; });
  refuses([&](kastor::SkyParams& p) { p.noise = nan; });
  refuses([](kastor::SkyParams& p) { p.beam_fwhm = 0.5; });
  refuses([](kastor::SkyParams& p) { p.beam_fwhm = 33; });
  refuses([&](kastor::SkyParams& p) { p.beam_fwhm = nan; });
  for (const std::int64_t spacing : {0, -1}) {
    ts::expect_error([&] { kastor::simulate_diracs<Exec, T>(space, spacing, image); },
                     {"kastor::simulate_diracs", "spacing"});
  }
}

TEST(SkyTruth, IsInRasterOrderAndInsideTheImage) {
  const auto truth = kastor::sky_truth(sky_of(3000, 4000));
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto& source = truth[i];
    EXPECT_GE(source.x, -0.5);
    EXPECT_LE(source.x, 3999.5);
    EXPECT_GE(source.y, -0.5);
    EXPECT_LE(source.y, 2999.5);
    EXPECT_GT(source.flux_peak, 0);
    EXPECT_GE(source.flux_int, source.flux_peak * (1 - 1e-12));
    EXPECT_GE(source.fwhm, 5.0);
    if (i == 0) continue;
    const auto& before = truth[i - 1];
    EXPECT_TRUE(before.y < source.y || (before.y == source.y && before.x <= source.x)) << i;
  }
}

TEST(SkyTruth, HasTheRequestedNumberAndShareOfExtendedSources) {
  auto params = sky_of(3000, 4000);
  params.sources_per_mpx = 200;
  params.extended_fraction = 0.25;
  const auto truth = kastor::sky_truth(params);
  EXPECT_NEAR(static_cast<double>(truth.size()), 2400, 250);
  const auto extended = std::count_if(truth.begin(), truth.end(),
                                      [](const auto& source) { return source.fwhm > 5.0; });
  EXPECT_NEAR(static_cast<double>(extended) / static_cast<double>(truth.size()), 0.25, 0.05);

  params.sources_per_mpx = 0;
  EXPECT_TRUE(kastor::sky_truth(params).empty());
}

TEST(SkyTruth, ThrowsOnParametersOutOfRange) {
  const auto refuses = [](const auto& change) {
    kastor::SkyParams params;
    change(params);
    ts::expect_error([&] { (void)kastor::sky_truth(params); }, {"kastor::sky_truth"});
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  refuses([](kastor::SkyParams& p) { p.ny = 0; });
  refuses([](kastor::SkyParams& p) { p.nx = std::int64_t{1} << 31; });
  refuses([](kastor::SkyParams& p) { p.noise = -0.1; });
  refuses([&](kastor::SkyParams& p) { p.noise = nan; });
  refuses([](kastor::SkyParams& p) { p.beam_fwhm = 0; });
  refuses([&](kastor::SkyParams& p) { p.beam_fwhm = nan; });
  refuses([](kastor::SkyParams& p) { p.beam_fwhm = 32.5; });
  refuses([](kastor::SkyParams& p) { p.sources_per_mpx = -1; });
  refuses([&](kastor::SkyParams& p) { p.sources_per_mpx = nan; });
  refuses([](kastor::SkyParams& p) { p.extended_fraction = 1.1; });
  refuses([](kastor::SkyParams& p) { p.extended_fraction = -0.1; });
}

}  // namespace
