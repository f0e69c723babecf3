// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <io/sky/flux_unit.hpp>
#include <io/sky/unit_text.hpp>
#include <kastor/io/island_table.hpp>
#include <numbers>
#include <set>

#include "fits_support.hpp"
#include "island_support.hpp"
#include "island_table_support.hpp"

namespace {

using namespace testing_support;
using kastor::Island;
using kastor::io::Beam;
using kastor::io::BeamOrigin;
using kastor::io::island_table;
using kastor::io::IslandTableParams;
using kastor::io::Wcs;
using kastor::io::detail::flux_unit;
using kastor::io::detail::FluxUnit;
using kastor::io::detail::standard_unit;
using kastor::io::detail::vo_unit;

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
      // Factors in any order, divisors by a sign, a word or a power.
      {"beam-1 Jy", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"beam^-1 Jy", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"Jy.beam-1", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"Jy * beam ** -1", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"Jybeam-1", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"[Jy/(beam)]", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"Jy per Beam", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"Jy arcsec**-2", FluxUnit::Per::arcsec2, "Jy/arcsec2", "Jy", 1},
      {"Jy/arcsec2", FluxUnit::Per::arcsec2, "Jy/arcsec2", "Jy", 1},
      {"Jy per square arcsec", FluxUnit::Per::arcsec2, "Jy/arcsec2", "Jy", 1},
      {"mJy/sqarcsec", FluxUnit::Per::arcsec2, "mJy/arcsec2", "Jy", 1e-3},
      {"mJy arcmin^-2", FluxUnit::Per::arcsec2, "mJy/arcmin2", "Jy", 1e-3 / 3600},
      {"Jy/deg2", FluxUnit::Per::arcsec2, "Jy/deg2", "Jy", 1.0 / 12'960'000},
      {"sr-1 MJy", FluxUnit::Per::arcsec2, "MJy/sr", "Jy", 1e6 * 2.350443053909789e-11},
      {"MJY/ARCSEC**2", FluxUnit::Per::arcsec2, "MJy/arcsec2", "Jy", 1e6},
      {"JY/PIXEL", FluxUnit::Per::pixel, "Jy/pixel", "Jy", 1},
      {"pixel-1 mJy", FluxUnit::Per::pixel, "mJy/pixel", "mJy", 1},
      // Prefixes in any spelling.
      {"microJy/beam", FluxUnit::Per::beam, "uJy/beam", "uJy", 1},
      {"milliJy per beam", FluxUnit::Per::beam, "mJy/beam", "mJy", 1},
      {"MicroJansky / beam", FluxUnit::Per::beam, "uJy/beam", "uJy", 1},
      {"MILLIJANSKYS PER BEAM", FluxUnit::Per::beam, "mJy/beam", "mJy", 1},
      {"mjy/beam", FluxUnit::Per::beam, "mJy/beam", "mJy", 1},
      {"pJy/beam", FluxUnit::Per::beam, "pJy/beam", "pJy", 1},
      {"\xb5Jy/beam", FluxUnit::Per::beam, "uJy/beam", "uJy", 1},      // Latin-1
      {"\xce\xbcJy/beam", FluxUnit::Per::beam, "uJy/beam", "uJy", 1},  // the Greek letter
      // A scale in front becomes the prefix.
      {"1e-3 Jy/beam", FluxUnit::Per::beam, "mJy/beam", "mJy", 1},
      {"10**-3 Jy/beam", FluxUnit::Per::beam, "mJy/beam", "mJy", 1},
      {"10^(-3) Jy/beam", FluxUnit::Per::beam, "mJy/beam", "mJy", 1},
      {"10-6 Jy/beam", FluxUnit::Per::beam, "uJy/beam", "uJy", 1},
      {"0.001*Jy/beam", FluxUnit::Per::beam, "mJy/beam", "mJy", 1},
      {"0.01 JY/BEAM", FluxUnit::Per::beam, "cJy/beam", "cJy", 1},
      {"1000 mJy/beam", FluxUnit::Per::beam, "Jy/beam", "Jy", 1},
      {"1E6 Jy/sr", FluxUnit::Per::arcsec2, "MJy/sr", "Jy", 1e6 * 2.350443053909789e-11},
      {"2.5 mJy/beam", FluxUnit::Per::beam, "mJy/beam", "mJy", 2.5},
      {"1e-4 Jy/beam", FluxUnit::Per::beam, "Jy/beam", "Jy", 1e-4},
      // What else there is, as the FITS standard spells it, or as typed.
      {"JY", FluxUnit::Per::unknown, "Jy", "", 1},
      {"Kelvin", FluxUnit::Per::unknown, "K", "", 1},
      {"COUNTS/S", FluxUnit::Per::unknown, "count/s", "", 1},
      {"ADU", FluxUnit::Per::unknown, "adu", "", 1},
      {"mag arcsec^-2", FluxUnit::Per::unknown, "mag/arcsec2", "", 1},
      {"Jy/beam.km/s", FluxUnit::Per::unknown, "Jy/beam.km/s", "", 1},
      {"Jy beam", FluxUnit::Per::unknown, "Jy beam", "", 1},
      {"Jy/beam2", FluxUnit::Per::unknown, "Jy/beam2", "", 1},
      {"Jy2/beam", FluxUnit::Per::unknown, "Jy2/beam", "", 1},
      {"PJY/BEAM", FluxUnit::Per::unknown, "PJY/BEAM", "", 1},
      {"0 Jy/beam", FluxUnit::Per::unknown, "0 Jy/beam", "", 1},
      {"1e999 Jy/beam", FluxUnit::Per::unknown, "1e999 Jy/beam", "", 1},
      {"Jy/(beam", FluxUnit::Per::unknown, "Jy/(beam", "", 1},
      {"((((((((((((Jy", FluxUnit::Per::unknown, "((((((((((((Jy", "", 1},
      {"Jy/", FluxUnit::Per::unknown, "Jy/", "", 1},
      {"/beam", FluxUnit::Per::unknown, "/beam", "", 1},
      {"10**99 Jy/beam", FluxUnit::Per::unknown, "10**99 Jy/beam", "", 1},
  };
  for (const auto& each : cases) {
    const auto unit = flux_unit(each.text);
    EXPECT_EQ(unit.per, each.per) << each.text;
    EXPECT_EQ(unit.pixel, each.pixel) << each.text;
    EXPECT_EQ(unit.integrated, each.integrated) << each.text;
    EXPECT_NEAR(unit.factor, each.factor, 1e-12 * each.factor) << each.text;
    // On the sky the prefix is in the factor as well.
    if (unit.per == FluxUnit::Per::beam) {
      EXPECT_EQ(unit.scale, each.factor) << each.text;
    }
  }
}

TEST(FluxUnit, TablesSpellItAsTheirStandardsDo) {
  const struct {
    const char* typed;
    const char* fits;
    const char* vo;
  } cases[] = {{"JY/BEAM", "Jy/beam", "Jy/beam"},
               {"1e-4 Jy/beam", "10**-4 Jy/beam", "10**-4 Jy/beam"},
               {"0.001 Jy/beam", "mJy/beam", "mJy/beam"},
               {"MJY/BEAM", "MJY/BEAM", "MJY/BEAM"},
               {"MJY/SR", "MJy/sr", "MJy/sr"},
               {"3 Jy/beam", "3 Jy/beam", "3 Jy/beam"},
               {"arcsec2", "arcsec2", "arcsec**2"},
               {"Jy arcsec^-2", "Jy/arcsec2", "Jy/arcsec**2"},
               {"pixels", "pixel", "pixel"},
               {"level2", "level2", "level2"}};
  for (const auto& [typed, fits, vo] : cases) {
    EXPECT_EQ(standard_unit(typed), fits);
    EXPECT_EQ(vo_unit(standard_unit(typed)), vo);
  }
}

TEST(IslandTable, OddBeamsAreNoted) {
  // Pixels of 2 arcsec.
  const struct {
    double major, minor;
    const char* says;
  } cases[] = {{1.5, 1, "0.5 pixels, less than one"},
               {198, 10, ""},
               {202, 10, "101 pixels, more than the image's 100; is it in arcsec"},
               {2002, 10, "1001 pixels"}};
  for (const auto& [major, minor, says] : cases) {
    auto params = per_beam(major, minor);
    params.nx = 100;
    params.ny = 50;
    const auto notes = table_on({}, {plain_island(59, 59)}, params).notes;
    ASSERT_EQ(notes.size(), *says == 0 ? 0u : 1u) << major;
    if (*says != 0) {
      EXPECT_SAYS(notes[0], says);
    }
  }
}

TEST(IslandTable, PixelValuesAreScaledToAUnitThatHasAName) {
  auto params = per_beam(10, 8, 30);
  params.unit = "mJy/beam";
  const auto plain = table_on({}, {plain_island(59, 59)}, params);
  params.unit = "2.5 mJy/beam";
  const auto scaled = table_on({}, {plain_island(59, 59)}, params);
  for (const char* name : {"flux_peak", "flux_peak_err", "flux_iso", "flux_sum", "flux_sum_err",
                           "raw_sum", "mean_background", "background_noise"}) {
    EXPECT_DOUBLE_EQ(real_value(scaled.table, name), 2.5 * real_value(plain.table, name)) << name;
    EXPECT_EQ(find_column(scaled.table, name)->unit, find_column(plain.table, name)->unit);
  }
  EXPECT_EQ(real_value(scaled.table, "snr"), real_value(plain.table, "snr"));
  ASSERT_EQ(scaled.notes.size(), 1u);
  EXPECT_SAYS(scaled.notes[0], "times 2.5 in mJy/beam");
}

TEST(IslandTable, FluxesAreDividedByTheBeam) {
  auto params = per_beam(10, 8, 30);
  params.unit = "mJy/beam";
  const auto result = table_on({}, {plain_island(59, 59)}, params);
  const double beam = std::numbers::pi * 80 / (4 * std::numbers::ln2);
  EXPECT_NEAR(real_value(result.table, "flux_iso"), 30 / (beam / 4), 1e-9);
  EXPECT_EQ(find_column(result.table, "flux_int")->unit, "mJy");
  EXPECT_EQ(find_column(result.table, "flux_iso")->unit, "mJy");
  EXPECT_EQ(find_column(result.table, "flux_peak")->unit, "mJy/beam");
  EXPECT_NEAR(real_value(result.table, "n_beams"), 40 / (beam / 4), 1e-9);
  EXPECT_NEAR(real_value(result.table, "beam_area"), beam, 1e-9);
  EXPECT_NEAR(real_value(result.table, "solid_angle"), 160, 1e-6);
  EXPECT_EQ(integer_value(result.table, "flags"), kastor::io::island_no_total);
  EXPECT_TRUE(result.notes.empty());
}

TEST(IslandTable, TheBeamIsConstantInPixelsOnlyInSyntheses) {
  // 20 degrees from the reference, a pixel of the orthographic projection covers 1 / cos 20.
  const Header sin{"RA---SIN", "DEC--SIN", 150, 2, 60, 60, -20, 0, 0, 20};
  const double off = std::sin(20 * k_radian) / (20 * k_arcsec * k_radian);
  const double beam_pixels = std::numbers::pi * 100 * 100 / (4 * std::numbers::ln2) / 400;
  const auto synthesis = table_on(sin, {plain_island(59, 59 + off)}, per_beam(100, 100)).table;
  EXPECT_NEAR(real_value(synthesis, "flux_iso"), 30 / beam_pixels, 1e-6);
  EXPECT_NEAR(real_value(synthesis, "solid_angle"), 40 * 400 / std::cos(20 * k_radian), 1e-2);
  // 60 degrees from the equator of a plate carree, half as much.
  const Header car{"GLON-CAR", "GLAT-CAR", 30, 0, 60, 60, -20, 0, 0, 20};
  const Island far = plain_island(59, 59 + 60 / (20 * k_arcsec));
  const auto mosaic = table_on(car, {far}, per_beam(100, 100)).table;
  EXPECT_NEAR(real_value(mosaic, "flux_iso"), 30 / beam_pixels / 2, 1e-6);
}

TEST(IslandTable, SurfaceBrightnessNeedsNoBeam) {
  IslandTableParams params;
  params.unit = "MJy/sr";
  const auto result = table_on({}, {plain_island(59, 59)}, params);
  EXPECT_NEAR(real_value(result.table, "flux_iso"), 30 * 4 * 1e6 * 2.350443053909789e-11, 1e-9);
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
    for (const char* name : {"flux_int", "flux_int_err", "flux_iso", "flux_iso_err"})
      EXPECT_TRUE(std::isnan(real_value(result.table, name))) << name << ' ' << unit;
    EXPECT_EQ(real_value(result.table, "flux_sum"), 30);
    EXPECT_GT(real_value(result.table, "flux_sum_err"), 0);
    EXPECT_NE(integer_value(result.table, "flags") & kastor::io::island_no_flux, 0);
    return result.notes.size() == 1 ? result.notes[0] : "";
  };
  EXPECT_SAYS(note_of(&wcs, false, "Jy/beam"), "BMAJ");
  EXPECT_SAYS(note_of(&wcs, true, "K"), "'K'");
  EXPECT_SAYS(note_of(&wcs, true, ""), "no unit");
  EXPECT_SAYS(note_of(nullptr, true, "Jy/beam"), "no celestial coordinates");
}

TEST(IslandTable, TheTotalIsNeverWhatIsAboveTheThresholdAlone) {
  Island bright = plain_island(59, 59);
  bright.flux_peak = 10 * bright.rms;
  Island faint = bright;
  faint.id = 2;
  faint.flux_peak = 3.2 * faint.rms;
  auto params = per_beam(10, 8, 30);
  params.flood_snr = 3;
  const auto result = table_on({}, {bright, faint}, params);
  const auto& table = result.table;
  EXPECT_GT(real_value(table, "flux_int", 0), real_value(table, "flux_iso", 0));
  EXPECT_NEAR(real_value(table, "flux_fraction", 0),
              real_value(table, "flux_iso", 0) / real_value(table, "flux_int", 0), 1e-12);
  EXPECT_EQ(integer_value(table, "flags", 0), 0);
  for (const char* name : {"flux_int", "flux_int_err", "flux_fraction", "maj_axis_cor"})
    EXPECT_TRUE(std::isnan(real_value(table, name, 1))) << name;
  EXPECT_EQ(real_value(table, "flux_iso", 1), real_value(table, "flux_iso", 0));
  EXPECT_EQ(integer_value(table, "flags", 1), kastor::io::island_no_total);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_SAYS(result.notes[0], "1 of 2 islands have no flux_int (flag 1024)");
  // The names of the first tables are gone.
  EXPECT_EQ(find_column(table, "flux_int_cor"), nullptr);
}

TEST(IslandTable, TheErrorsFollowTheAreaOfTheNoise) {
  const auto error = [](double beams, double pixels) {
    auto params = per_beam(10, 8, 30);
    params.flood_snr = 0;  // errors are those of noise alone
    params.noise_beams = beams;
    params.noise_pixels = pixels;
    return real_value(table_on({}, {plain_island(59, 59)}, params).table, "flux_iso_err");
  };
  const double beam = std::numbers::pi * 80 / (4 * std::numbers::ln2) / 4;  // [pixel]
  EXPECT_NEAR(error(1, beam), error(1, 0), 1e-6 * error(1, 0));
  EXPECT_NEAR(error(1, 2 * beam), error(2, 0), 1e-6 * error(2, 0));
  EXPECT_EQ(error(1, 0.5), error(1, 1));  // not less than a pixel
  EXPECT_LT(error(1, 1), error(1, 0));
  EXPECT_LT(error(1, 0), error(2, 0));
}

TEST(IslandTable, NegativeIslandsHaveNegativeFluxes) {
  Island island = plain_island(59, 59);
  island.flux_peak = -2;
  island.flux_sum = -30;
  island.flags = kastor::island_negative;
  auto params = per_beam(10);
  params.flood_snr = 3;
  const auto table = table_on({}, {plain_island(59, 59), island}, params).table;
  for (const char* name : {"flux_int", "flux_iso"}) {
    EXPECT_EQ(real_value(table, name, 0), -real_value(table, name, 1)) << name;
    EXPECT_LT(real_value(table, name, 1), 0);
  }
  for (const char* name : {"flux_int_err", "flux_iso_err", "flux_peak_err", "maj_axis_cor",
                           "flux_fraction", "ra_err", "x_cen_err", "snr"}) {
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
  const Header header{"RA---SIN", "DEC--SIN", 150, 2, 60, 60, -3600, 0, 0, 3600};
  Island nowhere = plain_island(59, 59 + 80);  // 80 degrees of arc are beyond the projection
  Island centreless = plain_island(59, 59);
  centreless.x_cen = centreless.y_cen = centreless.var_xx = k_nan;
  centreless.var_xy = centreless.var_yy = k_nan;
  centreless.flags = kastor::island_no_centre;
  Island shapeless = plain_island(59, 59, 2, 0, 0);
  shapeless.flags = kastor::island_no_shape;
  const auto result = table_on(header, {nowhere, centreless, shapeless});
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
  EXPECT_SAYS(result.notes.back(), "1 of 3");
}

TEST(IslandTable, ColumnsAreDescribedAndOfOneLength) {
  for (const std::size_t count : {0u, 1u, 5u}) {
    const auto table =
        table_on({}, kastor::Islands(count, plain_island(59, 59)), per_beam(10)).table;
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
    for (const auto& column : table_on(header, {}, per_beam(10)).table.columns) {
      EXPECT_SAYS(text, "`" + column.name + "`") << column.name;
    }
  }
}

TEST(IslandTable, TheFrequencyIsAColumnIfItIsKnown) {
  IslandTableParams params = per_beam(10);
  const auto last_but_flags = [&] {
    const auto columns = table_on({}, {plain_island(59, 59)}, params).table.columns;
    return columns[columns.size() - 2];
  };
  EXPECT_EQ(last_but_flags().name, "dec_peak");
  params.frequency = 1.4e9;
  const auto column = last_but_flags();
  EXPECT_EQ(column.name, "freq");
  EXPECT_EQ(column.unit, "Hz");
  EXPECT_EQ(column.ucd, "em.freq");
  EXPECT_EQ(std::get<std::vector<double>>(column.values), std::vector<double>{1.4e9});
  for (const double wrong : {-1.0, std::nan("")}) {
    params.frequency = wrong;
    EXPECT_SAYS(error_of([&] { (void)last_but_flags(); }), "frequency is");
  }
}

TEST(IslandTable, TheHeaderSaysWhichBeam) {
  IslandTableParams params;
  params.beam = kastor::io::parse_beam("10,8,30");
  const auto table = table_on({}, {}, params).table;
  const auto& cards = table.cards;
  ASSERT_EQ(cards.size(), 5u);
  EXPECT_EQ(cards[0].keyword, "BMAJ");
  EXPECT_NEAR(std::get<double>(cards[0].value), 10 * k_arcsec, 1e-15);
  EXPECT_EQ(std::get<std::string>(cards[3].value), "user");
  EXPECT_NEAR(std::get<double>(cards[4].value), std::numbers::pi * 20 / (4 * std::numbers::ln2),
              1e-6);
  EXPECT_EQ(table.frame, kastor::io::SkyFrame::icrs);
  // Somebody's arc seconds.
  params.beam = {Beam{10, 8, 0}, BeamOrigin::header, {}};
  EXPECT_SAYS(table_on({}, {}, params).notes.back(), "arcsec instead of degrees");
}

TEST(IslandTable, RefusesWhatIsNoThreshold) {
  const auto error = [](auto change) {
    IslandTableParams params;
    change(params);
    return error_of([&] { (void)island_table({}, params); });
  };
  EXPECT_SAYS(error([](auto& p) { p.flood_snr = -1; }), "flood_snr is -1");
  EXPECT_SAYS(error([](auto& p) { p.flood_level = k_nan; }), "flood_level is nan");
  EXPECT_SAYS(error([](auto& p) { p.noise_beams = 0; }), "noise_beams is 0");
  EXPECT_SAYS(error([](auto& p) { p.noise_pixels = -1; }), "noise_pixels is -1");
  EXPECT_SAYS(error([](auto& p) { p.filtered_noise = -1; }), "filtered_noise is -1");
}

}  // namespace
