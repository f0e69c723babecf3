// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/io/sky_frame.hpp>
#include <kastor/io/wcs.hpp>
#include <numbers>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::PixelPosition;
using kastor::io::SkyPosition;
using kastor::io::SkySystem;
using kastor::io::Wcs;

constexpr double k_radian = std::numbers::pi / 180.0;

struct Projection {
  double ra, dec;  // of the reference pixel [degree]
  double px, py;   // reference pixel, from 0
  double dx, dy;   // [degree a pixel]
};

std::vector<std::string> cards_of(const Projection& p, const std::string& name) {
  return {card("CTYPE1", "'RA---" + name + "'"),
          card("CTYPE2", "'DEC--" + name + "'"),
          card("CRVAL1", p.ra),
          card("CRVAL2", p.dec),
          card("CRPIX1", p.px + 1),
          card("CRPIX2", p.py + 1),
          card("CDELT1", p.dx),
          card("CDELT2", p.dy)};
}

/// Calabretta & Greisen 2002, the zenithal projections about the reference pixel: `tan` the
/// gnomonic one, else the orthographic one.
SkyPosition deprojected(const Projection& p, const PixelPosition& pixel, bool tan) {
  const double x = (pixel.x - p.px) * p.dx * k_radian;
  const double y = (pixel.y - p.py) * p.dy * k_radian;
  const double depth = tan ? 1.0 : std::sqrt(1.0 - x * x - y * y);
  const double dec0 = p.dec * k_radian;
  const double north = depth * std::sin(dec0) + y * std::cos(dec0);
  const double out = depth * std::cos(dec0) - y * std::sin(dec0);
  const double ra = p.ra + std::atan2(x, out) / k_radian;
  return {std::fmod(ra + 360.0, 360.0), std::atan2(north, std::hypot(x, out)) / k_radian};
}

void expect_projection(const Wcs& wcs, const Projection& p, bool tan,
                       const std::vector<PixelPosition>& pixels) {
  const auto sky = wcs.to_sky(pixels);
  const auto back = wcs.to_pixels(sky);
  ASSERT_EQ(sky.size(), pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const auto want = deprojected(p, pixels[i], tan);
    EXPECT_NEAR(sky[i].longitude, want.longitude, 1e-9) << i;
    EXPECT_NEAR(sky[i].latitude, want.latitude, 1e-9) << i;
    EXPECT_NEAR(back[i].x, pixels[i].x, 1e-6) << i;
    EXPECT_NEAR(back[i].y, pixels[i].y, 1e-6) << i;
  }
}

TEST(Wcs, ProjectsAsTheFormulasSay) {
  const Projection p{83.6, -5.4, 100.25, 50.5, -0.01, 0.02};
  const std::vector<PixelPosition> pixels{{100.25, 50.5}, {0, 0}, {200, 0}, {0, 101}, {-40.5, 300}};
  const Wcs tan(cards_of(p, "TAN"), {1, 2});
  EXPECT_EQ(tan.system(), SkySystem::equatorial);
  expect_projection(tan, p, true, pixels);
  expect_projection(Wcs(cards_of(p, "SIN"), {1, 2}), p, false, pixels);
}

TEST(Wcs, ConvertsManyAsItConvertsOne) {
  const Projection p{83.6, -5.4, 100.25, 50.5, -0.001, 0.001};
  std::vector<PixelPosition> pixels;
  for (int i = 0; i < 10'000; ++i) pixels.push_back({i % 300 + 0.5, i / 7.0});
  expect_projection(Wcs(cards_of(p, "TAN"), {1, 2}), p, true, pixels);
  EXPECT_TRUE(Wcs(cards_of(p, "TAN"), {1, 2}).to_sky({}).empty());
}

TEST(Wcs, LongitudesAreFrom0To360) {
  const Projection p{0.001, 10, 10, 10, -0.01, 0.01};
  const Wcs wcs(cards_of(p, "TAN"), {1, 2});
  expect_projection(wcs, p, true, {{0, 0}, {20, 0}});
  EXPECT_GT(wcs.to_sky(std::vector<PixelPosition>{{20, 10}})[0].longitude, 359.0);
}

TEST(Wcs, NamesTheFrame) {
  auto cards = cards_of({10, 20, 0, 0, -1, 1}, "TAN");
  EXPECT_EQ(Wcs(cards, {1, 2}).frame(), "ICRS");
  cards.push_back(card("EQUINOX", "1950.0"));
  EXPECT_EQ(Wcs(cards, {1, 2}).frame(), "FK4");
  cards.back() = card("EQUINOX", "2000.0");
  EXPECT_EQ(Wcs(cards, {1, 2}).frame(), "FK5");
  cards.push_back(card("RADESYS", "'ICRS'"));
  EXPECT_EQ(Wcs(cards, {1, 2}).frame(), "ICRS");
}

TEST(Wcs, KnowsTheFramesOfTablesAndRegions) {
  using kastor::io::sky_frame_of;
  using kastor::io::SkyFrame;
  const auto frame_of = [](const std::string& longitude, const std::string& latitude,
                           const std::vector<std::string>& more) {
    auto cards = cards_of({10, 20, 0, 0, -1, 1}, "TAN");
    cards[0] = card("CTYPE1", "'" + longitude + "-TAN'");
    cards[1] = card("CTYPE2", "'" + latitude + "-TAN'");
    cards.insert(cards.end(), more.begin(), more.end());
    return sky_frame_of(Wcs(cards, {1, 2}));
  };
  const auto equatorial = [&](const std::vector<std::string>& more) {
    return frame_of("RA--", "DEC-", more);
  };
  EXPECT_EQ(equatorial({}), SkyFrame::icrs);
  EXPECT_EQ(equatorial({card("EQUINOX", "1950.0")}), SkyFrame::fk4);
  EXPECT_EQ(equatorial({card("EQUINOX", "2000.0")}), SkyFrame::fk5);
  EXPECT_EQ(equatorial({card("RADESYS", "'FK5'")}), SkyFrame::fk5);
  EXPECT_EQ(equatorial({card("RADESYS", "'FK4'")}), SkyFrame::fk4);
  EXPECT_EQ(equatorial({card("EQUINOX", "2010.0")}), std::nullopt);
  EXPECT_EQ(equatorial({card("EQUINOX", "1975.0")}), std::nullopt);
  EXPECT_EQ(equatorial({card("RADESYS", "'FK4-NO-E'")}), std::nullopt);
  EXPECT_EQ(equatorial({card("RADESYS", "'GAPPT'")}), std::nullopt);
  EXPECT_EQ(frame_of("GLON", "GLAT", {}), SkyFrame::galactic);
  EXPECT_EQ(frame_of("ELON", "ELAT", {}), SkyFrame::ecliptic);
  EXPECT_EQ(frame_of("ELON", "ELAT", {card("EQUINOX", "1950.0")}), std::nullopt);
  EXPECT_EQ(frame_of("SLON", "SLAT", {}), std::nullopt);
}

TEST(Wcs, TakesTheAxesOfTheImage) {
  // RA, POL, DEC: the image is RA and DEC.
  const Projection p{10, 20, 5, 6, -0.1, 0.1};
  auto cards = cards_of(p, "TAN");
  for (auto& each : cards) {
    if (each[5] == '2') each[5] = '3';
  }
  cards.push_back(card("CTYPE2", "'STOKES'"));
  expect_projection(Wcs(cards, {1, 3}), p, true, {{0, 0}, {9, 4}});
}

TEST(Wcs, WhatTheProjectionCannotShowIsNaN) {
  const Wcs wcs(cards_of({10, 20, 0, 0, -1, 1}, "SIN"), {1, 2});
  const auto sky = wcs.to_sky(std::vector<PixelPosition>{{0, 0}, {100, 0}});
  EXPECT_NEAR(sky[0].longitude, 10, 1e-9);
  EXPECT_TRUE(std::isnan(sky[1].longitude) && std::isnan(sky[1].latitude));
  const auto pixels = wcs.to_pixels(std::vector<SkyPosition>{{10, 20}, {190, -20}});
  EXPECT_NEAR(pixels[0].x, 0, 1e-9);
  EXPECT_TRUE(std::isnan(pixels[1].x) && std::isnan(pixels[1].y));
}

TEST(Wcs, RefusesWhatIsNotOnTheSky) {
  const auto error = [](const std::vector<std::string>& cards) {
    return error_of([&] { const Wcs wcs(cards, {1, 2}); });
  };
  EXPECT_SAYS(error({}), "no world coordinates");
  EXPECT_SAYS(error({card("CTYPE1", "'LINEAR'"), card("CTYPE2", "'LINEAR'")}), "LINEAR");
  auto cards = cards_of({10, 20, 0, 0, -1, 1}, "TAN");
  auto singular = cards;
  singular[6] = card("CDELT1", "0.0");
  EXPECT_SAYS(error(singular), "wcslib");
  auto unknown = cards_of({10, 20, 0, 0, -1, 1}, "XYZ");
  EXPECT_SAYS(error(unknown), "expected celestial coordinates");
  cards.erase(cards.begin() + 1);
  EXPECT_SAYS(error(cards), "expected celestial coordinates");
}

// ------------------------------------------------------------------------- real headers

/// Skips the test without the file.
#define KASTOR_TEST_IMAGE(name)                                                                \
  const char* folder = std::getenv("KASTOR_TEST_DATA");                                        \
  const std::string path = std::string(folder == nullptr ? "." : folder) + "/" + (name);       \
  if (folder == nullptr || !std::filesystem::exists(path)) GTEST_SKIP() << "no file " << path; \
  const auto image = kastor::io::read_image(path)

TEST(WcsOfRealImages, AreGnomonicOrOrthographic) {
  const struct {
    const char* name;
    Projection projection;
    bool tan;
    std::vector<PixelPosition> pixels;
  } images[] = {{"m13.fits",
                 {250.4226, 36.4602, 149.5, 149.5, -0.00027770002, 0.00027770002},
                 true,
                 {{149.5, 149.5}, {0, 0}, {299, 10}}},
                {"sumss_J2248M36.fits",
                 {342, -36, 704, 414, -3.05555555556e-3, 5.19842160672e-3},
                 false,
                 {{704, 414}, {0, 0}, {1407, 827}}}};
  for (const auto& each : images) {
    KASTOR_TEST_IMAGE(each.name);
    const Wcs wcs(image.header_cards, image.fits_axes);
    expect_projection(wcs, each.projection, each.tan, each.pixels);
    if (each.tan) {
      EXPECT_EQ(wcs.frame(), "FK5");
    }
  }
}

TEST(WcsOfRealImages, BolocamIsGalactic) {
  KASTOR_TEST_IMAGE("gc_bolocam_gps.fits");
  const Wcs wcs(image.header_cards, image.fits_axes);
  EXPECT_EQ(wcs.system(), SkySystem::galactic);
  EXPECT_EQ(wcs.frame(), "");
  const auto sky = wcs.to_sky(std::vector<PixelPosition>{{315.884479214, 319.741928329}, {0, 0}});
  EXPECT_NEAR(sky[0].longitude, 359.999829162, 1e-9);
  EXPECT_NEAR(sky[0].latitude, 0.000301939107299, 1e-9);
  // This close to the equator the plate carree is linear.
  EXPECT_NEAR(sky[1].longitude, 359.999829162 - 360.0 + 315.884479214 * 0.00199999986216, 1e-5);
  EXPECT_NEAR(sky[1].latitude, 0.000301939107299 - 319.741928329 * 0.00199999986216, 1e-5);
}

TEST(WcsOfRealImages, OldAndDistortedHeadersAreRead) {
  const struct {
    const char* name;
    double x, y, longitude, latitude;  // of the reference pixel
  } images[] = {
      {"kapteyn_m101_nan.fits", 338, 339, 210.8025441346, 54.34739523384},  // CROTA, 'DEGREE'
      {"hsc_multiext.fits", 865.842697735752, 2003.38916604442, 151.319266199627, 1.6150446085464},
      {"ctio_tpv.fits", 4369.373388, 4281.913443, 52.88269780127, -28.44369999644},  // TPV
  };
  for (const auto& each : images) {
    KASTOR_TEST_IMAGE(each.name);
    const Wcs wcs(image.header_cards, image.fits_axes);
    const std::vector<PixelPosition> pixels{{each.x, each.y}, {3, 5}};
    const auto sky = wcs.to_sky(pixels);
    // Distortions have constant terms of up to arc seconds.
    EXPECT_NEAR(sky[0].longitude, each.longitude, 1e-2) << each.name;
    EXPECT_NEAR(sky[0].latitude, each.latitude, 1e-2) << each.name;
    const auto back = wcs.to_pixels(sky);
    EXPECT_NEAR(back[1].x, 3, 1e-3) << each.name;
    EXPECT_NEAR(back[1].y, 5, 1e-3) << each.name;
  }
}

}  // namespace
