// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/background.hpp>
#include <numbers>

#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

template <class TypeParam>
class ClipCorrection : public ::testing::Test {};
TYPED_TEST_SUITE(ClipCorrection, ts::ExecsAndReals, ts::CaseName);

/// The standard deviation that is left of a normal distribution of width 1, clipped again and
/// again.
double clipped_std(double kappa, int passes) {
  double std = 1;
  for (int pass = 1; pass < passes; ++pass) {
    const double a = kappa * std;
    const double density = std::exp(-a * a / 2) / std::sqrt(2 * std::numbers::pi);
    std = std::sqrt(1 - 2 * a * density / std::erf(a / std::sqrt(2.0)));
  }
  return std;
}

TYPED_TEST(ClipCorrection, IsThatOfTheNormalDistribution) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto image = ts::make_image<T>(ts::Pixels::gaussian, 512, 512, 3);
  const auto device = ts::to_device<Exec>(image);
  const auto rms_of = [&](kastor::BackgroundParams params, bool corrects) {
    params.correct_clip = corrects;
    kastor::BackgroundEstimator<Exec, T> estimate(Exec{}, params);
    static_cast<void>(estimate(device));
    return estimate.summary().rms;
  };
  kastor::BackgroundParams params;
  params.cell_height = params.cell_width = 256;
  for (const double kappa : {2.0, 2.5, 3.0, 5.0}) {
    for (const int passes : {0, 1, 2, 3}) {
      params.clip = {kappa, passes};
      const double factor = 1 / clipped_std(kappa, passes == 0 ? 999 : passes);
      EXPECT_NEAR(rms_of(params, true) / rms_of(params, false), factor, 1e-12)
          << kappa << ' ' << passes;
    }
  }
  // No such correction: little or nothing is left of the pixels.
  params.clip = {1.5, 0};
  EXPECT_EQ(rms_of(params, true), rms_of(params, false));
  // The generator's noise has a width of its own, which a clip far out does not change.
  params.clip = {10, 0};
  const double truth = rms_of(params, false);
  params.clip = {3, 0};
  EXPECT_NEAR(rms_of(params, false) / truth, 0.9848, 0.003);
  EXPECT_NEAR(rms_of(params, true) / truth, 1, 0.003);
}

}  // namespace
