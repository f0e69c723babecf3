// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/threshold.hpp>
#include <limits>
#include <string>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

constexpr std::int64_t widths_about_words[] = {1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193, 200};

template <class C>
void matches_naive(const ts::HostImage<typename C::real>& host, double level,
                   const std::string& name) {
  using Exec = typename C::exec;
  const Exec space;
  const std::string what =
      name + ' ' + ts::shape_name(host.ny, host.nx) + " level " + std::to_string(level);
  const ts::HostMask want = ts::threshold_naive(host, level);

  const auto mask = kastor::threshold(space, ts::to_device<Exec>(host), level);
  EXPECT_EQ(kastor::count_foreground(space, mask), ts::count_naive(want)) << what;
  EXPECT_EQ(mask.ny, host.ny) << what;
  EXPECT_EQ(mask.nx, host.nx) << what;
  EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(mask.words), ts::pack_naive(want))) << what;

  const auto cut_out = ts::to_device_cut_out<Exec>(host);
  const auto again = kastor::threshold(space, cut_out.image, level);
  space.fence("test::threshold");
  EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(again.words), ts::pack_naive(want)))
      << what << ", as a cut-out";
}

/// Special values, one after the other, in every position of a word.
template <class T>
ts::HostImage<T> special_values(std::int64_t ny, std::int64_t nx) {
  using Limits = std::numeric_limits<T>;
  const T one = 1;
  std::vector<T> values{T(7)};  // a prime number of them
  for (const T value : {T(0), one, T(0.1), T(1e30), std::nextafter(one, T(2)),
                        std::nextafter(one, T(0)), Limits::denorm_min(), Limits::min(),
                        Limits::max(), Limits::infinity(), Limits::quiet_NaN()}) {
    values.push_back(value);
    values.push_back(-value);
  }
  ts::HostImage<T> image(ny, nx);
  for (std::size_t i = 0; i < image.values.size(); ++i) image.values[i] = values[i % values.size()];
  return image;
}

template <class T>
class Threshold : public ::testing::Test {};
TYPED_TEST_SUITE(Threshold, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Threshold, ComparesInDoubleAndNeverTakesABlankPixel) {
  using T = typename TypeParam::real;
  using Doubles = std::numeric_limits<double>;
  constexpr double between_floats = 1 + 0x1p-25;        // nearer to 1 than to the next float
  constexpr double nearer_to_the_next = 1 + 0x1.cp-24;  // rounds up to the next float
  const auto image = special_values<T>(7, 130);
  for (const double level :
       {0.0, 1.0, 0.1, static_cast<double>(0.1F), between_floats, nearer_to_the_next,
        std::nextafter(1.0, 0.0), std::nextafter(1.0, 2.0), 1e-50, 1e-310, Doubles::denorm_min(),
        1e39, static_cast<double>(std::numeric_limits<T>::max()), Doubles::max(),
        Doubles::infinity()}) {
    matches_naive<TypeParam>(image, level, "special values");
    matches_naive<TypeParam>(image, -level, "special values");
  }
}

TYPED_TEST(Threshold, FillsOneMaskFromBands) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  for (const std::int64_t nx : {65, 128, 200}) {
    const auto host = ts::make_image<T>(ts::Pixels::contaminated, 23, nx, 3);
    const auto cut_out = ts::to_device_cut_out<Exec>(host);
    const auto want = ts::pack_naive(ts::threshold_naive(host, 0.01));
    for (const std::int64_t count : {1, 2, 5, 23}) {
      const auto mask = kastor::make_bit_mask(space, host.ny, nx);
      Kokkos::deep_copy(mask.words, ~std::uint64_t{0});
      std::int64_t first_row = 0;
      for (const auto& band : ts::split_into_bands<Exec, T>(cut_out.image, count)) {
        kastor::threshold_into<Exec, T>(space, band, 0.01, mask, first_row);
        first_row += static_cast<std::int64_t>(band.extent(0));
      }
      space.fence("test::threshold");
      EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(mask.words), want)) << count << " bands";
    }
  }
}

TYPED_TEST(Threshold, LeavesTheOtherRowsOfAMaskAlone) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const auto mask = kastor::make_bit_mask(space, 9, 70);
  constexpr std::uint64_t before = 0x0123456789abcdefu;
  Kokkos::deep_copy(mask.words, before);
  const auto band = ts::to_device<Exec>(ts::HostImage<T>(2, 70, T(3)));
  kastor::threshold_into<Exec, T>(space, band, 1.0, mask, 4);
  space.fence("test::threshold");
  const auto words = ts::to_host_grid(mask.words);
  for (std::int64_t y = 0; y < 9; ++y) {
    const bool written = y == 4 || y == 5;
    EXPECT_EQ(words(y, 0), written ? ~std::uint64_t{0} : before) << y;
    EXPECT_EQ(words(y, 1), written ? std::uint64_t{63} : before) << y;
  }
}

TYPED_TEST(Threshold, ThrowsIfTheImageDoesNotFitOrTheLevelIsNaN) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const auto mask = kastor::make_bit_mask(space, 8, 70);
  const auto at = [&](std::int64_t ny, std::int64_t nx, double level, std::int64_t first_row) {
    const auto image = ts::new_image<Exec, T>("test::image", ny, nx);
    kastor::threshold_into<Exec, T>(space, image, level, mask, first_row);
    space.fence("test::threshold");
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NO_THROW(at(3, 70, 0, 5));
  ts::expect_error([&] { at(3, 70, 0, 6); }, {"kastor::threshold"});
  ts::expect_error([&] { at(3, 70, 0, -1); }, {"kastor::threshold"});
  ts::expect_error([&] { at(9, 70, 0, 0); }, {"kastor::threshold"});
  ts::expect_error([&] { at(8, 71, 0, 0); }, {"kastor::threshold"});
  ts::expect_error([&] { at(8, 69, 0, 0); }, {"kastor::threshold"});
  ts::expect_error([&] { at(8, 70, nan, 0); }, {"kastor::threshold", "NaN"});
}

TYPED_TEST(Threshold, MatchesNaiveOnWidthsAboutTheWordSize) {
  using T = typename TypeParam::real;
  for (const std::int64_t nx : widths_about_words) {
    for (const std::int64_t ny : {1, 2, 17}) {
      const auto image = ts::make_image<T>(ts::Pixels::contaminated, ny, nx, 11);
      matches_naive<TypeParam>(image, 0.0133, "sky");
      matches_naive<TypeParam>(image, -0.02, "sky");
    }
  }
}

TYPED_TEST(Threshold, MatchesNaiveOnALargeImage) {
  using T = typename TypeParam::real;
  const auto image = ts::make_image<T>(ts::Pixels::contaminated, 700, 1111, 12);
  matches_naive<TypeParam>(image, 0.0665, "sky");
}

}  // namespace
