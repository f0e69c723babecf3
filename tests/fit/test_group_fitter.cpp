// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <kastor/component.hpp>
#include <kastor/image.hpp>
#include <limits>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "fit/group_fitter.hpp"
#include "fit_naive.hpp"
#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
using kastor::Gaussian;
using kastor::detail::FitComponent;
using kastor::detail::FitGroup;
using kastor::detail::FitNoise;
using kastor::detail::FitStatus;
using kastor::detail::GroupFits;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rms = 0.5;

FitComponent free_component(const Gaussian& start, int free) {
  return {start, free, 4, 1, 40, -infinity, infinity};
}

/// A scene and how it is fitted.
struct Problem {
  std::vector<Gaussian> truth;
  std::vector<FitComponent> components;
  std::vector<FitGroup> groups;
  std::vector<Gaussian> fixed;
  FitNoise noise{true, kastor::gaussian_of({5, 3.5, 0.6}), kastor::gaussian_of({5, 3.5, 0.6}),
                 false};
  ts::HostImage<double> image{96, 128};

  void draw(std::uint64_t seed) {
    ts::Random random(seed);
    for (std::int64_t y = 0; y < image.ny; ++y)
      for (std::int64_t x = 0; x < image.nx; ++x) {
        double value = 10 + rms * random.gaussian();
        for (const Gaussian& g : truth)
          value +=
              static_cast<double>(ts::value_of(g, static_cast<double>(x), static_cast<double>(y)));
        image(y, x) = static_cast<float>(value);
      }
  }
  void add_group(const std::vector<FitComponent>& some, double radius = 0.8) {
    const auto first = static_cast<std::int32_t>(components.size());
    components.insert(components.end(), some.begin(), some.end());
    groups.push_back(
        {first, static_cast<std::int32_t>(some.size()), 0, 0, 0, radius, 0, 0, 0, 0, 0, rms});
  }
  /// The pixels that a group is to be fitted to.
  [[nodiscard]] std::vector<ts::NaivePixel> pixels_of(const FitGroup& group) const {
    std::vector<ts::NaivePixel> pixels;
    const auto radius = group.radius * group.radius * 8 * std::log(2.0);
    for (std::int64_t y = 0; y < image.ny; ++y)
      for (std::int64_t x = 0; x < image.nx; ++x) {
        const auto px = static_cast<double>(x);
        const auto py = static_cast<double>(y);
        bool is_inside = false;
        for (int i = 0; i < group.count; ++i) {
          const Gaussian& start = components[static_cast<std::size_t>(group.first + i)].start;
          for (Gaussian shape : {start, noise.beam}) {
            shape.x = start.x;
            shape.y = start.y;
            const double s = shape.s(px, py);
            const double z = shape.z(py);
            is_inside = is_inside || s * s + z * z <= radius;
          }
        }
        if (!is_inside || !std::isfinite(image(y, x))) continue;
        double value = image(y, x) - 10;
        for (int i = 0; i < group.fixed; ++i)
          value -= static_cast<double>(
              ts::value_of(fixed[static_cast<std::size_t>(group.first_fixed + i)], px, py));
        pixels.push_back({px, py, value});
      }
    return pixels;
  }
};

/// Single sources of all sizes, a pair, and one at the edge.
Problem problem_of(int free) {
  Problem problem;
  const Gaussian beam = kastor::gaussian_of({5, 3.5, 0.6});
  const auto wide = kastor::gaussian_of({11, 6, 2.1});
  const auto at = [](Gaussian shape, double peak, double x, double y) {
    shape.peak = peak;
    shape.x = x;
    shape.y = y;
    return shape;
  };
  problem.truth = {at(beam, 50, 20.3, 21.8), at(wide, 30, 80.1, 30.4), at(beam, 40, 50.2, 70.1),
                   at(beam, 25, 54.6, 72.9), at(beam, 60, 100.4, 0.6)};
  const auto start = [&](std::size_t i) {
    Gaussian g = problem.truth[i];
    g.peak *= 0.8;
    if (free > 1) {
      g.x += 0.6;
      g.y -= 0.4;
    }
    if (free > 3) {
      g.u *= 1.2;
      g.t *= 0.9;
    }
    return free_component(g, free);
  };
  problem.add_group({start(0)});
  problem.add_group({start(2), start(3)});
  problem.add_group({start(1)}, 0.9);
  problem.add_group({start(4)});
  problem.fixed = {problem.truth[3]};
  problem.add_group({start(2)});
  problem.groups.back().fixed = 1;
  problem.draw(3);
  return problem;
}

template <class Exec, class T>
GroupFits fits_of(const Problem& problem, std::int64_t band_count) {
  const ts::HostImage<T> host = [&] {
    ts::HostImage<T> copy(problem.image.ny, problem.image.nx);
    for (std::int64_t y = 0; y < copy.ny; ++y)
      for (std::int64_t x = 0; x < copy.nx; ++x) copy(y, x) = static_cast<T>(problem.image(y, x));
    return copy;
  }();
  const auto image = ts::to_device<Exec>(host);
  const auto bands = ts::split_into_bands<Exec, T>(image, band_count);
  const Exec space;
  kastor::detail::GroupFitter<Exec, T> fitter(space, problem.noise);
  const kastor::detail::FitImage<Exec, T> about{
      bands, {10.0, rms}, {}, nullptr, kastor::detail::Side::above};
  return fitter(about, problem.components, problem.groups, problem.fixed, true);
}

template <class C>
class GroupFitter : public ::testing::Test {};
TYPED_TEST_SUITE(GroupFitter, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(GroupFitter, FindsTheLeastSquares) {
  for (const int free : {6, 3, 1}) {
    const Problem problem = problem_of(free);
    const auto fits = fits_of<typename TypeParam::exec, typename TypeParam::real>(problem, 1);
    ASSERT_EQ(fits.outcomes.size(), problem.groups.size());
    std::size_t matrix = 0;
    for (std::size_t i = 0; i < problem.groups.size(); ++i) {
      const FitGroup& group = problem.groups[i];
      const auto pixels = problem.pixels_of(group);
      const auto& outcome = fits.outcomes[i];
      ASSERT_EQ(outcome.status, FitStatus::converged) << i;
      ASSERT_EQ(outcome.n_pix, static_cast<std::int64_t>(pixels.size())) << i;
      EXPECT_EQ(outcome.flags, i == 3 ? std::uint32_t{kastor::component_at_edge} : 0U);
      const auto first = fits.fitted.begin() + group.first;
      const std::vector<Gaussian> fitted(first, first + group.count);
      const ts::NaiveFit naive(pixels, free);
      std::vector<Gaussian> best = naive(fitted);
      EXPECT_NEAR(outcome.sum_of_squares, static_cast<double>(naive.sum_of_squares(best)),
                  1e-6 * rms * rms);
      const auto rho = [](double dx, double dy) {
        const Gaussian c = kastor::gaussian_of({5, 3.5, 0.6});
        const double square = c.s(dx, dy) * c.s(dx, dy) + c.z(dy) * c.z(dy);
        return square < 2 * std::log(100.0) ? std::exp(-square / 2) : 0;
      };
      const auto covariance = naive.covariance(fitted, rho);
      const auto all = 6 * static_cast<std::size_t>(group.count);
      const auto f = static_cast<std::size_t>(free);
      for (std::size_t a = 0; a < all; ++a)
        for (std::size_t b = 0; b < all; ++b) {
          const double found = fits.covariance[matrix + a * all + b];
          if (a % 6 >= f || b % 6 >= f) {
            EXPECT_EQ(found, 0);
            continue;
          }
          const auto at = [&](std::size_t i_, std::size_t j_) {
            return rms * rms *
                   static_cast<double>(covariance[i_ / 6 * f + i_ % 6][j_ / 6 * f + j_ % 6]);
          };
          EXPECT_NEAR(found, at(a, b), 1e-6 * std::sqrt(at(a, a) * at(b, b))) << a << ' ' << b;
        }
      for (std::size_t c = 0; c < fitted.size(); ++c)
        for (std::size_t a = 0; a < 6; ++a) {
          Gaussian g = fitted[c];
          const double error = std::sqrt(fits.covariance[matrix + (6 * c + a) * (all + 1)]);
          EXPECT_NEAR(ts::NaiveFit::parameter(g, a), ts::NaiveFit::parameter(best[c], a),
                      2e-3 * error + 1e-12);
        }
      matrix += all * all;
    }
    EXPECT_EQ(matrix, fits.covariance.size());
  }
}

TYPED_TEST(GroupFitter, GivesTheSameBitsEverywhere) {
  using T = typename TypeParam::real;
  for (const int free : {6, 3, 1}) {
    const Problem problem = problem_of(free);
    const auto reference = fits_of<ts::FirstExec, T>(problem, 1);
    for (const int bands : {1, 3, 96}) {
      const auto fits = fits_of<typename TypeParam::exec, T>(problem, bands);
      ASSERT_EQ(fits.covariance.size(), reference.covariance.size());
      EXPECT_EQ(std::memcmp(fits.covariance.data(), reference.covariance.data(),
                            sizeof(double) * fits.covariance.size()),
                0);
      EXPECT_EQ(std::memcmp(fits.fitted.data(), reference.fitted.data(),
                            sizeof(Gaussian) * fits.fitted.size()),
                0);
      for (std::size_t i = 0; i < fits.outcomes.size(); ++i) {
        EXPECT_EQ(fits.outcomes[i].iterations, reference.outcomes[i].iterations);
        EXPECT_EQ(fits.outcomes[i].sum_of_squares, reference.outcomes[i].sum_of_squares);
      }
    }
  }
}

TYPED_TEST(GroupFitter, AGroupDoesNotDependOnOthers) {
  const Problem problem = problem_of(6);
  const auto all = fits_of<typename TypeParam::exec, typename TypeParam::real>(problem, 1);
  Problem one = problem;
  one.groups = {problem.groups[1]};
  const auto alone = fits_of<typename TypeParam::exec, typename TypeParam::real>(one, 1);
  EXPECT_EQ(alone.outcomes[0].sum_of_squares, all.outcomes[1].sum_of_squares);
  EXPECT_EQ(std::memcmp(alone.covariance.data(), all.covariance.data() + 36,
                        sizeof(double) * alone.covariance.size()),
            0);
}

TYPED_TEST(GroupFitter, SaysWhatItCannotFit) {
  Problem problem = problem_of(6);
  problem.groups.clear();
  problem.components.clear();
  const Gaussian beam = kastor::gaussian_of({5, 3.5, 0.6});
  const auto at = [&](double x, double y) {
    Gaussian g = beam;
    g.peak = 20;
    g.x = x;
    g.y = y;
    return free_component(g, 6);
  };
  problem.add_group(std::vector{at(-100, 20)});                    // off the image
  problem.add_group(std::vector{at(20, 20)}, 0.1);                 // fewer pixels than parameters
  problem.add_group(std::vector{at(20.3, 21.8), at(20.3, 21.8)});  // twice the same
  for (std::int64_t y = 60; y < 80; ++y)
    for (std::int64_t x = 40; x < 70; ++x) problem.image(y, x) = NAN;
  problem.add_group(std::vector{at(50, 70)});  // nothing but blank pixels
  problem.add_group(std::vector{at(38, 70)});  // beside them
  const auto fits = fits_of<typename TypeParam::exec, typename TypeParam::real>(problem, 1);
  EXPECT_EQ(fits.outcomes[0].status, FitStatus::failed);
  EXPECT_EQ(fits.outcomes[0].n_pix, 0);
  EXPECT_EQ(fits.outcomes[1].status, FitStatus::failed);
  EXPECT_TRUE(std::isnan(fits.covariance[0]));
  EXPECT_EQ(fits.outcomes[3].status, FitStatus::failed);
  EXPECT_EQ(fits.outcomes[3].n_pix, 0);
  EXPECT_EQ(fits.outcomes[3].flags, kastor::component_near_blank);
  EXPECT_NE(fits.outcomes[4].flags & kastor::component_near_blank, 0U);
  // The components that cannot be told apart have an error that says so, or none.
  const double peak_variance = fits.covariance[2 * 36];
  EXPECT_TRUE(std::isnan(peak_variance) || peak_variance > 20 * 20);
}

TYPED_TEST(GroupFitter, ThinsOutALargeRegion) {
  Problem problem;
  problem.image = ts::HostImage<double>(400, 500);
  Gaussian wide = kastor::gaussian_of({160, 120, 0.4});
  wide.peak = 30;
  wide.x = 240;
  wide.y = 190;
  problem.truth = {wide};
  problem.draw(5);
  FitComponent component = free_component(wide, 6);
  component.max_fwhm = 1000;
  component.start.u *= 1.1;
  problem.add_group({component});
  const auto fits = fits_of<typename TypeParam::exec, typename TypeParam::real>(problem, 1);
  EXPECT_EQ(fits.outcomes[0].status, FitStatus::converged);
  EXPECT_GT(fits.outcomes[0].stride, 1);
  EXPECT_LE(fits.outcomes[0].n_pix, 4096);
  EXPECT_GT(fits.outcomes[0].n_pix, 1024);
  EXPECT_NEAR(fits.fitted[0].peak, 30, 0.5);
  EXPECT_NEAR(kastor::ellipse_of(fits.fitted[0]).major, 160, 3);
}

}  // namespace
