// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <kastor/convolve.hpp>
#include <kastor/simulate.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "convolve_naive.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
using kastor::ConvolutionKernel;
using kastor::ConvolveMethod;
using kastor::ConvolveMode;
using kastor::ConvolveParams;
using kastor::NanTreatment;

constexpr ConvolveMode modes[] = {ConvolveMode::full, ConvolveMode::same, ConvolveMode::valid};

bool fits(ConvolveMode mode, std::int64_t ny, std::int64_t nx, const ConvolutionKernel& kernel) {
  return mode != ConvolveMode::valid || (ny >= kernel.ny && nx >= kernel.nx) ||
         (ny <= kernel.ny && nx <= kernel.nx);
}

template <class C>
ts::HostImage<typename C::real> convolved(const ts::HostImage<typename C::real>& image,
                                          const ConvolutionKernel& kernel,
                                          const ConvolveParams& params) {
  using Exec = typename C::exec;
  return ts::to_host_grid(kastor::convolve(Exec{}, ts::to_device<Exec>(image), kernel, params));
}

std::string name_of(const ConvolutionKernel& kernel, std::int64_t ny, std::int64_t nx,
                    ConvolveMode mode) {
  return "kernel " + ts::shape_name(kernel.ny, kernel.nx) + " image " + ts::shape_name(ny, nx) +
         " mode " + std::to_string(static_cast<int>(mode));
}

struct Shapes {
  std::int64_t ny, nx, kernel_ny, kernel_nx;
};

/// Square kernels and others, even, flat, larger than the image.
constexpr Shapes awkward_shapes[] = {
    {1, 1, 1, 1},   {1, 1, 3, 3},     {7, 5, 1, 1},      {20, 33, 1, 5},   {20, 33, 5, 1},
    {31, 64, 3, 3}, {33, 65, 2, 2},   {40, 37, 4, 6},    {50, 70, 15, 15}, {19, 200, 9, 16},
    {5, 4, 15, 15}, {60, 6, 15, 15},  {70, 71, 31, 31},  {40, 50, 33, 33}, {1, 300, 7, 7},
    {300, 1, 7, 7}, {64, 64, 127, 3}, {13, 21, 127, 127}};

template <class C>
class Convolve : public ::testing::Test {};
TYPED_TEST_SUITE(Convolve, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Convolve, DirectIsTheSumInRasterOrder) {
  using T = typename TypeParam::real;
  std::uint64_t seed = 0;
  for (const auto& [ny, nx, kernel_ny, kernel_nx] : awkward_shapes) {
    const auto image = ts::make_image<T>(ts::Pixels::gaussian, ny, nx, ++seed);
    const auto kernel = ts::random_kernel(kernel_ny, kernel_nx, 0, ++seed);
    for (const ConvolveMode mode : modes) {
      if (!fits(mode, ny, nx, kernel)) continue;
      const auto found = convolved<TypeParam>(image, kernel, {mode, ConvolveMethod::direct});
      EXPECT_TRUE(ts::same_pixels(found, ts::convolve_in_order(image, kernel, mode)))
          << name_of(kernel, ny, nx, mode);
    }
  }
}

TYPED_TEST(Convolve, SeparableIsItsPartsInOrder) {
  using T = typename TypeParam::real;
  const double tolerance = std::is_same_v<T, float> ? 0x1p-26 : 0x1p-50;
  std::uint64_t seed = 100;
  for (const auto& [ny, nx, kernel_ny, kernel_nx] : awkward_shapes) {
    for (const int rank : {1, 2, 3}) {
      const auto image = ts::make_image<T>(ts::Pixels::gaussian, ny, nx, ++seed);
      const auto kernel = ts::random_kernel(kernel_ny, kernel_nx, rank, ++seed);
      const auto form = kastor::separable_form(kernel, tolerance);
      for (const ConvolveMode mode : modes) {
        if (!fits(mode, ny, nx, kernel)) continue;
        const auto found = convolved<TypeParam>(image, kernel, {mode, ConvolveMethod::separable});
        EXPECT_TRUE(ts::same_pixels(found, ts::convolve_parts_in_order(image, kernel, form, mode)))
            << name_of(kernel, ny, nx, mode) << " rank " << rank;
      }
    }
  }
}

/// Both methods against the definition.
template <class C>
void expect_both_in_order(const ts::HostImage<typename C::real>& image,
                          const ConvolutionKernel& kernel, ConvolveMode mode) {
  const auto form =
      kastor::separable_form(kernel, std::is_same_v<typename C::real, float> ? 0x1p-26 : 0x1p-50);
  EXPECT_TRUE(ts::same_pixels(convolved<C>(image, kernel, {mode, ConvolveMethod::separable}),
                              ts::convolve_parts_in_order(image, kernel, form, mode)))
      << "separable, " << name_of(kernel, image.ny, image.nx, mode);
  EXPECT_TRUE(ts::same_pixels(convolved<C>(image, kernel, {mode, ConvolveMethod::direct}),
                              ts::convolve_in_order(image, kernel, mode)))
      << "direct, " << name_of(kernel, image.ny, image.nx, mode);
}

/// Results as large as a tile of some backend, a pixel more or less, and many tiles.
TYPED_TEST(Convolve, TilesDoNotShow) {
  using T = typename TypeParam::real;
  const auto flat = ts::random_kernel(4, 9, 1, 8);
  for (const std::int64_t nx : {31, 32, 33, 127, 128, 129, 255, 256, 257}) {
    for (const std::int64_t ny : {1, 31, 32, 33, 47, 48, 49, 105})
      expect_both_in_order<TypeParam>(ts::make_image<T>(ts::Pixels::gaussian, ny, nx, 7), flat,
                                      ConvolveMode::same);
  }
  const auto image = ts::make_image<T>(ts::Pixels::gaussian, 203, 2100, 7);
  for (const std::int64_t size : {3, 8})
    expect_both_in_order<TypeParam>(image, ts::random_kernel(size, size, 1, 8), ConvolveMode::full);
}

/// More taps than a tile has room for: the sums are then made in several steps.
TYPED_TEST(Convolve, LongKernelsTakeSeveralSteps) {
  using T = typename TypeParam::real;
  const auto image = ts::make_image<T>(ts::Pixels::gaussian, 40, 140, 9);
  for (const auto mode : {ConvolveMode::same, ConvolveMode::full})
    expect_both_in_order<TypeParam>(image, ts::random_kernel(127, 40, 2, 10), mode);
  expect_both_in_order<TypeParam>(image, ts::random_kernel(30, 127, 2, 11), ConvolveMode::same);
  expect_both_in_order<TypeParam>(ts::make_image<T>(ts::Pixels::gaussian, 33, 40, 12),
                                  ts::random_kernel(127, 127, 1, 13), ConvolveMode::same);
}

TYPED_TEST(Convolve, ErrorsStayBelowTheBound) {
  using T = typename TypeParam::real;
  const long double u = std::numeric_limits<T>::epsilon() / 2;
  const auto image = ts::make_image<T>(ts::Pixels::gaussian, 60, 71, 21);
  for (const int rank : {0, 1, 2, 7, 15}) {
    const auto kernel = ts::random_kernel(15, 15, rank, 22);
    double largest_tap = 0;
    for (const double tap : kernel.taps) largest_tap = std::max(largest_tap, std::abs(tap));
    const auto want = ts::convolve_naive(image, kernel, ConvolveMode::full);
    for (const auto method :
         {ConvolveMethod::automatic, ConvolveMethod::direct, ConvolveMethod::separable}) {
      kastor::Convolver<typename TypeParam::exec, T> convolver(typename TypeParam::exec{}, kernel,
                                                               {ConvolveMode::full, method});
      const auto form = kastor::separable_form(
          kernel, convolver.parts() > 0 ? convolver.kernel_error() : 0x1p-50);
      if (convolver.parts() > 0) {
        ASSERT_EQ(static_cast<std::int64_t>(form.parts.size()), convolver.parts());
      }
      ConvolutionKernel magnitudes{15, 15, std::vector<double>(225, 0.0)};
      for (const auto& part : form.parts)
        for (std::size_t i = 0; i < 15; ++i)
          for (std::size_t j = 0; j < 15; ++j)
            magnitudes.taps[i * 15 + j] += std::abs(part.along_y[i] * part.along_x[j]);
      const auto magnitude_of_parts = ts::convolve_naive(image, magnitudes, ConvolveMode::full);
      const auto got = convolved<TypeParam>(image, kernel, {ConvolveMode::full, method});
      long double worst = 0;  // in units of the bound
      long double worst_by_magnitude = 0;
      for (std::int64_t y = 0; y < got.ny; ++y) {
        for (std::int64_t x = 0; x < got.nx; ++x) {
          const auto& w = want(y, x);
          const long double error = ts::magnitude(got(y, x) - w.value);
          const auto parts = static_cast<long double>(convolver.parts());
          const long double bound =
              convolver.method() == ConvolveMethod::direct
                  ? 226 * u * w.magnitude
                  : (15 + parts * 15 + 2) * u * magnitude_of_parts(y, x).magnitude +
                        convolver.kernel_error() * largest_tap * w.pixels;
          worst = std::max(worst, error / (bound * 1.001L));
          worst_by_magnitude = std::max(worst_by_magnitude, error / w.magnitude);
        }
      }
      EXPECT_LE(worst, 1) << "rank " << rank << " method " << static_cast<int>(method);
      if (std::is_same_v<T, double>) {
        EXPECT_LE(worst_by_magnitude, 1e-13L) << "rank " << rank;
      }
    }
  }
}

TYPED_TEST(Convolve, AutomaticChoosesByTheRank) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto parts = [](const ConvolutionKernel& kernel) {
    return kastor::Convolver<Exec, T>(Exec{}, kernel).parts();
  };
  EXPECT_EQ(parts(kastor::lesson_kernel()), 1);
  EXPECT_EQ(parts(kastor::gaussian_kernel(1.0)), 1);
  EXPECT_EQ(parts(ts::random_kernel(15, 15, 3, 31)), 3);
  EXPECT_EQ(parts(ts::random_kernel(15, 15, 4, 31)), 0);
  EXPECT_EQ(parts(ts::random_kernel(15, 15, 0, 31)), 0);
  EXPECT_EQ(parts(ts::random_kernel(1, 15, 1, 31)), 0);
  EXPECT_EQ(parts(ts::random_kernel(2, 2, 1, 31)), 0);
}

TYPED_TEST(Convolve, CutOutsAreImages) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const auto host = ts::make_image<T>(ts::Pixels::gaussian, 45, 53, 41);
  const auto cut_out = ts::to_device_cut_out<Exec>(host);
  for (const std::int64_t size : {5, 6}) {
    const auto kernel = ts::random_kernel(size, size, 1, 42);
    const auto form = kastor::separable_form(kernel, 0x1p-20);
    const auto want = ts::convolve_parts_in_order(host, kernel, form, ConvolveMode::same);
    // The result is a cut-out as well; what surrounds it must stay.
    const kastor::Image<T, Exec> owner("test::owner", 50, 60);
    Kokkos::deep_copy(owner, T(-7));
    const kastor::MutableImage<T, Exec> result =
        Kokkos::subview(owner, std::make_pair(std::size_t{3}, std::size_t{48}),
                        std::make_pair(std::size_t{2}, std::size_t{55}));
    kastor::Convolver<Exec, T> convolver(space, kernel,
                                         {ConvolveMode::same, ConvolveMethod::separable});
    convolver(cut_out.image, result);
    space.fence("test::convolve");
    const auto got = ts::to_host_grid(owner);
    for (std::int64_t y = 0; y < got.ny; ++y) {
      for (std::int64_t x = 0; x < got.nx; ++x) {
        const bool inside = y >= 3 && y < 48 && x >= 2 && x < 55;
        ASSERT_EQ(got(y, x), inside ? want(y - 3, x - 2) : T(-7)) << y << ' ' << x;
      }
    }
  }
}

TYPED_TEST(Convolve, OnePlanServesImagesOfAllSizes) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const auto kernel = ts::random_kernel(6, 7, 2, 51);
  for (const auto nan : {NanTreatment::propagate, NanTreatment::interpolate}) {
    const ConvolveParams params{ConvolveMode::full, ConvolveMethod::separable, nan};
    kastor::Convolver<Exec, T> convolver(space, kernel, params);
    for (const std::int64_t n : {40, 3, 90, 17}) {
      const auto host = ts::make_image<T>(ts::Pixels::contaminated, n, n + 2, 52);
      const auto shape = convolver.result_shape({n, n + 2});
      const auto result = ts::new_image<Exec, T>("test::result", shape.ny, shape.nx);
      const auto image = ts::to_device<Exec>(host);
      convolver(image, result);
      space.fence("test::convolve");
      const auto expected = convolved<TypeParam>(host, kernel, params);
      EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(result), expected)) << n;
    }
  }
}

/// The image of the course: every sum has one product that is not 0.
TYPED_TEST(Convolve, DiracsShowTheKernel) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const kastor::Image<T, Exec> diracs("test::diracs", 128, 96);
  kastor::simulate_diracs<Exec, T>(space, 16, diracs);
  const auto kernel = kastor::lesson_kernel();
  for (const auto method : {ConvolveMethod::direct, ConvolveMethod::separable}) {
    const auto got =
        ts::to_host_grid(kastor::convolve(space, diracs, kernel, {ConvolveMode::full, method}));
    const double allowed = method == ConvolveMethod::direct ? 0 : 4;  // units in the last place
    for (std::int64_t y = 0; y < got.ny; ++y) {
      for (std::int64_t x = 0; x < got.nx; ++x) {
        const std::int64_t i = (y - 8 + 16) % 16;
        const std::int64_t j = (x - 8 + 16) % 16;
        const bool reached = y >= 8 && x >= 8 && i < 15 && j < 15 && y - i < 128 && x - j < 96;
        const T want = reached ? static_cast<T>(kernel.at(i, j)) : T{0};
        const T ulp = std::nextafter(want, std::numeric_limits<T>::max()) - want;
        ASSERT_LE(std::abs(got(y, x) - want), allowed * ulp) << y << ' ' << x;
      }
    }
  }
}

TYPED_TEST(Convolve, BlankPixelsPropagateAsFarAsTheTapsReach) {
  using T = typename TypeParam::real;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  auto image = ts::make_image<T>(ts::Pixels::gaussian, 30, 40, 61);
  image(0, 0) = nan;
  image(11, 20) = nan;
  image(29, 39) = nan;
  for (const std::int64_t size : {4, 5}) {
    const auto kernel = ts::random_kernel(size, size, 1, 62);
    for (const auto method : {ConvolveMethod::direct, ConvolveMethod::separable}) {
      for (const ConvolveMode mode : modes) {
        const auto got = convolved<TypeParam>(image, kernel, {mode, method});
        const auto want = ts::convolve_in_order(image, kernel, mode);
        for (std::int64_t y = 0; y < got.ny; ++y)
          for (std::int64_t x = 0; x < got.nx; ++x)
            ASSERT_EQ(std::isnan(got(y, x)), std::isnan(want(y, x)))
                << name_of(kernel, 30, 40, mode) << " at " << y << ' ' << x;
      }
    }
  }
}

/// Sums with NaN, infinities and zeros of either sign: every NaN of the result is the same one,
/// although pixels are NaN of both signs, and an infinity less another gives one.
TYPED_TEST(Convolve, BlankPixelsGiveOneNan) {
  using T = typename TypeParam::real;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T infinity = std::numeric_limits<T>::infinity();
  auto image = ts::make_image<T>(ts::Pixels::signed_zeros, 40, 150, 63);
  image(3, 7) = nan;
  image(12, 100) = -nan;
  image(20, 30) = infinity;
  image(22, 31) = -infinity;
  image(39, 149) = infinity;
  const auto with_one_nan = [](ts::HostImage<T> grid) {
    for (T& pixel : grid.values)
      if (std::isnan(pixel)) pixel = std::numeric_limits<T>::quiet_NaN();
    return grid;
  };
  const double tolerance = std::is_same_v<T, float> ? 0x1p-26 : 0x1p-50;
  for (const auto& [ny, nx] : {std::pair{5, 5}, std::pair{4, 3}, std::pair{127, 35}}) {
    const auto kernel = ts::random_kernel(ny, nx, 2, 64);
    const auto form = kastor::separable_form(kernel, tolerance);
    EXPECT_TRUE(ts::same_pixels(
        convolved<TypeParam>(image, kernel, {ConvolveMode::full, ConvolveMethod::direct}),
        with_one_nan(ts::convolve_in_order(image, kernel, ConvolveMode::full))))
        << "direct, " << ts::shape_name(ny, nx);
    EXPECT_TRUE(ts::same_pixels(
        convolved<TypeParam>(image, kernel, {ConvolveMode::full, ConvolveMethod::separable}),
        with_one_nan(ts::convolve_parts_in_order(image, kernel, form, ConvolveMode::full))))
        << "separable, " << ts::shape_name(ny, nx);
  }
}

TYPED_TEST(Convolve, BlankPixelsAreInterpolated) {
  using T = typename TypeParam::real;
  const double allowed = std::is_same_v<T, float> ? 1e-5 : 1e-13;
  auto image = ts::make_image<T>(ts::Pixels::contaminated, 40, 50, 71);
  for (T& pixel : image.values)
    if (std::isfinite(pixel)) pixel += T(1);
  for (std::int64_t y = 5; y < 20; ++y)  // a hole that the kernel does not span
    for (std::int64_t x = 10; x < 30; ++x) image(y, x) = std::numeric_limits<T>::quiet_NaN();
  image(30, 30) = std::numeric_limits<T>::infinity();
  ConvolutionKernel lopsided{4, 7, {}};
  for (int i = 0; i < 28; ++i) lopsided.taps.push_back(1 + i % 5);
  for (const auto& kernel : {kastor::gaussian_kernel(1.2), lopsided}) {
    for (const auto method : {ConvolveMethod::direct, ConvolveMethod::separable}) {
      for (const ConvolveMode mode : modes) {
        const auto got =
            convolved<TypeParam>(image, kernel, {mode, method, NanTreatment::interpolate});
        const auto want = ts::interpolate_naive(image, kernel, mode);
        std::int64_t blank = 0;
        for (std::int64_t y = 0; y < got.ny; ++y) {
          for (std::int64_t x = 0; x < got.nx; ++x) {
            ASSERT_EQ(std::isnan(got(y, x)), std::isnan(want(y, x))) << y << ' ' << x;
            blank += std::isnan(want(y, x)) ? 1 : 0;
            if (std::isnan(want(y, x))) continue;
            const double scale = std::max(1.0, std::abs(want(y, x)));
            ASSERT_NEAR(got(y, x), want(y, x), allowed * 60 * scale) << y << ' ' << x;
          }
        }
        EXPECT_GT(blank, 0) << name_of(kernel, 40, 50, mode);
      }
    }
  }
}

TYPED_TEST(Convolve, InterpolationLeavesWholeImagesAlone) {
  using T = typename TypeParam::real;
  const auto image = ts::make_image<T>(ts::Pixels::gaussian, 33, 44, 81);
  for (const auto method : {ConvolveMethod::direct, ConvolveMethod::separable}) {
    const auto kernel = kastor::gaussian_kernel(0.9);
    const auto with = [&](NanTreatment blanks) {
      return convolved<TypeParam>(image, kernel, {ConvolveMode::full, method, blanks});
    };
    EXPECT_TRUE(ts::same_pixels(with(NanTreatment::interpolate), with(NanTreatment::propagate)));
  }
}

TYPED_TEST(Convolve, ImagesWithoutPixelsGiveNone) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto result = kastor::convolve(Exec{}, kastor::Image<T, Exec>("test::empty", 0, 5),
                                       kastor::gaussian_kernel(1.0));
  EXPECT_EQ(result.extent(0), 0U);
  EXPECT_EQ(result.extent(1), 0U);
}

TYPED_TEST(Convolve, RefusalsSayWhatWasExpected) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const kastor::Image<T, Exec> image("test::image", 20, 4);
  const ConvolutionKernel kernel{5, 5, std::vector<double>(25, 1.0)};
  ts::expect_error([&] { (void)kastor::convolve(space, image, kernel, {ConvolveMode::valid}); },
                   {"20 x 4", "5 x 5", "valid"});
  ts::expect_error([&] { (void)kastor::convolve(space, image, {2, 2, {1, 2}}); }, {"2 taps"});
  ts::expect_error(
      [&] {
        (void)kastor::convolve(
            space, image, {1, 2, {1, -1}},
            {ConvolveMode::full, ConvolveMethod::direct, NanTreatment::interpolate});
      },
      {"add up to 0", "interpolate"});
  kastor::Convolver<Exec, T> convolver(space, kernel, {ConvolveMode::same});
  ts::expect_error([&] { convolver(image, kastor::Image<T, Exec>("test::result", 20, 5)); },
                   {"20 x 5", "expected 20 x 4"});
  ts::expect_error([&] { convolver(image, image); }, {"share memory"});
}

// -------------------------------------------------------------------------------------- 1-D

TYPED_TEST(Convolve, SignalsMatchTheSumInOrder) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const std::pair<std::size_t, std::size_t> lengths[] = {
      {1, 1},     {1, 7},      {7, 1},       {40, 15},     {15, 15},     {1000, 3}, {3, 999},
      {129, 128}, {70001, 15}, {5000, 1023}, {40000, 257}, {33000, 512}, {64, 1},   {63, 2},
      {127, 3},   {128, 1},    {129, 1},     {256, 1},     {257, 129}};
  for (const auto& [n, m] : lengths) {
    ts::Random random(91);
    std::vector<T> signal, taps;
    for (std::size_t i = 0; i < n; ++i) signal.push_back(static_cast<T>(random.gaussian()));
    for (std::size_t i = 0; i < m; ++i) taps.push_back(static_cast<T>(random.gaussian()));
    const auto& longer = n >= m ? signal : taps;
    const auto& shorter = n >= m ? taps : signal;
    std::vector<T> want;
    for (std::size_t x = 0; x < n + m - 1; ++x) {
      T sum = 0;
      const std::size_t first = x + 1 > shorter.size() ? x + 1 - shorter.size() : 0;
      for (std::size_t i = first; i <= x && i < longer.size(); ++i)
        sum += shorter[x - i] * longer[i];
      want.push_back(sum);
    }
    const auto result =
        kastor::convolve(space, ts::to_device_list<Exec>(signal), ts::to_device_list<Exec>(taps));
    space.fence("test::convolve");
    EXPECT_EQ(ts::to_vector(result), want) << n << " values, " << m << " taps";
  }
}

TYPED_TEST(Convolve, BlankValuesOfSignalsPropagate) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  constexpr std::int64_t n = 1000;
  constexpr std::int64_t m = 20;
  std::vector<T> signal(n, T(1));
  const std::vector<T> taps(m, T(0.5));
  for (const std::int64_t at : {0, 500, 700, 999})
    signal[static_cast<std::size_t>(at)] = -std::numeric_limits<T>::quiet_NaN();
  const auto result = ts::to_vector(
      kastor::convolve(space, ts::to_device_list<Exec>(signal), ts::to_device_list<Exec>(taps)));
  for (std::int64_t x = 0; x < n + m - 1; ++x) {
    bool blank = false;
    for (const std::int64_t at : {0, 500, 700, 999}) blank = blank || (x >= at && x < at + m);
    const T got = result[static_cast<std::size_t>(x)];
    ASSERT_EQ(std::isnan(got), blank) << x;
    ASSERT_FALSE(blank && std::signbit(got)) << "the NaN of " << x << " is not the usual one";
  }
}

TYPED_TEST(Convolve, EmptySignalsAreRefused) {
  using Exec = typename TypeParam::exec;
  using List = Kokkos::View<typename TypeParam::real*, typename Exec::memory_space>;
  ts::expect_error(
      [] { (void)kastor::convolve(Exec{}, List("test::none", 0), List("test::one", 1)); },
      {"0 values", "at least one"});
}

}  // namespace
