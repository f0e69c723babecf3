// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/io/forced_table.hpp>
#include <kastor/io/source_list.hpp>
#include <kastor/io/table_names.hpp>
#include <kastor/io/table_writer.hpp>
#include <set>
#include <string>
#include <vector>

#include "component_support.hpp"
#include "fits_support.hpp"
#include "io/sky/sexagesimal_text.hpp"
#include "island_support.hpp"
#include "island_table_support.hpp"

namespace {

using namespace component_support;
using kastor::io::source_list_of;
using kastor::io::SourceQuantity;
using kastor::io::Table;
using kastor::io::table_with_names;
using kastor::io::TableFormat;
using kastor::io::TableNames;
using testing_support::contains;
using testing_support::error_of;
using testing_support::find_column;
using testing_support::Header;
using testing_support::integer_value;
using testing_support::k_nan;
using testing_support::real_value;
using testing_support::ScratchDirectory;
using testing_support::text_value;

constexpr std::array k_programs = {TableNames::pybdsf, TableNames::aegean, TableNames::sextractor,
                                   TableNames::vizier};

/// Two components of one island, and one of another, without errors.
Components three_components() {
  Components list = {ellipse(9, 6.5, 20), ellipse(10, 8, 120, 3, 80, 70), ellipse(9, 7, 0, 1, 30)};
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].id = static_cast<std::int64_t>(i) + 11;
    list[i].island_id = i < 2 ? 3 : 4;
  }
  list[2] = fixed_shape(list[2]);
  list[2].flags = kastor::component_beam_shape | kastor::component_not_converged;
  return list;
}

Table component_sample(const Header& header = {}) {
  auto params = params_of(10, 8, 30);
  params.frequency = 1.4e9;
  return table_on(header, three_components(), params).table;
}

Table island_sample(const Header& header = {}) {
  auto params = testing_support::per_beam(10, 8, 30);
  params.flood_snr = 3;
  kastor::Islands islands = {testing_support::plain_island(59, 59, 5, 1, 4),
                             testing_support::plain_island(20.25, 30.5)};
  islands[1].id = 2;
  islands[1].flags = kastor::island_at_edge;
  auto table = testing_support::table_on(header, islands, params).table;
  kastor::io::TableColumn parents;
  parents.name = "parent_id";
  parents.values = std::vector<std::int64_t>{7, 7};
  table.columns.insert(table.columns.begin() + 1, parents);
  return table;
}

std::string unit_of(const Table& table, const char* name) {
  const auto* column = find_column(table, name);
  return column == nullptr ? "no such column" : column->unit;
}
std::string description_of(const Table& table, const char* name) {
  const auto* column = find_column(table, name);
  return column == nullptr ? "no such column" : column->description;
}

TEST(TableNames, AreFoundByName) {
  for (const auto names : k_programs)
    EXPECT_EQ(kastor::io::table_names_called(kastor::io::name_of(names)), names);
  EXPECT_EQ(kastor::io::table_names_called("kastor"), TableNames::kastor);
  EXPECT_FALSE(kastor::io::table_names_called("PyBDSF"));
}

TEST(TableNames, ThoseOfKastorChangeNothing) {
  const auto table = island_sample();
  const auto same = table_with_names(table, TableNames::kastor);
  ASSERT_EQ(same.columns.size(), table.columns.size());
  EXPECT_EQ(same.columns.back().name, table.columns.back().name);
}

TEST(TableNames, PyBdsfHasDegrees) {
  const auto own = component_sample();
  const auto table = table_with_names(own, TableNames::pybdsf);
  EXPECT_EQ(table.name, "components");
  for (const auto& [name, from] :
       {std::pair("RA", "ra_deg_cont"), std::pair("DEC", "dec_deg_cont"),
        std::pair("Total_flux", "flux_int"), std::pair("E_Total_flux", "flux_int_err"),
        std::pair("Peak_flux", "flux_peak"), std::pair("Xposn", "x_cen"),
        std::pair("PA", "pos_ang"), std::pair("Isl_rms", "rms_image"),
        std::pair("Isl_mean", "mean_background")})
    EXPECT_EQ(real_value(table, name), real_value(own, from)) << name;
  for (const auto& [name, from] :
       {std::pair("E_RA", "ra_err"), std::pair("Maj", "maj_axis"),
        std::pair("E_Min", "min_axis_err"), std::pair("DC_Maj", "maj_axis_deconv")}) {
    EXPECT_DOUBLE_EQ(real_value(table, name) * 3600, real_value(own, from)) << name;
    EXPECT_EQ(unit_of(table, name), "deg") << name;
  }
  EXPECT_EQ(unit_of(table, "Peak_flux"), "Jy/beam");
  EXPECT_EQ(unit_of(table, "Xposn"), "pix");
  EXPECT_EQ(integer_value(table, "Gaus_id", 2), 13);
  EXPECT_EQ(integer_value(table, "Isl_id", 2), 4);
  EXPECT_EQ(text_value(table, "S_Code"), text_value(own, "s_code"));
  EXPECT_EQ(description_of(table, "E_Total_flux"), "Error of Total_flux");
  EXPECT_EQ(find_column(table, "RA_max"), nullptr);
}

TEST(TableNames, PyBdsfIslandsAreItsSources) {
  const auto own = island_sample();
  const auto table = table_with_names(own, TableNames::pybdsf);
  EXPECT_EQ(integer_value(table, "Source_id", 1), 2);
  EXPECT_EQ(integer_value(table, "Isl_id", 1), 7);
  EXPECT_EQ(real_value(table, "Total_flux"), real_value(own, "flux_int"));
  EXPECT_EQ(real_value(table, "Isl_Total_flux"), real_value(own, "flux_iso"));
  EXPECT_EQ(real_value(table, "RA_max"), real_value(own, "ra_peak"));
  EXPECT_DOUBLE_EQ(real_value(table, "Maj") * 3600, real_value(own, "maj_axis_cor"));
  EXPECT_EQ(find_column(table, "S_Code"), nullptr);
  EXPECT_EQ(find_column(table, "Gaus_id"), nullptr);
}

TEST(TableNames, AegeanHasMinusOneForWhatIsNotKnown) {
  const auto own = component_sample();
  const auto table = table_with_names(own, TableNames::aegean);
  EXPECT_EQ(real_value(table, "a"), real_value(own, "maj_axis"));
  EXPECT_EQ(unit_of(table, "a"), "arcsec");
  EXPECT_DOUBLE_EQ(real_value(table, "err_ra") * 3600, real_value(own, "ra_err"));
  EXPECT_EQ(real_value(table, "err_a", 2), -1);
  EXPECT_TRUE(std::isnan(real_value(own, "maj_axis_err", 2)));
  EXPECT_EQ(real_value(table, "int_flux"), real_value(own, "flux_int"));
  EXPECT_EQ(integer_value(table, "island", 1), 3);
  EXPECT_EQ(integer_value(table, "source", 0), 0);
  EXPECT_EQ(integer_value(table, "source", 1), 1);
  EXPECT_EQ(integer_value(table, "source", 2), 0);
  EXPECT_EQ(integer_value(table, "flags", 2), 4 + 2);
  EXPECT_NEAR(real_value(table, "psf_a"), 10, 1e-12);
  EXPECT_NEAR(real_value(table, "psf_pa", 2), 30, 1e-12);
  EXPECT_EQ(text_value(table, "uuid", 1), text_value(own, "component_name", 1) + "_12");
  EXPECT_EQ(text_value(table, "ra_str"),
            kastor::io::detail::hours_text(real_value(own, "ra_deg_cont"), 2));
  for (std::size_t row = 0; row < 3; ++row) {
    const double angle = real_value(table, "pa", row);
    EXPECT_GT(angle, -90);
    EXPECT_LE(angle, 90);
    EXPECT_NEAR(std::remainder(angle - real_value(own, "pos_ang", row), 180), 0, 1e-10);
  }
}

TEST(TableNames, AegeanIslandsHaveTheirSumAndItsCorrection) {
  const auto own = island_sample();
  const auto table = table_with_names(own, TableNames::aegean);
  EXPECT_EQ(real_value(table, "int_flux"), real_value(own, "flux_iso"));
  EXPECT_NEAR(real_value(table, "int_flux") / real_value(table, "eta"), real_value(own, "flux_int"),
              1e-12);
  EXPECT_EQ(integer_value(table, "x_width"), 9);
  EXPECT_EQ(integer_value(table, "y_width"), 7);
  EXPECT_EQ(integer_value(table, "pixels"), 40);
  EXPECT_EQ(unit_of(table, "area"), "deg2");
  EXPECT_DOUBLE_EQ(real_value(table, "area") * 3600 * 3600, real_value(own, "solid_angle"));
  EXPECT_EQ(find_column(table, "a"), nullptr);
}

TEST(TableNames, SExtractorCountsPixelsFromOne) {
  const auto own = island_sample();
  const auto table = table_with_names(own, TableNames::sextractor);
  EXPECT_EQ(real_value(table, "X_IMAGE", 1), 21.25);
  EXPECT_EQ(real_value(table, "Y_IMAGE", 1), 31.5);
  EXPECT_EQ(integer_value(table, "XMIN_IMAGE"), 56);
  EXPECT_EQ(integer_value(table, "YPEAK_IMAGE"), 60);
  EXPECT_EQ(description_of(table, "X_IMAGE"), "Flux-weighted centre along x; the first pixel is 1");
  EXPECT_NEAR(real_value(table, "A_IMAGE", 1), 2, 1e-12);
  EXPECT_NEAR(real_value(table, "ELONGATION", 1), 1, 1e-12);
  EXPECT_NEAR(real_value(table, "ELLIPTICITY", 0),
              1 - real_value(table, "B_IMAGE") / real_value(table, "A_IMAGE"), 1e-12);
  EXPECT_DOUBLE_EQ(real_value(table, "ERRX2_IMAGE"), std::pow(real_value(own, "x_cen_err"), 2));
  EXPECT_EQ(real_value(table, "FLUX_ISO"), real_value(own, "flux_sum"));
  EXPECT_EQ(real_value(table, "FLUX_ISOCOR"), real_value(own, "flux_int"));
  EXPECT_EQ(real_value(table, "ALPHA_J2000"), real_value(own, "ra_deg_cont"));
  EXPECT_EQ(integer_value(table, "ID_PARENT"), 7);
  EXPECT_EQ(integer_value(table, "FLAGS", 0), 2);      // blended
  EXPECT_EQ(integer_value(table, "FLAGS", 1), 2 + 8);  // and truncated
  EXPECT_EQ(find_column(table, "FWHM_IMAGE"), nullptr);
  EXPECT_EQ(find_column(table, "MAG_AUTO"), nullptr);
}

TEST(TableNames, SExtractorHasMagnitude99ForNone) {
  auto params = testing_support::per_beam(10, 8, 30);
  params.zero_point = 25;
  std::vector<kastor::KronFlux> kron(2);
  for (auto& each : kron) {
    each.radius = 3.5;
    each.variance = 4;
  }
  kron[0].flux = 100;
  kron[1].flux = -1;
  params.kron = kron;
  const kastor::Islands islands(2, testing_support::plain_island(59, 59));
  const auto own = testing_support::table_on({}, islands, params).table;
  const auto table = table_with_names(own, TableNames::sextractor);
  EXPECT_EQ(real_value(table, "MAG_AUTO"), real_value(own, "mag_auto"));
  EXPECT_EQ(real_value(table, "MAG_AUTO", 1), 99);
  EXPECT_EQ(real_value(table, "MAGERR_AUTO", 1), 99);
  EXPECT_EQ(real_value(table, "FLUX_AUTO", 1), real_value(own, "flux_auto", 1));
  EXPECT_EQ(real_value(table, "KRON_RADIUS"), 3.5);
}

TEST(TableNames, VizierHasArcseconds) {
  const auto own = component_sample();
  const auto table = table_with_names(own, TableNames::vizier);
  EXPECT_EQ(real_value(table, "RAJ2000"), real_value(own, "ra_deg_cont"));
  EXPECT_EQ(real_value(table, "e_RAJ2000"), real_value(own, "ra_err"));
  EXPECT_EQ(unit_of(table, "e_RAJ2000"), "arcsec");
  EXPECT_EQ(real_value(table, "MajAxis"), real_value(own, "maj_axis"));
  EXPECT_EQ(real_value(table, "Sint", 1), real_value(own, "flux_int", 1));
  EXPECT_EQ(text_value(table, "Name"), text_value(own, "component_name"));
  EXPECT_EQ(integer_value(table, "Flag", 2), integer_value(own, "flags", 2));
}

TEST(TableNames, HaveTheEquinoxOfThePositions) {
  Header header;
  auto cards = header.cards();
  cards.push_back(testing_support::card("EQUINOX", 1950.0));
  const kastor::io::Wcs wcs(cards, {1, 2});
  auto params = params_of(10, 8, 30);
  params.wcs = &wcs;
  auto own = component_table(three_components(), params).table;
  EXPECT_NE(find_column(table_with_names(own, TableNames::vizier), "RAB1950"), nullptr);
  const auto table = table_with_names(own, TableNames::sextractor);
  EXPECT_NE(find_column(table, "DELTA_B1950"), nullptr);
  EXPECT_EQ(find_column(table, "DELTA_J2000"), nullptr);
  EXPECT_EQ(source_list_of(table, "t").frame, kastor::io::SkyFrame::fk4);

  own.frame.reset();  // as of J1975
  EXPECT_SAYS(error_of([&] { (void)table_with_names(own, TableNames::sextractor); }),
              "positions in a frame that the columns of --names sextractor have no names for");
  EXPECT_NE(find_column(table_with_names(own, TableNames::aegean), "ra"), nullptr);
}

TEST(TableNames, ArePixelsOrRefusedWithoutASky) {
  const auto own = component_table(three_components(), params_of(10)).table;
  EXPECT_SAYS(error_of([&] { (void)table_with_names(own, TableNames::aegean); }), "--names aegean");
  EXPECT_SAYS(error_of([&] { (void)table_with_names(own, TableNames::vizier); }),
              "found no right ascensions");
  EXPECT_EQ(real_value(table_with_names(own, TableNames::pybdsf), "Xposn"),
            real_value(own, "x_cen"));
  EXPECT_EQ(real_value(table_with_names(own, TableNames::sextractor), "X_IMAGE"),
            real_value(own, "x_cen") + 1);
}

/// The sources of a table as `kastor compare` reads them from a file of each format.
TEST(TableNames, AreReadAsTheSameSources) {
  const ScratchDirectory scratch;
  for (const auto& own : {component_sample(), island_sample()}) {
    const auto wanted = source_list_of(own, "own");
    for (const auto names : k_programs) {
      const auto table = table_with_names(own, names);
      for (const auto& [ending, format] :
           {std::pair(".csv", TableFormat::csv), std::pair(".fits", TableFormat::fits),
            std::pair(".vot", TableFormat::votable), std::pair(".ecsv", TableFormat::ecsv),
            std::pair(".cat", TableFormat::ascii_head)}) {
        const auto path = scratch.file(std::string(kastor::io::name_of(names)) + ending);
        kastor::io::write_table(path, format, table, {});
        const auto found = kastor::io::read_source_list(path, {});
        ASSERT_EQ(found.sources.size(), wanted.sources.size()) << path;
        EXPECT_NE(found.column(SourceQuantity::id), "") << path;
        // Aegean's islands have no size, and the flux is that of their pixels.
        const bool is_sum = own.name == "islands" && names == TableNames::aegean;
        EXPECT_EQ(found.column(SourceQuantity::size).empty(), is_sum) << path;
        for (std::size_t row = 0; row < wanted.sources.size(); ++row) {
          const auto &a = found.sources[row], &b = wanted.sources[row];
          EXPECT_EQ(a.ra, b.ra) << path;
          EXPECT_EQ(a.dec, b.dec) << path;
          EXPECT_EQ(a.flux_peak, b.flux_peak) << path;
          EXPECT_EQ(a.flux_int, is_sum ? real_value(own, "flux_iso", row) : b.flux_int) << path;
          if (found.has_pixels()) {
            EXPECT_NEAR(a.x, b.x, 1e-13) << path;
            EXPECT_NEAR(a.y, b.y, 1e-13) << path;
          }
        }
      }
    }
  }
}

TEST(TableNames, ColumnsOfAperturesKeepTheirNames) {
  kastor::io::ForcedList list;
  list.positions = {{59, 59, {}}};
  list.has_beam_shape = {true};
  list.list.sources.resize(1);
  const Header header;
  const kastor::io::Wcs wcs = header.wcs();
  auto params = params_of(10, 8, 30);
  params.wcs = &wcs;
  const kastor::io::ApertureColumn aperture{"2.5", 1, {kastor::ApertureFlux{}}};
  const auto own = kastor::io::forced_table(list, {ellipse(9, 6.5, 20)}, {aperture}, params).table;
  for (const auto names : k_programs) {
    const auto table = table_with_names(own, names);
    for (const char* name : {"flux_aper_2_5", "flux_aper_2_5_err", "area_aper_2_5", "n_missing_2_5",
                             "flags_aper_2_5", "flux_limit"})
      EXPECT_NE(find_column(table, name), nullptr) << name;
  }
  const auto table = table_with_names(own, TableNames::aegean);
  EXPECT_EQ(real_value(table, "peak_flux"), real_value(own, "flux_peak"));
  EXPECT_EQ(integer_value(table, "island"), 1);
}

TEST(SexagesimalText, IsRounded) {
  using kastor::io::detail::degrees_text;
  using kastor::io::detail::hours_text;
  EXPECT_EQ(hours_text(83.633083, 2), "05:34:31.94");
  EXPECT_EQ(hours_text(0, 0), "00:00:00");
  EXPECT_EQ(hours_text(359.99999999, 2), "00:00:00.00");
  EXPECT_EQ(hours_text(-15, 1), "23:00:00.0");
  EXPECT_EQ(degrees_text(22.0145, 1, ':'), "+22:00:52.2");
  EXPECT_EQ(degrees_text(-0.5, 2, '.'), "-00.30.00.00");
  EXPECT_EQ(degrees_text(-89.9999999, 3, '.'), "-90.00.00.000");
  EXPECT_EQ(degrees_text(59.99999999 / 60, 2, ':'), "+01:00:00.00");
}

}  // namespace
