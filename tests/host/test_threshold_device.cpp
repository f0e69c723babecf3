// SPDX-License-Identifier: Apache-2.0

// How the workers of a device share the words of a mask, on a host.

#include <gtest/gtest.h>

#include <cstdint>
#include <kastor/detail/threshold_device.hpp>
#include <limits>
#include <vector>

#include "generators.hpp"
#include "naive.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

/// Rows that do not follow one another in memory.
template <class T>
struct Band {
  static constexpr std::int64_t pitch_beyond = 5;
  std::int64_t pitch;
  std::vector<T> pixels;

  explicit Band(const ts::HostImage<T>& image)
      : pitch(image.nx + pitch_beyond),
        pixels(static_cast<std::size_t>(image.ny * pitch), std::numeric_limits<T>::max()) {
    for (std::int64_t y = 0; y < image.ny; ++y) {
      for (std::int64_t x = 0; x < image.nx; ++x)
        pixels[static_cast<std::size_t>(y * pitch + x)] = image(y, x);
    }
  }
};

template <class T>
void fills_every_word_once(std::int64_t nx, std::int64_t workers) {
  const double level = 0.25;
  const auto image = ts::make_image<T>(ts::Pixels::gaussian, 7, nx, 3);
  const auto want = ts::pack_naive(ts::threshold_naive(image, level));
  const Band<T> band(image);
  std::vector<std::uint64_t> words(want.values.size(), 77);
  std::vector<int> done(words.size(), 0);
  const kd::ThresholdWords<T> threshold{
      {band.pixels.data(), image.ny, image.nx, band.pitch},
      kd::interval_between<T>(level, std::numeric_limits<double>::infinity()),
      words.data(),
      (nx + 63) / 64};
  ASSERT_EQ(threshold.count(), static_cast<std::int64_t>(words.size()));
  for (std::int64_t worker = 0; worker < workers; ++worker) {
    threshold.fill(worker, workers, [&](std::int64_t w) { ++done[static_cast<std::size_t>(w)]; });
  }
  EXPECT_EQ(words, want.values) << nx << " columns, " << workers << " workers";
  EXPECT_EQ(done, std::vector<int>(words.size(), 1)) << nx << " columns, " << workers << " workers";
}

TEST(ThresholdWords, AreFilledOnceByAnyWorkers) {
  for (const std::int64_t nx : {1, 63, 64, 65, 200}) {
    for (const std::int64_t workers : {32, 64, 1024}) {
      fills_every_word_once<float>(nx, workers);
      fills_every_word_once<double>(nx, workers);
    }
  }
}

TEST(ThresholdWords, AreSharedByWholeWarps) {
  using Workers = kd::ThresholdByWorkers<float>;
  EXPECT_EQ(Workers::workers_for(1, 1000), 32);
  EXPECT_EQ(Workers::workers_for(64, 1000), 64);
  EXPECT_EQ(Workers::workers_for(65, 1000), 96);
  EXPECT_EQ(Workers::workers_for(5000, 1024), 1024);
}

}  // namespace
