// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <kastor/io/island_regions.hpp>
#include <kastor/io/island_table.hpp>
#include <string>
#include <vector>

#include "fits_support.hpp"
#include "island_support.hpp"
#include "island_table_support.hpp"

namespace {

using namespace testing_support;
using kastor::Island;
using kastor::Islands;
using kastor::io::catalogue_regions;
using kastor::io::island_regions;
using kastor::io::island_table;
using kastor::io::PixelPosition;
using kastor::io::Region;
using kastor::io::ShownRegions;
using kastor::io::SkyFrame;
using kastor::io::SkyPosition;
using kastor::io::Wcs;

/// Square pixels of 3 arcsec about (150, 20) degrees, which is the centre of pixel (50, 40); the
/// first axis runs to the west.
Wcs make_wcs(const std::string& lon, const std::string& lat, const std::string& frame = "",
             const std::string& equinox = "") {
  auto cards = Header{lon, lat, 150, 20, 51, 41, -3, 0, 0, 3}.cards();
  if (!frame.empty()) cards.push_back(card("RADESYS", "'" + frame + "'"));
  if (!equinox.empty()) cards.push_back(card("EQUINOX", equinox));
  return Wcs(cards, {1, 2});
}

/// One with these second moments; its peak is not its centre.
Island ellipse(std::int64_t id, double x, double y, double xx, double xy, double yy) {
  Island island = plain_island(x, y, xx, xy, yy);
  island.id = id;
  island.x_peak += 1;
  island.y_peak -= 1;
  return island;
}

/// One row of pixels: a centre, but no ellipse.
Island line(std::int64_t id, double x, double y) {
  Island island = ellipse(id, x, y, 2, 0, 0);
  island.flags = kastor::island_no_shape;
  return island;
}

/// Deviations that cancel.
Island without_centre(std::int64_t id) {
  Island island = ellipse(id, 70, 30, k_nan, k_nan, k_nan);
  island.x_cen = island.y_cen = k_nan;
  island.flux_sum = 0;
  island.flags = kastor::island_no_centre | kastor::island_no_shape;
  return island;
}

Islands three_islands() {
  return {ellipse(7, 12.5, 20.25, 9, 0, 4), line(8, 50, 40), without_centre(9)};
}

ShownRegions regions_of(const Islands& islands, const Wcs* wcs) {
  kastor::io::IslandTableParams params;
  params.wcs = wcs;
  return island_regions(islands, island_table(islands, params).table);
}

SkyPosition sky_of(const Wcs& wcs, double x, double y) {
  const std::array<PixelPosition, 1> at = {PixelPosition{x, y}};
  return wcs.to_sky(at).front();
}

void expect_numbers(const ShownRegions& shown, const std::vector<std::string>& texts) {
  ASSERT_EQ(shown.regions.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(shown.regions[i].text, texts[i]);
}

void expect_point(const Region& region) {
  EXPECT_FALSE(region.semi_major > 0 && region.semi_minor > 0)
      << region.semi_major << ", " << region.semi_minor;
  EXPECT_TRUE(std::isfinite(region.angle));
}

// --------------------------------------------------------------------------------- islands

TEST(IslandRegions, OnTheSky) {
  const Wcs wcs = make_wcs("RA---TAN", "DEC--TAN", "FK5", "2000.0");
  const auto shown = regions_of(three_islands(), &wcs);
  EXPECT_EQ(shown.frame, SkyFrame::fk5);
  expect_numbers(shown, {"7", "8", "9"});
  const auto at = sky_of(wcs, 12.5, 20.25);
  const Region& region = shown.regions[0];
  EXPECT_NEAR(region.x, at.longitude, 1e-9);
  EXPECT_NEAR(region.y, at.latitude, 1e-9);
  // Half of the full widths at half maximum of standard deviations of 3 and 2 pixels of 3 arcsec.
  EXPECT_NEAR(region.semi_major, k_fwhm * 3 * 3 / 2, 1e-3);
  EXPECT_NEAR(region.semi_minor, k_fwhm * 2 * 3 / 2, 1e-3);
  EXPECT_NEAR(region.angle, 90, 0.1);  // along x: east to west

  expect_point(shown.regions[1]);
  EXPECT_NEAR(shown.regions[1].x, 150, 1e-9);
  EXPECT_NEAR(shown.regions[1].y, 20, 1e-9);
}

TEST(IslandRegions, AnIslandWithoutACentreIsAPointOnItsPeak) {
  const Wcs wcs = make_wcs("RA---TAN", "DEC--TAN", "ICRS");
  const auto sky = regions_of(three_islands(), &wcs);
  EXPECT_EQ(sky.frame, SkyFrame::icrs);
  const auto at = sky_of(wcs, 71, 29);
  EXPECT_NEAR(sky.regions[2].x, at.longitude, 1e-9);
  EXPECT_NEAR(sky.regions[2].y, at.latitude, 1e-9);
  expect_point(sky.regions[2]);

  const auto pixels = regions_of(three_islands(), nullptr);
  EXPECT_EQ(pixels.regions[2].x, 71);
  EXPECT_EQ(pixels.regions[2].y, 29);
  expect_point(pixels.regions[2]);
}

TEST(IslandRegions, InPixels) {
  const auto shown = regions_of({ellipse(1, 12.5, 20.25, 9, 0, 4), ellipse(2, 30, 31, 4, 0, 9),
                                 ellipse(3, 5, 6, 5, 4, 5), line(4, 50, 40)},
                                nullptr);
  EXPECT_FALSE(shown.frame);
  expect_numbers(shown, {"1", "2", "3", "4"});
  EXPECT_EQ(shown.regions[0].x, 12.5);
  EXPECT_EQ(shown.regions[0].y, 20.25);
  EXPECT_NEAR(shown.regions[0].semi_major, k_fwhm * 3 / 2, 1e-12);
  EXPECT_NEAR(shown.regions[0].semi_minor, k_fwhm * 2 / 2, 1e-12);
  EXPECT_NEAR(shown.regions[0].angle, 0, 1e-9);
  EXPECT_NEAR(shown.regions[1].semi_major, k_fwhm * 3 / 2, 1e-12);
  EXPECT_NEAR(shown.regions[1].angle, 90, 1e-9);  // from x towards y
  EXPECT_NEAR(shown.regions[2].semi_major, k_fwhm * 3 / 2, 1e-12);
  EXPECT_NEAR(shown.regions[2].semi_minor, k_fwhm * 1 / 2, 1e-12);
  EXPECT_NEAR(shown.regions[2].angle, 45, 1e-9);
  expect_point(shown.regions[3]);
  EXPECT_EQ(shown.regions[3].x, 50);
}

/// The positions and angles of a galactic image's table are equatorial, so its regions are.
TEST(IslandRegions, OfAGalacticImageAreIcrs) {
  const Wcs wcs = make_wcs("GLON-CAR", "GLAT-CAR");
  const Islands islands = {ellipse(1, 12.5, 20.25, 9, 0, 4)};
  kastor::io::IslandTableParams params;
  params.wcs = &wcs;
  const auto table = island_table(islands, params).table;
  const auto shown = island_regions(islands, table);
  EXPECT_EQ(shown.frame, SkyFrame::icrs);
  EXPECT_EQ(shown.regions[0].x, real_value(table, "ra_deg_cont"));
  EXPECT_EQ(shown.regions[0].y, real_value(table, "dec_deg_cont"));
  EXPECT_EQ(shown.regions[0].angle, real_value(table, "pos_ang"));
  EXPECT_GT(std::abs(shown.regions[0].x - sky_of(wcs, 12.5, 20.25).longitude), 1);
}

TEST(IslandRegions, WithoutAFrameThatTheFilesKnowTheyAreInPixels) {
  for (const Wcs& wcs :
       {make_wcs("RA---TAN", "DEC--TAN", "FK5", "1975.0"), make_wcs("ELON-TAN", "ELAT-TAN")}) {
    const auto shown = regions_of(three_islands(), &wcs);
    EXPECT_FALSE(shown.frame);
    EXPECT_EQ(shown.regions[0].x, 12.5);
    EXPECT_EQ(shown.regions[0].y, 20.25);
  }
}

TEST(IslandRegions, OfNothing) {
  const Wcs wcs = make_wcs("RA---TAN", "DEC--TAN", "ICRS");
  EXPECT_TRUE(regions_of({}, &wcs).regions.empty());
  EXPECT_TRUE(regions_of({}, nullptr).regions.empty());
}

// ------------------------------------------------------------------------------- catalogues

kastor::Catalogue two_sources() {
  return {{1, 12.5, 20.25, 10, 3, 12, 20, 5, 10, 14, 18, 22},
          {2, k_nan, k_nan, 0, 1, 33, 44, 2, 33, 34, 44, 44}};
}

TEST(CatalogueRegions, InPixels) {
  const auto shown = catalogue_regions(two_sources(), nullptr);
  EXPECT_FALSE(shown.frame);
  expect_numbers(shown, {"1", "2"});
  EXPECT_EQ(shown.regions[0].x, 12.5);
  EXPECT_EQ(shown.regions[0].y, 20.25);
  EXPECT_EQ(shown.regions[1].x, 33);  // its peak
  EXPECT_EQ(shown.regions[1].y, 44);
  for (const Region& region : shown.regions) expect_point(region);
}

TEST(CatalogueRegions, OnTheSky) {
  const Wcs wcs = make_wcs("RA---TAN", "DEC--TAN", "FK4", "1950.0");
  const auto shown = catalogue_regions(two_sources(), &wcs);
  EXPECT_EQ(shown.frame, SkyFrame::fk4);
  const auto centre = sky_of(wcs, 12.5, 20.25);
  const auto peak = sky_of(wcs, 33, 44);
  EXPECT_EQ(shown.regions[0].x, centre.longitude);
  EXPECT_EQ(shown.regions[0].y, centre.latitude);
  EXPECT_EQ(shown.regions[1].x, peak.longitude);
  EXPECT_EQ(shown.regions[1].y, peak.latitude);
}

/// Unlike a table of islands, a catalogue has no equatorial positions of its own.
TEST(CatalogueRegions, OfAGalacticImageAreGalactic) {
  const Wcs wcs = make_wcs("GLON-CAR", "GLAT-CAR");
  const auto shown = catalogue_regions(two_sources(), &wcs);
  EXPECT_EQ(shown.frame, SkyFrame::galactic);
  EXPECT_EQ(shown.regions[0].x, sky_of(wcs, 12.5, 20.25).longitude);
}

TEST(CatalogueRegions, WithoutAFrameThatTheFilesKnowTheyAreInPixels) {
  const Wcs wcs = make_wcs("RA---TAN", "DEC--TAN", "FK5", "1975.0");
  const auto shown = catalogue_regions(two_sources(), &wcs);
  EXPECT_FALSE(shown.frame);
  EXPECT_EQ(shown.regions[0].x, 12.5);
}

}  // namespace
