// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <kastor/sigma_clip.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

/// Large enough for the bracketed route.
constexpr std::int64_t medium_ny = 400;
constexpr std::int64_t medium_nx = 501;
constexpr std::int64_t large_ny = 1100;
constexpr std::int64_t large_nx = 1000;

using BandCounts = std::vector<std::int64_t>;

/// Clips one image in every form that must give the same bits, once per parameter set, and compares
/// with the reference. Returns the route of the last.
template <class C>
kastor::ClipRoute matches_naive(ts::Pixels kind, std::int64_t ny, std::int64_t nx,
                                std::uint64_t seed,
                                const std::vector<kastor::SigmaClipParams>& parameter_sets = {{}},
                                const BandCounts& band_counts = {2, 3, 7}) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Exec space;
  const auto host = ts::make_image<T>(kind, ny, nx, seed);
  const auto sorted = ts::sorted_finite_pixels(host);
  const auto image = ts::to_device<Exec>(host);
  if (sorted.empty()) {
    ts::expect_error([&] { (void)kastor::sigma_clip(space, image); }, {"kastor::sigma_clip"});
    return kastor::ClipRoute::multi_pass;
  }
  const auto cut_out = ts::to_device_cut_out<Exec>(host);

  kastor::ClipRoute route{};
  for (const kastor::SigmaClipParams& params : parameter_sets) {
    const std::string what = std::string(ts::name_of(kind)) + ' ' + ts::shape_name(ny, nx) +
                             " kappa " + std::to_string(params.kappa) + " max_passes " +
                             std::to_string(params.max_passes);
    const auto want = ts::sigma_clip_naive(sorted, ny * nx, params);
    kastor::SigmaClipper<Exec, T> clip(space, params);
    const auto got = clip(image);
    ts::expect_matches_naive(got, want, what);
    EXPECT_TRUE(ts::same_bits(clip(cut_out.image), got)) << what << ", as a cut-out";
    for (const std::int64_t count : band_counts) {
      const auto bands = ts::split_into_bands<Exec, T>(cut_out.image, count);
      EXPECT_TRUE(ts::same_bits(clip(bands), got)) << what << ", in " << count << " bands";
    }
    route = got.route;
  }
  return route;
}

template <class C>
void gives_the_bits_of_the_first_backend(ts::Pixels kind, std::int64_t ny, std::int64_t nx) {
  using Exec = typename C::exec;
  using First = ts::FirstExec;
  const auto image = ts::make_image<typename C::real>(kind, ny, nx, 7);
  EXPECT_TRUE(ts::same_bits(kastor::sigma_clip(Exec{}, ts::to_device<Exec>(image)),
                            kastor::sigma_clip(First{}, ts::to_device<First>(image))))
      << ts::name_of(kind) << ' ' << ts::shape_name(ny, nx);
}

template <class T>
class SigmaClip : public ::testing::Test {};
TYPED_TEST_SUITE(SigmaClip, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(SigmaClip, ReusesOneObjectForImagesOfDifferentSizes) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  kastor::SigmaClipper<Exec, T> clip(space);
  const std::pair<std::int64_t, std::int64_t> shapes[] = {
      {64, 64}, {medium_ny, medium_nx}, {1, 1}, {300, 1000}, {medium_ny, medium_nx}, {7, 3}};
  std::uint64_t seed = 20;
  for (const auto& [ny, nx] : shapes) {
    for (const ts::Pixels kind : {ts::Pixels::gaussian, ts::Pixels::narrow_integers}) {
      const auto image = ts::to_device<Exec>(ts::make_image<T>(kind, ny, nx, seed++));
      EXPECT_TRUE(ts::same_bits(clip(image), kastor::sigma_clip(space, image)))
          << ts::name_of(kind) << ' ' << ts::shape_name(ny, nx);
    }
  }
}

TYPED_TEST(SigmaClip, SurvivesAMove) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 50, 60, 1));
  kastor::SigmaClipper<Exec, T> first(space);
  const auto want = first(image);
  kastor::SigmaClipper<Exec, T> second(std::move(first));
  EXPECT_TRUE(ts::same_bits(second(image), want));
  first = std::move(second);
  EXPECT_TRUE(ts::same_bits(first(image), want));
}

TYPED_TEST(SigmaClip, IgnoresBandsWithoutRows) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 40, 50, 1));
  const kastor::ConstImage<T, Exec> whole(image);
  const auto rows = [&](std::int64_t first, std::int64_t last) {
    return kastor::ConstImage<T, Exec>(
        Kokkos::subview(whole, std::make_pair(first, last), Kokkos::ALL));
  };
  const std::vector<kastor::ConstImage<T, Exec>> bands{rows(0, 0), rows(0, 10), rows(10, 10),
                                                       rows(10, 40), rows(40, 40)};
  kastor::SigmaClipper<Exec, T> clip(space);
  EXPECT_TRUE(ts::same_bits(clip(bands), clip(whole)));
}

TYPED_TEST(SigmaClip, ThrowsOnBandsOfDifferentWidth) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const kastor::Image<T, Exec> a("test::a", 4, 10);
  const kastor::Image<T, Exec> b("test::b", 4, 11);
  const std::vector<kastor::ConstImage<T, Exec>> bands{a, b};
  kastor::SigmaClipper<Exec, T> clip{Exec{}};
  ts::expect_error([&] { (void)clip(bands); }, {"kastor::sigma_clip", "11", "10"});
}

TYPED_TEST(SigmaClip, ThrowsOnAnImageWithoutAFinitePixel) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::HostImage<T> image(5, 7, std::numeric_limits<T>::quiet_NaN());
  image(2, 3) = std::numeric_limits<T>::infinity();
  image(4, 6) = -std::numeric_limits<T>::infinity();
  ts::expect_error([&] { (void)kastor::sigma_clip(Exec{}, ts::to_device<Exec>(image)); },
                   {"kastor::sigma_clip"});
  const kastor::Image<T, Exec> empty("test::empty", 0, 0);
  ts::expect_error([&] { (void)kastor::sigma_clip(Exec{}, empty); }, {"kastor::sigma_clip"});
}

TYPED_TEST(SigmaClip, ThrowsOnParametersOutOfRange) {
  using Clipper = kastor::SigmaClipper<typename TypeParam::exec, typename TypeParam::real>;
  const typename TypeParam::exec space;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double kappa : {0.0, -3.0, nan, infinity}) {
    ts::expect_error([&] { Clipper clip(space, {kappa, 0}); }, {"kastor::", "kappa"});
  }
  ts::expect_error([&] { Clipper clip(space, {3.0, -1}); }, {"kastor::", "max_passes", "-1"});
}

TYPED_TEST(SigmaClip, MatchesNaiveOnAwkwardShapes) {
  std::uint64_t seed = 1;
  for (const auto& [ny, nx] : ts::awkward_shapes) {
    matches_naive<TypeParam>(ts::Pixels::gaussian, ny, nx, seed++);
    matches_naive<TypeParam>(ts::Pixels::contaminated, ny, nx, seed++);
    matches_naive<TypeParam>(ts::Pixels::half_blank, ny, nx, seed++);
  }
}

TYPED_TEST(SigmaClip, MatchesNaiveOnEveryKindOfPixels) {
  for (const ts::Pixels kind : ts::all_pixel_kinds) {
    matches_naive<TypeParam>(kind, 61, 97, 3);
    matches_naive<TypeParam>(kind, medium_ny, medium_nx, 4, {{}}, {7});
  }
}

TYPED_TEST(SigmaClip, MatchesNaiveOnAMegapixel) {
  for (const ts::Pixels kind :
       {ts::Pixels::uniform, ts::Pixels::constant, ts::Pixels::narrow_integers, ts::Pixels::tenths,
        ts::Pixels::sixteen_bit, ts::Pixels::half_blank, ts::Pixels::outliers,
        ts::Pixels::striped}) {
    matches_naive<TypeParam>(kind, large_ny, large_nx, 5, {{}}, {3});
  }
}

TYPED_TEST(SigmaClip, MatchesNaiveForEveryKappaAndLimitOfPasses) {
  const std::vector<kastor::SigmaClipParams> params{{0.5, 0}, {1.5, 0}, {2, 0}, {5, 0},
                                                    {3, 1},   {3, 2},   {3, 5}, {2, 3}};
  for (const ts::Pixels kind :
       {ts::Pixels::gaussian, ts::Pixels::contaminated, ts::Pixels::exponential, ts::Pixels::cauchy,
        ts::Pixels::narrow_integers, ts::Pixels::constant}) {
    matches_naive<TypeParam>(kind, 90, 131, 6, params, {3});
  }
  const std::vector<kastor::SigmaClipParams> fewer{{1.5, 4}, {2.5, 0},  {5, 0},
                                                   {10, 0},  {1000, 0}, {3, 2}};
  for (const ts::Pixels kind :
       {ts::Pixels::gaussian, ts::Pixels::contaminated, ts::Pixels::tenths}) {
    matches_naive<TypeParam>(kind, medium_ny, medium_nx, 8, fewer, {3});
  }
}

TYPED_TEST(SigmaClip, ReadsALargeSkyOnce) {
  for (const ts::Pixels kind : {ts::Pixels::gaussian, ts::Pixels::contaminated}) {
    EXPECT_EQ(matches_naive<TypeParam>(kind, large_ny, large_nx, 9), kastor::ClipRoute::bracketed)
        << ts::name_of(kind);
  }
}

TYPED_TEST(SigmaClip, IsTheSameBitsOnEveryBackend) {
  for (const ts::Pixels kind : ts::all_pixel_kinds) {
    gives_the_bits_of_the_first_backend<TypeParam>(kind, 127, 253);
    gives_the_bits_of_the_first_backend<TypeParam>(kind, medium_ny, medium_nx);
  }
}

}  // namespace
