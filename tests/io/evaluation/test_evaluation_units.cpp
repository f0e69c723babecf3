// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "evaluation_support.hpp"

namespace {

using namespace evaluation_support;

/// One true source at (30, 30), with columns of this head, and one row.
Evaluation evaluation_of_one(const std::string& unit, const std::string& true_head,
                             const std::string& true_values, const std::string& head,
                             const std::string& values) {
  return evaluation_of({"x,y,fwhm,snr," + true_head + "\n30,30,5,20," + true_values + "\n",
                        "x,y," + head + "\n30,30," + values + "\n"},
                       {}, 0, image_in(unit));
}

TEST(EvaluationUnits, UnitsOfTheTruthAreRead) {
  struct Row {
    const char *unit, *true_head, *true_values, *head, *values;
    MeasuredQuantity quantity = MeasuredQuantity::flux_int;
    const char* label = "Jy";
  };
  const auto peak = MeasuredQuantity::flux_peak;
  for (const auto& [unit, true_head, true_values, head, values, quantity, label] :
       {Row{"Jy", "flux_int [Jy]", "20", "flux_auto", "22"},
        Row{"Jy/beam", "total_flux [mJy]", "20000", "flux_int [Jy]", "22"},
        Row{"Jy/beam", "int_flux", "20", "flux_int", "22"},
        Row{"mJy", "flux_int", "20", "flux_int [Jy]", "0.022"},
        Row{"mJy", "flux_int", "20", "flux_int", "22"},
        Row{"mJy", "flux_int", "20", "flux_auto", "22"},
        Row{"electron", "flux_int", "20", "flux_auto [count]", "22", MeasuredQuantity::flux_int,
            "electron"},
        Row{"Jy/beam", "peak_flux [mJy/beam]", "10000", "flux_peak [Jy/beam]", "11", peak,
            "Jy/beam"},
        Row{"mJy/beam", "flux_peak", "0.01", "flux_max", "11", peak, "Jy/beam"}}) {
    const auto e = evaluation_of_one(unit, true_head, true_values, head, values);
    const auto& measure = measure_of(e, quantity);
    EXPECT_EQ(measure.trouble, "") << unit << true_head << head;
    EXPECT_EQ(measure.unit, label) << true_head;
    EXPECT_NEAR(measure.pooled.deviation.median, 0.1, 1e-12) << unit << true_head << head;
  }
}

TEST(EvaluationUnits, OtherKindsOfUnitsAreNotCompared) {
  struct Row {
    const char *unit, *true_head, *head, *trouble;
    MeasuredQuantity quantity = MeasuredQuantity::flux_int;
  };
  const auto peak = MeasuredQuantity::flux_peak;
  for (const auto& [unit, true_head, head, trouble, quantity] :
       {Row{"MJy/sr", "flux_int [Jy]", "flux_auto", "the units are 'Jy' and 'MJy/sr'"},
        Row{"K", "flux_int [Jy]", "flux_auto", "the units are 'Jy' and 'K'"},
        Row{"", "flux_int [Jy]", "flux_auto", "the units are 'Jy' and one that is not known"},
        Row{"", "flux_int", "flux_auto [mJy]", "the units are one that is not known and 'Jy'"},
        Row{"electron", "flux_int", "flux_auto [adu]", "the units are 'electron' and 'adu'"},
        Row{"Jy", "flux_peak [Jy/beam]", "flux_max", "the units are 'Jy/beam' and 'Jy'", peak},
        Row{"Jy/beam", "flux_peak", "flux_int", "the truth has no column of flux_int"},
        Row{"Jy/beam", "flux_auto", "flux_int",
            "flux_auto of the truth: it is a sum of pixels, and the beam is not known"}}) {
    const auto e = evaluation_of_one(unit, true_head, "20", head, "22");
    EXPECT_EQ(measure_of(e, quantity).trouble, trouble);
  }
  // The sign needs no unit.
  const auto negative = evaluation_of_one("Jy/beam", "flux_peak", "20", "flux_peak [K]", "-5");
  EXPECT_EQ(negative.negative, 1);
  EXPECT_EQ(negative.positive, 0);
  const auto noted = evaluation_of_one("Jy/beam", "flux_int", "20", "Flux_Auto", "22").notes;
  EXPECT_EQ(std::count_if(noted.begin(), noted.end(),
                          [](const auto& n) { return n.starts_with("Flux_Auto is a sum"); }),
            1);
}

}  // namespace
