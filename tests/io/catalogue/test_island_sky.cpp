// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <io/sky/iau_name.hpp>
#include <io/sky/sky_geometry.hpp>
#include <kastor/io/island_table.hpp>

#include "fits_support.hpp"
#include "island_support.hpp"
#include "island_table_support.hpp"

/// What the table of islands says of places on the sky: ellipses, names, coordinates.
namespace {

using namespace testing_support;
using kastor::Island;
using kastor::io::island_table;
using kastor::io::IslandTableParams;
using kastor::io::PixelPosition;
using kastor::io::SkyPosition;
using kastor::io::Wcs;
using kastor::io::detail::equatorial_name;
using kastor::io::detail::galactic_name;
using kastor::io::detail::galactic_to_icrs;

// --------------------------------------------------------------------------------- ellipses

/// A Gaussian on the sky as the pixels of an image see it: by its offsets on the plane that touches
/// the sky at `at`, without any derivative.
Grid gaussian_on_sky(const Wcs& wcs, std::int64_t size, const SkyPosition& at, double major,
                     double minor, double angle) {
  Grid grid(size, size);
  std::vector<PixelPosition> pixels;
  for (std::int64_t y = 0; y < size; ++y) {
    for (std::int64_t x = 0; x < size; ++x) {
      pixels.push_back({static_cast<double>(x), static_cast<double>(y)});
    }
  }
  const auto sky = wcs.to_sky(pixels);
  const double dec0 = at.latitude * k_radian;
  for (std::size_t i = 0; i < sky.size(); ++i) {
    const double ra = (sky[i].longitude - at.longitude) * k_radian;
    const double dec = sky[i].latitude * k_radian;
    const double depth =
        std::sin(dec0) * std::sin(dec) + std::cos(dec0) * std::cos(dec) * std::cos(ra);
    const double east = std::cos(dec) * std::sin(ra) / depth / k_radian / k_arcsec;
    const double north =
        (std::cos(dec0) * std::sin(dec) - std::sin(dec0) * std::cos(dec) * std::cos(ra)) / depth /
        k_radian / k_arcsec;
    const double along = east * std::sin(angle * k_radian) + north * std::cos(angle * k_radian);
    const double across = east * std::cos(angle * k_radian) - north * std::sin(angle * k_radian);
    const double u = along / (major / k_fwhm);
    const double v = across / (minor / k_fwhm);
    grid.values[i] = std::exp(-0.5 * (u * u + v * v));
  }
  return grid;
}

std::vector<std::pair<const char*, Header>> ellipse_cases() {
  const double c = 2 * std::cos(0.7), s = 2 * std::sin(0.7);
  const char *ra = "RA---TAN", *dec = "DEC--TAN";
  return {{"plain", {ra, dec, 150, 2, 60, 60, -2, 0, 0, 2}},
          {"flipped", {ra, dec, 150, 2, 60, 60, 2, 0, 0, 2}},
          {"upside down", {ra, dec, 150, 2, 60, 60, -2, 0, 0, -2}},
          {"rotated", {ra, dec, 150, 2, 60, 60, -c, s, s, c}},
          {"oblong", {ra, dec, 150, 2, 60, 60, -1.5, 0, 0, 2.5}},
          // Rotated, mirrored, pixels neither square nor rectangular.
          {"skewed", {ra, dec, 150, 2, 60, 60, 1.7, 0.6, -0.4, 2.4}},
          {"declination along x", {dec, ra, 2, 150, 60, 60, -2, 0, 0, 2}},
          {"wrap", {ra, dec, 0.001, 2, 60, 60, -2, 0, 0, 2}},
          {"pole", {ra, dec, 77, 89.999, 60, 60, -c, s, s, c}},
          {"south", {ra, dec, 150, -89.999, 60, 60, -1.5, 0, 0, 2.5}},
          {"sin", {"RA---SIN", "DEC--SIN", 150, -45, 60, 60, 1.7, 0.6, -0.4, 2.4}}};
}

TEST(IslandTable, EllipsesAreThoseOfTheSky) {
  constexpr double major = 36;
  constexpr double minor = 22;
  for (const auto& [what, header] : ellipse_cases()) {
    const Wcs wcs = header.wcs();
    for (const double angle : {0.5, 30.0, 90.0, 140.0, 179.5}) {
      const SkyPosition at = wcs.to_sky(std::vector<PixelPosition>{{61.3, 58.8}})[0];
      const Grid grid = gaussian_on_sky(wcs, 120, at, major, minor, angle);
      const Island island = island_at(grid, 59, 61, 1e-9, 1e-3);
      const auto table = table_on(header, {island}).table;
      EXPECT_NEAR(real_value(table, "maj_axis"), major, 1e-4) << what << ' ' << angle;
      EXPECT_NEAR(real_value(table, "min_axis"), minor, 1e-4) << what << ' ' << angle;
      EXPECT_NEAR(real_value(table, "pos_ang"), angle, 1e-3) << what;
      EXPECT_NEAR(real_value(table, "dec_deg_cont"), at.latitude, 1e-4 * k_arcsec) << what;
      const double ra = std::remainder(real_value(table, "ra_deg_cont") - at.longitude, 360.0);
      EXPECT_NEAR(ra * std::cos(at.latitude * k_radian), 0, 1e-4 * k_arcsec) << what;
    }
  }
}

TEST(IslandTable, EllipsesAgreeWithAstropy) {
  // astropy 8.0.2: pixel_to_world and SkyCoord.spherical_offsets_to of steps of a hundredth of a
  // pixel, the moments below through them, numpy.linalg.eigh.
  const double c = std::cos(35 * k_radian);
  const double s = std::sin(35 * k_radian);
  const Header sin{"RA---SIN", "DEC--SIN", 0.02, -33, 101, 51, -2 * c, 3 * s, 2 * s, 3 * c};
  const Header tan{"RA---TAN", "DEC--TAN", 0.02, 89.995, 101, 51, 2, 0, 0, 2};
  const Header car{"GLON-CAR", "GLAT-CAR", 359.9, 0, 101, 51, -7, 0, 0, 7};
  const struct {
    Header header;
    double x, y, ra, dec, major, minor, angle, area;
  } cases[] = {
      {sin, 160.25, 20.5, 359.97049343108586, -33.00092884040067, 16.816778930, 10.791143911,
       170.026957897, 6.000001602},
      {tan, 120, 70, 118.8307936005995, 89.9873192090457, 14.919625799, 8.108881325, 6.310794404,
       3.999999546},
      {car, 30, 5050, 257.37963450169326, -23.54188630351499, 51.580407135, 28.319638590,
       58.447079609, 48.296264287},
  };
  for (const auto& each : cases) {
    const auto table = table_on(each.header, {plain_island(each.x, each.y, 9, 2.5, 4)}).table;
    // Between astropy's galactic system, by way of FK5, and that of Hipparcos are 0.02 arcsec.
    const double position = each.header.lon == "GLON-CAR" ? 1e-5 : 1e-10;
    EXPECT_NEAR(real_value(table, "ra_deg_cont"), each.ra, position * 100);
    EXPECT_NEAR(real_value(table, "dec_deg_cont"), each.dec, position);
    EXPECT_NEAR(real_value(table, "maj_axis"), each.major, 1e-5 * each.major);
    EXPECT_NEAR(real_value(table, "min_axis"), each.minor, 1e-5 * each.minor);
    EXPECT_NEAR(real_value(table, "pos_ang"), each.angle, 2e-3);
    EXPECT_NEAR(real_value(table, "solid_angle"), 40 * each.area, 1e-5 * 40 * each.area);
  }
}

TEST(IslandTable, EllipsesInPixelsTurnFromXToY) {
  const auto table = island_table({plain_island(50, 60, 4, 0, 9), plain_island(50, 60, 5, 3, 5),
                                   plain_island(50, 60, 5, -3, 5), plain_island(50, 60)},
                                  {})
                         .table;
  EXPECT_NEAR(real_value(table, "pos_ang_pix", 0), 90, 1e-12);
  EXPECT_NEAR(real_value(table, "maj_axis_pix", 0), 3 * k_fwhm, 1e-12);
  EXPECT_NEAR(real_value(table, "min_axis_pix", 0), 2 * k_fwhm, 1e-12);
  EXPECT_NEAR(real_value(table, "pos_ang_pix", 1), 45, 1e-12);
  EXPECT_NEAR(real_value(table, "pos_ang_pix", 2), 135, 1e-12);
  EXPECT_EQ(real_value(table, "pos_ang_pix", 3), 0);
}

// ------------------------------------------------------------------------------------- names

TEST(IauName, IsTruncatedNotRounded) {
  EXPECT_EQ(equatorial_name('J', {0, 0}), "J000000.0+000000");
  // 12h34m59.99s, +59d59m59.99s: 60 is nobody's second.
  EXPECT_EQ(equatorial_name('J', {(12 + 34 / 60.0 + 59.99 / 3600) * 15, 60 - 0.01 / 3600}),
            "J123459.9+595959");
  EXPECT_EQ(equatorial_name('B', {359.999999, -0.5}), "B235959.9-003000");
  EXPECT_EQ(equatorial_name('J', {10.0, -0.0001}), "J004000.0-000000");
  EXPECT_EQ(equatorial_name('J', {10.0, -89.99999}), "J004000.0-895959");
  // 05h34m32s is 83 1/3 degrees and more: no digit falls to the arithmetic.
  EXPECT_EQ(equatorial_name('J', {15 * (5 + 34 / 60.0 + 32 / 3600.0), 22 + 52 / 3600.0}),
            "J053432.0+220052");
  EXPECT_EQ(equatorial_name('J', {360.0 - 1e-12, 1}), "J000000.0+010000");
  EXPECT_EQ(equatorial_name('J', {k_nan, k_nan}), "");
  EXPECT_EQ(galactic_name({0.9999, -0.0459}), "G000.999-00.045");
  EXPECT_EQ(galactic_name({359.9999, 12.3456}), "G359.999+12.345");
  EXPECT_EQ(galactic_name({1, k_nan}), "");
}

TEST(IauName, EveryTenthOfASecondComesBack) {
  for (int tenths = 0; tenths < 864'000; tenths += 7) {
    const double ra = tenths / 10.0 / 240.0;
    const auto want = fmt::format("J{:02}{:02}{:02}.{}", tenths / 36'000, tenths / 600 % 60,
                                  tenths / 10 % 60, tenths % 10);
    ASSERT_EQ(equatorial_name('J', {ra, 0}).substr(0, 9), want);
  }
}

TEST(IslandTable, NamesFollowTheSystem) {
  const auto name = [](const Header& header, std::vector<std::string> more, std::string prefix) {
    auto cards = header.cards();
    cards.insert(cards.end(), more.begin(), more.end());
    const Wcs wcs(cards, {1, 2});
    IslandTableParams params;
    params.wcs = &wcs;
    params.name_prefix = std::move(prefix);
    return text_value(island_table({plain_island(59, 59)}, params).table, "island_name");
  };
  const Header plain;
  EXPECT_EQ(name(plain, {}, ""), "J100000.0+020000");
  EXPECT_EQ(name(plain, {}, "KASTOR"), "KASTOR J100000.0+020000");
  EXPECT_EQ(name(plain, {card("EQUINOX", 1950.0)}, ""), "B100000.0+020000");
  EXPECT_EQ(name({"GLON-CAR", "GLAT-CAR", 0.25, 0}, {}, ""), "G000.250+00.000");
  EXPECT_EQ(name({"ELON-TAN", "ELAT-TAN"}, {}, "KASTOR"), "");
}

// ------------------------------------------------------------------------------ other systems

TEST(Galactic, IsTurnedToIcrsAsErfaDoes) {
  // erfa.g2icrs (pyerfa of astropy 8.0.2).
  const struct {
    double l, b, ra, dec;
  } cases[] = {{0, 0, 266.4049948010461, -28.936173960138692},
               {359.999829162, 0.000301939107299, 266.4045986122255, -28.93616245721569},
               {123.4, -56.7, 13.117962297442926, 6.1708103117786495},
               {33.3, 89.5, 193.42128607297764, 27.13034429746641}};
  for (const auto& each : cases) {
    const auto at = galactic_to_icrs({each.l, each.b});
    EXPECT_NEAR(at.longitude, each.ra, 1e-10) << each.l;
    EXPECT_NEAR(at.latitude, each.dec, 1e-10) << each.l;
  }
}

TEST(IslandTable, GalacticImagesHaveBothSystems) {
  const Header header{"GLON-CAR", "GLAT-CAR", 0, 0, 101, 51, -7, 0, 0, 7};
  const auto result = table_on(header, {plain_island(100, 50)});
  EXPECT_NEAR(real_value(result.table, "glon_deg_cont"), 0, 1e-9);
  EXPECT_NEAR(real_value(result.table, "glat_deg_cont"), 0, 1e-9);
  EXPECT_NEAR(real_value(result.table, "ra_peak"), 266.4049948010461, 1e-9);
  EXPECT_NEAR(real_value(result.table, "ra_deg_cont"), 266.4049948010461, 1e-9);
  EXPECT_NEAR(real_value(result.table, "dec_deg_cont"), -28.936173960138692, 1e-9);
}

TEST(IslandTable, EclipticImagesHaveTheirOwnColumnsOnly) {
  const auto table = table_on({"ELON-TAN", "ELAT-TAN"}, {plain_island(59, 59)}).table;
  EXPECT_NEAR(real_value(table, "elon_deg_cont"), 150, 1e-9);
  EXPECT_NEAR(real_value(table, "elat_deg_cont"), 2, 1e-9);
  EXPECT_EQ(find_column(table, "ra_deg_cont"), nullptr);
  EXPECT_EQ(find_column(table, "ra_peak"), nullptr);
}

TEST(IslandTable, HeadersOfFourAxesWithoutFrequencyWork) {
  auto cards = Header{}.cards();
  cards.push_back(card("CTYPE3", "'STOKES'"));
  cards.push_back(card("CTYPE4", "'        '"));
  cards.push_back(card("CRVAL3", 1.0));
  const Wcs wcs(cards, {1, 2});
  auto params = per_beam(10);
  params.flood_snr = 3;
  params.wcs = &wcs;
  const auto result = island_table({plain_island(59, 59)}, params);
  EXPECT_NEAR(real_value(result.table, "ra_deg_cont"), 150, 1e-9);
  EXPECT_TRUE(std::isfinite(real_value(result.table, "flux_int")));
}

}  // namespace
