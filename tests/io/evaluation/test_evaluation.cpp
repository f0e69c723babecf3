// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <kastor/io/evaluation.hpp>
#include <limits>
#include <numbers>
#include <string>
#include <type_traits>
#include <vector>

#include "evaluation_support.hpp"
#include "fits_support.hpp"

namespace {

using namespace testing_support;
using namespace evaluation_support;
using kastor::io::Evaluation;
using kastor::io::EvaluationParams;
using kastor::io::MeasuredQuantity;

std::string evaluation_error(const Files& files, const EvaluationParams& params = {}) {
  return error_of([&] { (void)evaluation_of(files, params); });
}

TEST(Evaluation, CountsTrueSourcesAndRows) {
  const std::string truth = truth_head + gaussian(30, 30, 20) + gaussian(80, 30, 6) +
                            gaussian(130, 30, 4) +  // isolated; the last is missed
                            gaussian(30, 70, 9) + gaussian(38, 70, 9) +  // neighbours
                            gaussian(80, 70, 12, 1) +                    // in a group
                            gaussian(2, 50, 8) +                         // cut by the edge
                            gaussian(187, 50, 8) +                       // cut by the blank region
                            gaussian(195, 20, 8) +                       // blank
                            gaussian(500, 20, 8) +                       // outside
                            "nan,20,1,1,5,5,0,gaussian,1,5,0\n";
  const std::string catalogue =
      "x_cen,y_cen,flux_peak,snr\n"
      "30.5,30,20,20\n80,30,6,6.5\n"          // found
      "30,74,1,5\n80,70.2,12,12\n2,50,8,8\n"  // found: a neighbour, of a group, at the edge
      "34,32,1,5.2\n"                         // a fragment of the first source
      "160,80,1,5.5\n150,90,1,5.1\n"          // false
      "195,21,8,8\n"                          // in the blank region, as its source
      ",5,1,5\n100,50,-5,5\n";                // no position; negative
  const auto e = evaluation_of({truth, catalogue});
  EXPECT_EQ(e.truth_rows, 11);
  EXPECT_EQ(e.truth_left_out, 1);
  EXPECT_EQ(e.truth_outside, 2);
  EXPECT_EQ(e.truth_used, 8);
  EXPECT_EQ(e.truth_isolated, 3);
  EXPECT_EQ(e.radius, 2.5);
  EXPECT_EQ(e.rows, 11);
  EXPECT_EQ(e.without_position, 1);
  EXPECT_EQ(e.negative, 1);
  EXPECT_EQ(e.rows_outside, 1);
  EXPECT_EQ(e.positive, 8);
  // The source at (30, 70) is 4 pixels from its row: not within the radius.
  EXPECT_EQ(e.matched, 4);
  EXPECT_EQ(e.fragments, 2);
  EXPECT_EQ(e.false_rows, 2);
  EXPECT_EQ(e.found_isolated, 2);
  EXPECT_EQ(e.found_all, 4);
  EXPECT_EQ(e.completeness.value, 2.0 / 3);
  EXPECT_EQ(e.reliability.value, 4.0 / 8);
  EXPECT_EQ(e.reliability_by, "snr");
  EXPECT_EQ(e.false_detections.count, 2);
  ASSERT_TRUE(e.inverted);
  EXPECT_EQ(e.inverted->count, 1);
  EXPECT_EQ(e.usable_pixels, 190 * 100);
  EXPECT_EQ(e.beam_from, "median size of the truth");
  const double beam = std::numbers::pi * 25 / (4 * std::numbers::ln2);
  EXPECT_NEAR(e.beam_pixels, beam, 1e-12);
  EXPECT_NEAR(e.false_detections.per_million.value,
              2e6 * beam / static_cast<double>(e.clear_pixels), 1e-9);
  EXPECT_EQ(evaluation_of({truth, catalogue}, with(&EvaluationParams::radius, 5.0)).matched, 5);
}

TEST(Evaluation, ClearPixelsAreAwayFromSources) {
  const auto clear = [](const std::string& rows) {
    return 19000 - evaluation_of({truth_head + rows, "x,y\n"}).clear_pixels;
  };
  const auto disk = [](double radius, int first = -60) {
    std::int64_t pixels = 0;
    for (int y = -60; y <= 60; ++y) {
      for (int x = first; x <= 60; ++x) pixels += x * x + y * y < radius * radius ? 1 : 0;
    }
    return pixels;
  };
  EXPECT_EQ(clear(gaussian(80, 50, 5)), disk(5));  // its size
  const double to_the_noise = 5 * std::sqrt(std::log(1000) / (4 * std::numbers::ln2));
  EXPECT_EQ(clear(gaussian(80, 50, 1000)), disk(to_the_noise));
  EXPECT_EQ(clear(gaussian(-2, 50, 5)), disk(5, 2));  // beyond the edge
}

TEST(Evaluation, Bins) {
  const std::string truth = truth_head + gaussian(30, 30, 4) + gaussian(80, 30, 4.5) +
                            gaussian(130, 30, 8) + gaussian(30, 70, 1000);
  const auto e = evaluation_of({truth, "x,y,snr\n80,30,5\n130,30,6\n30,70,900\n100,80,5.4\n"},
                               with(&EvaluationParams::bins, {0, 4.5, 10}));
  ASSERT_EQ(e.completeness_bins.size(), 3u);
  const std::vector<std::pair<int, int>> found = {{1, 0}, {2, 2}, {1, 1}};
  for (std::size_t b = 0; b < 3; ++b) {
    EXPECT_EQ(e.completeness_bins[b].all, found[b].first) << b;
    EXPECT_EQ(e.completeness_bins[b].matched, found[b].second) << b;
  }
  EXPECT_TRUE(std::isinf(e.completeness_bins[2].high));
  ASSERT_EQ(e.reliability_bins.size(), 2u);
  EXPECT_EQ(e.reliability_bins[0].all, 3);
  EXPECT_EQ(e.reliability_bins[0].matched, 2);
  EXPECT_NEAR(e.half.snr, std::sqrt(4 * std::cbrt(4.5 * 8 * 1000)), 1e-9);
}

TEST(Evaluation, PullsAndDeviations) {
  // True flux 2 S; measured 2 S (1 + d), with an error that makes the pull -2, 0 and 1.
  const std::string truth = truth_head + gaussian(30, 30, 10) + gaussian(80, 30, 20) +
                            gaussian(130, 30, 40) + gaussian(30, 70, 60);
  const std::string catalogue =
      "x_cen,y_cen,flux_int,flux_int_err,flux_peak,x_cen_err,y_cen_err,maj_axis_pix,min_axis_pix\n"
      "30.5,29,18,1,10,0.5,0.25,5.5,4\n80,30,40,1,20,0.5,0.25,5,5\n"
      "129.5,30,84,4,44,0.25,0.25,5,6\n30,70,500,1,1,1,1,9,9\n";
  const auto e = evaluation_of({truth, catalogue});
  const auto& flux = measure_of(e, MeasuredQuantity::flux_int);
  EXPECT_EQ(flux.column, "flux_int");
  EXPECT_EQ(flux.error_column, "flux_int_err");
  EXPECT_EQ(flux.trouble, "");
  const auto& pool = flux.pooled;  // 10 to below 50
  EXPECT_EQ(pool.deviation.count, 3);
  EXPECT_EQ(pool.deviation.median, 0);
  EXPECT_NEAR(pool.deviation.mean, (-0.1 + 0.05) / 3, 1e-15);
  EXPECT_EQ(pool.pull.median, 0);
  EXPECT_NEAR(pool.pull.mean, -1.0 / 3, 1e-15);
  EXPECT_NEAR(pool.pull.std, std::sqrt(7.0 / 3), 1e-14);
  EXPECT_NEAR(pool.pull.mean_err, std::sqrt(7.0) / 3, 1e-14);
  EXPECT_NEAR(pool.pull.std_err, std::sqrt(7.0 / 3) / 2, 1e-14);
  EXPECT_NEAR(pool.pull.sigma, 1.482602218505602, 1e-14);
  EXPECT_NEAR(pool.pull.median_err, 1.2533141373155003 * pool.pull.sigma / std::sqrt(3), 1e-14);
  EXPECT_NEAR(pool.pull.sigma_err, 1.1664 * pool.pull.sigma / std::sqrt(3), 1e-14);
  EXPECT_EQ(flux.bins.size(), 4u);
  EXPECT_EQ(e.measures[3].pooled.deviation.median, 0);  // x: 0.5, 0, -0.5
  EXPECT_NEAR(measure_of(e, MeasuredQuantity::x).pooled.pull.mean, -1.0 / 3, 1e-15);
  EXPECT_NEAR(measure_of(e, MeasuredQuantity::y).pooled.pull.mean, -4.0 / 3, 1e-15);
  EXPECT_NEAR(measure_of(e, MeasuredQuantity::major).pooled.deviation.mean, 0.1 / 3, 1e-15);
  EXPECT_NEAR(measure_of(e, MeasuredQuantity::minor).pooled.deviation.mean, 0, 1e-15);
  EXPECT_EQ(measure_of(e, MeasuredQuantity::flux_peak).pooled.pull.count, 0);
  EXPECT_EQ(measure_of(e, MeasuredQuantity::flux_iso).trouble,
            "the catalogue has no column of flux_iso");
  const auto table = pairs_table(e);
  ASSERT_EQ(table.columns.size(), 5u + 3 * 7);
  EXPECT_EQ(std::get<std::vector<double>>(table.columns[6].values).at(0), 18);
}

/// flux_int of one isolated source of 20 Jy that a catalogue has at (30, 30).
kastor::io::Measure flux_of(const std::string& head, const std::string& values,
                            MeasuredQuantity quantity = MeasuredQuantity::flux_int,
                            const std::string& unit = "Jy/beam") {
  const auto e =
      evaluation_of({truth_head + gaussian(30, 30, 10), "x,y," + head + "\n30,30," + values + "\n"},
                    {}, 0, image_in(unit));
  return measure_of(e, quantity);
}

TEST(Evaluation, ColumnsOfPrograms) {
  struct Row {
    std::string head, values;
    MeasuredQuantity quantity;
    double deviation, pull;
    std::string unit = "Jy/beam";
  };
  const auto total = MeasuredQuantity::flux_int;
  const auto iso = MeasuredQuantity::flux_iso;
  const auto peak = MeasuredQuantity::flux_peak;
  const double none = std::nan("");
  const double beam = std::numbers::pi * 25 / (4 * std::numbers::ln2);
  const auto sum = [&](double flux) { return fmt::format("{:.17g}", flux * beam); };
  for (const auto& [head, values, quantity, deviation, pull, unit] : {
           // Kastor, today's and older names
           Row{"flux_int,flux_int_err,flux_iso,flux_iso_err", "22,1,18,2", total, 0.1, 2},
           Row{"flux_int,flux_int_err,flux_iso,flux_iso_err", "22,1,18,2", iso, -0.1, -1},
           Row{"flux_int,flux_int_err,flux_int_cor,flux_int_cor_err", "18,2,22,1", total, 0.1, 2},
           Row{"flux_int,flux_int_err,flux_int_cor,flux_int_cor_err", "18,2,22,1", iso, -0.1, -1},
           Row{"flux_int,flux_auto,flux_auto_err", "nan,22,4", total, 0.1, 0.5, "adu"},
           Row{"flux_int,flux_auto,flux_auto_err", "30,22,4", total, 0.1, 0.5, "adu"},
           // Aegean, PyBDSF, with units
           Row{"int_flux,err_int_flux", "22,1", total, 0.1, 2},
           Row{"Total_flux [mJy],E_Total_flux [mJy]", "22000,1000", total, 0.1, 2},
           Row{"Peak_flux,E_Peak_flux", "11,0.5", peak, 0.1, 2},
           // Sums of pixels: SExtractor, photutils, SEP
           Row{"FLUX_AUTO,FLUXERR_AUTO", sum(22) + "," + sum(1), total, 0.1, 2},
           Row{"FLUX_AUTO [count],FLUXERR_AUTO [count]", "22,1", total, 0.1, 2, "adu"},
           Row{"FLUX_ISO,FLUXERR_ISO", sum(22) + "," + sum(1), iso, 0.1, 2},
           Row{"kron_flux,kron_fluxerr", sum(22) + "," + sum(1), total, 0.1, 2},
           Row{"kron_flux,kron_flux_err", sum(22) + "," + sum(1), total, 0.1, 2},
           Row{"segment_flux,segment_flux_err", sum(22) + "," + sum(1), iso, 0.1, 2},
           Row{"segment_flux,segment_fluxerr", sum(22) + "," + sum(1), iso, 0.1, 2},
           Row{"tnpix,flux,peak", "9," + sum(22) + ",11", iso, 0.1, none},
           Row{"tnpix,flux,peak", "9," + sum(22) + ",11", peak, 0.1, none},
       }) {
    const auto measure = flux_of(head, values, quantity, unit);
    EXPECT_EQ(measure.trouble, "") << head;
    EXPECT_NEAR(measure.pooled.deviation.median, deviation, 1e-12) << head;
    if (std::isnan(pull)) {
      EXPECT_EQ(measure.pooled.pull.count, 0) << head;
    } else {
      EXPECT_NEAR(measure.pooled.pull.median, pull, 1e-11) << head;
    }
  }
  EXPECT_EQ(flux_of("flux_int [K]", "1").trouble, "the units are 'Jy' and 'K'");
  EXPECT_EQ(flux_of("flux_int", "nan").trouble, "the column holds no number");
}

TEST(Evaluation, RowsInNoUsablePixelAreLeftOut) {
  // The source at 189 is usable, its row is not; of the other pair neither is.
  const auto e = evaluation_of(
      {truth_head + gaussian(189, 30, 10) + gaussian(195, 60, 10) + gaussian(30, 30, 10),
       "x,y,flux_peak\n190,30,1\n195,60,2\n30,30,3\n196,90,4\n300,5,5\n195,5,-1\n100,50,-1\n"});
  EXPECT_EQ(e.rows, 7);
  EXPECT_EQ(e.rows_outside, 4);
  EXPECT_EQ(e.positive, 2);
  EXPECT_EQ(e.negative, 1);
  EXPECT_EQ(e.matched, 2);
  ASSERT_EQ(e.pairs.size(), 2u);
  EXPECT_EQ(e.pairs[0].row, 0u);
  EXPECT_EQ(e.pairs[1].row, 2u);
  EXPECT_EQ(e.fragments + e.false_rows, 0);
  EXPECT_EQ(e.reliability.value, 1);
}

TEST(Evaluation, ErrorsOfPositions) {
  struct Row {
    const char* head;
    const char* values;
    double x, y;
  };
  for (const auto& [head, values, x, y] :
       {Row{"e_xposn,e_yposn", "0.5,0.25", 1, -2}, Row{"errx2,erry2", "0.25,0.0625", 1, -2},
        Row{"ERRX2_IMAGE,ERRY2_IMAGE", "1,4", 0.5, -0.25}}) {
    const auto e = evaluation_of({truth_head + gaussian(30, 30, 10),
                                  std::string("x,y,") + head + "\n30.5,29.5," + values + "\n"});
    EXPECT_NEAR(measure_of(e, MeasuredQuantity::x).pooled.pull.median, x, 1e-12) << head;
    EXPECT_NEAR(measure_of(e, MeasuredQuantity::y).pooled.pull.median, y, 1e-12) << head;
  }
}

TEST(Evaluation, ShapesWithoutWidthHaveNoSizes) {
  const std::string disk = "30,30,10,20,20,20,0,disk,1,10,0\n";
  const auto e = evaluation_of({truth_head + disk, "x,y,fwhm\n30,30,18\n"});
  EXPECT_EQ(measure_of(e, MeasuredQuantity::major).pooled.deviation.count, 0);
  EXPECT_EQ(measure_of(e, MeasuredQuantity::x).pooled.deviation.count, 1);
}

TEST(Evaluation, InvertedCatalogue) {
  const Files files{truth_head + gaussian(30, 30, 10), "x,y,flux_peak\n30,30,10\n",
                    "x,y\n100,50\n120,60\n32,31\n"};
  const auto e = evaluation_of(files);
  ASSERT_TRUE(e.inverted);
  EXPECT_EQ(e.inverted->count, 2);
  EXPECT_EQ(e.inverted_near, 1);
  EXPECT_FALSE(evaluation_of({files.truth, files.catalogue}).inverted);
  EXPECT_NE(evaluation_error({files.truth, "x,y,flux_peak\n100,50,-10\n", files.inverted})
                .find("1 rows are of negative islands"),
            std::string::npos);
}

TEST(Evaluation, NoiseOfTheClearPixels) {
  // Short waves along x, long ones along y.
  auto image = image_in();
  image.row = [](std::int64_t y, std::span<double> values) {
    for (std::size_t x = 0; x < values.size(); ++x)
      values[x] =
          std::sin(0.7 * static_cast<double>(y)) + 2 * std::sin(1.3 * static_cast<double>(x));
  };
  EXPECT_TRUE(std::isnan(
      evaluation_of({truth_head + gaussian(30, 30, 10), "x,y\n30,30\n"}).expected_false));
  const auto waves = evaluation_of({truth_head + gaussian(30, 30, 10), "x,y\n30,30\n"},
                                   with(&EvaluationParams::threshold, 4.0), 0, image);
  const auto low = evaluation_of({truth_head + gaussian(30, 30, 10), "x,y\n30,30\n"},
                                 with(&EvaluationParams::threshold, 2.9), 0, image);
  EXPECT_TRUE(std::isnan(low.expected_false) && std::isnan(low.expected_smooth));
  EXPECT_FALSE(std::isnan(waves.expected_smooth));
  EXPECT_LT(waves.noise.x, 1);
  EXPECT_GT(waves.noise.y, waves.noise.x);
}

TEST(Evaluation, MinimumOfTheTruth) {
  const Files files{truth_head + gaussian(30, 30, 2) + gaussian(80, 30, 9),
                    "x,y,flux_peak\n30,30,10\n80,30,10\n"};
  EXPECT_EQ(evaluation_of(files).matched, 2);
  const auto e = evaluation_of(files, {}, 3);
  EXPECT_EQ(e.truth_left_out, 1);
  EXPECT_EQ(e.matched, 1);
  EXPECT_EQ(e.false_rows, 1);
}

TEST(Evaluation, TruthOfPeakAndNoise) {
  const auto e = evaluation_of({"x,y,flux_peak,rms\n30,30,12,2\n", "x,y\n30,30\n"});
  EXPECT_EQ(e.pairs.at(0).true_snr, 6);
  EXPECT_EQ(e.radius_from, "default");
  const auto truth_of = [](const std::string& units) {
    return Files{"x,y,flux_peak [mJy/beam],rms" + units + ",fwhm [pixel]\n30,30,12,0.002,5\n",
                 "x,y\n30,30\n"};
  };
  const auto scaled = evaluation_of(truth_of(" [Jy/beam]"));
  EXPECT_NEAR(scaled.pairs.at(0).true_snr, 6, 1e-12);
  EXPECT_EQ(scaled.radius, 2.5);
  EXPECT_NEAR(evaluation_of(truth_of("")).pairs.at(0).true_snr, 6000, 1e-9);
  EXPECT_NE(evaluation_error(truth_of(" [K]")).find("there is no signal to noise"),
            std::string::npos);
  const auto sky = evaluation_of({"x,y,snr,fwhm [arcsec]\n30,30,12,5\n", "x,y\n30,30\n"});
  EXPECT_EQ(sky.radius_from, "default");
  EXPECT_EQ(sky.notes.at(0),
            "fwhm of the truth: the sizes are on the sky, and the image has no celestial "
            "coordinates");
  EXPECT_EQ(e.beam_from, "");
  EXPECT_TRUE(std::isnan(e.false_detections.per_million.value));
}

TEST(Evaluation, NothingToEvaluate) {
  const auto e = evaluation_of({truth_head, "x,y\n"});
  EXPECT_EQ(e.matched, 0);
  EXPECT_TRUE(std::isnan(e.completeness.value));
  EXPECT_TRUE(std::isnan(e.reliability.value));
  EXPECT_EQ(e.clear_pixels, e.usable_pixels);
}

TEST(Evaluation, Refusals) {
  const std::string truth = truth_head + gaussian(30, 30, 10);
  EXPECT_NE(evaluation_error({"x,y,flux_peak\n1,1,1\n", "x,y\n1,1\n"})
                .find("there is no signal to noise of the true sources"),
            std::string::npos);
  EXPECT_NE(evaluation_error({"a,b\n1,1\n", "x,y\n1,1\n"}).find("no position columns"),
            std::string::npos);
  EXPECT_NE(evaluation_error({truth, "ra,dec\n1,1\n"}).find("no celestial coordinates"),
            std::string::npos);
  EXPECT_NE(evaluation_error({truth, "x,y\n1,1\n"}, with(&EvaluationParams::radius_arcsec, 1.0))
                .find("no celestial coordinates"),
            std::string::npos);
  EXPECT_NE(evaluation_error({truth, "x,y\n1,1\n"}, with(&EvaluationParams::radius, 0.0)), "");
  EXPECT_NE(evaluation_error({truth, "x,y\n1,1\n"}, with(&EvaluationParams::pool_high, 10)), "");
  EXPECT_NE(evaluation_error({truth, "x,y\n1,1\n"}, with(&EvaluationParams::bins, {1, 1})), "");
  EXPECT_NE(evaluation_error({truth, "x,y\n1,1\n"}, with(&EvaluationParams::bins, {})), "");
}

}  // namespace
