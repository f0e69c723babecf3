// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <kastor/measure.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "measure_reference.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

/// The rows where labels and rows are enqueued at once.
template <class Exec, class T>
kastor::Catalogue enqueue_all(kastor::Bands<T, Exec> bands, const kastor::BitMask<Exec>& mask,
                              const kastor::LabelParams& params) {
  const Exec space;
  kastor::Labeller<Exec> labeller(space, params);
  kastor::Measurer<Exec, T> measurer(space);
  do {
    labeller.enqueue(mask);
    measurer.enqueue(bands, labeller.labels(), labeller.counts());
    space.fence("test::enqueue_all");
  } while (!labeller.finish() || !measurer.finish(labeller.labels().components));
  return {measurer.rows().begin(), measurer.rows().end()};
}

/// Measures the components of `mask` in every form that must give the same bits, compares with the
/// reference, and returns the rows.
template <class C>
kastor::Catalogue matches_naive(const ts::HostImage<typename C::real>& host,
                                const ts::HostMask& mask, const std::string& name,
                                kastor::LabelParams params = {}) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Exec space;
  const std::string what = name + ' ' + ts::shape_name(host.ny, host.nx);
  kastor::Labeller<Exec> labeller(space, params);
  const auto device_mask = ts::to_device_mask<Exec>(mask);
  const auto& labels = labeller(device_mask);
  kastor::Measurer<Exec, T> measurer(space);
  const auto got = kastor::to_host<Exec>(space, measurer(ts::to_device<Exec>(host), labels));

  const auto want =
      ts::drop_small_naive(ts::label_naive(mask, params.connectivity), params.min_pixels);
  ts::expect_matches_naive(got, ts::measure_naive(host, want), what);
  EXPECT_TRUE(ts::same_bits(ts::rows_by_definition(host, ts::runs_naive(mask, want)), got)) << what;

  const auto cut_out = ts::to_device_cut_out<Exec>(host);
  for (const std::int64_t count : {1, 2, 5, 1000}) {
    const auto bands = ts::split_into_bands<Exec, T>(cut_out.image, count);
    const auto again = kastor::to_host<Exec>(space, measurer(bands, labels));
    EXPECT_TRUE(ts::same_bits(again, got)) << what << ", cut-out in " << count << " bands";
    const auto at_once = enqueue_all<Exec, T>(bands, device_mask, params);
    EXPECT_TRUE(ts::same_bits(at_once, got)) << what << ", at once, in " << count << " bands";
  }
  return got;
}

template <class C>
kastor::Catalogue matches_naive(const ts::HostImage<typename C::real>& host, double level,
                                const std::string& name, kastor::LabelParams params = {}) {
  return matches_naive<C>(host, ts::threshold_naive(host, level), name, params);
}

/// Positive pixels that span many powers of two.
template <class T>
ts::HostImage<T> positive_image(std::int64_t ny, std::int64_t nx, std::uint64_t seed) {
  ts::Random random(seed);
  ts::HostImage<T> image(ny, nx);
  for (T& pixel : image.values) pixel = static_cast<T>(std::exp(3 * random.gaussian()));
  return image;
}

template <class T>
class Measure : public ::testing::Test {};
TYPED_TEST_SUITE(Measure, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Measure, MatchesNaiveOnRandomMasks) {
  using T = typename TypeParam::real;
  for (const auto& [ny, nx] : {std::pair{1, 1}, std::pair{1, 200}, std::pair{200, 1},
                               std::pair{67, 129}, std::pair{300, 400}}) {
    const auto image = positive_image<T>(ny, nx, 3);
    for (const double density : {0.05, 0.4, 0.6, 1.1}) {
      const auto mask = ts::random_mask(ny, nx, density, 8);
      matches_naive<TypeParam>(image, mask, "positive");
      matches_naive<TypeParam>(image, mask, "positive, 8-connectivity",
                               {kastor::Connectivity::eight, 1});
      matches_naive<TypeParam>(image, mask, "positive, large ones",
                               {kastor::Connectivity::four, 5});
    }
  }
}

/// One large component of many short runs, and small ones in its holes. Where its pixels are of
/// about one size all sums are exact, whatever is added first; less and less so if some are small.
TYPED_TEST(Measure, MatchesNaiveOnPixelsOfAnySizeInShortRuns) {
  using T = typename TypeParam::real;
  const kastor::LabelParams eight{kastor::Connectivity::eight, 1};
  for (const auto& [ny, nx] : {std::pair{40, 1000}, std::pair{90, 192}}) {
    const auto mask = ts::random_mask(ny, nx, 0.6, 5);
    ts::Random random(6);
    ts::HostImage<T> image(ny, nx);
    for (int smaller = 0; smaller < 64; smaller += 3) {  // by so many powers of two
      for (T& pixel : image.values) {
        const int exponent = random.below(40) == 0 ? -smaller : 0;
        pixel = static_cast<T>(std::ldexp(1 + random.uniform(), exponent));
      }
      matches_naive<TypeParam>(image, mask, "some 2^" + std::to_string(smaller) + " smaller",
                               eight);
    }
    for (T& pixel : image.values) pixel = static_cast<T>(1 + random.below(3));
    matches_naive<TypeParam>(image, mask, "equal peaks", eight);
    image(ny / 2, nx / 2) = T(0);
    matches_naive<TypeParam>(image, mask, "a zero", eight);
    for (T& pixel : image.values) pixel = std::numeric_limits<T>::denorm_min();
    matches_naive<TypeParam>(image, mask, "the smallest", eight);
  }
}

/// Long runs, in components of any width and height; the same pixels as above.
ts::HostMask long_runs(std::int64_t ny, std::int64_t nx, ts::Random& random) {
  ts::HostMask mask(ny, nx);
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = random.below(40); x < nx; x += 1 + random.below(3)) {
      for (const std::int64_t end = std::min(x + 10 + random.below(90), nx); x < end; ++x)
        mask(y, x) = 1;
    }
    y += random.below(4) == 0 ? 1 : 0;
  }
  return mask;
}
TYPED_TEST(Measure, MatchesNaiveOnPixelsOfAnySizeInLongRuns) {
  using T = typename TypeParam::real;
  for (const auto& [ny, nx] : {std::pair{30, 1000}, std::pair{90, 192}, std::pair{2, 30000}}) {
    ts::Random random(7);
    const auto mask = long_runs(ny, nx, random);
    ts::HostImage<T> image(ny, nx);
    const auto fill = [&](const auto& pixel_of) {
      for (T& pixel : image.values) pixel = static_cast<T>(pixel_of());
    };
    for (int smaller = 0; smaller < 44; smaller += 2) {  // by so many powers of two
      fill([&] {
        return std::ldexp(1 + random.uniform(),
                          random.below(20) == 0 ? -static_cast<int>(random.below(smaller + 1)) : 0);
      });
      matches_naive<TypeParam>(image, mask, "some 2^" + std::to_string(smaller) + " smaller");
    }
    fill([&] { return 1 + random.below(3); });
    matches_naive<TypeParam>(image, mask, "equal peaks");
    for (std::size_t i = 0; i < image.values.size(); i += 97) image.values[i] = T(0);
    matches_naive<TypeParam>(image, mask, "zeros");
    fill([&] { return random.gaussian() + 3; });
    matches_naive<TypeParam>(image, mask, "some below 0");
    fill([&] { return random.gaussian() - 300; });
    matches_naive<TypeParam>(image, mask, "all below 0");
    fill([&] { return std::numeric_limits<T>::denorm_min() * static_cast<T>(random.below(9)); });
    matches_naive<TypeParam>(image, mask, "the smallest");
  }
}

TYPED_TEST(Measure, MatchesNaiveOnTortureMasks) {
  using T = typename TypeParam::real;
  const auto image = positive_image<T>(45, 130, 4);
  for (const auto& [name, mask] : ts::torture_masks(45, 130)) {
    matches_naive<TypeParam>(image, mask, name);
  }
}

/// Negative levels: pixels of both signs in one component, sums that nearly cancel.
TYPED_TEST(Measure, MatchesNaiveOnPixelsOfBothSigns) {
  using T = typename TypeParam::real;
  for (const double level : {-0.02, -0.005, -1e30}) {
    const auto sky = ts::make_image<T>(ts::Pixels::contaminated, 150, 211, 5);
    matches_naive<TypeParam>(sky, level, "contaminated sky, level " + std::to_string(level));
  }
  matches_naive<TypeParam>(ts::make_image<T>(ts::Pixels::gaussian, 150, 211, 6), -0.5, "gaussian");
  matches_naive<TypeParam>(ts::make_image<T>(ts::Pixels::sixteen_bit, 150, 211, 6), 0,
                           "sixteen bit");
  matches_naive<TypeParam>(ts::make_image<T>(ts::Pixels::denormal, 150, 211, 6), 0, "denormal");
  // Every pixel of a component negative: the peak is the largest, the centre still an average.
  ts::HostImage<T> negative = positive_image<T>(60, 70, 7);
  for (T& pixel : negative.values) pixel = -pixel;
  matches_naive<TypeParam>(negative, ts::random_mask(60, 70, 0.5, 1), "negative");
}

TYPED_TEST(Measure, GivesNoCentreToASumOfZero) {
  using T = typename TypeParam::real;
  ts::HostImage<T> image(6, 9, T(-100));
  image(1, 1) = T(0.75);
  image(1, 2) = T(-0.75);
  image(4, 4) = T(0);
  image(4, 7) = T(3);
  const auto rows = matches_naive<TypeParam>(image, -1, "sum of zero");
  ASSERT_EQ(rows.size(), 3U);
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(rows[i].flux_sum, 0.0);
    EXPECT_TRUE(std::isnan(rows[i].x_cen));
    EXPECT_TRUE(std::isnan(rows[i].y_cen));
  }
  EXPECT_EQ(rows[2].x_cen, 7.0);
  EXPECT_EQ(rows[2].y_cen, 4.0);
}

TYPED_TEST(Measure, MatchesNaiveOnHugeAndTinyPixels) {
  using T = typename TypeParam::real;
  constexpr bool is_float = std::is_same_v<T, float>;
  std::vector<double> scales{1e30, 1e-30};
  if (!is_float) scales.insert(scales.end(), {1e290, 1e-290, 1e300, 1e-300});
  const auto mask = ts::random_mask(40, 90, 0.35, 2);
  for (const double scale : scales) {
    auto image = positive_image<T>(40, 90, 9);
    for (T& pixel : image.values) pixel = static_cast<T>(pixel * scale);
    matches_naive<TypeParam>(image, mask,
                             "scaled by " + std::to_string(std::log10(scale)) + " decades");
  }
  // All the scales in one image, a component each, and then in one component.
  ts::HostImage<T> image(4 * static_cast<std::int64_t>(scales.size()), 90);
  for (std::int64_t y = 0; y < image.ny; ++y) {
    const double scale = scales[static_cast<std::size_t>(y / 4)];
    for (std::int64_t x = 0; x < image.nx; ++x) {
      image(y, x) = static_cast<T>(scale * (1 + 0.01 * static_cast<double>(x)));
    }
  }
  const auto stripes =
      ts::mask_where(image.ny, image.nx, [](std::int64_t y, std::int64_t) { return y % 4 != 3; });
  matches_naive<TypeParam>(image, stripes, "a scale a component");
  matches_naive<TypeParam>(image, ts::HostMask(image.ny, image.nx, 1),
                           "all scales in one component");
}

/// The largest floats: their sum does not fit a float, and in double overflows nothing.
template <class Exec>
void sums_of_the_largest_floats_are_doubles() {
  using C = ts::Case<Exec, float>;
  const ts::HostImage<float> image(30, 200, std::numeric_limits<float>::max());
  matches_naive<C>(image, ts::HostMask(30, 200, 1), "largest floats");
}

TYPED_TEST(Measure, MatchesNaiveOnWideRuns) {
  using T = typename TypeParam::real;
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{1, 100000}, {3, 65537}, {100000, 1}};
  for (const auto& [ny, nx] : shapes) {
    matches_naive<TypeParam>(positive_image<T>(ny, nx, 10), ts::HostMask(ny, nx, 1),
                             "one component");
  }
}

TYPED_TEST(Measure, TakesTheFirstOfEqualPeaksInRasterOrder) {
  using T = typename TypeParam::real;
  const auto image = ts::make_image<T>(ts::Pixels::narrow_integers, 120, 170, 11);
  matches_naive<TypeParam>(image, 0.5, "ties");
  matches_naive<TypeParam>(image, 0.5, "ties, 8-connectivity", {kastor::Connectivity::eight, 1});
  matches_naive<TypeParam>(ts::HostImage<T>(50, 130, T(1)), 0.5, "all equal");
  ts::HostImage<T> zeros(3, 70, T(0));
  zeros(0, 0) = -T(0);
  matches_naive<TypeParam>(zeros, -1, "zeros of both signs");
  // Long and short runs of one component.
  for (const std::int64_t long_rows : {0, 1, 2, 3}) {
    ts::HostImage<T> comb(80, 400, T(-9));
    for (std::int64_t y = 0; y < 80; ++y) {
      for (std::int64_t x = 0; x < 400; ++x) {
        const bool in_long_run = y % 4 == long_rows;
        if (in_long_run || x % 5 < 2) comb(y, x) = (7 * x + y) % 11 == 0 ? T(0) : T(-1);
      }
    }
    matches_naive<TypeParam>(comb, -2, "long and short runs, peaks of 0");
  }
}

/// Rows are made by groups of threads, some each.
TYPED_TEST(Measure, MatchesNaiveOnGroupsOfRows) {
  using T = typename TypeParam::real;
  for (const std::int64_t points : {1, 30, 31, 32, 33, 63, 64, 5000}) {
    const std::int64_t ny = points / 20 * 2 + 40;
    const auto mask = ts::mask_where(ny, 60, [&](std::int64_t y, std::int64_t x) {
      const bool in_bar = x == 0;
      const bool is_point = y % 2 == 0 && x >= 2 && x < 42 && x % 2 == 0;
      return in_bar || (is_point && y / 2 * 20 + x / 2 - 1 < points);
    });
    const auto rows = matches_naive<TypeParam>(positive_image<T>(ny, 60, 12), mask,
                                               std::to_string(points) + " points beside a bar");
    EXPECT_EQ(static_cast<std::int64_t>(rows.size()), points + 1);
  }
}

/// A component of its own, measured alone and among others: brighter, wider, more of them.
TYPED_TEST(Measure, MeasuresEveryComponentAsIfItWereAlone) {
  using T = typename TypeParam::real;
  constexpr std::int64_t ny = 64;
  constexpr std::int64_t nx = 700;
  const auto pixels = ts::make_image<T>(ts::Pixels::gaussian, ny, nx, 12);
  ts::HostImage<T> alone(ny, nx, T(-1000));
  for (std::int64_t y = 20; y < 40; ++y) {
    for (std::int64_t x = 100; x < 163; ++x) alone(y, x) = pixels(y, x);
  }
  const auto rows = matches_naive<TypeParam>(alone, -2.5, "alone");
  ASSERT_FALSE(rows.empty());

  ts::HostImage<T> crowded = alone;
  ts::Random random(13);
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      const bool near = y >= 19 && y < 41 && x >= 99 && x < 164;
      if (near || random.below(10) == 0) continue;
      crowded(y, x) = static_cast<T>(1e25 * random.uniform());
    }
  }
  const auto crowded_rows = matches_naive<TypeParam>(crowded, -2.5, "crowded");
  std::size_t found = 0;
  for (const kastor::Source& row : rows) {
    for (const kastor::Source& other : crowded_rows) {
      const bool same_component = other.x_min == row.x_min && other.y_min == row.y_min &&
                                  other.x_peak == row.x_peak && other.y_peak == row.y_peak;
      if (!same_component) continue;
      ++found;
      EXPECT_TRUE(ts::same_figures(other, row));
    }
  }
  EXPECT_EQ(found, rows.size());
}

TYPED_TEST(Measure, IsTheSameBitsOnEveryBackend) {
  using Exec = typename TypeParam::exec;
  using First = ts::FirstExec;
  using T = typename TypeParam::real;
  const auto measure_on = [](auto space, const auto& image, double level) {
    using E = decltype(space);
    const auto device = ts::to_device<E>(image);
    return kastor::measure(space, device,
                           kastor::label(space, kastor::threshold(space, device, level)));
  };
  for (const double level : {0.03, -0.005}) {
    const auto image = ts::make_image<T>(ts::Pixels::contaminated, 400, 511, 14);
    const auto got = measure_on(Exec{}, image, level);
    EXPECT_GT(got.size(), 100U);
    EXPECT_TRUE(ts::same_bits(got, measure_on(First{}, image, level))) << "level " << level;
  }
}

TYPED_TEST(Measure, ReusesOneObjectForImagesOfDifferentSizes) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  kastor::Measurer<Exec, T> measurer(space);
  for (const auto& [ny, nx] : {std::pair{20, 30}, std::pair{200, 300}, std::pair{1, 1},
                               std::pair{200, 300}, std::pair{300, 20}}) {
    const auto host = positive_image<T>(ny, nx, 15);
    const auto image = ts::to_device<Exec>(host);
    const auto labels = kastor::label(space, kastor::threshold(space, image, 2.0));
    const auto got = kastor::to_host<Exec>(space, measurer(image, labels));
    EXPECT_TRUE(ts::same_bits(got, kastor::measure(space, image, labels)));
    EXPECT_EQ(static_cast<std::int64_t>(got.size()), labels.components);
  }
}

TYPED_TEST(Measure, GivesNoRowWithoutAComponent) {
  using Exec = typename TypeParam::exec;
  const Exec space;
  const auto image = ts::to_device<Exec>(ts::HostImage<typename TypeParam::real>(20, 30, 1));
  const auto labels = kastor::label(space, ts::to_device_mask<Exec>(ts::HostMask(20, 30, 0)));
  EXPECT_TRUE(kastor::measure(space, image, labels).empty());
}

TYPED_TEST(Measure, ThrowsIfImageAndLabelsDifferInShape) {
  using Exec = typename TypeParam::exec;
  const Exec space;
  const auto labels = kastor::label(space, ts::to_device_mask<Exec>(ts::HostMask(20, 30, 1)));
  for (const auto& [ny, nx] : {std::pair{20, 31}, std::pair{21, 30}, std::pair{30, 20}}) {
    const auto image = ts::to_device<Exec>(ts::HostImage<typename TypeParam::real>(ny, nx, 1));
    ts::expect_error([&] { (void)kastor::measure(space, image, labels); }, {"kastor::measure"});
  }
}

TYPED_TEST(Measure, SumsInDouble) {
  sums_of_the_largest_floats_are_doubles<typename TypeParam::exec>();
}

}  // namespace
