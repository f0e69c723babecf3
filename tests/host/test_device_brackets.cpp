// SPDX-License-Identifier: Apache-2.0

// What a device predicts of a clip, by teams of a host's threads: the bits of what a host predicts.
// A clip's result would not tell: it is the same with any brackets that hold.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/brackets.hpp>
#include <kastor/detail/clip_sample.hpp>
#include <kastor/detail/predict_clip.hpp>
#include <kastor/sigma_clip.hpp>
#include <limits>
#include <string>
#include <vector>

#include "compare.hpp"
#include "emulated_clip.hpp"
#include "generators.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

/// A host's prediction, step by step as ClipPlan has it.
template <class T>
class HostPrediction {
 public:
  HostPrediction(const ts::HostImage<T>& image, std::int64_t bands,
                 const kd::ClipRequest& request) {
    const std::int64_t pixels = image.ny * image.nx;
    const kd::RoughPixels rough_at = kd::rough_pixels(pixels, request.attempt());
    const kd::Stride sample = kd::sample_stride(pixels, request.attempt());
    std::vector<kd::SampledRows<T>> all;
    for (std::int64_t b = 0; b < bands; ++b) {
      const std::int64_t row = image.ny * b / bands, past = image.ny * (b + 1) / bands;
      all.push_back(
          {{image.values.data() + row * image.nx, past - row, image.nx, image.nx}, row * image.nx});
    }
    std::vector<T> values;
    for (const auto& band : all) {
      const kd::SampleRange range(band, rough_at.stride,
                                  std::min<std::int64_t>(rough_at.count, kd::rough_size));
      for (std::int64_t i = range.begin; i < range.end; ++i)
        values.push_back(band.at(i * rough_at.stride));
    }
    kd::PredictionSpace<T> space{nullptr,      &rough,           m_histogram.data(), m_count.data(),
                                 m_sum.data(), m_squares.data(), &brackets};
    kd::rough_scale_on_host(values, rough_at.of_peaks, space);
    constexpr std::int64_t chunks = 3;
    for (const auto& band : all) {
      const kd::CountSampleOnHost<T> count{band, sample, space, chunks};
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk) count(chunk);
    }
    kd::bracket_on_host(request, space);
  }

  kd::RoughScale<T> rough{};
  kd::Brackets<T> brackets{};

 private:
  std::array<std::uint32_t, kd::SampleBins::count> m_histogram{};
  std::array<std::uint32_t, kd::SampleBins::count + 1> m_count{};
  std::array<std::int64_t, kd::SampleSums::size> m_sum{}, m_squares{};
};

template <class T>
void compare_spikes(ts::FieldComparison& comparison, const T& a, const T& b) {
  comparison.field("spikes", a.spikes, b.spikes);
  for (int s = 0; s < std::min(a.spikes, b.spikes); ++s)
    comparison.field(("spike " + std::to_string(s)).c_str(), static_cast<double>(a.spike[s]),
                     static_cast<double>(b.spike[s]));
}
template <class T>
[[nodiscard]] ::testing::AssertionResult same_bits(const kd::RoughScale<T>& a,
                                                   const kd::RoughScale<T>& b) {
  ts::FieldComparison comparison;
  comparison.field("finite", a.finite, b.finite)
      .field("centre", a.centre, b.centre)
      .field("scale", a.scale, b.scale);
  compare_spikes(comparison, a, b);
  return comparison.result();
}
template <class T>
[[nodiscard]] ::testing::AssertionResult same_bits(const kd::Brackets<T>& a,
                                                   const kd::Brackets<T>& b) {
  ts::FieldComparison comparison;
  const auto pixel = [&](const char* name, T x, T y) {
    comparison.field(name, static_cast<double>(x), static_cast<double>(y));
  };
  pixel("low_edge", a.low_edge, b.low_edge);
  pixel("window_low", a.window_low, b.window_low);
  pixel("window_high", a.window_high, b.window_high);
  pixel("high_edge", a.high_edge, b.high_edge);
  pixel("centre", a.centre, b.centre);
  comparison.field("grid.centre_scaled", a.grid.centre_scaled, b.grid.centre_scaled)
      .field("grid.scale", a.grid.scale, b.grid.scale)
      .field("grid.scale_more", a.grid.scale_more, b.grid.scale_more)
      .field("grid.centre", a.grid.centre, b.grid.centre)
      .field("grid.exponent", a.grid.exponent, b.grid.exponent)
      .field("usable", a.usable, b.usable);
  compare_spikes(comparison, a, b);
  comparison.field("has_candidate", a.has_candidate, b.has_candidate);
  pixel("candidate", a.candidate, b.candidate);
  pixel("certain", a.certain, b.certain);
  return comparison.result();
}

/// \returns what a host predicts in the first attempt.
template <class T>
HostPrediction<T> gives_the_brackets_of_a_host(const ts::HostImage<T>& image) {
  for (const std::int64_t bands : {1, 3}) {
    ts::EmulatedClip<T> device(image.ny, image.nx, {3, 2048, ts::all_alone, bands});
    for (const double widen : {1.0, 3.0}) {
      kd::ClipRequest request = ts::request_of({});
      request.widen = widen;
      static_cast<void>(device.run(image, request));
      const auto& found = device.parts().prediction;
      const HostPrediction<T> expected(image, bands, request);
      const auto where = ::testing::Message() << bands << " bands, attempt " << request.attempt();
      EXPECT_TRUE(same_bits(*found.rough, expected.rough)) << where;
      EXPECT_TRUE(same_bits(*found.brackets, expected.brackets)) << where;
      EXPECT_EQ(expected.brackets.usable, 1) << where;
      EXPECT_TRUE(device.memory_is_whole()) << where;
    }
  }
  return {image, 1, ts::request_of({})};
}

template <class T, class Pixel>
[[nodiscard]] ts::HostImage<T> image_of(std::int64_t ny, std::int64_t nx, const Pixel& pixel) {
  ts::HostImage<T> image(ny, nx);
  for (T& x : image.values) x = static_cast<T>(pixel());
  return image;
}

template <class T>
class DeviceBrackets : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceBrackets, Reals);

TYPED_TEST(DeviceBrackets, OfNoise) {
  ts::Random random(21);
  const auto host = gives_the_brackets_of_a_host(
      image_of<TypeParam>(290, 311, [&] { return 100 + 3 * random.gaussian(); }));
  EXPECT_EQ(host.rough.finite, kd::rough_size);
  EXPECT_EQ(host.brackets.spikes, 0);
}

TYPED_TEST(DeviceBrackets, OfAValueThatManyPixelsShare) {
  ts::Random random(22);
  const auto host = gives_the_brackets_of_a_host(image_of<TypeParam>(
      290, 311, [&] { return random.below(3) == 0 ? 0.25 : random.gaussian(); }));
  ASSERT_EQ(host.rough.spikes, 1);
  ASSERT_EQ(host.brackets.spikes, 1);
  EXPECT_EQ(host.brackets.spike[0], TypeParam(0.25));
}

/// Sources up to thousands of times the noise, in bins far from the middle or beyond all; and some
/// blank pixels, which a device has in order with the others and a host leaves out.
TYPED_TEST(DeviceBrackets, OfASky) {
  ts::Random random(23);
  int far = 0;
  const auto host = gives_the_brackets_of_a_host(image_of<TypeParam>(290, 311, [&] {
    const auto kind = random.below(100);
    if (kind == 0) return std::numeric_limits<double>::quiet_NaN();
    const double source = kind < 4 ? std::exp(9 * random.uniform()) : 0.0;
    far += source > 2000 ? 1 : 0;
    return 0.01 * (random.gaussian() + source);
  }));
  EXPECT_GT(far, 100);
  EXPECT_LT(host.rough.finite, kd::rough_size);
}

TYPED_TEST(DeviceBrackets, OfFewRoughPixels) {
  ts::Random random(24);
  const auto host = gives_the_brackets_of_a_host(
      image_of<TypeParam>(160, 170, [&] { return random.gaussian(); }));
  EXPECT_LT(host.rough.finite, kd::rough_size);
}

}  // namespace
