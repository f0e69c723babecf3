// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <kastor/io/frequency.hpp>

#include "fits_support.hpp"
#include "header_examples.hpp"

namespace {

using namespace testing_support;

/// Of an image cut from axes of these lengths.
kastor::io::FrequencyReading frequency_of(const std::vector<std::string>& cards,
                                          const std::vector<std::int64_t>& axes,
                                          std::optional<std::int64_t> plane = std::nullopt) {
  kastor::io::FitsImage image;
  image.header_cards = cards;
  image.hdu.axes = axes;
  image.plane = plane;
  return kastor::io::read_frequency(image);
}

TEST(Frequency, IsThatOfTheAxisThatIsNotShown) {
  const struct {
    std::string cards;
    std::vector<std::int64_t> axes;
    std::optional<std::int64_t> plane;
    double hertz;
  } cases[] = {
      {"CTYPE3='FREQ' CRVAL3=1.4D9 CRPIX3=1.0 CDELT3=1e6 CUNIT3='Hz'", {9, 9, 1}, {}, 1.4e9},
      {"CTYPE3='FREQ' CRVAL3=1400.0 CRPIX3=3.0 CDELT3=10.0 CUNIT3='MHz'", {9, 9, 1}, {}, 1.38e9},
      {"CTYPE3='FREQ' CRVAL3=1e9 CRPIX3=1.0 CDELT3=1e6", {9, 9, 8}, 5, 1.005e9},
      {"CTYPE4='FREQ' CRVAL4=1.4 CDELT4=0.5 CUNIT4='GHz' CTYPE3='STOKES'", {9, 9, 4, 1}, 2, 1.9e9},
      {"CTYPE3='FREQ' CRVAL3=1e9 CRPIX3=2.0 CD3_3=1e6 CDELT3=5.0", {9, 9, 1}, {}, 0.999e9},
      {"CTYPE3='FREQ' CRVAL3=1e9 CRPIX3=2.0 PC003003=2.0 CDELT3=1e6", {9, 9, 1}, {}, 0.998e9},
      {"CTYPE3='FREQ' CRVAL3=1e9 RESTFRQ=1.42e9", {9, 9}, {}, 1e9 + 1},
      // A matrix for the sky alone, and both.
      {"CTYPE3='FREQ' CRVAL3=1e9 CRPIX3=1.0 CDELT3=1e6 CD1_1=0.1 CD2_2=0.1", {9, 9, 8}, 5, 1.005e9},
      {"CTYPE3='FREQ' CRVAL3=1e9 CRPIX3=1.0 CD1_1=0.1 CD2_2=0.1", {9, 9, 8}, 5, 1e9},
      {"CTYPE3='FREQ' CRVAL3=1e9 CRPIX3=2.0 PC1_1=1.0 CD3_3=5e6 CDELT3=1e6", {9, 9, 1}, {}, .999e9},
      // Of several cards the last one counts.
      {"CTYPE3='VOPT' CTYPE3='FREQ' CRVAL3=5.0 CRVAL3=1e9 CRPIX3=2.0 PC3_3=7.0 PC3_3=2.0 "
       "CDELT3=1e6",
       {9, 9, 1},
       {},
       0.998e9},
      {"CTYPE3='FREQ' CRVAL3=1e9 CRPIX3=1.0 CUNIT3='hz'", {9, 9, 1}, {}, 1e9},
  };
  for (const auto& each : cases) {
    const auto found = frequency_of(cards_of(each.cards), each.axes, each.plane);
    EXPECT_EQ(found.note, "") << each.cards;
    EXPECT_NEAR(found.hertz.value_or(0), each.hertz, 1e-3) << each.cards;
  }
}

TEST(Frequency, IsNoneWithoutSuchAnAxis) {
  for (const std::string cards :
       {"CTYPE1='RA---SIN' CTYPE2='DEC--SIN' RESTFRQ=1.42e9 FREQ=1.4e9",
        "CTYPE3='VOPT' CRVAL3=1e6 CRPIX3=1.0", "CTYPE3='FREQ-LOG' CRVAL3=1e9",
        "CTYPE1='FREQ' CRVAL1=1e9", "CTYPE3A='FREQ' CRVAL3A=1e9"}) {
    const auto found = frequency_of(cards_of(cards), {9, 9, 1});
    EXPECT_EQ(found.hertz, std::nullopt) << cards;
    EXPECT_EQ(found.note, "") << cards;
  }
}

TEST(Frequency, WhatCannotBeUsedIsSaid) {
  const struct {
    std::string cards, says;
  } cases[] = {{"CTYPE3='FREQ' CRVAL3='1.4GHz'", "CRVAL3 is '1.4GHz'; expected a number"},
               {"CTYPE3='FREQ' CRVAL3=1e9 CUNIT3='m/s'", "CUNIT3 is 'm/s'; expected Hz"},
               {"CTYPE3='FREQ' CRVAL3=1e9 CRPIX3=1.0 CDELT3='x'", "CDELT3 is 'x'"},
               {"CTYPE3='FREQ' CRVAL3=1e9 PC3_1=0.1", "changes over the image (PC3_1)"},
               {"CTYPE3='FREQ' CRPIX3=1.0", "axis 3 gives 0 Hz; expected a number above 0"}};
  for (const auto& each : cases) {
    const auto found = frequency_of(cards_of(each.cards), {9, 9, 1});
    EXPECT_EQ(found.hertz, std::nullopt) << each.cards;
    EXPECT_SAYS(found.note, "there is no column freq: ");
    EXPECT_SAYS(found.note, each.says);
  }
}

}  // namespace
