// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <kastor/statistics.hpp>
#include <string>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

template <class C>
void matches_naive(ts::Pixels kind, std::int64_t ny, std::int64_t nx, std::uint64_t seed) {
  using Exec = typename C::exec;
  using T = typename C::real;
  const std::string what = std::string(ts::name_of(kind)) + ' ' + ts::shape_name(ny, nx);
  const auto image = ts::make_image<T>(kind, ny, nx, seed);
  if (ts::sorted_finite_pixels(image).empty()) {
    ts::expect_error([&] { (void)kastor::statistics(Exec{}, ts::to_device<Exec>(image)); },
                     {"kastor::statistics"});
    return;
  }
  const auto got = kastor::statistics(Exec{}, ts::to_device<Exec>(image));
  ts::expect_matches_naive(got, ts::statistics_naive(image), what);

  const auto cut_out = ts::to_device_cut_out<Exec>(image);
  EXPECT_TRUE(ts::same_bits(kastor::statistics(Exec{}, cut_out.image), got)) << what;
}

template <class C>
void gives_the_bits_of_the_first_backend(ts::Pixels kind, std::int64_t ny, std::int64_t nx) {
  using Exec = typename C::exec;
  using First = ts::FirstExec;
  const auto image = ts::make_image<typename C::real>(kind, ny, nx, 7);
  EXPECT_TRUE(ts::same_bits(kastor::statistics(Exec{}, ts::to_device<Exec>(image)),
                            kastor::statistics(First{}, ts::to_device<First>(image))))
      << ts::name_of(kind);
}

template <class T>
class Statistics : public ::testing::Test {};
TYPED_TEST_SUITE(Statistics, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Statistics, ThrowOnAnImageWithoutAFinitePixel) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::HostImage<T> image(5, 7, std::numeric_limits<T>::quiet_NaN());
  image(2, 3) = std::numeric_limits<T>::infinity();
  image(4, 6) = -std::numeric_limits<T>::infinity();
  ts::expect_error([&] { (void)kastor::statistics(Exec{}, ts::to_device<Exec>(image)); },
                   {"kastor::statistics"});
}

TYPED_TEST(Statistics, MatchNaiveOnAwkwardShapes) {
  std::uint64_t seed = 1;
  for (const auto& [ny, nx] : ts::awkward_shapes) {
    matches_naive<TypeParam>(ts::Pixels::gaussian, ny, nx, seed++);
    matches_naive<TypeParam>(ts::Pixels::contaminated, ny, nx, seed++);
  }
}

TYPED_TEST(Statistics, MatchNaiveOnEveryKindOfPixels) {
  for (const ts::Pixels kind : ts::all_pixel_kinds) {
    matches_naive<TypeParam>(kind, 61, 97, 3);
    matches_naive<TypeParam>(kind, 300, 401, 4);
  }
}

TYPED_TEST(Statistics, AreTheSameBitsOnEveryBackend) {
  for (const ts::Pixels kind : ts::all_pixel_kinds) {
    gives_the_bits_of_the_first_backend<TypeParam>(kind, 300, 401);
  }
}

}  // namespace
