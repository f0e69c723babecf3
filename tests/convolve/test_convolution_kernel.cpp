// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <kastor/convolution_kernel.hpp>
#include <limits>

#include "compare.hpp"
#include "convolve_naive.hpp"

namespace {

namespace ts = testing_support;

double largest_error(const kastor::ConvolutionKernel& kernel, const kastor::SeparableForm& form) {
  double largest = 0;
  double error = 0;
  for (std::int64_t i = 0; i < kernel.ny; ++i) {
    for (std::int64_t j = 0; j < kernel.nx; ++j) {
      long double sum = 0;
      for (const auto& part : form.parts)
        sum += static_cast<long double>(part.along_y[static_cast<std::size_t>(i)]) *
               static_cast<long double>(part.along_x[static_cast<std::size_t>(j)]);
      error = std::max(error, static_cast<double>(std::fabs(sum - kernel.at(i, j))));
      largest = std::max(largest, std::abs(kernel.at(i, j)));
    }
  }
  return error / largest;
}

TEST(ConvolutionKernel, GaussianIsNormalisedAndRound) {
  const auto kernel = kastor::gaussian_kernel(1.5);
  EXPECT_EQ(kernel.ny, 13);
  EXPECT_EQ(kernel.nx, 13);
  double sum = 0;
  for (const double tap : kernel.taps) sum += tap;
  EXPECT_NEAR(sum, 1.0, 1e-15);
  EXPECT_NEAR(kernel.at(6, 8) / kernel.at(6, 6), std::exp(-0.5 * 4 / 2.25), 1e-15);
  EXPECT_EQ(kernel.at(6, 8), kernel.at(8, 6));
  EXPECT_EQ(kernel.at(2, 3), kernel.at(10, 9));
}

TEST(ConvolutionKernel, GaussianSizeIsTheUsersIfGiven) {
  EXPECT_EQ(kastor::gaussian_kernel(1.0, 1).taps, std::vector<double>{1.0});
  EXPECT_EQ(kastor::gaussian_kernel(100.0, 127).ny, 127);
  EXPECT_EQ(kastor::gaussian_kernel(15.875).ny, 127);
  EXPECT_EQ(kastor::gaussian_kernel(1e-3).ny, 1);
}

TEST(ConvolutionKernel, GaussianRefusesWhatItCannotBe) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double sigma : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()})
    ts::expect_error([&] { (void)kastor::gaussian_kernel(sigma); }, {"sigma", "above 0"});
  ts::expect_error([] { (void)kastor::gaussian_kernel(15.9); }, {"15.9", "15.875"});
  for (const std::int64_t size : {-1, 2, 128, 129})
    ts::expect_error([&] { (void)kastor::gaussian_kernel(1.0, size); }, {"odd", "127"});
}

TEST(ConvolutionKernel, LessonKernelIsTheCourses) {
  const auto kernel = kastor::lesson_kernel();
  EXPECT_EQ(kernel.ny, 15);
  EXPECT_EQ(kernel.nx, 15);
  EXPECT_EQ(kernel.at(7, 7), 1.0);
  EXPECT_DOUBLE_EQ(kernel.at(0, 0), std::exp(-4.0));
  EXPECT_DOUBLE_EQ(kernel.at(0, 7), std::exp(-2.0));
  EXPECT_DOUBLE_EQ(kernel.at(7, 14), std::exp(-2.0));
  EXPECT_NEAR(kernel.at(3, 9), std::exp(-(16.0 * 16 + 8 * 8) / 14 / 14 / 2), 1e-15);
}

TEST(SeparableForm, FindsTheRank) {
  const auto parts = [](const kastor::ConvolutionKernel& kernel) {
    return kastor::separable_form(kernel, 0x1p-45).parts.size();
  };
  EXPECT_EQ(parts(kastor::lesson_kernel()), 1U);
  EXPECT_EQ(parts(kastor::gaussian_kernel(3.0, 127)), 1U);
  for (const int rank : {1, 2, 3, 7}) {
    EXPECT_EQ(parts(ts::random_kernel(15, 15, rank, 1)), static_cast<std::size_t>(rank));
    EXPECT_EQ(parts(ts::random_kernel(9, 30, rank, 2)), static_cast<std::size_t>(rank));
    EXPECT_EQ(parts(ts::random_kernel(31, 8, rank, 3)), static_cast<std::size_t>(rank));
  }
  EXPECT_EQ(parts(ts::random_kernel(15, 15, 0, 4)), 15U);
  EXPECT_EQ(parts({1, 4, {1, 2, 3, 4}}), 1U);
  EXPECT_EQ(parts({2, 2, {0, 0, 0, 0}}), 1U);
  // The Laplacian of a Gaussian: two.
  kastor::ConvolutionKernel mexican_hat{21, 21, {}};
  for (int i = -10; i <= 10; ++i)
    for (int j = -10; j <= 10; ++j)
      mexican_hat.taps.push_back((1 - (i * i + j * j) / 18.0) * std::exp(-(i * i + j * j) / 18.0));
  EXPECT_EQ(parts(mexican_hat), 2U);
}

TEST(SeparableForm, PermutationsAndOtherEqualSingularValuesEnd) {
  for (const std::int64_t n : {1, 2, 15, 127}) {
    kastor::ConvolutionKernel kernel{n, n, std::vector<double>(static_cast<std::size_t>(n * n))};
    for (std::int64_t i = 0; i < n; ++i)
      kernel.taps[static_cast<std::size_t>(i * n + (n - i) % n)] = 1;
    EXPECT_EQ(kastor::separable_form(kernel, 0x1p-50).parts.size(), static_cast<std::size_t>(n));
    ts::Random random(5);
    for (double& tap : kernel.taps) tap += 1e-10 * random.gaussian();
    const auto form = kastor::separable_form(kernel, 0x1p-50);
    EXPECT_LE(form.parts.size(), static_cast<std::size_t>(n));
    EXPECT_LE(largest_error(kernel, form), 0x1p-49);
  }
}

TEST(SeparableForm, ErrorIsWhatItSays) {
  for (const int rank : {0, 1, 2, 7}) {
    const auto kernel = ts::random_kernel(15, 12, rank, 6);
    for (const double tolerance : {0.5, 1e-2, 1e-7, 0x1p-50}) {
      const auto form = kastor::separable_form(kernel, tolerance);
      EXPECT_NEAR(largest_error(kernel, form), form.error, 1e-15) << rank << ' ' << tolerance;
      EXPECT_TRUE(form.error <= tolerance || form.parts.size() == 12) << rank << ' ' << tolerance;
    }
  }
}

TEST(SeparableForm, RefusesKernelsOutOfRange) {
  const auto refuses = [](const kastor::ConvolutionKernel& kernel,
                          std::initializer_list<const char*> parts) {
    ts::expect_error([&] { (void)kastor::separable_form(kernel, 0); }, parts);
  };
  refuses({0, 1, {}}, {"0 x 1", "127"});
  refuses({128, 1, std::vector<double>(128)}, {"128 x 1", "127"});
  refuses({2, 2, {1, 2, 3}}, {"3 taps", "2 x 2"});
  refuses({1, 2, {1, std::numeric_limits<double>::infinity()}}, {"(0, 1)", "finite"});
}

}  // namespace
