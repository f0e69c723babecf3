// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <kastor/island_finder.hpp>
#include <kastor/kron.hpp>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "island_scenes.hpp"
#include "islands_naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

// ---------------------------------------------------------------------------------- reference

/// Every pixel of the image by itself, in long double.
template <class T>
class NaiveKron {
 public:
  NaiveKron(const ts::Scene<T>& scene, const ts::NaiveIslands<T>& found,
            const kastor::KronParams& params)
      : m_scene(scene), m_found(found), m_params(params) {}

  struct Sums {
    long double light = 0, other = 0, absolute = 0;
    std::int64_t n = 0, mirrored = 0, missing = 0, dropped = 0;
  };
  struct Ellipse {
    double x, y, xx, xy, yy;
    [[nodiscard]] double squared(std::int64_t at_y, std::int64_t at_x) const {
      const double dx = static_cast<double>(at_x) - x;
      const double dy = static_cast<double>(at_y) - y;
      const double det = xx * yy - xy * xy;
      return yy / det * dx * dx + xx / det * dy * dy + -2 * xy / det * dx * dy;
    }
  };

  static Ellipse ellipse_of(const kastor::Island& island) {
    Ellipse e{island.x_cen, island.y_cen, island.var_xx, island.var_xy, island.var_yy};
    if (e.xx * e.yy - e.xy * e.xy < 1.0 / 144) {
      e.xx += 1.0 / 12;
      e.yy += 1.0 / 12;
    }
    return e;
  }

  [[nodiscard]] double radius(const kastor::Island& island, std::int64_t label) const {
    const Ellipse e = ellipse_of(island);
    const double k = m_params.search_radius;
    long double r1 = 0, light = 0;
    for (std::int64_t y = 0; y < m_scene.image.ny; ++y) {
      for (std::int64_t x = 0; x < m_scene.image.nx; ++x) {
        const double squared = e.squared(y, x);
        if (squared > k * k || !is_usable(island, label, y, x)) continue;
        light += deviation(island, y, x);
        r1 += std::sqrt(squared) * deviation(island, y, x);
      }
    }
    double found = m_params.min_radius;
    if (r1 > 0 && light > 0)
      found = std::fmax(found, static_cast<double>(m_params.factor * r1 / light));
    return std::fmin(found, std::fmax(m_params.factor * k, m_params.min_radius));
  }

  [[nodiscard]] Sums sums(const kastor::Island& island, std::int64_t label, double k) const {
    const Ellipse e = ellipse_of(island);
    Sums result;
    for (std::int64_t y = 0; y < m_scene.image.ny; ++y) {
      for (std::int64_t x = 0; x < m_scene.image.nx; ++x) {
        if (e.squared(y, x) > k * k) continue;
        ++result.n;
        std::int64_t at_y = y;
        std::int64_t at_x = x;
        if (!is_usable(island, label, y, x)) {
          if (is_usable(island, label, y, x, false)) ++result.dropped;
          at_y = static_cast<std::int64_t>(std::floor(2 * e.y - static_cast<double>(y) + 0.5));
          at_x = static_cast<std::int64_t>(std::floor(2 * e.x - static_cast<double>(x) + 0.5));
          const bool is_inside =
              at_y >= 0 && at_x >= 0 && at_y < m_scene.image.ny && at_x < m_scene.image.nx;
          if (!m_params.mirror_missing || !is_inside || !is_usable(island, label, at_y, at_x)) {
            ++result.missing;
            continue;
          }
          ++result.mirrored;
        }
        const double rms = m_scene.background.rms(at_y, at_x);
        const double d = deviation(island, at_y, at_x);
        const bool is_again = (at_y != y || at_x != x) && e.squared(at_y, at_x) <= k * k;
        result.light += d;
        result.absolute += std::fabs(d);
        result.other += (is_again ? 3 : 1) * static_cast<long double>(rms) * rms;
      }
    }
    return result;
  }

 private:
  [[nodiscard]] double deviation(const kastor::Island& island, std::int64_t y,
                                 std::int64_t x) const {
    const auto value = static_cast<double>(m_scene.image(y, x));
    const double level = m_scene.background.level(y, x);
    return is_below(island) ? level - value : value - level;
  }
  static bool is_below(const kastor::Island& island) {
    return (island.flags & kastor::island_negative) != 0;
  }
  [[nodiscard]] bool is_usable(const kastor::Island& island, std::int64_t label, std::int64_t y,
                               std::int64_t x, bool mask_dropped) const {
    if (m_found.usable(y, x) == 0) return false;
    for (const auto* side : {&m_found.positive, &m_found.negative}) {
      if (side->foreground.ny == 0 || side->foreground(y, x) == 0) continue;
      const bool is_its_side = (side == &m_found.negative) == is_below(island);
      const auto here = side->labels.image(y, x);
      if (here == 0 ? mask_dropped : !is_its_side || here != label) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_usable(const kastor::Island& island, std::int64_t label, std::int64_t y,
                               std::int64_t x) const {
    return is_usable(island, label, y, x, m_params.mask_dropped);
  }

  const ts::Scene<T>& m_scene;
  const ts::NaiveIslands<T>& m_found;
  kastor::KronParams m_params;
};

::testing::AssertionResult same_bits(const std::vector<kastor::KronFlux>& a,
                                     const std::vector<kastor::KronFlux>& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << ", " << b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto same = [](double u, double v) { return std::memcmp(&u, &v, sizeof u) == 0; };
    const kastor::KronFlux &u = a[i], &v = b[i];
    if (u.id != v.id || u.n_pix != v.n_pix || u.n_mirrored != v.n_mirrored ||
        u.n_missing != v.n_missing || u.flags != v.flags || !same(u.flux, v.flux) ||
        !same(u.variance, v.variance) || !same(u.radius, v.radius) || !same(u.a, v.a) ||
        !same(u.b, v.b))
      return ::testing::AssertionFailure() << "row " << i << ": " << u.flux << ", " << v.flux;
  }
  return ::testing::AssertionSuccess();
}

template <class Exec, class T>
struct Measured {
  kastor::IslandResult found;
  std::vector<kastor::KronFlux> fluxes;
};

template <class Exec, class T>
Measured<Exec, T> measure(const ts::Scene<T>& scene, const kastor::IslandParams& find,
                          const kastor::KronParams& params, bool cut_out = false) {
  const ts::DeviceScene<Exec, T> device(scene);
  kastor::IslandFinder<Exec, T> finder(Exec{}, find);
  kastor::KronPhotometer<Exec, T> kron(Exec{}, params);
  Measured<Exec, T> result;
  result.found = finder(device.image, device.background, device.region);
  const auto part = ts::to_device_cut_out<Exec>(scene.image);
  const kastor::ConstImage<T, Exec> image = cut_out ? kastor::as_const_image<Exec>(part.image)
                                                    : kastor::as_const_image<Exec>(device.image);
  result.fluxes = kron(image, device.background, result.found.islands, finder.labels(),
                       finder.negative_labels(), device.region);
  return result;
}

/// A round source on a flat sky.
ts::HostImage<double> gaussian(std::int64_t ny, std::int64_t nx, double yc, double xc, double sigma,
                               double peak) {
  ts::HostImage<double> image(ny, nx);
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      const double dx = static_cast<double>(x) - xc;
      const double dy = static_cast<double>(y) - yc;
      image(y, x) = peak * std::exp(-(dx * dx + dy * dy) / (2 * sigma * sigma));
    }
  }
  return image;
}

// -------------------------------------------------------------------------------------- cases

template <class T>
class Kron : public ::testing::Test {};
TYPED_TEST_SUITE(Kron, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Kron, MatchesTheReference) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  for (const ts::Maps maps : ts::all_maps) {
    auto scene = ts::make_scene<T>(maps, 97, 131, 7);
    scene.region = ts::HostMask(97, 131);
    for (std::int64_t y = 0; y < 97; ++y)
      for (std::int64_t x = 0; x < 131; ++x) scene.region(y, x) = x < 60 || x > 64;
    kastor::IslandParams find;
    find.seed = 2.5;
    find.flood = 1;
    find.min_pixels = 2;
    find.negative = maps != ts::Maps::images;
    for (const bool mirror : {true, false}) {
      kastor::KronParams params;
      params.mirror_missing = mirror;
      if (!mirror) params.min_radius = 2;
      params.mask_dropped = mirror || maps == ts::Maps::meshes;
      const auto got = measure<Exec, T>(scene, find, params);
      const std::string what =
          "maps " + std::to_string(static_cast<int>(maps)) + (mirror ? ", mirrored" : "");
      ASSERT_GT(got.found.islands.size(), 20U) << what;
      ASSERT_EQ(got.fluxes.size(), got.found.islands.size()) << what;
      const ts::NaiveIslands<T> naive(scene.image, scene.background, find, scene.region);
      const NaiveKron<T> reference(scene, naive, params);
      for (std::size_t i = 0; i < got.fluxes.size() && !this->HasFailure(); ++i) {
        const kastor::Island& island = got.found.islands[i];
        const kastor::KronFlux& flux = got.fluxes[i];
        EXPECT_EQ(flux.id, island.id);
        const bool is_below = (island.flags & kastor::island_negative) != 0;
        const auto label = island.id - (is_below ? got.found.positive.islands : 0);
        const double radius = reference.radius(island, label);
        EXPECT_NEAR(flux.radius, radius, 1e-9 * radius) << what << ", island " << island.id;
        const auto want = reference.sums(island, label, flux.radius);
        const auto sign = is_below ? -1 : 1;
        EXPECT_NEAR(flux.flux, static_cast<double>(sign * want.light),
                    1e-12 * static_cast<double>(want.absolute));
        EXPECT_NEAR(flux.variance, static_cast<double>(want.other),
                    1e-12 * static_cast<double>(want.other));
        EXPECT_EQ(flux.n_pix, want.n);
        EXPECT_EQ(flux.n_mirrored, want.mirrored);
        EXPECT_EQ(flux.n_missing, want.missing);
        EXPECT_EQ((flux.flags & kastor::kron_crowded) != 0,
                  10 * (want.mirrored + want.missing - want.dropped) > want.n);
        EXPECT_NEAR(flux.a * flux.a + flux.b * flux.b,
                    NaiveKron<T>::ellipse_of(island).xx + NaiveKron<T>::ellipse_of(island).yy,
                    1e-9 * (island.var_xx + island.var_yy + 1));
      }
      EXPECT_TRUE(same_bits(measure<Exec, T>(scene, find, params, true).fluxes, got.fluxes))
          << what << ", cut-out";
      EXPECT_TRUE(same_bits(measure<ts::FirstExec, T>(scene, find, params).fluxes, got.fluxes))
          << what << ", another backend";
    }
  }
}

TYPED_TEST(Kron, TakesTheLightOfAGaussian) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto sky = gaussian(90, 100, 44.3, 51.6, 3, 1000);
  ts::HostImage<T> image(90, 100);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    image.values[i] = static_cast<T>(sky.values[i]);
  kastor::IslandParams find;
  find.seed = find.flood = 0.05;
  const auto got = measure<Exec, T>(ts::scene_of(image), find, {});
  ASSERT_EQ(got.fluxes.size(), 1U);
  // The mean radius of a round Gaussian is sqrt(pi / 2) = 1.2533 sigma, within 6 sigma.
  EXPECT_NEAR(got.fluxes[0].radius, 3.5, 1e-9);
  const double total = 2 * std::numbers::pi * 9 * 1000;
  EXPECT_NEAR(got.fluxes[0].flux / total, 1 - std::exp(-3.5 * 3.5 / 2), 3e-4);
  EXPECT_NEAR(got.fluxes[0].a, 3, 0.01);
  EXPECT_EQ(got.fluxes[0].flags, 0U);
  kastor::KronParams wide;
  wide.factor = 4;
  EXPECT_NEAR((measure<Exec, T>(ts::scene_of(image), find, wide).fluxes[0].radius), 4 * 1.2533,
              0.02);
}

TYPED_TEST(Kron, MirrorsWhatIsBlankOrOfANeighbour) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto one = gaussian(60, 70, 30, 30, 2, 100);
  const auto two = gaussian(60, 70, 30, 40, 2, 60);
  ts::HostImage<T> image(60, 70);
  for (std::size_t i = 0; i < image.values.size(); ++i)
    image.values[i] = static_cast<T>(one.values[i] + two.values[i]);
  image(24, 30) = std::numeric_limits<T>::quiet_NaN();
  kastor::IslandParams find;
  find.seed = find.flood = 8;
  kastor::KronParams params;
  params.min_radius = 5;  // reaches into the neighbour
  const auto got = measure<Exec, T>(ts::scene_of(image), find, params);
  ASSERT_EQ(got.fluxes.size(), 2U);
  EXPECT_GT(got.fluxes[0].n_mirrored, 10);
  EXPECT_EQ(got.fluxes[0].n_missing, 0);
  EXPECT_NEAR(got.fluxes[0].flux / (2 * std::numbers::pi * 4 * 100), 1, 0.05);
}

TYPED_TEST(Kron, SaysWhatItCannotMeasure) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::HostImage<T> image(40, 40);
  image(0, 5) = 100;  // one pixel at the edge
  const auto got = measure<Exec, T>(ts::scene_of(image), {}, {});
  ASSERT_EQ(got.fluxes.size(), 1U);
  EXPECT_EQ(got.fluxes[0].flags, kastor::kron_at_edge);
  EXPECT_EQ(got.fluxes[0].flux, 100);
  EXPECT_NEAR(got.fluxes[0].a, std::sqrt(1.0 / 12), 1e-15);

  const ts::DeviceScene<Exec, T> device(ts::scene_of(image));
  kastor::IslandFinder<Exec, T> finder{Exec{}};
  auto islands = finder(device.image, device.background).islands;
  kastor::KronPhotometer<Exec, T> kron{Exec{}};
  islands[0].flags |= kastor::island_no_centre;
  const auto none = kron(device.image, device.background, islands, finder.labels());
  EXPECT_EQ(none[0].flags, kastor::kron_no_aperture);
  EXPECT_TRUE(std::isnan(none[0].flux) && std::isnan(none[0].radius) && std::isnan(none[0].a));
  islands[0].id = 2;
  EXPECT_THROW((void)kron(device.image, device.background, islands, finder.labels()),
               kastor::Error);
  EXPECT_TRUE(kron(device.image, device.background, {}, finder.labels()).empty());
  for (auto member : {&kastor::KronParams::factor, &kastor::KronParams::min_radius,
                      &kastor::KronParams::search_radius}) {
    kastor::KronParams params;
    params.*member = 0;
    EXPECT_THROW((kastor::KronPhotometer<Exec, T>(Exec{}, params)), kastor::Error);
  }
}

}  // namespace
