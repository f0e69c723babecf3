// SPDX-License-Identifier: Apache-2.0

// What the clip predicts may be wrong; its result may not: images made to defeat it, and the bins
// that its result is made of.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <kastor/sigma_clip.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "sigma_clip/gathered_bins.hpp"
#include "sigma_clip/sample.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
using kastor::detail::GatheredBins;
using kastor::detail::TailOctaves;

template <class T>
void gathered_bins_are_monotone() {
  kastor::detail::Brackets<T> brackets{};
  brackets.low_edge = T(-2.8);
  brackets.window_low = T(-0.013);
  brackets.window_high = T(0.019);
  brackets.high_edge = T(2.7);
  brackets.centre = T(0.004);
  const GatheredBins<T> bins(brackets);
  ts::Random random(2);
  std::vector<T> low, window, high;
  for (int i = 0; i < 20000; ++i) {
    const double distance = 2.75 * std::exp(60 * random.uniform() * random.uniform());
    low.push_back(static_cast<T>(-distance - 0.06));
    high.push_back(static_cast<T>(distance));
    window.push_back(static_cast<T>(-0.013 + 0.032 * random.uniform()));
  }
  for (auto* part : {&low, &window, &high}) std::sort(part->begin(), part->end());
  const auto in_window = [&](T x) { return x >= brackets.window_low && x <= brackets.window_high; };
  int last = 0;
  for (const T x : window) {
    if (!in_window(x)) continue;
    ASSERT_GE(bins(x), last);
    ASSERT_LT(bins(x), GatheredBins<T>::window);
    last = bins(x);
  }
  EXPECT_GT(last, GatheredBins<T>::window / 2);
  double farthest = 0;
  const auto check_tail = [&](T x, int first, int before) {
    const int bin = bins(x) - first;
    EXPECT_GE(bin, before);
    EXPECT_LT(bin, TailOctaves::bins);
    const double distance =
        std::fabs(static_cast<double>(x) - static_cast<double>(brackets.centre));
    const int exponent = bins.exponent_of(TailOctaves::octave_of(bin));
    if (bin == before && bin < TailOctaves::bins_in_parted) {
      EXPECT_LE(distance, farthest);
    } else {
      farthest = distance * (1 + 1.0 / 32);  // that the bin may reach
    }
    EXPECT_LE(std::ldexp(1.0, exponent), distance);
    EXPECT_GT(std::ldexp(1.0, exponent + 1), distance);
    return bin;
  };
  int before = -1;
  for (const T x : high)
    before = check_tail(x, GatheredBins<T>::window + TailOctaves::bins, before);
  before = -1;
  for (auto x = low.rbegin(); x != low.rend(); ++x)
    before = check_tail(*x, GatheredBins<T>::window, before);
}
TEST(GatheredBins, AreMonotoneFloat) { gathered_bins_are_monotone<float>(); }
TEST(GatheredBins, AreMonotoneDouble) { gathered_bins_are_monotone<double>(); }

// -------------------------------------------------------------------------------- whole clips

template <class C>
kastor::SigmaClipResult matches_naive(const ts::HostImage<typename C::real>& host,
                                      const std::string& what,
                                      const kastor::SigmaClipParams& params = {}) {
  using Exec = typename C::exec;
  using T = typename C::real;
  kastor::SigmaClipper<Exec, T> clip(Exec{}, params);
  const auto image = ts::to_device<Exec>(host);
  const auto got = clip(image);
  ts::expect_matches_naive(got, ts::sigma_clip_naive(host, params), what);
  EXPECT_TRUE(ts::same_bits(clip(image), got)) << what << ", again";
  EXPECT_TRUE(ts::same_bits(clip(ts::split_into_bands<Exec, T>(image, 3)), got)) << what;
  return got;
}

template <class T>
class ClipPrediction : public ::testing::Test {};
TYPED_TEST_SUITE(ClipPrediction, ts::ExecsAndReals, ts::CaseName);

/// Every pixel that the sample sees follows one law, the others another.
TYPED_TEST(ClipPrediction, MayBeWrongAboutAllThatTheSampleDidNotSee) {
  using T = typename TypeParam::real;
  constexpr std::int64_t ny = 600;
  constexpr std::int64_t nx = 701;
  const kastor::detail::SamplePlaces sample(ny * nx, kastor::detail::sample_size(ny * nx));
  const kastor::detail::SamplePlaces rough(ny * nx, kastor::detail::rough_size);
  for (const auto& [offset, scale] : {std::pair{0.0, 3.0}, std::pair{0.0, 0.4}, std::pair{0.3, 1.0},
                                      std::pair{50.0, 1.0}, std::pair{0.0, 0.0}}) {
    ts::Random random(3);
    ts::HostImage<T> image(ny, nx);
    for (std::int64_t i = 0; i < ny * nx; ++i) {
      const bool seen = i % sample.stride == 0 || i % rough.stride == 0;
      const double value = random.gaussian();
      image.values[static_cast<std::size_t>(i)] =
          static_cast<T>(seen ? value : offset + scale * value);
    }
    (void)matches_naive<TypeParam>(image, "seen N(0, 1), unseen N(" + std::to_string(offset) +
                                              ", " + std::to_string(scale) + ")");
  }
}

/// More pixels have to be kept than the lists of the first attempt hold.
TYPED_TEST(ClipPrediction, LetsTheListsGrowToTheNeed) {
  using T = typename TypeParam::real;
  ts::Random random(4);
  ts::HostImage<T> image(1700, 1700);
  for (T& pixel : image.values) {
    const bool foreground = random.below(100) < 45;
    pixel = static_cast<T>(random.gaussian() + (foreground ? 20 + 30 * random.uniform() : 0));
  }
  const auto got = matches_naive<TypeParam>(image, "45 % foreground", {2.0, 6});
  EXPECT_EQ(got.route, kastor::ClipRoute::bracketed);
  EXPECT_LT(got.clipped.count, 1700 * 1700 - (1 << 20));
}

TYPED_TEST(ClipPrediction, ReadsHardImagesOnce) {
  using T = typename TypeParam::real;
  for (const ts::Pixels kind :
       {ts::Pixels::gaussian, ts::Pixels::uniform, ts::Pixels::constant, ts::Pixels::two_values,
        ts::Pixels::narrow_integers, ts::Pixels::wide_integers, ts::Pixels::tenths,
        ts::Pixels::sixteen_bit, ts::Pixels::half_blank, ts::Pixels::exponential,
        ts::Pixels::cauchy, ts::Pixels::outliers, ts::Pixels::offset}) {
    const auto got =
        matches_naive<TypeParam>(ts::make_image<T>(kind, 500, 601, 5), ts::name_of(kind));
    // 1e150 standard deviations are more than the octaves of the tails span.
    if (kind == ts::Pixels::outliers && std::is_same_v<T, double>) continue;
    EXPECT_EQ(got.route, kastor::ClipRoute::bracketed) << ts::name_of(kind);
  }
}

/// A square of pixels in every tile is bright, from 1500 to 9000 times the noise: up to a quarter
/// of all, which lie farther out than the bins of the sample would reach. Of the squares in tiles
/// of 8 the pixels of the rough scale see none, for the image is as wide as a power of two.
TYPED_TEST(ClipPrediction, BracketsCrowdedFields) {
  using T = typename TypeParam::real;
  struct Crowd {
    std::int64_t tile, side;
  };
  for (const Crowd crowd : {Crowd{7, 3}, Crowd{8, 3}, Crowd{10, 5}, Crowd{12, 5}}) {
    ts::HostImage<T> image(512, 512);
    ts::Random random(8);
    std::vector<double> brightness(512 * 512);
    for (double& b : brightness) b = 1500 + 7500 * random.uniform();
    for (std::int64_t y = 0; y < image.ny; ++y) {
      for (std::int64_t x = 0; x < image.nx; ++x) {
        const auto is_of_square = [&](std::int64_t i) {
          return std::abs(i % crowd.tile - crowd.tile / 2) <= crowd.side / 2;
        };
        const auto tile = static_cast<std::size_t>(y / crowd.tile * image.nx + x / crowd.tile);
        const double bright = is_of_square(y) && is_of_square(x) ? brightness[tile] : 0;
        image(y, x) = static_cast<T>(random.gaussian() + bright);
      }
    }
    const std::string what = "tiles of " + std::to_string(crowd.tile);
    const auto got = matches_naive<TypeParam>(image, what);
    EXPECT_EQ(got.route, kastor::ClipRoute::bracketed) << what;
    EXPECT_GT(got.passes, 4) << what;
  }
}

/// Bright sources move the first limits by more than a sample can tell.
TYPED_TEST(ClipPrediction, ReadsOnceWhatIsStoppedEarly) {
  using T = typename TypeParam::real;
  const auto image = ts::make_image<T>(ts::Pixels::contaminated, 1100, 1000, 6);
  for (const int max_passes : {1, 2, 3}) {
    const auto got = matches_naive<TypeParam>(image, "stopped early", {3.0, max_passes});
    EXPECT_EQ(got.route, kastor::ClipRoute::bracketed) << max_passes;
  }
}

}  // namespace
