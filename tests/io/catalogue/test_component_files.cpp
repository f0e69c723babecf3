// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/io/component_table.hpp>
#include <kastor/io/cross_match.hpp>
#include <kastor/io/evaluation.hpp>
#include <kastor/io/island_regions.hpp>
#include <kastor/io/marked_sources.hpp>
#include <kastor/io/source_list.hpp>
#include <kastor/io/table_writer.hpp>
#include <string>
#include <vector>

#include "component_support.hpp"
#include "evaluation/evaluation_support.hpp"
#include "fits_support.hpp"
#include "island_support.hpp"
#include "island_table_support.hpp"

/// Tables of components in files, read by what reads catalogues; and as regions and marks.
namespace {

using namespace component_support;
using kastor::io::component_table;
using kastor::io::MeasuredQuantity;
using kastor::io::SourceQuantity;
using kastor::io::Table;
using testing_support::contains;
using testing_support::Header;
using testing_support::k_nan;
using testing_support::real_value;
using testing_support::ScratchDirectory;

constexpr const char* k_endings[] = {".fits", ".vot", ".ecsv", ".csv"};

Components some_components() {
  Components found = {ellipse(9, 6.5, 20, 2, 30, 30), ellipse(6, 5, 140, 3, 80, 70),
                      ellipse(5, 4, 0, -1, 50, 20)};
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].id = static_cast<std::int64_t>(i) + 11;
    found[i].island_id = static_cast<std::int64_t>(i) + 1;
  }
  return found;
}

void write(const std::string& path, const Table& table) {
  kastor::io::write_table(path, *kastor::io::table_format_of(path), table, {});
}

TEST(ComponentFiles, AreReadAsSourcesInEveryFormat) {
  const auto table = table_on({}, some_components(), params_of(10, 8)).table;
  const ScratchDirectory scratch;
  for (const std::string ending : k_endings) {
    const auto path = scratch.file("c" + ending);
    write(path, table);
    const auto list = kastor::io::read_source_list(path);
    ASSERT_EQ(list.sources.size(), 3u) << ending;
    EXPECT_EQ(list.column(SourceQuantity::id), "component_name");
    EXPECT_EQ(list.column(SourceQuantity::ra), "ra_deg_cont");
    EXPECT_EQ(list.column(SourceQuantity::x), "x_cen");
    EXPECT_EQ(list.column(SourceQuantity::flux_int), "flux_int");
    EXPECT_EQ(list.column(SourceQuantity::flux_peak), "flux_peak");
    EXPECT_EQ(list.column(SourceQuantity::rms), "rms_image");
    EXPECT_EQ(list.column(SourceQuantity::snr), "snr");
    EXPECT_EQ(list.column(SourceQuantity::size), "maj_axis");
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& source = list.sources[i];
      EXPECT_EQ(source.ra, real_value(table, "ra_deg_cont", i)) << ending;
      EXPECT_EQ(source.x, real_value(table, "x_cen", i)) << ending;
      EXPECT_EQ(source.flux_int, real_value(table, "flux_int", i)) << ending;
      EXPECT_EQ(source.flux_peak, real_value(table, "flux_peak", i)) << ending;
      EXPECT_EQ(source.snr, real_value(table, "snr", i)) << ending;
      EXPECT_EQ(source.size_arcsec, real_value(table, "maj_axis", i)) << ending;
    }
  }
}

TEST(ComponentFiles, WithoutASkyAreReadByTheirPixels) {
  const ScratchDirectory scratch;
  for (const std::string ending : k_endings) {
    const auto path = scratch.file("c" + ending);
    write(path, component_table(some_components(), {}).table);
    const auto list = kastor::io::read_source_list(path);
    ASSERT_EQ(list.sources.size(), 3u) << ending;
    EXPECT_FALSE(list.has_sky());
    EXPECT_EQ(list.column(SourceQuantity::id), "component_id");
    EXPECT_EQ(list.sources[1].id, "12");
    EXPECT_EQ(list.sources[1].y, 70);
  }
}

TEST(ComponentFiles, AreEvaluatedWithTheirErrors) {
  using namespace evaluation_support;
  auto found = some_components();
  found.pop_back();
  const ScratchDirectory scratch;
  write_bytes(scratch.file("t.csv"),
              truth_head + std::string("30.1,30,2.1,9,8.5,6,0,gaussian,0.1,21,0\n"
                                       "80,70,3.1,6,6.2,5.1,0,gaussian,0.1,31,0\n"));
  const Header header;
  const auto wcs = header.wcs();
  auto image = image_in();
  image.wcs = &wcs;
  image.beam = params_of(10, 8).beam.beam;
  for (const bool on_sky : {true, false}) {
    auto params = params_of(10, 8);
    if (on_sky) params.wcs = &wcs;
    const auto table = component_table(found, params).table;
    for (const std::string ending : k_endings) {
      const auto path = scratch.file("c" + ending);
      write(path, table);
      const kastor::io::Truth truth(scratch.file("t.csv"), image, 0);
      const auto e = kastor::io::evaluate(truth, {path}, nullptr, {});
      ASSERT_EQ(e.pairs.size(), 2u) << ending;
      const struct {
        MeasuredQuantity quantity;
        const char *column, *error;
        double value, sigma;
      } wanted[] = {
          {MeasuredQuantity::flux_peak, "flux_peak", "flux_peak_err", 2, 0.02},
          {MeasuredQuantity::x, "x_cen", "x_cen_err", 30, real_value(table, "x_cen_err")},
          {MeasuredQuantity::y, "y_cen", "y_cen_err", 30, real_value(table, "y_cen_err")},
          {MeasuredQuantity::major, on_sky ? "maj_axis" : "maj_axis_pix",
           on_sky ? "maj_axis_err" : "maj_axis_pix_err", 9, real_value(table, "maj_axis_pix_err")},
          {MeasuredQuantity::minor, on_sky ? "min_axis" : "min_axis_pix",
           on_sky ? "min_axis_err" : "min_axis_pix_err", 6.5,
           real_value(table, "min_axis_pix_err")}};
      for (const auto& each : wanted) {
        const auto& measure = measure_of(e, each.quantity);
        EXPECT_EQ(measure.trouble, "") << each.column << ending;
        EXPECT_EQ(measure.column, each.column);
        EXPECT_EQ(measure.error_column, each.error);
        const auto q = static_cast<std::size_t>(each.quantity);
        EXPECT_NEAR(e.pairs[0].measured[q], each.value, 1e-5 * each.value) << each.column << ending;
        EXPECT_NEAR(e.pairs[0].errors[q], each.sigma, 1e-5 * each.sigma) << each.column << ending;
        EXPECT_EQ(measure.pooled.pull.count, 2) << each.column << ending;
      }
      if (!on_sky) continue;
      const auto& flux = measure_of(e, MeasuredQuantity::flux_int);
      EXPECT_EQ(flux.column, "flux_int");
      EXPECT_EQ(flux.error_column, "flux_int_err");
      EXPECT_EQ(e.pairs[0].measured[0], real_value(table, "flux_int"));
      EXPECT_EQ(e.pairs[0].errors[0], real_value(table, "flux_int_err"));
    }
  }
}

// ---------------------------------------------------------------------------- regions, marks

TEST(ComponentRegions, AreTheFittedEllipses) {
  const auto table = table_on({}, some_components(), params_of(10, 8)).table;
  const auto shown = kastor::io::component_regions(table);
  ASSERT_TRUE(shown.frame);
  ASSERT_EQ(shown.regions.size(), 3u);
  EXPECT_EQ(shown.regions[1].x, real_value(table, "ra_deg_cont", 1));
  EXPECT_EQ(shown.regions[1].y, real_value(table, "dec_deg_cont", 1));
  EXPECT_EQ(shown.regions[1].semi_major, real_value(table, "maj_axis", 1) / 2);
  EXPECT_EQ(shown.regions[1].semi_minor, real_value(table, "min_axis", 1) / 2);
  EXPECT_EQ(shown.regions[1].angle, real_value(table, "pos_ang", 1));
  EXPECT_EQ(shown.regions[1].text, "12");
}

TEST(ComponentRegions, AreInPixelsWithoutASky) {
  auto components = some_components();
  components[2].gaussian = {k_nan, k_nan, k_nan, k_nan, k_nan, k_nan};
  const auto shown = kastor::io::component_regions(component_table(components, {}).table);
  EXPECT_FALSE(shown.frame);
  ASSERT_EQ(shown.regions.size(), 3u);
  EXPECT_EQ(shown.regions[0].x, 30);
  EXPECT_NEAR(shown.regions[0].semi_major, 4.5, 1e-12);
  EXPECT_NEAR(shown.regions[0].angle, 20, 1e-10);
  EXPECT_TRUE(std::isnan(shown.regions[2].x));  // which the writer leaves out
  EXPECT_TRUE(kastor::io::component_regions({}).regions.empty());
}

TEST(MarkedComponents, AreEllipses) {
  const Header header;
  auto components = some_components();
  components[2].gaussian.x = k_nan;
  const auto wcs = header.wcs();
  const ScratchDirectory scratch;
  for (const bool on_sky : {true, false}) {
    auto params = params_of(10, 8);
    if (on_sky) params.wcs = &wcs;
    for (const std::string ending : k_endings) {
      const auto path = scratch.file("c" + ending);
      write(path, component_table(components, params).table);
      const auto marked = kastor::io::read_marked_sources(path, on_sky ? &wcs : nullptr, true);
      EXPECT_TRUE(marked.sources.empty()) << ending;
      ASSERT_EQ(marked.ellipses.size(), 2u) << ending;  // the one without a place is left out
      const auto& ellipse = marked.ellipses[1];
      EXPECT_EQ(ellipse.id, 12) << ending;
      EXPECT_NEAR(ellipse.x, 80, 1e-6) << ending;
      EXPECT_NEAR(ellipse.y, 70, 1e-6) << ending;
      EXPECT_NEAR(ellipse.major, 6, 1e-6) << ending;
      EXPECT_NEAR(ellipse.minor, 5, 1e-6) << ending;
      EXPECT_NEAR(ellipse.angle, 140, 1e-6) << ending;
    }
  }
}

}  // namespace
