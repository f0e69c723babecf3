// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <kastor/fit.hpp>
#include <kastor/island_finder.hpp>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "naive_peaks.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

kastor::FitParams params_with_beam(double major = 5, double minor = 4, double angle = 0.5) {
  kastor::FitParams params;
  params.beam = kastor::PixelEllipse{major, minor, angle};
  return params;
}

/// The level is 0 and the rms 1 everywhere.
template <class Exec, class T>
kastor::Background<Exec, T> flat_sky() {
  return {kastor::PixelMap<Exec, T>(0.0), kastor::PixelMap<Exec, T>(1.0)};
}

/// Finds islands, their peaks and components. On one side of the background.
template <class Exec, class T>
kastor::FittedComponents fit_on(const ts::HostImage<T>& image, const kastor::FitParams& params,
                                const kastor::IslandParams& island_params = {},
                                std::int64_t bands = 1, bool is_below = false) {
  const Exec space;
  const auto device = ts::to_device<Exec>(image);
  kastor::IslandFinder<Exec, T> find(space, island_params);
  const auto found = find.find(device, flat_sky<Exec, T>());
  const auto islands = is_below ? found.below : found.above;
  const auto& labels = is_below ? find.negative_labels() : find.labels();
  // The noise is white: it has peaks of its own on each source.
  kastor::DeblendParams apart;
  apart.prominence = 2;
  kastor::Deblender<Exec, T> deblend(space, apart);
  const auto peaks = deblend.peaks(device, flat_sky<Exec, T>(), islands, labels);
  kastor::ComponentFitter<Exec, T> fit(space, params);
  const auto cut = ts::split_into_bands<Exec, T>(kastor::ConstImage<T, Exec>(device), bands);
  const auto result = fit(cut, flat_sky<Exec, T>(), islands, labels, peaks);
  // Each island has at least one row, in their order, and all figures of a shape are finite.
  std::set<std::int64_t> ids;
  std::int64_t last = 0;
  for (const kastor::Component& c : result.components) {
    ids.insert(c.island_id);
    EXPECT_GE(c.island_id, last);
    last = c.island_id;
    EXPECT_TRUE(std::isfinite(c.gaussian.peak) && std::isfinite(c.gaussian.x) &&
                std::isfinite(c.gaussian.y) && std::isfinite(c.gaussian.w));
    EXPECT_TRUE(c.gaussian.u > 0 && c.gaussian.t > 0);
    EXPECT_EQ(c.rms, 1);
    EXPECT_EQ(c.background, 0);
  }
  EXPECT_EQ(ids.size(), islands.size());
  EXPECT_EQ(result.covariance_begin.back(), result.covariance.size());
  return result;
}

template <class T = double>
kastor::FittedComponents fit_first(const ts::HostImage<T>& image, const kastor::FitParams& params,
                                   const kastor::IslandParams& island_params = {}) {
  return fit_on<ts::FirstExec, T>(image, params, island_params);
}

ts::HostImage<double> sky_with(const std::vector<kastor::Gaussian>& sources, std::int64_t ny,
                               std::int64_t nx, double noise, std::uint64_t seed = 1) {
  ts::Random random(seed);
  ts::HostImage<double> image(ny, nx);
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      const auto px = static_cast<double>(x);
      const auto py = static_cast<double>(y);
      double& pixel = image(y, x) = noise * random.gaussian();
      for (const kastor::Gaussian& g : sources)
        pixel += g.peak * std::exp(-(g.s(px, py) * g.s(px, py) + g.z(py) * g.z(py)) / 2);
    }
  }
  return image;
}

ts::HostImage<float> as_float(const ts::HostImage<double>& image) {
  ts::HostImage<float> result(image.ny, image.nx);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    result.values[i] = static_cast<float>(image.values[i]);
  return result;
}

/// All figures within `sigmas` of their errors.
void expect_found(const kastor::Component& c, const kastor::Gaussian& truth, double sigmas) {
  const double got[] = {c.gaussian.peak, c.gaussian.x, c.gaussian.y,
                        c.gaussian.u,    c.gaussian.w, c.gaussian.t};
  const double want[] = {truth.peak, truth.x, truth.y, truth.u, truth.w, truth.t};
  for (std::size_t i = 0; i < 6; ++i) {
    const double error = std::sqrt(c.covariance[7 * i]);
    EXPECT_GT(error, 0);
    EXPECT_NEAR(got[i], want[i], sigmas * error + 1e-6) << "parameter " << i << ' ' << truth.x;
  }
}

const kastor::Component& nearest(const kastor::FittedComponents& found, double x, double y) {
  const kastor::Component* best = found.components.data();
  const auto distance = [&](const kastor::Component& c) {
    return std::hypot(c.gaussian.x - x, c.gaussian.y - y);
  };
  for (const kastor::Component& c : found.components)
    if (distance(c) < distance(*best)) best = &c;
  return *best;
}

::testing::AssertionResult same_fits(const kastor::FittedComponents& a,
                                     const kastor::FittedComponents& b) {
  ts::FieldComparison all;
  all.field("components", a.components.size(), b.components.size());
  all.field("covariances", a.covariance.size(), b.covariance.size());
  if (!all.result()) return all.result();
  for (std::size_t i = 0; i < a.covariance.size(); ++i) {
    // The signs and payloads of NaN have no meaning.
    if (!(std::isnan(a.covariance[i]) && std::isnan(b.covariance[i])))
      all.field("covariance", a.covariance[i], b.covariance[i]);
  }
  for (std::size_t i = 0; i < a.components.size(); ++i) {
    const kastor::Component& c = a.components[i];
    const kastor::Component& d = b.components[i];
    all.field("island", c.island_id, d.island_id)
        .field("peak", c.gaussian.peak, d.gaussian.peak)
        .field("x", c.gaussian.x, d.gaussian.x)
        .field("y", c.gaussian.y, d.gaussian.y)
        .field("u", c.gaussian.u, d.gaussian.u)
        .field("w", c.gaussian.w, d.gaussian.w)
        .field("t", c.gaussian.t, d.gaussian.t)
        .field("n_pix", c.n_pix, d.n_pix)
        .field("group", c.group_id, d.group_id)
        .field("iterations", c.iterations, d.iterations)
        .field("flags", c.flags, d.flags);
    if (!std::isnan(c.chi_squared)) all.field("chi_squared", c.chi_squared, d.chi_squared);
  }
  return all.result();
}

// ------------------------------------------------------------------------------------- fits

TEST(ComponentFitter, IsolatedSourcesAreRecovered) {
  std::vector<kastor::Gaussian> truth;
  ts::Random random(9);
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      const double size = i == 2 ? 2 : 1;
      truth.push_back(kastor::gaussian_of({5 * size, 4 * size, 0.5 + j}, 40 + 20 * j,
                                          20 + 40 * i + random.uniform(),
                                          20 + 40 * j + random.uniform()));
    }
  }
  const auto found = fit_first(sky_with(truth, 120, 120, 1), params_with_beam());
  ASSERT_EQ(found.components.size(), truth.size());
  for (const kastor::Gaussian& g : truth) {
    const kastor::Component& c = nearest(found, g.x, g.y);
    expect_found(c, g, 4);
    EXPECT_EQ(c.group_size, 1);
    EXPECT_EQ(c.flags, 0U);
    EXPECT_NEAR(c.residual_rms, 1, 0.5);
    EXPECT_NEAR(c.chi_squared, static_cast<double>(c.n_pix), 5 * std::sqrt(2.0 * 100));
  }
}

TEST(ComponentFitter, WithoutNoiseSourcesAreExact) {
  for (const bool has_beam : {false, true}) {
    auto params = params_with_beam();
    if (!has_beam) params.beam.reset();
    const auto g = kastor::gaussian_of({9, 6, 2.1}, 30, 30.3, 25.6);
    const auto found = fit_first(sky_with({g}, 60, 60, 0), params);
    ASSERT_EQ(found.components.size(), 1U);
    const kastor::Component& c = found.components[0];
    EXPECT_NEAR(c.gaussian.peak, g.peak, 1e-3);
    EXPECT_NEAR(c.gaussian.x, g.x, 1e-4);
    EXPECT_NEAR(c.gaussian.u, g.u, 1e-5);
    EXPECT_NEAR(c.gaussian.w, g.w, 1e-5);
    EXPECT_NEAR(c.gaussian.t, g.t, 1e-5);
    EXPECT_LT(c.iterations, 10);
  }
}

TEST(ComponentFitter, PairsAreRecovered) {
  std::vector<kastor::Gaussian> truth;
  for (int k = 0; k < 4; ++k) {
    const double y = 20.3 + 40 * k;
    truth.push_back(kastor::gaussian_of({5, 4, 0.5}, 60, 20.1, y));
    truth.push_back(kastor::gaussian_of({5, 4, 0.5}, 30, 27.4, y + 1));
  }
  const auto found = fit_first(sky_with(truth, 165, 50, 1), params_with_beam());
  ASSERT_EQ(found.components.size(), truth.size());
  for (const kastor::Gaussian& g : truth) {
    const kastor::Component& c = nearest(found, g.x, g.y);
    expect_found(c, g, 4);
    EXPECT_EQ(c.group_size, 2);
    const std::size_t begin = found.covariance_begin[static_cast<std::size_t>(c.group_id - 1)];
    const std::size_t member = g.peak == 60 ? 0 : 6;
    EXPECT_EQ(found.covariance[begin + 13 * member], c.covariance[0]);
    EXPECT_NE(found.covariance[begin + 6], 0);
  }
}

TEST(ComponentFitter, ASourceWithoutAPeakOfItsOwnIsFoundInTheResiduals) {
  const auto bright = kastor::gaussian_of({5, 4, 0.5}, 200, 30, 30);
  const auto faint = kastor::gaussian_of({5, 4, 0.5}, 60, 34, 32);
  const auto found = fit_first(sky_with({bright, faint}, 60, 60, 1), params_with_beam());
  ASSERT_EQ(found.components.size(), 2U);
  EXPECT_NE(found.components[1].flags & kastor::component_from_residual, 0U);
  expect_found(found.components[0], bright, 4.5);
  expect_found(found.components[1], faint, 4.5);
}

TEST(ComponentFitter, AChainIsFittedInGroups) {
  std::vector<kastor::Gaussian> truth;
  ts::Random random(4);
  for (int i = 0; i < 20; ++i)
    truth.push_back(kastor::gaussian_of({5, 4, 0.5}, 80 + 100 * random.uniform(), 15 + 5.8 * i,
                                        20 + 3 * random.uniform()));
  const auto found = fit_first(sky_with(truth, 40, 140, 1), params_with_beam());
  // White noise may leave a peak of residuals on so long a chain.
  EXPECT_NEAR(static_cast<double>(found.components.size()), 20, 1);
  std::set<std::int64_t> groups;
  for (const kastor::Gaussian& g : truth) {
    const kastor::Component& c = nearest(found, g.x, g.y);
    EXPECT_NEAR(c.gaussian.x, g.x, 0.25);
    EXPECT_NEAR(c.gaussian.y, g.y, 0.25);
    EXPECT_NEAR(c.gaussian.peak, g.peak, 8);
    EXPECT_LE(c.group_size, 8);
    EXPECT_NE(c.flags & kastor::component_group_split, 0U);
    groups.insert(c.group_id);
  }
  EXPECT_GE(groups.size(), 3U);
}

TEST(ComponentFitter, TheShapeOfTheBeamIsHeldIfOnlyPositionsAreFree) {
  auto params = params_with_beam();
  params.free = kastor::FreeParameters::position;
  const auto g = kastor::gaussian_of(*params.beam, 50, 20.4, 19.7);
  const auto found = fit_first(sky_with({g}, 40, 40, 1), params);
  ASSERT_EQ(found.components.size(), 1U);
  const kastor::Component& c = found.components[0];
  EXPECT_EQ(c.gaussian.u, g.u);
  EXPECT_NEAR(c.gaussian.x, g.x, 4 * std::sqrt(c.covariance[7]));
  EXPECT_EQ(c.covariance[21], 0);
  EXPECT_NE(c.flags & kastor::component_beam_shape, 0U);
}

TEST(ComponentFitter, NegativeIslandsHaveNegativePeaks) {
  const auto g = kastor::gaussian_of({7, 4, 1.5}, 50, 20.4, 19.7);
  auto image = sky_with({g}, 40, 40, 1);
  const auto above = fit_first(image, params_with_beam());
  for (double& pixel : image.values) pixel = -pixel;
  kastor::IslandParams islands;
  islands.negative = true;
  const auto below = fit_on<ts::FirstExec, double>(image, params_with_beam(), islands, 1, true);
  ASSERT_EQ(below.components.size(), 1U);
  EXPECT_EQ(below.components[0].gaussian.peak, -above.components[0].gaussian.peak);
  EXPECT_EQ(below.components[0].gaussian.x, above.components[0].gaussian.x);
  EXPECT_EQ(below.components[0].flags, std::uint32_t{kastor::component_negative});
  EXPECT_EQ(below.components[0].covariance[0], above.components[0].covariance[0]);
  EXPECT_EQ(below.components[0].covariance[3], -above.components[0].covariance[3]);
}

// ----------------------------------------------------------------------- what is hard to fit

TEST(ComponentFitter, IslandsThatAreNoGaussiansHaveRows) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ts::HostImage<double> image(100, 100);
  const auto block = [&](std::int64_t y, std::int64_t x, std::int64_t height, std::int64_t width,
                         double value) {
    for (std::int64_t v = y; v < y + height; ++v)
      for (std::int64_t u = x; u < x + width; ++u) image(v, u) = value;
  };
  block(0, 0, 1, 1, 10);      // one pixel in the corner
  block(5, 20, 1, 2, 10);     // two
  block(5, 40, 1, 10, 10);    // a line
  block(20, 20, 12, 12, 10);  // all of one value
  block(20, 50, 9, 9, 1e30);  // huge
  block(24, 54, 1, 1, nan);   // with a hole
  block(45, 45, 9, 9, 20);    // a ring
  block(47, 47, 5, 5, nan);
  block(60, 0, 30, 30, 6);  // a chequered one at the edge
  for (std::int64_t y = 60; y < 90; ++y)
    for (std::int64_t x = 0; x < 30; ++x) image(y, x) += (x + y) % 2 == 0 ? 8 : 0;
  block(70, 60, 1, 1, 9);  // one pixel among blank ones
  for (std::int64_t y = 68; y < 73; ++y)
    for (std::int64_t x = 58; x < 63; ++x)
      if (image(y, x) == 0) image(y, x) = nan;
  for (const bool has_beam : {false, true}) {
    for (const auto free : {kastor::FreeParameters::shape, kastor::FreeParameters::position}) {
      auto params = params_with_beam();
      params.free = has_beam ? free : kastor::FreeParameters::shape;
      if (!has_beam) params.beam.reset();
      const auto found = fit_first(image, params);
      const kastor::Component& corner = found.components.front();
      EXPECT_NE(corner.flags & kastor::component_at_edge, 0U);
      EXPECT_EQ(corner.island_id, 1);
      const kastor::Component& lonely = found.components.back();
      if (!has_beam) {
        EXPECT_NE(lonely.flags & kastor::component_from_moments, 0U);
      }
      EXPECT_NE(lonely.flags & kastor::component_near_blank, 0U);
    }
  }
}

TEST(ComponentFitter, AnImageThatIsAllOneIslandEnds) {
  const auto image = sky_with({}, 80, 90, 1);
  kastor::IslandParams islands;
  islands.seed = islands.flood = 0;
  auto params = params_with_beam();
  params.max_components = 3;
  const auto all = fit_first(image, params, islands);
  EXPECT_GE(all.components.size(), 1U);
  std::uint32_t flags = 0;
  for (const kastor::Component& c : all.components) flags |= c.flags;
  EXPECT_NE(flags & kastor::component_capped, 0U);
}

TEST(ComponentFitter, NoIslandsAreNoComponents) {
  const auto found = fit_first(ts::HostImage<double>(20, 30), params_with_beam());
  EXPECT_TRUE(found.components.empty());
  EXPECT_EQ(found.covariance_begin.size(), 1U);
}

// ----------------------------------------------------------------------------- the same bits

template <class C>
class ComponentFitterBits : public ::testing::Test {};
TYPED_TEST_SUITE(ComponentFitterBits, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(ComponentFitterBits, AreTheSameEverywhere) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  std::vector<kastor::Gaussian> truth;
  ts::Random random(12);
  for (int i = 0; i < 40; ++i)
    truth.push_back(kastor::gaussian_of({5 + 4 * random.uniform(), 4.5, 3 * random.uniform()},
                                        8 + 80 * random.uniform(), 120 * random.uniform(),
                                        110 * random.uniform()));
  auto sky = sky_with(truth, 110, 120, 1);
  for (int i = 0; i < 60; ++i)
    sky(random.below(110), random.below(120)) = std::numeric_limits<double>::quiet_NaN();
  ts::HostImage<T> image(sky.ny, sky.nx);
  const auto floats = as_float(sky);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    image.values[i] = static_cast<T>(floats.values[i]);
  auto params = params_with_beam();
  params.noise_area = 20;
  // Each float is a double, so that all backends and both types have one answer.
  ts::HostImage<double> same(image.ny, image.nx);
  for (std::size_t i = 0; i < same.values.size(); ++i)
    same.values[i] = static_cast<double>(image.values[i]);
  const auto want = fit_on<ts::FirstExec, double>(same, params);
  EXPECT_GT(want.components.size(), 20U);
  EXPECT_TRUE(same_fits(fit_on<Exec, T>(image, params), want));
  EXPECT_TRUE(same_fits(fit_on<Exec, T>(image, params, {}, 7), want));
}

// ------------------------------------------------------------------------------------- errors

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const kastor::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ComponentFitter, SaysWhatIsWrongWithItsParameters) {
  using Fitter = kastor::ComponentFitter<ts::FirstExec, float>;
  const auto message = [](const std::function<void(kastor::FitParams&)>& spoil) {
    auto params = params_with_beam();
    spoil(params);
    return error_of([&]() { const Fitter fit(ts::FirstExec{}, params); });
  };
  using ::testing::HasSubstr;
  using Free = kastor::FreeParameters;
  EXPECT_THAT(message([](auto& p) { p.free = Free::flux; }), HasSubstr("free is flux"));
  EXPECT_THAT(message([](auto& p) {
                p.free = Free::position;
                p.beam.reset();
              }),
              HasSubstr("there is no beam"));
  EXPECT_THAT(message([](auto& p) { p.beam->major = 0; }), HasSubstr("major axis of the beam"));
  EXPECT_THAT(message([](auto& p) { p.beam->minor = 6; }), HasSubstr("minor axis of the beam"));
  EXPECT_THAT(message([](auto& p) { p.noise_area = 0.5; }), HasSubstr("noise_area"));
  EXPECT_THAT(message([](auto& p) { p.flood_snr = -1; }), HasSubstr("flood_snr"));
  EXPECT_THAT(message([](auto& p) { p.min_significance = 0; }), HasSubstr("min_significance"));
  EXPECT_THAT(message([](auto& p) { p.residual_snr = 0; }), HasSubstr("residual_snr"));
  EXPECT_THAT(message([](auto& p) { p.residual_fraction = -1; }), HasSubstr("residual_fraction"));
  EXPECT_THAT(message([](auto& p) { p.near_residual_fraction = -1; }),
              HasSubstr("near_residual_fraction"));
  EXPECT_THAT(message([](auto& p) { p.max_components = 0; }), HasSubstr("max_components"));
}

TEST(ComponentFitter, SaysWhatIsWrongWithItsInput) {
  using Exec = ts::FirstExec;
  using ::testing::HasSubstr;
  const auto image = sky_with({kastor::gaussian_of({5, 4, 0}, 50, 10, 10)}, 20, 30, 0);
  const auto device = ts::to_device<Exec>(image);
  const auto sky = flat_sky<Exec, double>();
  kastor::IslandFinder<Exec, double> find(Exec{});
  const auto found = find(device, sky);
  const auto& labels = find.labels();
  const auto peaks =
      ts::peaks_naive<double>(image, ts::to_host_labels<std::int32_t>(labels), found.islands);
  kastor::ComponentFitter<Exec, double> fit(Exec{}, params_with_beam());
  const kastor::Image<double, Exec> other("test::other", 20, 31);
  const auto message = [&](const auto& of_image, const auto& background, const auto& islands,
                           const auto& of_peaks, const kastor::BitMask<Exec>& region) {
    return error_of(
        [&]() { static_cast<void>(fit(of_image, background, islands, labels, of_peaks, region)); });
  };
  EXPECT_EQ(message(device, sky, found.islands, peaks, {}), "no error");
  EXPECT_THAT(message(other, sky, found.islands, peaks, {}),
              HasSubstr("the labels are of 20 x 30"));
  kastor::Background<Exec, double> wrong = sky;
  wrong.rms = kastor::PixelMap<Exec, double>(other);
  EXPECT_THAT(message(device, wrong, found.islands, peaks, {}),
              HasSubstr("the rms map is 20 x 31"));
  EXPECT_THAT(message(device, sky, found.islands, peaks, kastor::make_bit_mask(Exec{}, 3, 3)),
              HasSubstr("the region is 3 x 3"));
  EXPECT_THAT(message(device, sky, kastor::Islands{}, peaks, {}),
              HasSubstr("0 islands and 1 labels"));
  auto lost = peaks;
  lost[0].island_id = 7;
  EXPECT_THAT(message(device, sky, found.islands, lost, {}), HasSubstr("is of island 7"));
}

}  // namespace
