// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <kastor/simulate.hpp>
#include <kastor/source_finder.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "find_skies.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

template <class C>
void matches_naive(const ts::HostImage<typename C::real>& host, const kastor::FindParams& params,
                   const std::string& name) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const std::string what = name + ' ' + ts::shape_name(host.ny, host.nx);
  kastor::SourceFinder<Exec, T> find(Exec{}, params);
  const auto got = find(ts::to_device<Exec>(host));

  const auto clip = ts::sigma_clip_naive(host, params.clip);
  ts::expect_matches_naive(got.clip, clip, what);
  if (params.level) {
    EXPECT_EQ(got.threshold, *params.level) << what;
  } else {
    const double about =
        params.about == kastor::ThresholdAbout::median ? got.clip.clipped.median : 0.0;
    // volatile: no fused multiply-add, whatever the compiler flags of the tests.
    const volatile double above = params.threshold * got.clip.clipped.std;
    EXPECT_EQ(got.threshold, about + above) << what;
  }

  const ts::HostMask mask = ts::threshold_naive(host, got.threshold);
  const auto labels = ts::drop_small_naive(ts::label_naive(mask, params.label.connectivity),
                                           params.label.min_pixels);
  EXPECT_EQ(got.foreground_pixels, ts::count_naive(mask)) << what;
  EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(find.mask().words), ts::pack_naive(mask))) << what;
  ts::expect_matches_naive(ts::to_host_runs(find.labels()), ts::runs_naive(mask, labels), what);
  ts::expect_matches_naive(got.sources, ts::measure_naive(host, labels), what);

  const auto cut_out = ts::to_device_cut_out<Exec>(host);
  for (const std::int64_t count : {1, 2, 5, 19}) {
    const auto bands = ts::split_into_bands<Exec, T>(cut_out.image, count);
    EXPECT_TRUE(ts::same_bits(find(bands), got)) << what << ", cut-out in " << count << " bands";
  }
}

template <class T>
class SourceFinder : public ::testing::Test {};
TYPED_TEST_SUITE(SourceFinder, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(SourceFinder, MatchesNaiveForEveryChoice) {
  const auto sky = ts::mosaic<typename TypeParam::exec, typename TypeParam::real>(300, 401, 1);
  for (const auto& [name, params] : ts::find_parameter_sets())
    matches_naive<TypeParam>(sky, params, name);
}

TYPED_TEST(SourceFinder, MatchesNaiveOnAMegapixel) {
  matches_naive<TypeParam>(
      ts::mosaic<typename TypeParam::exec, typename TypeParam::real>(1100, 1000, 2), {}, "mosaic");
}

/// Far more components than a device lists the runs of at first, of 1 to 20 runs, some long.
TYPED_TEST(SourceFinder, MatchesNaiveWithComponentsOfFewAndOfManyRuns) {
  using T = typename TypeParam::real;
  ts::Random random(41);
  ts::HostImage<T> image(520, 1300, T(0));
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 0; x < image.nx; ++x) {
      const std::int64_t runs = 1 + (x / 2 + y / 21) % 20;
      const bool is_long = y % 105 < 9 && x % 130 < 90;
      const bool in_line = x % 2 == 0 && y % 21 < runs;
      if (is_long || in_line) image(y, x) = static_cast<T>(5 + random.uniform());
      image(y, x) += static_cast<T>(random.uniform() - 0.5);
    }
  }
  kastor::FindParams params;
  params.level = 2;
  matches_naive<TypeParam>(image, params, "few and many runs");
  params.label.min_pixels = 4;
  matches_naive<TypeParam>(image, params, "few and many runs, 4 pixels or more");
}

/// Long in the mean, from 1 pixel to 200, beginning anywhere; a fifth of the pixels are the peaks.
template <class T>
ts::HostImage<T> image_of_long_runs() {
  ts::Random random(43);
  ts::HostImage<T> image(400, 1003, T(0));
  for (std::int64_t y = 0; y < image.ny; ++y) {
    if (y % 40 == 39) continue;
    auto left = static_cast<std::int64_t>(random.below(100));  // of a run
    for (std::int64_t x = 0; x < image.nx; ++x, --left) {
      const std::int64_t gap = 1 + y % 3;
      if (left <= -gap) left = 1 + static_cast<std::int64_t>(random.below(200));
      const double pixel = random.below(5) == 0 ? 9 : 3 + 5 * random.uniform();
      if (left > 0) image(y, x) = static_cast<T>(pixel);
    }
  }
  return image;
}
TYPED_TEST(SourceFinder, MatchesNaiveWithLongRuns) {
  using Exec = typename TypeParam::exec;
  const auto image = image_of_long_runs<typename TypeParam::real>();
  kastor::FindParams params;
  params.level = 2;
  matches_naive<TypeParam>(image, params, "long runs");
  EXPECT_TRUE(ts::same_bits(
      kastor::find_sources(Exec{}, ts::to_device<Exec>(image), params),
      kastor::find_sources(ts::FirstExec{}, ts::to_device<ts::FirstExec>(image), params)));
}

TYPED_TEST(SourceFinder, MatchesNaiveOnEveryKindOfPixels) {
  using T = typename TypeParam::real;
  // Read in every pass, and as a rule once.
  for (const std::int64_t ny : {90, 160}) {
    for (const ts::Pixels kind : ts::all_pixel_kinds)
      matches_naive<TypeParam>(ts::make_image<T>(kind, ny, 131, 3), {}, ts::name_of(kind));
  }
  matches_naive<TypeParam>(ts::HostImage<T>(1, 1, T(2)), {}, "one pixel");
  matches_naive<TypeParam>(ts::make_image<T>(ts::Pixels::contaminated, 1, 500, 4), {}, "one row");
  matches_naive<TypeParam>(ts::make_image<T>(ts::Pixels::contaminated, 500, 1, 5), {},
                           "one column");
}

/// Of which a prediction of the level cannot say whether they are foreground; at last more than
/// are kept.
TYPED_TEST(SourceFinder, MatchesNaiveWithManyPixelsNearTheLevel) {
  using T = typename TypeParam::real;
  for (const std::int64_t near : {0, 100, 1000, 12000}) {
    ts::Random random(7);
    ts::HostImage<T> host(512, 500, T(0));
    for (T& x : host.values) x = static_cast<T>(random.gaussian());
    for (std::int64_t i = 0; i < near; ++i)
      host(random.below(host.ny), random.below(host.nx)) =
          static_cast<T>(4.7 + 0.6 * random.uniform());
    kastor::FindParams params;
    matches_naive<TypeParam>(host, params, std::to_string(near) + " near 5 sigma");
    params.about = kastor::ThresholdAbout::median;
    params.threshold = 1.5;
    matches_naive<TypeParam>(host, params, std::to_string(near) + ", threshold among the noise");
  }
}

TYPED_TEST(SourceFinder, ReusesOneObjectForImagesOfDifferentSizes) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  kastor::SourceFinder<Exec, T> find(space);
  for (const auto& [ny, nx] : {std::pair{50, 60}, std::pair{700, 500}, std::pair{30, 90},
                               std::pair{500, 700}, std::pair{700, 500}}) {
    const auto image = ts::to_device<Exec>(ts::mosaic<Exec, T>(ny, nx, 6));
    EXPECT_TRUE(ts::same_bits(find(image), kastor::find_sources(space, image)))
        << ts::shape_name(ny, nx);
  }
}

/// The pixels may change where the image lies.
TYPED_TEST(SourceFinder, SeesWhatAnImageHasBecome) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  kastor::SourceFinder<Exec, T> find(space);
  const auto image = ts::new_image<Exec, T>("test::image", 400, 600);
  const auto look = [&](const ts::HostImage<T>& now, const std::string& what) {
    Kokkos::deep_copy(image, ts::view_of(now));
    const kastor::FindResult want = kastor::find_sources(space, ts::to_device<Exec>(now));
    EXPECT_TRUE(ts::same_bits(find(image), want)) << what;
  };
  ts::HostImage<T> crowd = ts::make_image<T>(ts::Pixels::gaussian, 400, 600, 3);
  for (std::int64_t i = 0; i < 400 * 600; i += 9) crowd.values[static_cast<std::size_t>(i)] += 50;
  for (const std::uint64_t seed : {1U, 1U, 1U, 1U, 2U, 3U})
    look(ts::mosaic<Exec, T>(400, 600, seed), "seed " + std::to_string(seed));
  // Lists grow.
  for (int repeat = 0; repeat < 4; ++repeat) look(crowd, "crowd " + std::to_string(repeat));
  for (const std::uint64_t seed : {4U, 5U, 6U, 7U})
    look(ts::mosaic<Exec, T>(400, 600, seed), "then seed " + std::to_string(seed));
  // Another image meanwhile.
  const auto other = ts::to_device<Exec>(ts::mosaic<Exec, T>(300, 500, 8));
  EXPECT_TRUE(ts::same_bits(find(other), kastor::find_sources(space, other)));
  for (int repeat = 0; repeat < 4; ++repeat) look(ts::mosaic<Exec, T>(400, 600, 9), "in the end");
}

/// Nothing of a mask is left in the next one: of larger images and smaller ones, of those that are
/// read once and those whose foreground takes another read, full and nearly empty.
TYPED_TEST(SourceFinder, LeavesNothingOfAMaskInTheNext) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  struct Turn {
    std::int64_t ny, nx, bright;
    double noise;
  };
  const Turn turns[] = {{300, 500, 400, 1},
                        {300, 500, 3, 1},
                        {500, 300, 50, 1},
                        {90, 100, 2000, 1},
                        {90, 100, 3, 1},
                        {300, 512, 90000, 1},
                        {300, 512, 5, 1},
                        {300, 512, 0, 1},
                        {300, 512, 20, 50},
                        {500, 700, 4, 1},
                        {130, 130, 8000, 1},
                        {500, 700, 4, 1},
                        {30, 12288, 2000, 1},
                        {30, 12288, 40, 1},
                        {30, 12288, 300, 1},
                        // Words of a last line that only the larger mask has.
                        {200, 150, 3000, 1},
                        {130, 130, 40, 1},
                        {200, 150, 1, 1}};
  kastor::FindParams params;
  params.level = 40;
  kastor::SourceFinder<Exec, T> find(Exec{}, params);
  ts::Random random(11);
  for (const Turn& turn : turns) {
    ts::HostImage<T> image(turn.ny, turn.nx, T(0));
    for (T& x : image.values) x = static_cast<T>(turn.noise * random.gaussian());
    for (std::int64_t i = 0; i < turn.bright; ++i) {
      const std::int64_t y = random.below(turn.ny - 1), x = random.below(turn.nx);
      image(y, x) = image(y + 1, x) = static_cast<T>(80);
    }
    const std::string what = ts::shape_name(turn.ny, turn.nx) + ", " + std::to_string(turn.bright);
    const kastor::FindResult got = find(ts::to_device<Exec>(image));
    const ts::HostMask want = ts::threshold_naive(image, 40);
    EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(find.mask().words), ts::pack_naive(want))) << what;
    const auto labels = ts::label_naive(want, params.label.connectivity);
    ts::expect_matches_naive(ts::to_host_runs(find.labels()), ts::runs_naive(want, labels), what);
    ts::expect_matches_naive(got.sources, ts::measure_naive(image, labels), what);
  }
}

TYPED_TEST(SourceFinder, IsTheSameBitsOnEveryBackend) {
  using Exec = typename TypeParam::exec;
  using First = ts::FirstExec;
  using T = typename TypeParam::real;
  const auto sky = ts::mosaic<First, T>(1100, 1000, 7);
  for (const auto& [name, params] : ts::find_parameter_sets()) {
    const auto got = kastor::find_sources(Exec{}, ts::to_device<Exec>(sky), params);
    const auto want = kastor::find_sources(First{}, ts::to_device<First>(sky), params);
    EXPECT_TRUE(ts::same_bits(got, want)) << name;
  }
}

/// The job itself: the bright, compact sources of the truth are in the catalogue.
TYPED_TEST(SourceFinder, FindsTheBrightSourcesOfASimulatedSky) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  kastor::SkyParams sky;
  sky.ny = 900;
  sky.nx = 1000;
  const auto truth = kastor::sky_truth(sky);
  const auto image = ts::new_image<Exec, T>("test::sky", sky.ny, sky.nx);
  kastor::simulate_sky<Exec, T>(Exec{}, sky, truth, image);
  const auto found = kastor::find_sources(Exec{}, image);
  EXPECT_GT(found.sources.size(), 20U);
  for (const kastor::TrueSource& source : truth) {
    const auto x = static_cast<std::int64_t>(std::lround(source.x));
    const auto y = static_cast<std::int64_t>(std::lround(source.y));
    const bool inside = x >= 5 && x < sky.nx - 5 && y >= 5 && y < sky.ny - 5;
    if (!inside || source.flux_peak < 15 * sky.noise) continue;
    bool covered = false;
    for (const kastor::Source& row : found.sources) {
      covered = covered || (x >= row.x_min && x <= row.x_max && y >= row.y_min && y <= row.y_max);
    }
    EXPECT_TRUE(covered) << "source at (" << source.x << ", " << source.y << ") of peak "
                         << source.flux_peak;
  }
}

/// `find` says the same as a call, and leaves its rows where they are.
TYPED_TEST(SourceFinder, FindsWithoutACopy) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  kastor::FindParams params;
  params.threshold = 4;
  kastor::SourceFinder<Exec, T> one(Exec{}, params);
  kastor::SourceFinder<Exec, T> other(Exec{}, params);
  const kastor::Source* rows = nullptr;
  for (const std::uint64_t seed : {5U, 6U, 7U}) {
    const auto image = ts::to_device<Exec>(ts::mosaic<Exec, T>(300, 411, seed));
    const kastor::FoundSources found = one.find(image);
    EXPECT_GT(found.sources.size(), 0U);
    EXPECT_TRUE(ts::same_bits({found.clip, found.threshold, found.foreground_pixels,
                               kastor::Catalogue(found.sources.begin(), found.sources.end())},
                              other(image)));
    EXPECT_TRUE(rows == nullptr || rows == found.sources.data());
    rows = found.sources.data();
  }
}

/// So many pixels of a few tiles that may be above the threshold, for all that is known before,
/// that a device has no room for them.
TYPED_TEST(SourceFinder, FindsACrowdAgainAndAgain) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::HostImage<T> image(2048, 2048);
  ts::Random random(15);
  for (std::int64_t y = 0; y < image.ny; ++y) {
    const bool in_crowd = y >= 300 && y < 364;
    for (std::int64_t x = 0; x < image.nx; ++x)
      image(y, x) = static_cast<T>(in_crowd && x % 9 < 7 ? 7.893 + 0.02 * random.gaussian()
                                                         : random.gaussian());
  }
  kastor::FindParams params;
  params.threshold = 8;
  const kastor::FindResult want =
      kastor::find_sources(ts::FirstExec{}, ts::to_device<ts::FirstExec>(image), params);
  EXPECT_GT(want.sources.size(), 200U);
  kastor::SourceFinder<Exec, T> find(Exec{}, params);
  const auto on_device = ts::to_device<Exec>(image);
  for (int call = 0; call < 5; ++call) EXPECT_TRUE(ts::same_bits(find(on_device), want)) << call;
}

TYPED_TEST(SourceFinder, ThrowsOnParametersOutOfRange) {
  using Finder = kastor::SourceFinder<typename TypeParam::exec, typename TypeParam::real>;
  const typename TypeParam::exec space;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto refuses = [&](const char* part, const auto& change) {
    kastor::FindParams params;
    change(params);
    ts::expect_error([&] { Finder finder(space, params); }, {"kastor::", part});
  };
  for (const double bad : {nan, infinity, -infinity}) {
    refuses("threshold", [&](kastor::FindParams& p) { p.threshold = bad; });
    refuses("level", [&](kastor::FindParams& p) { p.level = bad; });
    refuses("kappa", [&](kastor::FindParams& p) { p.clip.kappa = bad; });
  }
  refuses("kappa", [](kastor::FindParams& p) { p.clip.kappa = 0; });
  refuses("max_passes", [](kastor::FindParams& p) { p.clip.max_passes = -1; });
  refuses("min_pixels", [](kastor::FindParams& p) { p.label.min_pixels = 0; });
}

TYPED_TEST(SourceFinder, ThrowsOnAnImageWithoutAFinitePixel) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto blank =
      ts::to_device<Exec>(ts::HostImage<T>(9, 11, std::numeric_limits<T>::quiet_NaN()));
  ts::expect_error([&] { (void)kastor::find_sources(Exec{}, blank); }, {"kastor::"});
  kastor::FindParams params;
  params.level = 1;
  ts::expect_error([&] { (void)kastor::find_sources(Exec{}, blank, params); }, {"kastor::"});
}

}  // namespace
