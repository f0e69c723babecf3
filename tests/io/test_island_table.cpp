// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <io/flux_unit.hpp>
#include <io/iau_name.hpp>
#include <io/sky_geometry.hpp>
#include <kastor/io/island_table.hpp>
#include <limits>
#include <numbers>
#include <set>

#include "fits_support.hpp"
#include "island_support.hpp"

namespace {

using namespace testing_support;
using kastor::Island;
using kastor::io::Beam;
using kastor::io::BeamOrigin;
using kastor::io::BeamReading;
using kastor::io::island_table;
using kastor::io::IslandTableParams;
using kastor::io::PixelPosition;
using kastor::io::SkyPosition;
using kastor::io::Wcs;
using kastor::io::detail::equatorial_name;
using kastor::io::detail::flux_unit;
using kastor::io::detail::FluxUnit;
using kastor::io::detail::galactic_name;
using kastor::io::detail::galactic_to_icrs;

constexpr double k_radian = std::numbers::pi / 180.0;
constexpr double k_arcsec = 1.0 / 3600.0;  // [deg]
const double k_nan = std::numeric_limits<double>::quiet_NaN();
const double k_fwhm = std::sqrt(8 * std::numbers::ln2);

/// A header of a celestial image: the matrix is that of FITS' CDi_j [arcsec a pixel].
struct Header {
  std::string lon = "RA---TAN";
  std::string lat = "DEC--TAN";
  double crval1 = 150;
  double crval2 = 2;
  double crpix1 = 60;
  double crpix2 = 60;
  double cd11 = -2, cd12 = 0, cd21 = 0, cd22 = 2;

  [[nodiscard]] std::vector<std::string> cards() const {
    return {card("CTYPE1", "'" + lon + "'"), card("CTYPE2", "'" + lat + "'"),
            card("CRVAL1", crval1),          card("CRVAL2", crval2),
            card("CRPIX1", crpix1),          card("CRPIX2", crpix2),
            card("CD1_1", cd11 * k_arcsec),  card("CD1_2", cd12 * k_arcsec),
            card("CD2_1", cd21 * k_arcsec),  card("CD2_2", cd22 * k_arcsec)};
  }
  [[nodiscard]] Wcs wcs() const { return Wcs(cards(), {1, 2}); }
};

BeamReading beam_of(double major_arcsec, double minor_arcsec, double angle) {
  return {Beam{major_arcsec * k_arcsec, minor_arcsec * k_arcsec, angle}, BeamOrigin::header, {}};
}

/// An island with these second moments, bright enough for everything.
Island plain_island(double x, double y, double xx = 4, double xy = 0, double yy = 4) {
  Island island{};
  island.id = 1;
  island.n_pix = 40;
  island.x_peak = std::lround(x);
  island.y_peak = std::lround(y);
  island.x_min = island.x_peak - 4;
  island.x_max = island.x_peak + 4;
  island.y_min = island.y_peak - 3;
  island.y_max = island.y_peak + 3;
  island.flux_peak = 2;
  island.flux_sum = 30;
  island.raw_sum = 31;
  island.snr_peak = 20;
  island.x_cen = x;
  island.y_cen = y;
  island.var_xx = xx;
  island.var_xy = xy;
  island.var_yy = yy;
  island.rms = island.rms_at_peak = 0.1;
  island.background = island.background_at_peak = 0.025;
  return island;
}

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

struct EllipseCase {
  const char* what;
  Header header;
};

std::vector<EllipseCase> ellipse_cases() {
  const double c = std::cos(0.7);
  const double s = std::sin(0.7);
  Header plain;
  Header flipped = plain;
  flipped.cd11 = 2;
  Header upside_down = plain;
  upside_down.cd22 = -2;
  Header rotated = plain;
  rotated.cd11 = -2 * c;
  rotated.cd12 = 2 * s;
  rotated.cd21 = 2 * s;
  rotated.cd22 = 2 * c;
  Header oblong = plain;
  oblong.cd11 = -1.5;
  oblong.cd22 = 2.5;
  Header skewed = plain;  // rotated, mirrored, pixels neither square nor rectangular
  skewed.cd11 = 1.7;
  skewed.cd12 = 0.6;
  skewed.cd21 = -0.4;
  skewed.cd22 = 2.4;
  Header swapped = plain;  // declination along x
  swapped.lon = "DEC--TAN";
  swapped.lat = "RA---TAN";
  swapped.crval1 = 2;
  swapped.crval2 = 150;
  Header wrap = plain;
  wrap.crval1 = 0.001;
  Header pole = rotated;
  pole.crval1 = 77;
  pole.crval2 = 89.999;
  Header south = oblong;
  south.crval2 = -89.999;
  Header sin = skewed;
  sin.lon = "RA---SIN";
  sin.lat = "DEC--SIN";
  sin.crval2 = -45;
  return {{"plain", plain},     {"flipped", flipped}, {"upside down", upside_down},
          {"rotated", rotated}, {"oblong", oblong},   {"skewed", skewed},
          {"swapped", swapped}, {"wrap", wrap},       {"pole", pole},
          {"south", south},     {"sin", sin}};
}

TEST(IslandTable, EllipsesAreThoseOfTheSky) {
  constexpr double major = 36;
  constexpr double minor = 22;
  for (const auto& each : ellipse_cases()) {
    const Wcs wcs = each.header.wcs();
    for (const double angle : {0.5, 30.0, 90.0, 140.0, 179.5}) {
      const SkyPosition at = wcs.to_sky(std::vector<PixelPosition>{{61.3, 58.8}})[0];
      const Grid grid = gaussian_on_sky(wcs, 120, at, major, minor, angle);
      const Island island = island_at(grid, 59, 61, 1e-9, 1e-3);
      IslandTableParams params;
      params.wcs = &wcs;
      const auto table = island_table({island}, params).table;
      EXPECT_NEAR(real_value(table, "maj_axis"), major, 1e-4) << each.what << ' ' << angle;
      EXPECT_NEAR(real_value(table, "min_axis"), minor, 1e-4) << each.what << ' ' << angle;
      EXPECT_NEAR(real_value(table, "pos_ang"), angle, 1e-3) << each.what;
      EXPECT_NEAR(real_value(table, "dec_deg_cont"), at.latitude, 1e-4 * k_arcsec) << each.what;
      const double ra = std::remainder(real_value(table, "ra_deg_cont") - at.longitude, 360.0);
      EXPECT_NEAR(ra * std::cos(at.latitude * k_radian), 0, 1e-4 * k_arcsec) << each.what;
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
    const Wcs wcs = each.header.wcs();
    IslandTableParams params;
    params.wcs = &wcs;
    const auto table = island_table({plain_island(each.x, each.y, 9, 2.5, 4)}, params).table;
    // Between astropy's galactic system, by way of FK5, and that of Hipparcos are 0.02 arcsec.
    const double position = wcs.system() == kastor::io::SkySystem::galactic ? 1e-5 : 1e-10;
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
  Header galactic;
  galactic.lon = "GLON-CAR";
  galactic.lat = "GLAT-CAR";
  galactic.crval1 = 0.25;
  galactic.crval2 = 0;
  EXPECT_EQ(name(galactic, {}, ""), "G000.250+00.000");
  Header ecliptic = plain;
  ecliptic.lon = "ELON-TAN";
  ecliptic.lat = "ELAT-TAN";
  EXPECT_EQ(name(ecliptic, {}, "KASTOR"), "");
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
  const Wcs wcs = header.wcs();
  IslandTableParams params;
  params.wcs = &wcs;
  const auto result = island_table({plain_island(100, 50)}, params);
  EXPECT_NEAR(real_value(result.table, "glon_deg_cont"), 0, 1e-9);
  EXPECT_NEAR(real_value(result.table, "glat_deg_cont"), 0, 1e-9);
  EXPECT_NEAR(real_value(result.table, "ra_peak"), 266.4049948010461, 1e-9);
  EXPECT_NEAR(real_value(result.table, "ra_deg_cont"), 266.4049948010461, 1e-9);
  EXPECT_NEAR(real_value(result.table, "dec_deg_cont"), -28.936173960138692, 1e-9);
}

TEST(IslandTable, EclipticImagesHaveTheirOwnColumnsOnly) {
  Header header;
  header.lon = "ELON-TAN";
  header.lat = "ELAT-TAN";
  const Wcs wcs = header.wcs();
  IslandTableParams params;
  params.wcs = &wcs;
  const auto table = island_table({plain_island(59, 59)}, params).table;
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
  IslandTableParams params;
  params.wcs = &wcs;
  params.beam = beam_of(10, 10, 0);
  params.unit = "JY/BEAM";
  const auto result = island_table({plain_island(59, 59)}, params);
  EXPECT_NEAR(real_value(result.table, "ra_deg_cont"), 150, 1e-9);
  EXPECT_TRUE(std::isfinite(real_value(result.table, "flux_int")));
}

// ------------------------------------------------------------------------------------ fluxes

TEST(FluxUnit, UnderstandsTheSpellingsInUse) {
  const struct {
    const char* text;
    FluxUnit::Per per;
    const char* pixel;
    const char* integrated;
    double factor;
  } cases[] = {
      {"Jy/beam", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"JY/BEAM ", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"Jy/Beam", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"Jy beam-1", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"Jy.beam^-1", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"Jy beam**(-1)", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"mJy/bm", FluxUnit::Per::beam, "mJy/beam", "mJy", 1},
      {"MJy/beam", FluxUnit::Per::beam, "MJy/beam", "MJy", 1},
      {"uJy/beam", FluxUnit::Per::beam, "uJy/beam", "uJy", 1},
      {"UJY/BEAM", FluxUnit::Per::beam, "uJy/beam", "uJy", 1},
      {"\xc2\xb5Jy/beam", FluxUnit::Per::beam, "uJy/beam", "uJy", 1},
      {"MJY/BEAM", FluxUnit::Per::unknown, "MJY/BEAM", "", 1},
      {"Jy/pixel", FluxUnit::Per::pixel, "Jy/pixel", "Jy", 1},
      {"JY/PIX", FluxUnit::Per::pixel, "Jy/pixel", "Jy", 1},
      {"Jy/arcsec^2", FluxUnit::Per::arcsec2, "Jy/arcsec2", "Jy", 1},
      {"MJy/sr", FluxUnit::Per::arcsec2, "MJy/sr", "Jy", 1e6 * 2.350443053909789e-11},
      {"MJY/SR", FluxUnit::Per::arcsec2, "MJy/sr", "Jy", 1e6 * 2.350443053909789e-11},
      {"Jy", FluxUnit::Per::unknown, "Jy", "", 1},
      {"K", FluxUnit::Per::unknown, "K", "", 1},
      {"", FluxUnit::Per::unknown, "", "", 1},
      {"xJy/beam", FluxUnit::Per::unknown, "xJy/beam", "", 1},
      {"Jy/beam km/s", FluxUnit::Per::unknown, "Jy/beam km/s", "", 1},
  };
  for (const auto& each : cases) {
    const auto unit = flux_unit(each.text);
    EXPECT_EQ(unit.per, each.per) << each.text;
    EXPECT_EQ(unit.pixel, each.pixel) << each.text;
    EXPECT_EQ(unit.integrated, each.integrated) << each.text;
    EXPECT_NEAR(unit.factor, each.factor, 1e-12 * each.factor) << each.text;
  }
}

TEST(IslandTable, FluxesAreDividedByTheBeam) {
  const Header header;
  const Wcs wcs = header.wcs();
  IslandTableParams params;
  params.wcs = &wcs;
  params.beam = beam_of(10, 8, 30);
  params.unit = "mJy/beam";
  const auto result = island_table({plain_island(59, 59)}, params);
  const double beam = std::numbers::pi * 80 / (4 * std::numbers::ln2);
  EXPECT_NEAR(real_value(result.table, "flux_int"), 30 / (beam / 4), 1e-9);
  EXPECT_EQ(find_column(result.table, "flux_int")->unit, "mJy");
  EXPECT_EQ(find_column(result.table, "flux_peak")->unit, "mJy/beam");
  EXPECT_NEAR(real_value(result.table, "n_beams"), 40 / (beam / 4), 1e-9);
  EXPECT_NEAR(real_value(result.table, "beam_area"), beam, 1e-9);
  EXPECT_NEAR(real_value(result.table, "solid_angle"), 160, 1e-6);
  EXPECT_EQ(integer_value(result.table, "flags"), kastor::io::island_no_total);
  EXPECT_TRUE(result.notes.empty());
}

TEST(IslandTable, TheBeamIsConstantInPixelsOnlyInSyntheses) {
  // 20 degrees from the reference, a pixel of the orthographic projection covers 1 / cos 20.
  Header sin;
  sin.lon = "RA---SIN";
  sin.lat = "DEC--SIN";
  sin.cd11 = -20;
  sin.cd22 = 20;
  const double off = std::sin(20 * k_radian) / (20 * k_arcsec * k_radian);
  const double beam_pixels = std::numbers::pi * 100 * 100 / (4 * std::numbers::ln2) / 400;
  const auto table_of = [&](const Header& header, double x, double y) {
    const Wcs wcs = header.wcs();
    IslandTableParams params;
    params.wcs = &wcs;
    params.beam = beam_of(100, 100, 0);
    params.unit = "Jy/beam";
    return island_table({plain_island(x, y)}, params).table;
  };
  const auto synthesis = table_of(sin, 59, 59 + off);
  EXPECT_NEAR(real_value(synthesis, "flux_int"), 30 / beam_pixels, 1e-6);
  EXPECT_NEAR(real_value(synthesis, "solid_angle"), 40 * 400 / std::cos(20 * k_radian), 1e-2);
  Header car;
  car.lon = "GLON-CAR";
  car.lat = "GLAT-CAR";
  car.crval1 = 30;
  car.crval2 = 0;
  car.cd11 = -20;
  car.cd22 = 20;
  // 60 degrees from the equator of a plate carree, half as much.
  const auto mosaic = table_of(car, 59, 59 + 60 / (20 * k_arcsec));
  EXPECT_NEAR(real_value(mosaic, "flux_int"), 30 / beam_pixels / 2, 1e-6);
}

TEST(IslandTable, SurfaceBrightnessNeedsNoBeam) {
  const Wcs wcs = Header{}.wcs();
  IslandTableParams params;
  params.wcs = &wcs;
  params.unit = "MJy/sr";
  const auto result = island_table({plain_island(59, 59)}, params);
  EXPECT_NEAR(real_value(result.table, "flux_int"), 30 * 4 * 1e6 * 2.350443053909789e-11, 1e-9);
  EXPECT_EQ(find_column(result.table, "flux_int")->unit, "Jy");
  EXPECT_EQ(find_column(result.table, "beam_area"), nullptr);
}

TEST(IslandTable, WithoutWhatItTakesTheFluxIsBlankAndANoteSaysWhy) {
  const Wcs wcs = Header{}.wcs();
  const auto note_of = [&](const Wcs* on, bool beam, const char* unit) {
    IslandTableParams params;
    params.wcs = on;
    if (beam) params.beam = beam_of(10, 8, 30);
    params.unit = unit;
    const auto result = island_table({plain_island(59, 59)}, params);
    EXPECT_TRUE(std::isnan(real_value(result.table, "flux_int"))) << unit;
    EXPECT_TRUE(std::isnan(real_value(result.table, "flux_int_err"))) << unit;
    EXPECT_EQ(real_value(result.table, "flux_sum"), 30);
    EXPECT_GT(real_value(result.table, "flux_sum_err"), 0);
    EXPECT_NE(integer_value(result.table, "flags") & kastor::io::island_no_flux, 0);
    return result.notes.size() == 1 ? result.notes[0] : "";
  };
  EXPECT_TRUE(contains(note_of(&wcs, false, "Jy/beam"), "BMAJ"));
  EXPECT_TRUE(contains(note_of(&wcs, true, "K"), "'K'"));
  EXPECT_TRUE(contains(note_of(&wcs, true, ""), "no unit"));
  EXPECT_TRUE(contains(note_of(nullptr, true, "Jy/beam"), "no celestial coordinates"));
}

TEST(IslandTable, NegativeIslandsHaveNegativeFluxes) {
  Island island = plain_island(59, 59);
  island.flux_peak = -2;
  island.flux_sum = -30;
  island.flags = kastor::island_negative;
  const Wcs wcs = Header{}.wcs();
  IslandTableParams params;
  params.wcs = &wcs;
  params.beam = beam_of(10, 10, 0);
  params.unit = "Jy/beam";
  params.flood_snr = 3;
  const auto table = island_table({plain_island(59, 59), island}, params).table;
  for (const char* name : {"flux_int", "flux_int_cor"}) {
    EXPECT_EQ(real_value(table, name, 0), -real_value(table, name, 1)) << name;
    EXPECT_LT(real_value(table, name, 1), 0);
  }
  for (const char* name : {"flux_int_err", "flux_int_cor_err", "maj_axis_cor", "flux_fraction",
                           "ra_err", "x_cen_err", "snr"}) {
    EXPECT_EQ(real_value(table, name, 0), real_value(table, name, 1)) << name;
    EXPECT_GT(real_value(table, name, 1), 0) << name;
  }
}

// -------------------------------------------------------------------------------------- rest

TEST(IslandTable, WithoutCoordinatesOnlyPixelsRemain) {
  const auto result = island_table({plain_island(10.25, 20.5)}, {});
  for (const char* name : {"island_name", "ra_deg_cont", "maj_axis", "solid_angle", "ra_peak"}) {
    EXPECT_EQ(find_column(result.table, name), nullptr) << name;
  }
  EXPECT_EQ(real_value(result.table, "x_cen"), 10.25);
  EXPECT_EQ(real_value(result.table, "x_fits"), 11.25);
  EXPECT_EQ(real_value(result.table, "y_fits"), 21.5);
  EXPECT_EQ(integer_value(result.table, "x_peak"), 10);
  EXPECT_GT(real_value(result.table, "x_cen_err"), 0);
}

TEST(IslandTable, WhatHasNoCentreNoShapeNoSkyIsNaNAndFlagged) {
  Header header;
  header.lon = "RA---SIN";
  header.lat = "DEC--SIN";
  header.cd11 = -3600;
  header.cd22 = 3600;
  const Wcs wcs = header.wcs();
  Island nowhere = plain_island(59, 59 + 80);  // 80 degrees of arc are beyond the projection
  Island centreless = plain_island(59, 59);
  centreless.x_cen = centreless.y_cen = centreless.var_xx = k_nan;
  centreless.var_xy = centreless.var_yy = k_nan;
  centreless.flags = kastor::island_no_centre;
  Island shapeless = plain_island(59, 59, 2, 0, 0);
  shapeless.flags = kastor::island_no_shape;
  IslandTableParams params;
  params.wcs = &wcs;
  const auto result = island_table({nowhere, centreless, shapeless}, params);
  EXPECT_TRUE(std::isnan(real_value(result.table, "ra_deg_cont", 0)));
  EXPECT_TRUE(std::isnan(real_value(result.table, "maj_axis", 0)));
  EXPECT_EQ(text_value(result.table, "island_name", 0), "");
  EXPECT_NE(integer_value(result.table, "flags", 0) & kastor::io::island_no_sky, 0);
  for (const char* name : {"ra_deg_cont", "ra_err", "maj_axis", "x_cen_err", "maj_axis_pix"}) {
    EXPECT_TRUE(std::isnan(real_value(result.table, name, 1))) << name;
  }
  EXPECT_NEAR(real_value(result.table, "ra_peak", 1), 150, 1e-9);
  EXPECT_GT(real_value(result.table, "solid_angle", 1), 0);
  EXPECT_TRUE(std::isnan(real_value(result.table, "maj_axis", 2)));
  EXPECT_TRUE(std::isfinite(real_value(result.table, "ra_err", 2)));
  EXPECT_TRUE(contains(result.notes.back(), "1 of 3")) << result.notes.back();
}

TEST(IslandTable, ColumnsAreDescribedAndOfOneLength) {
  const Wcs wcs = Header{}.wcs();
  IslandTableParams params;
  params.wcs = &wcs;
  params.beam = beam_of(10, 10, 0);
  params.unit = "Jy/beam";
  for (const std::size_t count : {0u, 1u, 5u}) {
    const auto table = island_table(kastor::Islands(count, plain_island(59, 59)), params).table;
    std::set<std::string> names;
    for (const auto& column : table.columns) {
      EXPECT_TRUE(names.insert(column.name).second) << column.name;
      EXPECT_FALSE(column.description.empty()) << column.name;
      EXPECT_FALSE(column.ucd.empty()) << column.name;
      EXPECT_EQ(std::visit([](const auto& v) { return v.size(); }, column.values), count);
    }
    EXPECT_GT(names.size(), 40u);
  }
}

TEST(IslandTable, EveryColumnIsInTheDocumentation) {
  const std::string text = read_all(std::string(KASTOR_DATA_DIR) + "/../docs/catalogue.md");
  ASSERT_FALSE(text.empty());
  for (const char* system : {"RA---TAN", "GLON-CAR", "ELON-TAN", "XLON-TAN"}) {
    Header header;
    header.lon = system;
    header.lat = system[0] == 'R' ? "DEC--TAN" : header.lon;
    if (system[0] != 'R') header.lat.replace(1, 3, "LAT");
    const Wcs wcs = header.wcs();
    IslandTableParams params;
    params.wcs = &wcs;
    params.beam = beam_of(10, 10, 0);
    for (const auto& column : island_table({}, params).table.columns) {
      EXPECT_TRUE(contains(text, "`" + column.name + "`")) << column.name;
    }
  }
}

TEST(IslandTable, TheHeaderSaysWhichBeam) {
  const Wcs wcs = Header{}.wcs();
  IslandTableParams params;
  params.wcs = &wcs;
  params.beam = kastor::io::parse_beam("10,8,30");
  const auto table = island_table({}, params).table;
  const auto& cards = table.cards;
  ASSERT_EQ(cards.size(), 5u);
  EXPECT_EQ(cards[0].keyword, "BMAJ");
  EXPECT_NEAR(std::get<double>(cards[0].value), 10 * k_arcsec, 1e-15);
  EXPECT_EQ(std::get<std::string>(cards[3].value), "user");
  EXPECT_NEAR(std::get<double>(cards[4].value), std::numbers::pi * 20 / (4 * std::numbers::ln2),
              1e-6);
  EXPECT_EQ(table.frame, kastor::io::sky_frame_of(wcs));
  // Somebody's arc seconds.
  params.beam = {Beam{10, 8, 0}, BeamOrigin::header, {}};
  EXPECT_TRUE(contains(island_table({}, params).notes.back(), "arcsec instead of degrees"));
}

TEST(IslandTable, RefusesWhatIsNoThreshold) {
  const auto error = [](auto change) {
    IslandTableParams params;
    change(params);
    return error_of([&] { (void)island_table({}, params); });
  };
  EXPECT_TRUE(contains(error([](auto& p) { p.flood_snr = -1; }), "flood_snr is -1"));
  EXPECT_TRUE(contains(error([](auto& p) { p.flood_level = k_nan; }), "flood_level is nan"));
  EXPECT_TRUE(contains(error([](auto& p) { p.noise_beams = 0; }), "noise_beams is 0"));
}

}  // namespace
