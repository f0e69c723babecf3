// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <kastor/io/regions_writer.hpp>
#include <limits>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::Region;
using kastor::io::RegionFormat;
using kastor::io::SkyFrame;
using kastor::io::write_regions;

const double k_nan = std::numeric_limits<double>::quiet_NaN();

std::string written(RegionFormat format, const std::vector<Region>& regions,
                    std::optional<SkyFrame> frame, const kastor::io::Provenance& provenance = {}) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("regions");
  write_regions(path, format, regions, frame, provenance);
  return read_all(path);
}

std::vector<Region> three_regions() {
  return {{10.5, -20.25, 3.0, 2.0, 30.0, "1"},
          {k_nan, 0.0, 3.0, 2.0, 30.0, "nowhere"},
          {0.0, 90.0, 3.0, 0.0, 30.0, "{a}, [\"b\"]"}};
}

TEST(RegionsWriter, TheEndingChoosesTheFormat) {
  using kastor::io::region_format_of;
  EXPECT_EQ(region_format_of("a.reg"), RegionFormat::ds9);
  EXPECT_EQ(region_format_of("A.REG"), RegionFormat::ds9);
  EXPECT_EQ(region_format_of("a.crtf"), RegionFormat::crtf);
  for (const char* name : {"reg", "a.fits", "a.crt", ""}) EXPECT_FALSE(region_format_of(name));
}

TEST(RegionsWriter, Ds9OnTheSky) {
  EXPECT_EQ(
      written(RegionFormat::ds9, three_regions(), SkyFrame::fk5,
              {.version = "1.2.3", .command_line = "kastor find; more", .input = "", .unit = ""}),
      "# Region file format: DS9 version 4.1\n"
      "# creator: kastor\n"
      "# kastor_version: 1.2.3\n"
      "# options: kastor find, more\n"
      "# left out, without a position: 1\n"
      "global color=green width=1\n"
      "fk5\n"
      "ellipse(10.500000000,-20.250000000,3.000000\",2.000000\",120.000000) # text={1}\n"
      "point(0.000000000,90.000000000) # point=cross text={(a), [\"b\"]}\n");
}

TEST(RegionsWriter, Ds9InPixels) {
  EXPECT_EQ(written(RegionFormat::ds9, three_regions(), std::nullopt),
            "# Region file format: DS9 version 4.1\n"
            "# creator: kastor\n"
            "# kastor_version: \n"
            "# left out, without a position: 1\n"
            "global color=green width=1\n"
            "image\n"
            "ellipse(11.500000,-19.250000,3.000000,2.000000,30.000000) # text={1}\n"
            "point(1.000000,91.000000) # point=cross text={(a), [\"b\"]}\n");
}

TEST(RegionsWriter, CrtfOnTheSky) {
  EXPECT_EQ(written(RegionFormat::crtf, three_regions(), SkyFrame::fk5),
            "#CRTFv0 CASA Region Text Format version 0\n"
            "# creator: kastor\n"
            "# kastor_version: \n"
            "# left out, without a position: 1\n"
            "global coord=J2000, color=green\n"
            "ellipse[[10.500000000deg, -20.250000000deg], [3.000000arcsec, 2.000000arcsec], "
            "30.000000deg], label=\"1\"\n"
            "ann symbol[[0.000000000deg, 90.000000000deg], +], label=\"{a}_ __b__\"\n");
}

TEST(RegionsWriter, CrtfInPixels) {
  EXPECT_EQ(written(RegionFormat::crtf, {{10.5, 20.25, 3.0, 2.0, 30.0, ""}}, std::nullopt),
            "#CRTFv0 CASA Region Text Format version 0\n"
            "# creator: kastor\n"
            "# kastor_version: \n"
            "global color=green\n"
            "ellipse[[10.500000pix, 20.250000pix], [3.000000pix, 2.000000pix], 300.000000deg]\n");
}

TEST(RegionsWriter, NamesTheFrames) {
  const auto line = [](RegionFormat format, SkyFrame frame, int number) {
    std::istringstream text(written(format, {}, frame));
    std::string found;
    for (int i = 0; i < number; ++i) std::getline(text, found);
    return found;
  };
  EXPECT_EQ(line(RegionFormat::ds9, SkyFrame::icrs, 5), "icrs");
  EXPECT_EQ(line(RegionFormat::ds9, SkyFrame::fk4, 5), "fk4");
  EXPECT_EQ(line(RegionFormat::ds9, SkyFrame::galactic, 5), "galactic");
  EXPECT_EQ(line(RegionFormat::ds9, SkyFrame::ecliptic, 5), "ecliptic");
  EXPECT_EQ(line(RegionFormat::crtf, SkyFrame::icrs, 4), "global coord=ICRS, color=green");
  EXPECT_EQ(line(RegionFormat::crtf, SkyFrame::fk4, 4), "global coord=B1950, color=green");
  EXPECT_EQ(line(RegionFormat::crtf, SkyFrame::galactic, 4), "global coord=GALACTIC, color=green");
  EXPECT_EQ(line(RegionFormat::crtf, SkyFrame::ecliptic, 4), "global coord=ECLIPTIC, color=green");
}

TEST(RegionsWriter, WithoutAShapeItIsAPoint) {
  for (const Region& region :
       {Region{1, 1, 0, 0, 0, ""}, Region{1, 1, k_nan, 1, 0, ""}, Region{1, 1, 1, k_nan, 0, ""},
        Region{1, 1, 1, 1, k_nan, ""}, Region{1, 1, 1, -1, 0, ""},
        Region{1, 1, std::numeric_limits<double>::infinity(), 1, 0, ""}}) {
    EXPECT_SAYS(written(RegionFormat::ds9, {region}, SkyFrame::icrs), "\npoint(");
    EXPECT_SAYS(written(RegionFormat::crtf, {region}, SkyFrame::icrs), "\nann symbol[");
  }
}

TEST(RegionsWriter, AnglesAreWrapped) {
  const auto holds = [](double angle, const char* text) {
    return contains(written(RegionFormat::crtf, {{1, 1, 1, 1, angle, ""}}, SkyFrame::icrs), text);
  };
  EXPECT_TRUE(holds(-30.0, " 330.000000deg"));
  EXPECT_TRUE(holds(750.0, " 30.000000deg"));
  EXPECT_TRUE(holds(0.0, " 0.000000deg"));
  EXPECT_TRUE(holds(-1e-9, " 0.000000deg"));
  EXPECT_TRUE(holds(359.9999999, " 0.000000deg"));
}

TEST(RegionsWriter, AnUnwritablePlaceIsAnError) {
  for (const auto format : {RegionFormat::ds9, RegionFormat::crtf}) {
    EXPECT_SAYS(error_of([&] { write_regions("/nowhere/a", format, {}, {}, {}); }),
                "/nowhere/a: cannot be opened");
    EXPECT_SAYS(error_of([&] { write_regions("/dev/full", format, {}, {}, {}); }), "No space left");
  }
}

}  // namespace
