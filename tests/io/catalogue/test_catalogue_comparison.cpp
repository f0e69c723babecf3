// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/io/catalogue_comparison.hpp>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::compare_catalogues;
using kastor::io::ComparisonParams;
using kastor::io::MatchFrame;
using kastor::io::RadiusFrom;
using kastor::io::SourceList;
using Q = kastor::io::SourceQuantity;

SourceList list_of(const std::string& text) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.csv"), text);
  return kastor::io::read_source_list(scratch.file("a.csv"));
}

std::string comparison_error(const std::string& first, const std::string& second,
                             const ComparisonParams& params = {}) {
  return error_of([&] { (void)compare_catalogues(list_of(first), list_of(second), params); });
}

TEST(CatalogueComparison, CountsAndShares) {
  const auto first = list_of("x,y,flux_peak\n0,0,1\n10,0,8\n20,0,3\nnan,0,9\n");
  const auto second = list_of("x,y,flux_peak\n20,1,6\n0,0,2\n40,0,5\n");
  const auto found = compare_catalogues(first, second);
  EXPECT_EQ(found.frame, MatchFrame::pixels);
  EXPECT_EQ(found.radius, 3);
  EXPECT_EQ(found.radius_from, RadiusFrom::standard);
  EXPECT_EQ(found.sides[0].rows, 4);
  EXPECT_EQ(found.sides[0].without_position, 1);
  EXPECT_EQ(found.sides[0].selected, 3);
  EXPECT_DOUBLE_EQ(found.sides[0].matched_share, 2.0 / 3);
  EXPECT_DOUBLE_EQ(found.sides[1].matched_share, 2.0 / 3);
  EXPECT_EQ(found.sides[0].unmatched, (std::vector<std::size_t>{1}));
  EXPECT_EQ(found.sides[1].unmatched, (std::vector<std::size_t>{2}));
  ASSERT_EQ(found.matches.size(), 2u);
  EXPECT_EQ(found.matches[1].first, 2u);
  EXPECT_EQ(found.matches[1].second, 0u);
  EXPECT_EQ(found.matches[1].separation, 1);
  EXPECT_EQ(found.d_first.median, 0);
  EXPECT_EQ(found.d_second.median, 0.5);
  EXPECT_EQ(found.flux_ratios[0].ratio.median, 2);
  EXPECT_EQ(found.flux_ratios[0].ratio.sigma, 0);
  EXPECT_EQ(found.flux_ratios[1].trouble, "neither catalogue has one");
}

TEST(CatalogueComparison, ACatalogueWithItselfIsComplete) {
  const auto list = list_of("ra,dec,flux_int,snr\n10,5,1,7\n10,5,2,9\n0,90,nan,3\n200,-90,4,1\n");
  const auto found = compare_catalogues(list, list);
  EXPECT_EQ(found.sides[0].matched_share, 1);
  EXPECT_EQ(found.sides[1].matched_share, 1);
  EXPECT_EQ(found.separation.median, 0);
  EXPECT_EQ(found.flux_ratios[1].ratio.count, 3);
  EXPECT_EQ(found.flux_ratios[1].ratio.median, 1);
  for (const auto& match : found.matches) EXPECT_EQ(match.first, match.second);
}

TEST(CatalogueComparison, OffsetsOnTheSkyHaveNoSeamAndNoPole) {
  // One arcsec to the east at 60 degrees is two of right ascension; then across 0h; at the pole.
  const auto first = list_of("ra,dec\n10,60\n359.9999,0\n45,89.9999\n");
  const auto second = list_of("ra,dec\n10.000555555555556,60\n0.0001,0.0001\n225,89.9999\n");
  const auto found = compare_catalogues(first, second);
  ASSERT_EQ(found.matches.size(), 3u);
  EXPECT_NEAR(found.matches[0].d_first, 1, 1e-5);
  EXPECT_NEAR(found.matches[0].d_second, 0, 1e-5);
  EXPECT_NEAR(found.matches[1].d_first, 0.72, 1e-6);
  EXPECT_NEAR(found.matches[1].d_second, 0.36, 1e-6);
  EXPECT_NEAR(found.matches[2].separation, 0.72, 1e-6);
  EXPECT_NEAR(found.matches[2].d_first, 0, 1e-6);
  EXPECT_NEAR(found.matches[2].d_second, 0.72, 1e-6);
}

TEST(CatalogueComparison, TheFrameIsWhatBothHave) {
  const char* both = "ra,dec,x,y\n10,5,1,2\n";
  EXPECT_EQ(compare_catalogues(list_of(both), list_of(both)).frame, MatchFrame::sky);
  EXPECT_EQ(compare_catalogues(list_of(both), list_of("x,y\n1,2\n")).frame, MatchFrame::pixels);
  ComparisonParams params;
  params.frame = MatchFrame::pixels;
  EXPECT_EQ(compare_catalogues(list_of(both), list_of(both), params).frame, MatchFrame::pixels);
  EXPECT_SAYS(comparison_error(both, "ra,dec\n1,2\n", params), "no positions in pixels");
  EXPECT_SAYS(comparison_error("x,y\n1,2\n", "ra,dec\n1,2\n"),
              "of two kinds; expected both on the sky, or both in pixels");
}

TEST(CatalogueComparison, TheRadiusComesFromTheSizes) {
  const auto plain = list_of("x,y\n1,2\n");
  const auto sized = list_of("x,y,fwhm\n1,2,4\n1,2,nan\n1,2,6\n");
  EXPECT_EQ(compare_catalogues(sized, plain).radius, 2.5);
  EXPECT_EQ(compare_catalogues(plain, sized).radius_from, RadiusFrom::sizes_of_second);
  const auto sky = list_of("ra,dec,maj [deg]\n1,2,0.01\n");
  EXPECT_DOUBLE_EQ(compare_catalogues(sky, sky).radius, 18);
  const auto unknown = list_of("ra,dec,maj\n1,2,0.01\n");  // pixels would be degrees
  EXPECT_EQ(compare_catalogues(unknown, unknown).radius_from, RadiusFrom::standard);
  ComparisonParams params;
  params.frame = MatchFrame::sky;
  params.radius = 2;
  EXPECT_EQ(compare_catalogues(sky, sky, params).radius, 2);
  params.radius = 0;
  EXPECT_THROW((void)compare_catalogues(sky, sky, params), kastor::Error);
}

TEST(CatalogueComparison, Selections) {
  const char* text = "x,y,flux_int,snr\n0,0,1,9\n10,0,2,nan\n20,0,3,7\n30,0,nan,8\n";
  const auto list = list_of(text);
  ComparisonParams params;
  params.select[0].min_flux = 2;
  params.select[1].min_snr = 8;
  const auto found = compare_catalogues(list, list, params);
  EXPECT_EQ(found.sides[0].selected, 2);
  EXPECT_EQ(found.sides[1].selected, 2);
  EXPECT_EQ(found.matches.size(), 0u);
  EXPECT_EQ(found.sides[0].unmatched, (std::vector<std::size_t>{2, 1}));
  EXPECT_SAYS(comparison_error("x,y\n1,2\n", text, params), "no flux column");
  EXPECT_SAYS(comparison_error(text, "x,y\n1,2\n", params), "no S/N column");
}

TEST(CatalogueComparison, BinsAreOneTwoFive) {
  const auto first =
      list_of("x,y,flux_peak\n0,0,0.02\n10,0,0.0199\n20,0,0.05\n30,0,1\n40,0,-1\n50,0,nan\n");
  const auto second = list_of("x,y\n0,0\n30,0\n");
  const auto side = compare_catalogues(first, second).sides[0];
  EXPECT_EQ(side.binned_by, Q::flux_peak);
  ASSERT_EQ(side.bins.size(), 7u);
  const double limits[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2};
  const int sources[] = {1, 1, 1, 0, 0, 0, 1};
  const int matched[] = {0, 1, 0, 0, 0, 0, 1};
  for (std::size_t i = 0; i < side.bins.size(); ++i) {
    EXPECT_EQ(side.bins[i].low, limits[i]) << i;
    EXPECT_EQ(side.bins[i].high, limits[i + 1]) << i;
    EXPECT_EQ(side.bins[i].sources, sources[i]) << i;
    EXPECT_EQ(side.bins[i].matched, matched[i]) << i;
  }
  EXPECT_FALSE(compare_catalogues(first, second).sides[1].binned_by);

  const auto wide = list_of("x,y,flux_peak\n0,0,1e-290\n10,0,3e5\n20,0,1e290\n");
  const auto bins = compare_catalogues(wide, second).sides[0].bins;
  ASSERT_EQ(bins.size(), 24u);
  EXPECT_EQ(bins.front().low, 0);
  EXPECT_EQ(bins.front().sources, 2);
  EXPECT_EQ(bins.back().low, 1e290);
  EXPECT_EQ(bins.back().sources, 1);
}

TEST(CatalogueComparison, FluxesOfTwoKindsAreNotCompared) {
  const auto jansky = list_of("x,y,flux_peak [Jy/beam],flux_sum\n1,2,4,5\n");
  const auto milli = list_of("x,y,flux_peak [mJy/beam],flux_int\n1,2,2000,5\n");
  const auto kelvin = list_of("x,y,flux_peak [K]\n1,2,4\n");
  const auto bare = list_of("x,y,flux_peak\n1,2,4\n");
  EXPECT_EQ(compare_catalogues(jansky, milli).flux_ratios[0].ratio.median, 0.5);
  EXPECT_EQ(compare_catalogues(jansky, milli).flux_ratios[1].trouble, "the reference has none");
  EXPECT_EQ(compare_catalogues(jansky, milli).flux_ratios[2].trouble,
            "the tested catalogue has none");
  EXPECT_EQ(compare_catalogues(jansky, bare).flux_ratios[0].ratio.median, 1);
  EXPECT_EQ(compare_catalogues(jansky, kelvin).flux_ratios[0].trouble,
            "the units are 'Jy' and 'K'");
  EXPECT_EQ(compare_catalogues(jansky, kelvin).flux_ratios[0].ratio.count, 0);
}

TEST(CatalogueComparison, EmptyCatalogues) {
  const auto none = list_of("x,y\n");
  const auto one = list_of("x,y\n1,2\n");
  const auto found = compare_catalogues(none, one);
  EXPECT_TRUE(std::isnan(found.sides[0].matched_share));
  EXPECT_EQ(found.sides[1].matched_share, 0);
  EXPECT_TRUE(std::isnan(found.d_first.median));
  EXPECT_EQ(compare_catalogues(none, none).matches.size(), 0u);
  const auto table = kastor::io::matches_table(none, one, found);
  EXPECT_EQ(table.columns.front().name, "row1");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(table.columns.front().values).size(), 0u);
}

TEST(CatalogueComparison, TheTableOfMatches) {
  const auto first = list_of("id,ra,dec,flux_peak\na,1,2,3\nb,5,6,7\n");
  const auto second = list_of("ra,dec,flux_peak\n5,6,14\n");
  const auto table = kastor::io::matches_table(first, second, compare_catalogues(first, second));
  std::string names;
  for (const auto& column : table.columns) names += column.name + " ";
  EXPECT_EQ(names, "row1 id1 row2 ra1 dec1 ra2 dec2 separation d_ra d_dec flux_peak1 flux_peak2 ");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(table.columns[0].values),
            (std::vector<std::int64_t>{1}));
  EXPECT_EQ(std::get<std::vector<std::string>>(table.columns[1].values),
            (std::vector<std::string>{"b"}));
  EXPECT_EQ(std::get<std::vector<double>>(table.columns[11].values), (std::vector<double>{14}));
}

}  // namespace
