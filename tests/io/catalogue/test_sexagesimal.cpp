// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/io/source_list.hpp>
#include <random>

#include "fits_support.hpp"
#include "io/catalogue/sexagesimal.hpp"

namespace {

using namespace testing_support;
using kastor::io::SourceList;
using kastor::io::detail::sexagesimal_of;
using Unit = kastor::io::detail::SexagesimalUnit;

SourceList positions_of(const std::string& text, const kastor::io::ColumnNames& named = {}) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.dat"), text);
  return read_source_list(scratch.file("a.dat"), named);
}

std::string positions_error(const std::string& text) {
  return error_of([&] { (void)positions_of(text); });
}

struct SexagesimalCase {
  const char* text;
  Unit unit;
  double degrees;  // computed with rational numbers, to more digits than a double has
};

TEST(Sexagesimal, IsReadExactly) {
  const Unit h = Unit::hours;
  const Unit d = Unit::degrees;
  for (const auto& [text, unit, degrees] : {
           SexagesimalCase{"17 45 40.04", h, 266.416833333333333333333333333},
           SexagesimalCase{"17:45:40.04", h, 266.416833333333333333333333333},
           SexagesimalCase{"17h45m40.04s", h, 266.416833333333333333333333333},
           SexagesimalCase{" 17H 45M 40.04 ", h, 266.416833333333333333333333333},
           SexagesimalCase{"17\xCA\xB0"
                           "45\xE1\xB5\x90"
                           "40.04\xCB\xA2",
                           h, 266.416833333333333333333333333},
           SexagesimalCase{"-29 00 28.1", d, -29.0078055555555555555555555556},
           SexagesimalCase{"-29d00m28.1s", d, -29.0078055555555555555555555556},
           SexagesimalCase{"-29\xC2\xB0"
                           "00'28.1\"",
                           d, -29.0078055555555555555555555556},
           SexagesimalCase{"\xE2\x88\x92"
                           "29:00:28.1",
                           d, -29.0078055555555555555555555556},
           SexagesimalCase{"-00 30 00", d, -0.5},
           SexagesimalCase{"-0:00:00.36", d, -0.0001},
           SexagesimalCase{"+00 30 00", d, 0.5},
           SexagesimalCase{"23:59:59.999999", h, 359.999999995833333333333333333},
           SexagesimalCase{"05 34.51", h, 83.6275},
           SexagesimalCase{"05 34", h, 83.5},
           SexagesimalCase{"17.5h", h, 262.5},
           SexagesimalCase{"-89:59:59.9999", d, -89.9999999722222222222222222222},
           SexagesimalCase{"12:34:56.123456789", h, 188.7338477366208333333333333},
           SexagesimalCase{"12:34:56.12345678900000000000", h, 188.7338477366208333333333333},
           SexagesimalCase{"266d24m57.6s", d, 266.416},
       }) {
    const auto found = sexagesimal_of(text);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(found->degrees(unit), degrees) << text;
    EXPECT_EQ(found->negative, degrees < 0) << text;
    EXPECT_TRUE(found->unit == Unit::none || found->unit == unit) << text;
  }
}

TEST(Sexagesimal, EveryHundredthOfASecond) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    const auto hundredths = static_cast<long>(random() % 8640000);
    const auto text = fmt::format("{:02} {:02} {:02}.{:02}", hundredths / 360000,
                                  hundredths / 6000 % 60, hundredths / 100 % 60, hundredths % 100);
    const auto found = sexagesimal_of(text);
    ASSERT_TRUE(found) << text;
    const long double expected = static_cast<long double>(hundredths) / 24000;
    EXPECT_EQ(found->degrees(Unit::hours), static_cast<double>(expected)) << text;
  }
}

TEST(Sexagesimal, OtherTextIsNone) {
  for (const char* text : {"",           "17",          "17.5",           "17 45 60",  "17 60 00",
                           "17:45:60.0", "17 45 40 04", "17:45 40",       "17:45:",    "17 45.5 40",
                           "a 45 40",    "17h45:40",    "17 45 40s",      "17m45",     "--29 00 28",
                           "17 45 4O",   "12345 45 40", "17h45m40.04s x", "17 -45 40", ":45:40",
                           "17h m 40s",  "1e1 20 30"}) {
    EXPECT_FALSE(sexagesimal_of(text)) << text;
  }
}

TEST(SexagesimalColumns, AreReadBesideDegreesOrAlone) {
  struct Table {
    const char* text;
    double ra;
    double dec;
  };
  const double ra = 266.416833333333333333333333333;
  const double dec = -29.0078055555555555555555555556;
  for (const auto& [text, expected_ra, expected_dec] : {
           Table{"RAJ2000,DEJ2000\n17 45 40.04,-29 00 28.1\n", ra, dec},
           Table{"ra,dec\n17:45:40.04,-29:00:28.1\n", ra, dec},
           Table{"ra,dec\n17h45m40.04s,-29d00m28.1s\n", ra, dec},
           Table{"RA [\"h:m:s\"],DEC [\"d:m:s\"]\n17 45 40.04,-29 00 28.1\n", ra, dec},
           Table{"RA [d:m:s],DEC [deg]\n266 25 00.6,-29 00 28.1\n", 266.416833333333333, dec},
           Table{"ra [deg],dec [deg]\n17h45m40.04s,-29d00m28.1s\n", ra, dec},
           // Degrees go before text, wherever they are.
           Table{"RAJ2000,DEJ2000,_RAJ2000,_DEJ2000\n17 45 40.04,-29 00 28.1,1.5,2.5\n", 1.5, 2.5},
           Table{"RA,DEC,RA_d,DEC_d\n17 45 40.04,-29 00 28.1,1.5,2.5\n", 1.5, 2.5},
           Table{"ra,dec,ra_j2000,dec_j2000\n17 45 40.04,-29 00 28.1,1.5,2.5\n", 1.5, 2.5},
           // The first row may have no values.
           Table{"ra,dec\n17:45:40.04,-29:00:28.1\n--,\n", ra, dec},
           // VizieR's text: units and dashes below the names.
           Table{"#\n#Column\n_RAJ2000\tName\tRAJ2000\tDEJ2000\ndeg\t \t\"h:m:s\"\t\"d:m:s\"\n"
                 "----------\t---\t-----------\t-----------\n"
                 "266.4\tA\t17 45 40.04\t-29 00 28.1\n",
                 ra, dec},
       }) {
    const auto list = positions_of(text);
    ASSERT_FALSE(list.sources.empty()) << text;
    EXPECT_EQ(list.sources[0].ra, expected_ra) << text;
    EXPECT_EQ(list.sources[0].dec, expected_dec) << text;
    EXPECT_EQ(list.unit(kastor::io::SourceQuantity::ra), "deg") << text;
  }
  const auto masked = positions_of("ra,dec\n,--\n~,-\n17 45 40.04,-29 00 28.1\n");
  EXPECT_EQ(masked.sources[2].ra, ra);
  EXPECT_TRUE(std::isnan(masked.sources[0].ra));
  ASSERT_EQ(masked.notes.size(), 1u);
  EXPECT_SAYS(masked.notes[0], "a.dat: 2 of 3 rows have no position and are left out");
}

TEST(SexagesimalColumns, AreRefusedWithRowAndValue) {
  for (const auto& [text, says] : {
           std::pair{"ra,dec\n17 45 40,-29 00 28\n\n17 45 60,-29 00 28\n",
                     "a.dat: line 4: ra is '17 45 60'; expected hours below 24, minutes and"},
           std::pair{"ra,dec\n24 00 00,-29 00 28\n", "line 2: ra is '24 00 00'; expected hours"},
           std::pair{"ra,dec\n-17 45 40,-29 00 28\n", "ra is '-17 45 40'"},
           std::pair{"ra,dec\n17 45 40,-90 00 01\n", "dec is '-90 00 01'; expected degrees from"},
           std::pair{"ra,dec\n17 45 40,-29h00m28s\n", "dec is '-29h00m28s'; expected degrees"},
           std::pair{"ra,dec\nwest,north\n", "ra is 'west'; expected hours"},
           std::pair{"ra,dec\n17 45 40,-29 00 28\n266.4,-29 00 28\n",
                     "line 3: ra is '266.4'; expected the same form as in line 2, where it is"},
           // Hours and degrees cannot be told apart.
           std::pair{"ra [deg],dec [deg]\n17 45 40,-29 00 28\n",
                     "ra is '17 45 40'; expected numbers, since its unit is 'deg'"},
           std::pair{"ra [Jy],dec\n17 45 40,-29 00 28\n", "the column ra has the unit 'Jy'"},
           std::pair{"ra [h:m:s],dec\n17.5,-29.5\n", "the column ra has the unit 'h:m:s'"},
       }) {
    EXPECT_SAYS(positions_error(text), says);
  }
}

TEST(SexagesimalColumns, OfVotableAndFits) {
  const std::string votable =
      "<VOTABLE><RESOURCE><TABLE>"
      "<FIELD name='RA' datatype='char' arraysize='*' unit='\"h:m:s\"'/>"
      "<FIELD name='DEC' datatype='char' arraysize='13' unit='\"d:m:s\"'/>"
      "<DATA><TABLEDATA><TR><TD>17 45 40.04</TD><TD>-29 00 28.1</TD></TR>"
      "<TR><TD/><TD/></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>";
  const auto list = positions_of(votable);
  ASSERT_EQ(list.sources.size(), 2u);
  EXPECT_EQ(list.sources[0].ra, 266.416833333333333333333333333);
  EXPECT_TRUE(std::isnan(list.sources[1].dec));
  auto wrong = votable;
  wrong.replace(wrong.find("<TD/><TD/>"), 10, "<TD>24 0 0</TD><TD>1 1 1</TD>");
  EXPECT_SAYS(positions_error(wrong), "a.dat: row 2: RA is '24 0 0'");

  const ScratchDirectory scratch;
  const auto path = scratch.file("a.fits");
  {
    FitsMaker maker(path);
    maker.table("T", 1, {{"RAJ2000", "12A", ""}, {"DEJ2000", "12A", ""}});
    maker.column<const char*>(1, TSTRING, {"17:45:40.04"});
    maker.column<const char*>(2, TSTRING, {"-29:00:28.1"});
  }
  EXPECT_EQ(kastor::io::read_source_list(path).sources[0].dec, -29.0078055555555555555555555556);
}

}  // namespace
