// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/io/beam.hpp>
#include <numbers>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::Beam;
using kastor::io::beam_solid_angle;
using kastor::io::BeamOrigin;
using kastor::io::BeamReading;
using kastor::io::parse_beam;
using kastor::io::read_beam;

std::string padded(std::string text) {
  text.resize(80, ' ');
  return text;
}

std::string history(const std::string& text) { return padded("HISTORY " + text); }

void expect_beam(const BeamReading& reading, BeamOrigin origin, const Beam& want) {
  EXPECT_EQ(reading.origin, origin);
  ASSERT_TRUE(reading.beam);
  EXPECT_DOUBLE_EQ(reading.beam->major_deg, want.major_deg);
  EXPECT_DOUBLE_EQ(reading.beam->minor_deg, want.minor_deg);
  EXPECT_NEAR(reading.beam->position_angle_deg, want.position_angle_deg, 1e-12);
}

TEST(Beam, ComesFromTheKeywords) {
  const auto reading = read_beam({card("BMAJ", "            +2.5D-02 / major"),
                                  card("BMIN", "1.25E-2"), card("BPA", "-134.5/ angle"),
                                  history("AIPS   CLEAN BMAJ=  1.0 BMIN=  1.0 BPA=   0.00")});
  expect_beam(reading, BeamOrigin::header, {0.025, 0.0125, 45.5});
  EXPECT_TRUE(reading.notes.empty());
}

TEST(Beam, ComesFromTheKeywordsOfObit) {
  expect_beam(
      read_beam({card("CLEANBMJ", "0.02"), card("CLEANBMN", "0.01"), card("CLEANBPA", "180.0")}),
      BeamOrigin::header, {0.02, 0.01, 0});
}

TEST(Beam, ComesFromTheLastHistoryOfAips) {
  const auto reading =
      read_beam({history("AIPS   CLEAN BMAJ=  1.7599E-03 BMIN=  1.5740E-03 BPA=   2.61"),
                 history("AIPS   CLEAN BMAJ=  1.2500E-02 BMIN=  1.1500E-02 BPA= -10.00"),
                 history("AIPS   CLEAN NITER=     1000 PRODUCT=1   / PRODUCT=1: COMPONENTS")});
  expect_beam(reading, BeamOrigin::history, {1.25e-2, 1.15e-2, 170});
  // CONVL writes arc seconds.
  expect_beam(read_beam({history("AIPS   CLEAN BMAJ=  1.3889E-03 BMIN=  1.3889E-03 BPA=   0.00"),
                         history("CONVL BMAJ=  5.0000 BMIN=  4.5000 BPA=   7.0/Output beam")}),
              BeamOrigin::history, {5.0 / 3600, 4.5 / 3600, 7});
}

TEST(Beam, ComesFromTheHistoryOfMiriadAndCasa) {
  // As written in ATCA and AMI images.
  expect_beam(read_beam({history("RESTOR:   beam=beam"),
                         history("RESTOR: Beam =  6.500E+00 x  5.500E+00 arcsec, pa =  1.000E+01 "
                                 "degrees")}),
              BeamOrigin::history, {6.5 / 3600, 5.5 / 3600, 10});
  expect_beam(
      read_beam(
          {history("Sun May 5 05:30:47 2013  HISTORY imager::clean() [] Fitted beam used in "),
           history("> restoration: 61.4929 by 23.7484 (arcsec) at pa 13.5456 (deg) "),
           history("CASA END LOGTABLE")}),
      BeamOrigin::history, {61.4929 / 3600, 23.7484 / 3600, 13.5456});
}

TEST(Beam, IsNoneWhereNothingSaysSo) {
  for (const auto& cards :
       std::vector<std::vector<std::string>>{{},
                                             {card("BMAJORITY", "1")},
                                             {history("the beam is 45 arcsec wide")},
                                             {history("CLEAN BMAJ= many BMIN= few BPA= none")}}) {
    const auto reading = read_beam(cards);
    EXPECT_FALSE(reading.beam);
    EXPECT_EQ(reading.origin, BeamOrigin::none);
    EXPECT_TRUE(reading.notes.empty());
  }
  const auto casa = read_beam({card("CASAMBM", "                   T / several beams")});
  ASSERT_EQ(casa.notes.size(), 1u);
  EXPECT_SAYS(casa.notes[0], "CASAMBM");
}

TEST(Beam, WhatIsNoBeamIsPassedOverWithANote) {
  for (const char* bad : {"0.0", "-0.01", "'unknown'", "1e999", "        / nothing"}) {
    const auto reading =
        read_beam({card("BMAJ", bad), card("BMIN", "0.01"),
                   history("AIPS   CLEAN BMAJ=  2.0E-02 BMIN=  1.0E-02 BPA=   1.00")});
    expect_beam(reading, BeamOrigin::history, {0.02, 0.01, 1});
    ASSERT_EQ(reading.notes.size(), 1u) << bad;
    EXPECT_SAYS(reading.notes[0], "not used");
  }
  const auto text = read_beam({card("BMAJ", "'0.05'"), card("BMIN", "0.04")});
  EXPECT_SAYS(text.notes.at(0), "BMAJ is '0.05'; expected two widths > 0");
}

TEST(Beam, MissingPartsAreTakenForWhatIsLikely) {
  const auto angle = read_beam({card("BMAJ", "0.02"), card("BMIN", "0.01")});
  expect_beam(angle, BeamOrigin::header, {0.02, 0.01, 0});
  ASSERT_EQ(angle.notes.size(), 1u);
  EXPECT_SAYS(angle.notes[0], "position angle");
  // A circle has no angle to miss.
  EXPECT_TRUE(read_beam({card("BMAJ", "0.02"), card("BMIN", "0.02")}).notes.empty());
  const auto minor = read_beam({card("BMAJ", "0.02")});
  expect_beam(minor, BeamOrigin::header, {0.02, 0.02, 0});
  ASSERT_EQ(minor.notes.size(), 1u);
  EXPECT_SAYS(minor.notes[0], "circular");
}

TEST(Beam, ExchangedAxesKeepTheirDirections) {
  const auto reading =
      read_beam({card("BMAJ", "0.01"), card("BMIN", "0.02"), card("BPA", "100.0")});
  expect_beam(reading, BeamOrigin::header, {0.02, 0.01, 10});
  ASSERT_EQ(reading.notes.size(), 1u);
  EXPECT_SAYS(reading.notes[0], "exchanged");
}

TEST(Beam, UsersTypeArcSeconds) {
  expect_beam(parse_beam("45,36"), BeamOrigin::user, {0.0125, 0.01, 0});
  expect_beam(parse_beam("45,36,-20"), BeamOrigin::user, {0.0125, 0.01, 160});
  EXPECT_TRUE(parse_beam("45,45").notes.empty());
  EXPECT_FALSE(parse_beam("45,36").notes.empty());
  for (const char* bad : {"", "45", "45,", "45,36,1,2", "0,0", "36,45", "-4,-5", "nan,nan",
                          "45 ,36", "45,36deg", "inf,1", "1e400,1", "45x36", "45,36,nan"}) {
    const auto text = error_of([&] { (void)parse_beam(bad); });
    EXPECT_SAYS(text, "expected BMAJ,BMIN") << bad << ": " << text;
  }
}

TEST(Beam, SolidAngleIsThatOfAGaussian) {
  const double sigma = 10.0 / std::sqrt(8 * std::numbers::ln2);
  EXPECT_NEAR(beam_solid_angle({10.0 / 3600, 5.0 / 3600, 0}), std::numbers::pi * sigma * sigma,
              1e-9);
}

TEST(BeamOfRealImages, IsThatOfTheirHeaders) {
  const char* folder = std::getenv("KASTOR_TEST_DATA");
  const std::string path =
      std::string(folder == nullptr ? "." : folder) + "/ami_SWIFT_554620-130504.fits";
  if (folder == nullptr || !std::filesystem::exists(path)) GTEST_SKIP() << "no file " << path;
  auto cards = kastor::io::read_image(path).header_cards;
  const auto keywords = read_beam(cards);
  EXPECT_EQ(keywords.origin, BeamOrigin::header);
  std::erase_if(cards, [](const std::string& each) { return each.starts_with("BMAJ"); });
  const auto log = read_beam(cards);
  EXPECT_EQ(log.origin, BeamOrigin::history);
  ASSERT_TRUE(keywords.beam && log.beam);
  EXPECT_NEAR(log.beam->major_deg, keywords.beam->major_deg, 1e-7);
  EXPECT_NEAR(log.beam->minor_deg, keywords.beam->minor_deg, 1e-7);
  EXPECT_NEAR(log.beam->position_angle_deg, keywords.beam->position_angle_deg, 1e-3);
}

}  // namespace
