// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/io/catalogue_comparison.hpp>
#include <kastor/io/source_list.hpp>
#include <kastor/io/table_writer.hpp>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::ColumnNames;
using kastor::io::compare_catalogues;
using kastor::io::SkyFrame;
using kastor::io::SourceList;
using kastor::io::SourceQuantity;
using Q = SourceQuantity;

SourceList sources_in(const std::string& text, const ColumnNames& named = {}) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.dat"), text);
  return read_source_list(scratch.file("a.dat"), named);
}

std::string error_in(const std::string& text, const ColumnNames& named = {}) {
  return error_of([&] { (void)sources_in(text, named); });
}

TEST(SourceUnits, OfAnglesAreReadInEverySpelling) {
  struct Spelling {
    const char* unit;
    double degrees;
  };
  for (const auto& [unit, degrees] :
       {Spelling{"deg", 2}, Spelling{"degrees", 2}, Spelling{"Degree", 2}, Spelling{"DEG.", 2},
        Spelling{"\"deg\"", 2}, Spelling{"'deg'", 2}, Spelling{"Angle[deg]", 2},
        Spelling{"\xC2\xB0", 2}, Spelling{"arcmin", 2.0 / 60}, Spelling{"arcsec", 2.0 / 3600},
        Spelling{"radian", 2 * 57.295779513082320877}, Spelling{"rad", 2 * 57.295779513082320877},
        Spelling{"h", 30}, Spelling{"hourangle", 30}, Spelling{"hour", 30}}) {
    const std::string text = std::string("ra [") + unit + "],dec\n2,0.5\n";
    EXPECT_DOUBLE_EQ(sources_in(text).sources[0].ra, degrees) << unit;
  }
  EXPECT_SAYS(error_in("ra,dec [h]\n2,0.5\n"), "the column dec has the unit 'h'; expected deg");
}

TEST(SourceUnits, PixelsAreNeverDegrees) {
  EXPECT_SAYS(error_in("ra [pixel],dec [pixel]\n2,0.5\n"), "the column ra has the unit 'pixel'");
  EXPECT_SAYS(error_in("x [deg],y [deg]\n2,0.5\n"),
              "the column x has the unit 'deg'; expected pixel");
  ColumnNames named;
  named.names = {{Q::x, "u"}, {Q::y, "v"}};
  EXPECT_SAYS(error_in("u [arcsec],v [arcsec]\n2,0.5\n", named),
              "the column u has the unit 'arcsec'; expected pixel for x");
  // Offsets on the sky beside positions on it are no positions in pixels.
  const auto both = sources_in("ra,dec,x [arcsec],y [arcsec]\n2,0.5,3,4\n");
  EXPECT_TRUE(both.has_sky());
  EXPECT_FALSE(both.has_pixels());
  EXPECT_TRUE(sources_in("x [pix],y [Pixels]\n2,0.5\n").has_pixels());
}

struct SizeCase {
  const char* text;
  double arcsec;  // 0: not known
  double pixels;
};

TEST(SourceSizes, CountIfTheirUnitIsKnown) {
  const double fwhm = 2 * std::sqrt(2 * std::log(2.0));
  for (const auto& [text, arcsec, pixels] : {
           SizeCase{"ra,dec,maj\n1,2,3\n", 0, 0},
           SizeCase{"x,y,ra,dec,maj\n1,2,3,4,5\n", 0, 0},
           SizeCase{"ra,dec,maj [pixel]\n1,2,3\n", 0, 3},
           SizeCase{"ra,dec,maj [arcsec]\n1,2,3\n", 3, 0},
           SizeCase{"ra,dec,maj [degrees]\n1,2,3\n", 10800, 0},
           SizeCase{"ra,dec,maj [Jy]\n1,2,3\n", 0, 0},
           SizeCase{"Isl_id,RA,DEC,Total_flux,Peak_flux,Maj\n1,1,2,3,4,0.5\n", 1800, 0},
           SizeCase{"ra,dec,maj_axis\n1,2,3\n", 0, 0},
           SizeCase{"component_id,ra_deg_cont,dec_deg_cont,maj_axis\na,1,2,3\n", 3, 0},
           SizeCase{"ra,dec,peak_flux,local_rms,a,b\n1,2,3,1,4,5\n", 4, 0},
           SizeCase{"ra,dec,a,b\n1,2,3,4\n", 0, 0},
           SizeCase{"ra,dec,A_WORLD\n1,2,0.5\n", 1800 * fwhm, 0},
           SizeCase{"X_IMAGE,Y_IMAGE,A_IMAGE\n1,2,3\n", 0, 3 * fwhm},
           SizeCase{"xcentroid,ycentroid,semimajor_sigma [pix]\n1,2,3\n", 0, 3 * fwhm},
           SizeCase{"x,y,tnpix,theta,a,b\n1,2,3,4,5,6\n", 0, 5 * fwhm},
           SizeCase{"x,y,fwhm\n1,2,3\n", 0, 3},
           SizeCase{"ra,dec,x,y,fwhm\n1,2,3,4,5\n", 0, 0},
           SizeCase{"ra,dec,FWHM_IMAGE\n1,2,3\n", 0, 3},
           // A known unit goes before an unknown one.
           SizeCase{"ra,dec,maj,fwhm_world\n1,2,3,0.5\n", 1800, 0},
       }) {
    const auto list = sources_in(text);
    const auto expected = [](double value) { return value == 0 ? NAN : value; };
    const auto same = [](double a, double b) {
      return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-9 * b;
    };
    EXPECT_PRED2(same, list.median_size_arcsec, expected(arcsec)) << text;
    EXPECT_PRED2(same, list.median_size_pixels, expected(pixels)) << text;
    const bool has_size = !list.column(Q::size).empty();
    EXPECT_EQ(list.notes.size(), has_size && arcsec == 0 && pixels == 0 ? 1u : 0u) << text;
  }
  const auto list = sources_in("ra,dec,maj\n1,2,7200\n");
  EXPECT_SAYS(list.notes[0], "a.dat: the sizes in the column maj have no unit, so that the radius");
  const auto found = compare_catalogues(list, list);
  EXPECT_EQ(found.radius, 5);
  EXPECT_EQ(found.radius_from, kastor::io::RadiusFrom::standard);
}

TEST(SourceFrames, GalacticPositionsAreConverted) {
  // The galactic centre and pole, by astropy; its rotation differs by 0.02 arcsec.
  for (const char* names : {"GLON,GLAT", "l,b", "_Glon,_Glat", "gal_lon [deg],gal_lat [deg]"}) {
    const auto list = sources_in(std::string(names) + "\n0,0\n12.5,90\n");
    EXPECT_NEAR(list.sources[0].ra, 266.40498829, 1e-5) << names;
    EXPECT_NEAR(list.sources[0].dec, -28.93617776, 1e-5) << names;
    EXPECT_NEAR(list.sources[1].ra, 192.85948, 1e-4) << names;
    EXPECT_NEAR(list.sources[1].dec, 27.12825, 1e-4) << names;
    EXPECT_EQ(list.frame, SkyFrame::icrs);
    ASSERT_EQ(list.notes.size(), 1u);
    EXPECT_SAYS(list.notes[0], "were converted to ICRS");
  }
  ColumnNames named;
  named.names = {{Q::ra, "GLON"}, {Q::dec, "GLAT"}};
  EXPECT_NEAR(sources_in("GLON,GLAT\n0,0\n", named).sources[0].ra, 266.40498829, 1e-5);
  named.names = {{Q::ra, "GLON"}, {Q::dec, "d"}};
  EXPECT_SAYS(error_in("GLON,d\n0,0\n", named), "GLON and d are of different frames");
  named.names = {{Q::ra, "ecl_lon"}, {Q::dec, "ecl_lat"}};
  EXPECT_SAYS(error_in("ecl_lon,ecl_lat\n0,0\n", named), "the column ecl_lon are ecliptic");
  // Equatorial positions go first, and letters beside pixels are something else.
  EXPECT_EQ(sources_in("l,b,ra,dec\n0,0,1,2\n").sources[0].ra, 1);
  EXPECT_FALSE(sources_in("x,y,l,b\n0,0,1,2\n").has_sky());
}

TEST(SourceFrames, B1950MatchesB1950Only) {
  const auto old = sources_in("RAB1950,DEB1950\n10,20\n");
  const auto text = sources_in("RAB1950,DEB1950\n00 40 00,+20 00 00\n");
  const auto modern = sources_in("RAJ2000,DEJ2000\n10,20\n");
  const auto plain = sources_in("ra,dec\n10,20\n");
  EXPECT_EQ(old.frame, SkyFrame::fk4);
  EXPECT_EQ(compare_catalogues(old, text).matches.size(), 1u);
  EXPECT_EQ(compare_catalogues(modern, plain).matches.size(), 1u);
  for (const auto* other : {&modern, &plain}) {
    EXPECT_SAYS(error_of([&] { (void)compare_catalogues(old, *other); }),
                "a.dat: the positions RAB1950 and DEB1950 are of B1950 (FK4), those of");
    EXPECT_SAYS(error_of([&] { (void)compare_catalogues(*other, old); }), "of B1950 (FK4)");
  }
  // Positions of J2000 go first.
  EXPECT_EQ(sources_in("RAB1950,DEB1950,_RAJ2000,_DEJ2000\n1,2,3,4\n").sources[0].ra, 3);
}

TEST(SourceFrames, AreReadFromEveryFormat) {
  using Column = kastor::io::TableColumn;
  const kastor::io::Table plain{
      "t",
      "T",
      {Column{"ra", "deg", "pos.eq.ra;meta.main", "", std::vector<double>{10}},
       Column{"dec", "deg", "pos.eq.dec;meta.main", "", std::vector<double>{20}}}};
  const ScratchDirectory scratch;
  for (const char* name : {"a.fits", "a.vot", "a.ecsv"}) {
    for (const auto frame : {SkyFrame::icrs, SkyFrame::fk5, SkyFrame::fk4}) {
      auto table = plain;
      table.frame = frame;
      const auto path = scratch.file(name);
      write_table(path, *kastor::io::table_format_of(path), table, {});
      EXPECT_EQ(kastor::io::read_source_list(path).frame, frame) << name;
    }
  }
  // VizieR's way: each column refers to its system.
  const std::string votable =
      "<VOTABLE><RESOURCE><COOSYS ID='J' system='eq_FK5' equinox='J2000'/>"
      "<COOSYS ID='B' system='eq_FK4' equinox='B1950'/><TABLE>"
      "<FIELD name='ra' datatype='double' unit='deg' ref='B'/>"
      "<FIELD name='dec' datatype='double' unit='deg' ref='B'/>"
      "<DATA><TABLEDATA><TR><TD>10</TD><TD>20</TD></TR></TABLEDATA></DATA>"
      "</TABLE></RESOURCE></VOTABLE>";
  EXPECT_EQ(sources_in(votable).frame, SkyFrame::fk4);
  auto modern = votable;
  for (auto at = modern.find("ref='B'"); at != std::string::npos; at = modern.find("ref='B'"))
    modern.replace(at, 7, "ref='J'");
  EXPECT_EQ(sources_in(modern).frame, SkyFrame::fk5);

  const auto path = scratch.file("b.fits");
  {
    FitsMaker maker(path);
    maker.table("T", 1, {{"RA", "1D", "deg"}, {"DEC", "1D", "deg"}}).key("EQUINOX", 1950.0);
    maker.column<double>(1, TDOUBLE, {10}).column<double>(2, TDOUBLE, {20});
  }
  EXPECT_EQ(kastor::io::read_source_list(path).frame, SkyFrame::fk4);
}

TEST(SourceFrames, OfEachColumnOfAstropy) {
  // Several columns of positions, each of two parts.
  const std::string parts =
      "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: new.ra, unit: deg, datatype: float64}\n"
      "# - {name: new.dec, unit: deg, datatype: float64}\n"
      "# - {name: old.ra, unit: deg, datatype: float64}\n"
      "# - {name: old.dec, unit: deg, datatype: float64}\n"
      "# meta: !!omap\n# - __serialized_columns__:\n"
      "#     new:\n#       __class__: astropy.coordinates.sky_coordinate.SkyCoord\n"
      "#       frame: icrs\n#     old:\n#       equinox: !astropy.time.Time\n#         format: x\n"
      "#       frame: fk4\n# schema: astropy-2.0\nnew.ra new.dec old.ra old.dec\n1 2 3 4\n";
  for (const auto& [name, frame] :
       {std::pair("new", SkyFrame::icrs), std::pair("old", SkyFrame::fk4)}) {
    ColumnNames named;
    named.names = {{Q::ra, std::string(name) + ".ra"}, {Q::dec, std::string(name) + ".dec"}};
    EXPECT_EQ(sources_in(parts, named).frame, frame) << name;
  }
  EXPECT_SAYS(error_in(parts), "no position columns were recognised among new.ra, new.dec");
  EXPECT_EQ(sources_in("at.ra,at.dec\n1,2\n").sources[0].dec, 2);
}

TEST(SourceColumns, NamesThatOccurTwice) {
  EXPECT_SAYS(error_in("ra,dec,RA\n1,2,3\n"), "the column ra occurs more than once; expected one");
  EXPECT_SAYS(error_in("x,y,y\n1,2,3\n"), "the column y occurs more than once");
  ColumnNames named;
  named.names = {{Q::ra, "RA"}, {Q::dec, "dec"}};
  EXPECT_EQ(sources_in("ra,dec,RA\n1,2,3\n", named).sources[0].ra, 3);
  named.names = {{Q::ra, "Ra"}, {Q::dec, "dec"}};
  EXPECT_SAYS(error_in("ra,dec,RA\n1,2,3\n", named), "the column 'Ra' occurs 2 times");
  // Not if other columns tell the positions.
  EXPECT_EQ(sources_in("ra,dec,x,y,X\n1,2,3,4,5\n").sources[0].ra, 1);
  named.names = {{Q::x, "u"}, {Q::y, "v"}, {Q::flux_peak, "PEAK"}};
  const auto pixels = sources_in("ra,dec,RA,u,v,peak,PEAK\n1,2,3,4,5,6,7\n", named);
  EXPECT_FALSE(pixels.has_sky());
  EXPECT_EQ(pixels.sources[0].flux_peak, 7);
  EXPECT_EQ(pixels.notes.size(), 0u);
  const auto flux = sources_in("ra,dec,flux_peak,FLUX_PEAK,peak_flux\n1,2,3,4,5\n");
  EXPECT_EQ(flux.sources[0].flux_peak, 5);
  EXPECT_SAYS(flux.notes.at(0), "flux_peak occurs more than once and is not used");
}

TEST(SourceColumns, OfOtherPrograms) {
  const auto gaia = sources_in(
      "solution_id,source_id,ra,ra_error,dec,l,b,phot_g_mean_flux\n"
      "1636148068921376768,4295806720,44.99615537864534,0.1,0.005615226341865997,176.9,-48.9,1\n");
  EXPECT_EQ(gaia.sources[0].ra, 44.99615537864534);
  EXPECT_EQ(gaia.sources[0].id, "4295806720");
  const auto simbad =
      sources_in("main_id\tRA\tDEC\nM   1\t05 34 30.9\t+22 00 53\nM 42\t05 35 17\t-05 23 28\n");
  EXPECT_EQ(simbad.sources[0].id, "M   1");
  EXPECT_EQ(simbad.sources[0].ra, 83.62875);
  // Columns are known by their UCDs, too.
  const auto by_ucd = sources_in(
      "<VOTABLE><TABLE><FIELD name='alpha' ucd='pos.eq.ra;meta.main' datatype='double'/>"
      "<FIELD name='delta' ucd='POS_EQ_DEC_MAIN' datatype='double'/>"
      "<DATA><TABLEDATA><TR><TD>10</TD><TD>20</TD></TR></TABLEDATA></DATA></TABLE></VOTABLE>");
  EXPECT_EQ(by_ucd.sources[0].dec, 20);
  EXPECT_EQ(by_ucd.column(Q::ra), "alpha");
}

TEST(SourceColumns, RowsWithoutAPositionAreCounted) {
  const auto list = sources_in("ra,dec\n1,2\n-999,-999\n,\n3,masked\n");
  ASSERT_EQ(list.notes.size(), 1u);
  EXPECT_SAYS(list.notes[0],
              "a.dat: 3 of 4 rows have no position and are left out; 1 out of range, such as -999, "
              "-999 deg in line 3");
  EXPECT_EQ(sources_in("ra,dec\n1,2\n").notes.size(), 0u);
  // Null values that a file declares, of integers too.
  const auto nulls = sources_in(
      "<VOTABLE><TABLE><FIELD name='id' datatype='int'><VALUES null='-1'/></FIELD>"
      "<FIELD name='ra' datatype='int'><VALUES null='-99'/></FIELD>"
      "<FIELD name='dec' datatype='int'/><DATA><TABLEDATA>"
      "<TR><TD>-1</TD><TD>-99</TD><TD>20</TD></TR></TABLEDATA></DATA></TABLE></VOTABLE>");
  EXPECT_TRUE(std::isnan(nulls.sources[0].ra));
  EXPECT_EQ(nulls.sources[0].id, "");
}

}  // namespace
