// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <io/fits/valid_cards.hpp>
#include <kastor/io/wcs.hpp>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::detail::repaired_card;
using kastor::io::detail::valid_cards;

std::string full_card(std::string text) {
  text.resize(80, ' ');
  return text;
}

std::vector<std::string> full_cards(std::vector<std::string> cards) {
  for (auto& each : cards) each.resize(80, ' ');
  return cards;
}

TEST(ValidCards, ValuesAreRepaired) {
  const struct {
    const char* found;
    const char* repaired;  // "": not valid
  } cases[] = {
      {"CRVAL1  = 1.5D2", "CRVAL1  = 1.5D2"},
      {"CRVAL1  =              1.5E+02 / [deg]", "CRVAL1  =              1.5E+02 / [deg]"},
      {"CRVAL1  = 2.5d1 / d", "CRVAL1  = 2.5D1 / d"},
      {"CRVAL1  = -5.5e-4", "CRVAL1  = -5.5E-4"},
      {"CRPIX2  =256", "CRPIX2  = 256"},
      {"CRPIX2  = +256.", "CRPIX2  = +256."},
      {"CRPIX2  = .5", "CRPIX2  = .5"},
      {"CRPIX2  = .", ""},
      {"CRPIX2  = 1.5E", ""},
      {"CRPIX2  = 1 5", ""},
      {"CRVAL1A = NaN", ""},
      {"DATE-BEG= 1998-12-31", ""},
      {"FILTER  =", ""},
      {"FILTER  =  / none", ""},
      {"TIMESYS =UTC", ""},
      {"TIMESYS ='UTC' / c", "TIMESYS = 'UTC' / c"},
      {"CASAMBM =                    T", "CASAMBM =                    T"},
      {"CASAMBM = t", "CASAMBM = T"},
      {"SPECSYS = 'LSRK", "SPECSYS = 'LSRK    '"},
      {"OBJECT  = 'it''s", "OBJECT  = 'it''s   '"},
      {"OBJECT  = 'O''Brien' / a 'b", "OBJECT  = 'O''Brien' / a 'b"},
      {"HISTORY = 'so", "HISTORY = 'so"},
      {"COMMENT of anything", "COMMENT of anything"},
  };
  for (const auto& [found, repaired] : cases) {
    const auto card = repaired_card(full_card(found));
    EXPECT_EQ(card.value_or(""), *repaired == 0 ? "" : full_card(repaired)) << found;
  }
  // Quotes need room for being doubled.
  const auto card = repaired_card(full_card("OBJECT  = '" + std::string(68, '\'') + "x"));
  ASSERT_TRUE(card);
  EXPECT_EQ(card->size(), 80u);
  EXPECT_TRUE(card->starts_with("OBJECT  = '"));
}

TEST(ValidCards, EveryKeywordIsThereOnceAndContradictsNone) {
  EXPECT_EQ(valid_cards(full_cards({"CRVAL1  = 1.0", "BMAJ    = 0.1", "OBJECT  = 'long &'",
                                    "CONTINUE  'end'", "CRVAL1  = 2.0", "BMAJ    = 0.2",
                                    "HISTORY a", "HISTORY a"})),
            full_cards({"BMAJ    = 0.1", "OBJECT  = 'long &'", "CONTINUE  'end'", "CRVAL1  = 2.0",
                        "HISTORY a", "HISTORY a"}));
  EXPECT_EQ(valid_cards(full_cards({"EPOCH   = 1950.0"})), full_cards({"EQUINOX = 1950.0"}));
  EXPECT_EQ(valid_cards(full_cards({"EPOCH   = 1950.0", "EQUINOX = 2000.0"})),
            full_cards({"EQUINOX = 2000.0"}));
  EXPECT_EQ(
      valid_cards(full_cards({"PC1_1   = 1.0", "CD1_2   = 1.0", "CROTA2  = 3.0", "CD1_2A  = 1.0"})),
      full_cards({"PC1_1   = 1.0", "CD1_2A  = 1.0"}));
  const auto turned = full_cards({"CD1_1   = 1.0", "CROTA2  = 3.0", "PCOUNT  = 0"});
  EXPECT_EQ(valid_cards(turned), turned);
  // What is left out is named, with its continuation.
  EXPECT_EQ(valid_cards(full_cards({"OBJECT  = a &", "CONTINUE  'end'", "BPA     = 1.0"})),
            full_cards({"BPA     = 1.0",
                        "HISTORY left out, since its value in the input is not valid: OBJECT"}));
}

TEST(ValidCards, AStringWithoutAnEndDoesNoHarmToCoordinates) {
  const kastor::io::Wcs wcs(full_cards({"CTYPE1  = 'RA---SIN'", "CTYPE2  = 'DEC--SIN'",
                                        "CRVAL1  = 10.0", "CRVAL2  = 20.0", "CDELT1  = -0.1",
                                        "CDELT2  = 0.1", "SPECSYS = 'LSRK", "CTYPE1A = 'LINEAR'"}),
                            {1, 2});
  EXPECT_EQ(wcs.frame(), "ICRS");
}

}  // namespace
