// SPDX-License-Identifier: Apache-2.0

// The filtered signal to noise in which faint sources are looked for.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detection_filter.hpp>
#include <kastor/sigma_clip.hpp>
#include <limits>
#include <stdexcept>
#include <string>

#include "convolve_naive.hpp"
#include "core/clip_correction.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "island_scenes.hpp"
#include "islands_naive.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

/// A lopsided kernel of the sum 5.
kastor::ConvolutionKernel lopsided() {
  return {3, 5, {0.5, -0.5, 1, 0.25, 0, 0, 1, 2, 0.75, -1, 0, 0.5, 0.25, 0.25, 0}};
}

/// What correlates as the kernel does, if it is convolved with.
kastor::ConvolutionKernel turned(kastor::ConvolutionKernel kernel) {
  std::reverse(kernel.taps.begin(), kernel.taps.end());
  return kernel;
}

template <class T>
class DetectionFilter : public ::testing::Test {};
TYPED_TEST_SUITE(DetectionFilter, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(DetectionFilter, MatchesNaiveForEveryKindOfMap) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  kastor::DetectionFilter<Exec, T> filter(Exec{}, lopsided());
  for (const ts::Maps maps : ts::all_maps) {
    auto scene = ts::make_scene<T>(maps, 61, 131, 3);
    scene.region = ts::random_mask(61, 131, 0.95, 6);
    const ts::NaiveIslands<T> naive(scene.image, scene.background, {}, scene.region);
    ts::HostImage<T> signal(61, 131);
    for (std::int64_t y = 0; y < 61; ++y) {
      for (std::int64_t x = 0; x < 131; ++x) {
        if (naive.usable(y, x) == 0) continue;
        const double level = scene.background.level(y, x);
        signal(y, x) = static_cast<T>((static_cast<double>(scene.image(y, x)) - level) /
                                      scene.background.rms(y, x));
      }
    }
    const auto want = ts::convolve_naive(signal, turned(lopsided()), kastor::ConvolveMode::same);
    const ts::DeviceScene<Exec, T> device(scene);
    const auto got = filter(device.image, device.background, device.region);
    const auto pixels = ts::to_host_grid(got.snr);
    for (std::int64_t y = 0; y < 61; ++y) {
      for (std::int64_t x = 0; x < 131; ++x) {
        if (naive.usable(y, x) == 0) {
          ASSERT_TRUE(std::isnan(pixels(y, x))) << y << ' ' << x;
        } else {
          const auto& exact = want(y, x);
          ASSERT_NEAR(static_cast<double>(pixels(y, x)), static_cast<double>(exact.value / 5),
                      20 * static_cast<double>(exact.magnitude) *
                          static_cast<double>(std::numeric_limits<T>::epsilon()))
              << y << ' ' << x;
        }
      }
    }
    EXPECT_EQ(got.noise, kastor::sigma_clip(Exec{}, got.snr).clipped.std);
    const auto detection = got.detection();
    EXPECT_EQ(detection.background.rms.constant(), got.noise);
    EXPECT_EQ(detection.background.level.constant(), 0.0);
    EXPECT_EQ(detection.bands.size(), 1U);
  }
}

/// A point becomes the mirror image of the kernel, as in SExtractor: what has the kernel's shape is
/// brightest in its middle.
TYPED_TEST(DetectionFilter, Correlates) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const kastor::ConvolutionKernel kernel{3, 3, {4, 2, 0, 1, 1, 0, 0, 0, 0}};
  ts::Scene<T> point = ts::scene_of(ts::HostImage<T>(40, 70, T(0)), 0);
  ts::Scene<T> shape = point;
  point.image(20, 20) = 8;
  for (std::int64_t y = 0; y < 3; ++y)
    for (std::int64_t x = 0; x < 3; ++x)
      shape.image(19 + y, 19 + x) = static_cast<T>(kernel.at(y, x));
  kastor::DetectionFilter<Exec, T> filter(Exec{}, kernel);
  const ts::DeviceScene<Exec, T> of_point(point), of_shape(shape);
  const auto spread = ts::to_host_grid(filter(of_point.image, of_point.background).snr);
  EXPECT_EQ(spread(21, 21), T(4));
  EXPECT_EQ(spread(21, 20), T(2));
  EXPECT_EQ(spread(20, 21), T(1));
  EXPECT_EQ(spread(19, 19), T(0));
  const auto matched = ts::to_host_grid(filter(of_shape.image, of_shape.background).snr);
  for (std::int64_t y = 15; y < 25; ++y) {
    for (std::int64_t x = 15; x < 25; ++x) {
      const bool is_middle = y == 20 && x == 20;
      EXPECT_TRUE(is_middle || matched(y, x) < matched(20, 20)) << y << ' ' << x;
    }
  }
}

/// White noise of 0.375, whatever the kernel's scale, also where the rms jumps by a factor of 10.
TYPED_TEST(DetectionFilter, MeasuresTheNoise) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::Random random(5);
  ts::Scene<T> scene = ts::scene_of(ts::HostImage<T>(300, 400), 7);
  scene.background.rms.image = ts::HostImage<T>(300, 400);
  for (std::int64_t y = 0; y < 300; ++y) {
    for (std::int64_t x = 0; x < 400; ++x) {
      scene.background.rms.image(y, x) = T(x / 5 % 2 == 0 ? 1 : 10);
      scene.image(y, x) =
          static_cast<T>(7 + double(scene.background.rms.image(y, x)) * random.gaussian());
    }
  }
  const ts::DeviceScene<Exec, T> device(scene);
  kastor::DetectionFilter<Exec, T> filter(Exec{}, kastor::sextractor_kernel());
  const auto got = filter(device.image, device.background);
  EXPECT_NEAR(got.noise, 0.375 * 0.987, 0.003);  // a clip at 3 takes 1.3 per cent of a Gaussian's
  const auto pixels = ts::to_host_grid(got.snr);
  double squares[5] = {};
  for (std::int64_t y = 1; y < 299; ++y) {
    for (std::int64_t x = 5; x < 395; ++x)
      squares[x % 5] += double(pixels(y, x)) * double(pixels(y, x)) / (298 * 78);
  }
  for (const double square : squares) EXPECT_NEAR(std::sqrt(square), 0.375, 0.01);
  auto kernel = kastor::sextractor_kernel();
  for (double& tap : kernel.taps) tap *= 1024;
  EXPECT_EQ(
      (kastor::DetectionFilter<Exec, T>(Exec{}, kernel)(device.image, device.background).noise),
      got.noise);
  for (double& tap : kernel.taps) tap *= std::ldexp(1.0, 1015);  // the sum overflows
  EXPECT_EQ(
      (kastor::DetectionFilter<Exec, T>(Exec{}, kernel)(device.image, device.background).noise),
      got.noise);
  kastor::DetectionFilter<Exec, T> corrected(Exec{}, kernel, {}, true);
  const double noise = corrected(device.image, device.background).noise;
  EXPECT_NEAR(noise, 0.375, 0.002);
  const kastor::SigmaClipParams clip;
  const double correction = kastor::detail::clip_correction(clip.kappa, clip.max_passes);
  EXPECT_EQ(noise, got.noise * correction);
}

TYPED_TEST(DetectionFilter, HasANoiseWithoutNoise) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  kastor::DetectionFilter<Exec, T> filter(Exec{}, kastor::sextractor_kernel());
  const ts::DeviceScene<Exec, T> flat(ts::scene_of(ts::HostImage<T>(9, 70, T(2)), 2));
  EXPECT_EQ(filter(flat.image, flat.background).noise, 0.375);
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const ts::DeviceScene<Exec, T> blank(ts::scene_of(ts::HostImage<T>(9, 70, nan)));
  EXPECT_EQ(filter(blank.image, blank.background).noise, 0.0);
  // Cancelling taps: of magnitudes 1/2.
  kastor::DetectionFilter<Exec, T> edges(Exec{}, {1, 3, {-3, 0, 3}});
  const auto cancelled = edges(flat.image, flat.background);
  EXPECT_EQ(cancelled.noise, std::sqrt(0.5));
  EXPECT_FALSE(cancelled.sums_to_one);
  EXPECT_TRUE(filter(flat.image, flat.background).sums_to_one);
  // To rounding, with a sum on either side of 0.
  for (const double last : {0.3 - 1e-9, 0.3 + 1e-9}) {
    kastor::DetectionFilter<Exec, T> almost(Exec{}, {1, 3, {-0.1, last, -0.2}});
    EXPECT_FALSE(almost(flat.image, flat.background).sums_to_one) << last;
  }
}

TYPED_TEST(DetectionFilter, RefusesWhatItCannotUse) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto refusal = [](const kastor::ConvolutionKernel& kernel) -> std::string {
    try {
      kastor::DetectionFilter<Exec, T> filter(Exec{}, kernel);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal({2, 3, {1, 1, 1, 1, 1, 1}}).find("2 x 3 pixels; expected odd"),
            std::string::npos);
  EXPECT_NE(refusal({1, 1, {0}}).find("all taps of the kernel are 0"), std::string::npos);
  EXPECT_NE(refusal({1, 3, {-1, 1, -1}}).find("the sum of the kernel's taps is below 0"),
            std::string::npos);
  EXPECT_NE(refusal({}), "");
  const ts::DeviceScene<Exec, T> scene(ts::scene_of(ts::HostImage<T>(9, 70)));
  kastor::DetectionFilter<Exec, T> filter(Exec{}, kastor::sextractor_kernel());
  const auto other = kastor::make_bit_mask(Exec{}, 70, 9);
  EXPECT_THROW((void)filter(scene.image, scene.background, other), std::runtime_error);
}

}  // namespace
