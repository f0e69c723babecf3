// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/component_maps.hpp>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "fit_naive.hpp"
#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

template <class Exec, class T>
ts::HostImage<T> model_of(const std::vector<kastor::Gaussian>& gaussians, std::int64_t ny,
                          std::int64_t nx) {
  const kastor::Image<T, Exec> image("model", static_cast<std::size_t>(ny),
                                     static_cast<std::size_t>(nx));
  Kokkos::deep_copy(image, T(7));
  kastor::fill_model<Exec, T>(Exec(), gaussians, image);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), image);
  ts::HostImage<T> copy(ny, nx);
  for (std::int64_t y = 0; y < ny; ++y)
    for (std::int64_t x = 0; x < nx; ++x) copy(y, x) = host(y, x);
  return copy;
}

/// Some within, some at the edges, some that only reach in, and some that do not.
std::vector<kastor::Gaussian> some_gaussians() {
  ts::Random random(4);
  std::vector<kastor::Gaussian> all;
  for (int i = 0; i < 60; ++i) {
    const double major = 1 + 20 * random.uniform();
    all.push_back(kastor::gaussian_of(
        {major, major * (0.2 + 0.8 * random.uniform()), 3.1 * random.uniform()},
        100 * random.gaussian(), 300 * random.uniform() - 60, 220 * random.uniform() - 60));
  }
  all.push_back(kastor::gaussian_of({5, 3, 1}, 10, 1e9, 20));
  all.push_back(kastor::gaussian_of({1000, 800, 1}, 10, -300, 20));
  return all;
}

template <class C>
class FillModel : public ::testing::Test {};
TYPED_TEST_SUITE(FillModel, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(FillModel, IsTheSumOfTheGaussians) {
  using T = typename TypeParam::real;
  const auto gaussians = some_gaussians();
  const auto model = model_of<typename TypeParam::exec, T>(gaussians, 100, 170);
  const auto reference = model_of<ts::FirstExec, T>(gaussians, 100, 170);
  for (std::int64_t y = 0; y < model.ny; ++y)
    for (std::int64_t x = 0; x < model.nx; ++x) {
      ASSERT_EQ(model(y, x), reference(y, x));
      long double sum = 0;
      for (const auto& g : gaussians)
        sum += ts::value_of(g, static_cast<double>(x), static_cast<double>(y));
      const double tolerance = sizeof(T) == 4 ? 1e-4 : 2e-6;
      ASSERT_NEAR(model(y, x), static_cast<double>(sum), tolerance) << y << ' ' << x;
    }
  const auto nothing = model_of<typename TypeParam::exec, T>({}, 3, 65);
  EXPECT_EQ(nothing(2, 64), 0);
}

TYPED_TEST(FillModel, RefusesWhatIsNoGaussian) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  for (const kastor::Gaussian& bad :
       {kastor::Gaussian{1, 2, 3, 0, 0, 1}, kastor::Gaussian{1, 2, 3, 1, 0, -1},
        kastor::Gaussian{NAN, 2, 3, 1, 0, 1}, kastor::Gaussian{1, INFINITY, 3, 1, 0, 1}})
    EXPECT_THROW((model_of<Exec, T>({bad}, 4, 4)), kastor::Error);
}

}  // namespace
