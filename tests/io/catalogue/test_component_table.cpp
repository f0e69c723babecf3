// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/component_table.hpp>
#include <kastor/io/island_table.hpp>
#include <kastor/io/pixel_beam.hpp>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "component_support.hpp"
#include "fits_support.hpp"
#include "island_support.hpp"
#include "island_table_support.hpp"

namespace {

using namespace component_support;
using kastor::io::component_hash;
using kastor::io::component_no_flux;
using kastor::io::component_no_sky;
using kastor::io::component_table;
using kastor::io::Table;
using testing_support::contains;
using testing_support::find_column;
using testing_support::Header;
using testing_support::integer_value;
using testing_support::k_nan;
using testing_support::k_radian;
using testing_support::real_value;
using testing_support::text_value;

const double gaussian_area = std::numbers::pi / (4 * std::numbers::ln2);

// ------------------------------------------------------------------------------------ columns

TEST(ComponentTable, HasTheColumnsOfTheIslandsWithTheSameWords) {
  for (const char* unit : {"Jy/beam", "mJy/beam", "MJy/sr", "K"}) {
    const auto params = params_of(8, 6, 35, unit);
    kastor::io::IslandTableParams of_islands;
    static_cast<TableParams&>(of_islands) = params;
    of_islands.frequency = 1.4e9;
    auto own = params;
    own.frequency = 1.4e9;
    const auto islands =
        testing_support::table_on({}, {testing_support::plain_island(59, 59)}, of_islands).table;
    const auto table = table_on({}, {ellipse(9, 6.5, 20)}, own).table;
    int shared = 0;
    for (const auto& column : table.columns) {
      const auto* other = find_column(islands, column.name);
      if (other == nullptr || column.name == "island_id") continue;
      ++shared;
      EXPECT_EQ(column.unit, other->unit) << column.name;
      EXPECT_EQ(column.ucd, other->ucd) << column.name;
      EXPECT_EQ(column.values.index(), other->values.index()) << column.name;
    }
    EXPECT_EQ(shared, 23);
  }
}

TEST(ComponentTable, HasWordsForEveryColumn) {
  auto params = params_of(8, 6, 35);
  params.frequency = 1.4e9;
  const auto table = table_on({}, {ellipse(9, 6.5, 20)}, params).table;
  std::set<std::string> names;
  for (const auto& column : table.columns) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_FALSE(column.ucd.empty()) << column.name;
    EXPECT_FALSE(column.description.empty()) << column.name;
  }
  for (const char* name : {"maj_axis_deconv", "min_axis_deconv", "pos_ang_deconv"})
    EXPECT_TRUE(find_column(table, name)->ucd.ends_with(";em.radio;askap:meta.deconvolved"));
  EXPECT_EQ(find_column(table, "component_id")->ucd, "meta.id;meta.main");
  EXPECT_EQ(table.name, "components");
  ASSERT_TRUE(table.frame);
  EXPECT_EQ(*table.frame, kastor::io::SkyFrame::icrs);
  EXPECT_EQ(table.cards.at(0).keyword, "BMAJ");
  EXPECT_EQ(table.columns.front().name, "island_id");
  EXPECT_EQ(table.columns.back().name, "flags");
}

TEST(ComponentTable, HoldsWhatWasFitted) {
  Component c = ellipse(9, 6.5, 20, 2, 61.25, 58.5);
  c.id = 7;
  c.island_id = 3;
  c.group_id = 4;
  c.group_size = 2;
  c.flags = kastor::component_at_edge | kastor::component_not_converged;
  auto params = params_of(8, 6);
  params.name_prefix = "KASTOR";
  params.frequency = 1.4e9;
  const auto table = table_on({}, {c}, params).table;
  EXPECT_EQ(integer_value(table, "component_id"), 7);
  EXPECT_EQ(integer_value(table, "island_id"), 3);
  EXPECT_EQ(integer_value(table, "group_id"), 4);
  EXPECT_EQ(integer_value(table, "group_size"), 2);
  EXPECT_EQ(integer_value(table, "n_pix"), 47);
  EXPECT_EQ(integer_value(table, "n_iter"), 5);
  EXPECT_EQ(integer_value(table, "fit_is_estimate"), 0);
  EXPECT_EQ(integer_value(table, "flags") & 33, 33);
  EXPECT_EQ(real_value(table, "x_cen"), 61.25);
  EXPECT_EQ(real_value(table, "y_cen"), 58.5);
  EXPECT_EQ(real_value(table, "flux_peak"), 2);
  EXPECT_DOUBLE_EQ(real_value(table, "flux_peak_err"), 0.02);
  EXPECT_EQ(real_value(table, "snr"), 20);
  EXPECT_EQ(real_value(table, "mean_background"), 0.025);
  EXPECT_EQ(real_value(table, "rms_image"), 0.1);
  EXPECT_EQ(real_value(table, "rms_fit_gauss"), 0.09);
  EXPECT_EQ(real_value(table, "chi_squared_fit"), 41.5);
  EXPECT_EQ(real_value(table, "freq"), 1.4e9);
  EXPECT_TRUE(text_value(table, "component_name").starts_with("KASTOR J"));
  EXPECT_NEAR(real_value(table, "maj_axis_pix"), 9, 1e-12);
  EXPECT_NEAR(real_value(table, "min_axis_pix"), 6.5, 1e-12);
  EXPECT_NEAR(real_value(table, "pos_ang_pix"), 20, 1e-10);
  EXPECT_NEAR(real_value(table, "maj_axis"), 18, 1e-5);
  EXPECT_NEAR(real_value(table, "pos_ang"), 110, 1e-3);  // x runs to the west
}

TEST(ComponentTable, WithoutCoordinatesHasPixelsOnly) {
  auto params = params_of(8, 6);
  const auto result = component_table({ellipse(9, 6.5, 20)}, params);
  for (const auto& column : result.table.columns) {
    EXPECT_NE(column.unit, "arcsec") << column.name;
    EXPECT_FALSE(column.name.find("deconv") != std::string::npos) << column.name;
  }
  EXPECT_EQ(find_column(result.table, "ra_deg_cont"), nullptr);
  EXPECT_EQ(find_column(result.table, "component_name"), nullptr);
  EXPECT_TRUE(std::isnan(real_value(result.table, "flux_int")));
  EXPECT_EQ(integer_value(result.table, "flags"), component_no_flux);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_SAYS(result.notes[0], "no celestial coordinates");
  EXPECT_GT(real_value(result.table, "maj_axis_pix_err"), 0);
  EXPECT_FALSE(result.table.frame);
}

TEST(ComponentTable, WithoutABeamNothingIsDeconvolved) {
  TableParams params;
  params.unit = "Jy/beam";
  const auto result = table_on({}, {ellipse(9, 6.5, 20)}, params);
  EXPECT_EQ(find_column(result.table, "maj_axis_deconv"), nullptr);
  EXPECT_TRUE(std::isfinite(real_value(result.table, "maj_axis")));
  EXPECT_TRUE(std::isnan(real_value(result.table, "flux_int")));
  EXPECT_TRUE(std::isnan(real_value(result.table, "flux_int_err")));
  EXPECT_EQ(integer_value(result.table, "flags"), component_no_flux);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_SAYS(result.notes[0], "gives a beam");
}

TEST(ComponentTable, WhereTheSkyEndsThereIsNoPosition) {
  const Header header{"RA---SIN", "DEC--SIN", 150, 2, 60, 60, -3600, 0, 0, 3600};
  const auto result = table_on(header, {ellipse(9, 6.5, 20, 2, 500, 500), ellipse(5, 4, 0)},
                               params_of(36000, 36000));
  EXPECT_TRUE(integer_value(result.table, "flags") & component_no_sky);
  EXPECT_FALSE(integer_value(result.table, "flags", 1) & component_no_sky);
  EXPECT_TRUE(std::isnan(real_value(result.table, "ra_deg_cont")));
  EXPECT_TRUE(std::isnan(real_value(result.table, "maj_axis_deconv")));
  EXPECT_EQ(text_value(result.table, "component_name"), "");
  EXPECT_GT(real_value(result.table, "flux_int"), 0);  // the beam is that of the reference pixel
  EXPECT_SAYS(result.notes.back(), "1 of 2 components lie where");
}

TEST(ComponentTable, RowsWithoutAMeasurementAreNaN) {
  Component none = component_of({k_nan, k_nan, k_nan, 0.4, 0, 0.4});
  for (auto& value : none.covariance) value = k_nan;
  none.flags = kastor::component_forced;
  const auto table = table_on({}, {none, ellipse(5, 4, 0)}, params_of(8, 6)).table;
  for (const char* name : {"ra_deg_cont", "dec_deg_cont", "ra_err", "flux_peak", "flux_int",
                           "flux_int_err", "maj_axis", "x_cen", "snr", "maj_axis_deconv"})
    EXPECT_TRUE(std::isnan(real_value(table, name))) << name;
  EXPECT_EQ(integer_value(table, "flags"),
            std::int64_t{4096} + component_no_sky + component_no_flux);
  EXPECT_GT(real_value(table, "flux_int", 1), 0);
}

TEST(ComponentTable, RefusesWhatIsOutOfRange) {
  TableParams params;
  params.flood_snr = -1;
  EXPECT_SAYS(testing_support::error_of([&] { (void)component_table({}, params); }),
              "flood_snr is -1; expected a finite number, 0 or more");
  params.flood_snr = 0;
  params.frequency = k_nan;
  EXPECT_THROW((void)component_table({}, params), kastor::Error);
  EXPECT_TRUE(component_table({}, {}).table.columns.size() > 20);
}

// ------------------------------------------------------------------------------------- fluxes

TEST(ComponentTable, FluxesAreVolumesOverTheBeam) {
  const struct {
    const char* unit;
    double factor;  // flux of a Gaussian of peak 1 and 10 x 8 arcsec
    const char* pixel;
    const char* integrated;
  } cases[] = {{"Jy/beam", 80.0 / 48, "Jy/beam", "Jy"},
               {"mJy/beam", 80.0 / 48, "mJy/beam", "mJy"},
               {"Jy/pixel", gaussian_area * 20, "Jy/pixel", "Jy"},
               {"Jy/arcsec2", gaussian_area * 80, "Jy/arcsec2", "Jy"},
               {"2.5 mJy/beam", 2.5 * 80 / 48, "mJy/beam", "mJy"},
               {"K", k_nan, "K", ""},
               {"", k_nan, "", ""}};
  for (const auto& each : cases) {
    const auto result = table_on({}, {ellipse(5, 4, 20)}, params_of(8, 6, 35, each.unit));
    const double flux = real_value(result.table, "flux_int");
    EXPECT_EQ(find_column(result.table, "flux_peak")->unit, each.pixel);
    EXPECT_EQ(find_column(result.table, "flux_int_err")->unit, each.integrated);
    if (std::isnan(each.factor)) {
      EXPECT_TRUE(std::isnan(flux)) << each.unit;
      EXPECT_TRUE(integer_value(result.table, "flags") & component_no_flux) << each.unit;
    } else {
      EXPECT_NEAR(flux, 2 * each.factor, 1e-6 * flux) << each.unit;
      EXPECT_EQ(integer_value(result.table, "flags") & component_no_flux, 0) << each.unit;
    }
  }
  auto sums = params_of(8, 6, 35, "adu");
  sums.sums_of_pixels = true;
  const auto table = component_table({ellipse(5, 4, 20)}, sums).table;
  EXPECT_NEAR(real_value(table, "flux_int"), 2 * gaussian_area * 20, 1e-9);
  EXPECT_EQ(find_column(table, "flux_int")->unit, "adu");
}

TEST(ComponentTable, APointHasTheFluxOfItsPeak) {
  const Component point = fixed_shape(ellipse(5, 4, 90, -3.25, 80, 70));
  for (const char* unit : {"Jy/beam", "2.5 mJy/beam"}) {
    const auto table = table_on({}, {point}, params_of(10, 8, 0, unit)).table;
    EXPECT_EQ(real_value(table, "flux_int"), real_value(table, "flux_peak"));
    EXPECT_EQ(real_value(table, "flux_int_err"), real_value(table, "flux_peak_err"));
  }
  const auto table = table_on({}, {point}, params_of(10, 8, 0, "Jy/pixel")).table;
  EXPECT_NEAR(real_value(table, "flux_int"), -3.25 * gaussian_area * 20, 1e-9);
  EXPECT_NEAR(real_value(table, "flux_int_err"), 0.0325 * gaussian_area * 20, 1e-9);
  EXPECT_NEAR(real_value(table, "snr"), 32.5, 1e-12);
}

TEST(ComponentTable, TheBeamIsTheSamePixelsInOrthographicImages) {
  // Far from the reference pixel a pixel of SIN covers more of the sky, and one of CAR less.
  const double scale = 3600;
  const struct {
    Header header;
    double factor;  // beam area at the reference pixel / that used
  } cases[] = {
      {{"RA---SIN", "DEC--SIN", 150, 2, 60, 60, -scale, 0, 0, scale}, 1},
      {{"GLON-CAR", "GLAT-CAR", 150, 0, 60, 60, -scale, 0, 0, scale}, std::cos(30 * k_radian)}};
  for (const auto& [header, factor] : cases) {
    const auto table =
        table_on(header, {ellipse(5, 4, 20, 2, 59, 89)}, params_of(8 * 3600, 6 * 3600)).table;
    EXPECT_NEAR(real_value(table, "flux_int"), 2 * 20.0 / 48 * factor, 1e-4);
  }
}

// --------------------------------------------------------------------------------------- beam

TEST(PixelBeam, IsThatOfTheTable) {
  const double c = 2 * std::cos(0.7), s = 2 * std::sin(0.7);
  for (const Header& header : {Header{"RA---TAN", "DEC--TAN", 150, 2, 60, 60, -c, s, s, c},
                               Header{"RA---TAN", "DEC--TAN", 150, 40, 60, 60, 1.7, 0.6, -0.4, 2.4},
                               Header{"RA---SIN", "DEC--SIN", 150, -45, 60, 60, -1.5, 0, 0, 2.5}}) {
    const auto wcs = header.wcs();
    const auto params = params_of(12, 7, 35);
    const auto beam = kastor::io::pixel_beam(*params.beam.beam, wcs, {59, 59});
    const auto table =
        table_on(header, {component_of(kastor::gaussian_of(beam, 2, 59, 59))}, params).table;
    EXPECT_NEAR(real_value(table, "maj_axis"), 12, 1e-6);
    EXPECT_NEAR(real_value(table, "min_axis"), 7, 1e-6);
    EXPECT_NEAR(real_value(table, "pos_ang"), 35, 1e-6);
    EXPECT_LT(real_value(table, "maj_axis_deconv"), 2e-3);
    EXPECT_NEAR(real_value(table, "flux_int"), 2, 1e-6);
  }
}

TEST(PixelBeam, OfAHeaderWithoutAnAngleAndBeyondTheSky) {
  const Header header;
  const auto wcs = header.wcs();
  const auto beam = kastor::io::pixel_beam({12 / 3600.0, 8 / 3600.0, k_nan}, wcs, {59, 59});
  EXPECT_NEAR(beam.major, 6, 1e-7);
  EXPECT_NEAR(beam.minor, 4, 1e-7);
  EXPECT_NEAR(beam.angle, std::numbers::pi / 2, 1e-7);
  const auto far = Header{"RA---ARC", "DEC--ARC", 150, 2, 60, 60, -3600, 0, 0, 3600}.wcs();
  EXPECT_TRUE(std::isnan(kastor::io::pixel_beam({1, 1, 0}, far, {900, 900}).major));
}

// --------------------------------------------------------------------------------------- hash

TEST(ComponentHash, ChangesWithEveryMember) {
  const Component c = ellipse(9, 6.5, 20);
  std::set<std::string> seen{component_hash({c}), component_hash({}), component_hash({c, c})};
  std::size_t wanted = 3;
  const auto changed = [&](const auto& change) {
    Component other = c;
    change(other);
    seen.insert(component_hash({other}));
    EXPECT_EQ(seen.size(), ++wanted);
  };
  changed([](Component& o) { o.id += 1; });
  changed([](Component& o) { o.island_id += 1; });
  for (double Gaussian::*member :
       {&Gaussian::peak, &Gaussian::x, &Gaussian::y, &Gaussian::u, &Gaussian::w, &Gaussian::t})
    changed([&](Component& o) { o.gaussian.*member = std::nextafter(o.gaussian.*member, 1e9); });
  for (int i = 0; i < 36; ++i)
    changed([&](Component& o) { o.covariance[i] = std::nextafter(o.covariance[i], 1e9); });
  for (double Component::*member :
       {&Component::rms, &Component::background, &Component::chi_squared, &Component::residual_rms})
    changed([&](Component& o) { o.*member = std::nextafter(o.*member, 1e9); });
  changed([](Component& o) { o.n_pix += 1; });
  changed([](Component& o) { o.group_id += 1; });
  changed([](Component& o) { o.group_size += 1; });
  changed([](Component& o) { o.iterations += 1; });
  changed([](Component& o) { o.flags ^= 0x80000000; });
}

TEST(ComponentHash, IsTheSameForEveryNaN) {
  Component c = ellipse(9, 6.5, 20);
  Component other = c;
  c.covariance[3] = k_nan;
  other.covariance[3] = -k_nan;
  EXPECT_EQ(component_hash({c}), component_hash({other}));
  EXPECT_EQ(component_hash({}).size(), 64u);
}

}  // namespace
