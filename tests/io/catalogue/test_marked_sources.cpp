// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/io/catalogue_writer.hpp>
#include <kastor/io/marked_sources.hpp>
#include <kastor/io/table_writer.hpp>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::Catalogue;
using kastor::io::MarkedSources;
using kastor::io::read_marked_sources;
using kastor::io::Wcs;

MarkedSources marks_of(const std::string& text, const Wcs* wcs = nullptr, bool with_ids = false) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.dat"), text);
  return read_marked_sources(scratch.file("a.dat"), wcs, with_ids);
}

std::string marks_error(const std::string& text, const Wcs* wcs = nullptr, bool with_ids = false) {
  return error_of([&] { (void)marks_of(text, wcs, with_ids); });
}

/// A gnomonic projection with pixels of 3.6 arcsec about pixel (10, 20), from 0.
Wcs tangent(const std::string& longitude, const std::string& latitude, double at, double up,
            const std::string& frame) {
  return Wcs({card("CTYPE1", "'" + longitude + "'"), card("CTYPE2", "'" + latitude + "'"),
              card("CRPIX1", 11.0), card("CRPIX2", 21.0), card("CRVAL1", at), card("CRVAL2", up),
              card("CDELT1", -0.001), card("CDELT2", 0.001), card("RADESYS", "'" + frame + "'")},
             {1, 2});
}

TEST(MarkedSources, OfEveryFormatAreTheSame) {
  const Catalogue catalogue = {{(1LL << 60) + 1, 1.0 / 3, -2.25, 3, 3.0, 4, 5, 6, 7, 8, 9, 10},
                               {2, NAN, 0.1, 0, 7.0, 1, 2, 3, 4, 5, -6, 7}};
  const ScratchDirectory scratch;
  for (const char* name : {"a.csv", "a.fits", "a.vot", "a.ecsv"}) {
    const auto path = scratch.file(name);
    kastor::io::write_catalogue(path, *kastor::io::table_format_of(path), catalogue, {});
    const auto found = read_marked_sources(path, nullptr, true).sources;
    ASSERT_EQ(found.size(), 2u) << name;
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(found[i].id, catalogue[i].id) << name;
      EXPECT_EQ(found[i].y_cen, catalogue[i].y_cen) << name;
      EXPECT_EQ(found[i].x_min, catalogue[i].x_min) << name;
      EXPECT_EQ(found[i].x_max, catalogue[i].x_max) << name;
      EXPECT_EQ(found[i].y_min, catalogue[i].y_min) << name;
      EXPECT_EQ(found[i].y_max, catalogue[i].y_max) << name;
    }
    EXPECT_EQ(found[0].x_cen, 1.0 / 3) << name;
    EXPECT_TRUE(std::isnan(found[1].x_cen)) << name;
  }
  EXPECT_EQ(
      marks_of("island_id,x_cen,y_cen,x_min,x_max,y_min,y_max\n7,1,2,1,1,2.0,2\n", nullptr, true)
          .sources.at(0)
          .id,
      7);
}

TEST(MarkedSources, OnTheSkyLieWhereTheImageHasThem) {
  const auto wcs = tangent("RA---TAN", "DEC--TAN", 150, 30, "ICRS");
  const auto found =
      marks_of("id,ra,dec,maj [arcsec]\n5,150,30,18\n6,150,30.01,nan\n7,330,-30,1\n8,nan,nan,1\n",
               &wcs, true);
  ASSERT_EQ(found.sources.size(), 2u);
  const auto& first = found.sources[0];
  EXPECT_EQ(first.id, 5);
  EXPECT_NEAR(first.x_cen, 10, 1e-9);
  EXPECT_NEAR(first.y_cen, 20, 1e-9);
  // Five pixels to each side.
  EXPECT_NEAR(first.x_min - 0.5, 5, 0.5);
  EXPECT_NEAR(first.x_max + 0.5, 15, 0.5);
  EXPECT_NEAR(first.y_max + 0.5, 25, 0.5);
  EXPECT_NEAR(found.sources[1].y_cen, 30, 1e-4);
  ASSERT_EQ(found.notes.size(), 2u);
  EXPECT_SAYS(found.notes[0], "1 of 4 rows has no position");
  EXPECT_SAYS(found.notes[1], "1 of 4 sources have no place in the image's plane");
}

TEST(MarkedSources, FramesAreConvertedOrRefused) {
  const auto galactic = tangent("GLON-TAN", "GLAT-TAN", 0, 0, "ICRS");
  for (const char* text : {"ra,dec\n266.40498829,-28.93617776\n", "l,b\n0,0\n"}) {
    const auto found = marks_of(text, &galactic).sources.at(0);
    EXPECT_NEAR(found.x_cen, 10, 0.01) << text;
    EXPECT_NEAR(found.y_cen, 20, 0.01) << text;
  }
  const auto old = tangent("RA---TAN", "DEC--TAN", 150, 30, "FK4");
  const auto modern = tangent("RA---TAN", "DEC--TAN", 150, 30, "FK5");
  EXPECT_NEAR(marks_of("RAB1950,DEB1950\n150,30\n", &old).sources.at(0).x_cen, 10, 1e-9);
  EXPECT_SAYS(marks_error("ra,dec\n150,30\n", &old), "are of ICRS or J2000, the image is in FK4");
  EXPECT_SAYS(marks_error("RAB1950,DEB1950\n150,30\n", &modern), "are of B1950 (FK4), the image");
  const auto ecliptic = tangent("ELON-TAN", "ELAT-TAN", 150, 30, "ICRS");
  EXPECT_SAYS(marks_error("ra,dec\n150,30\n", &ecliptic), "neither equatorial nor galactic");
}

TEST(MarkedSources, InPixelsOrRefused) {
  const auto found = marks_of("X_IMAGE,Y_IMAGE,A_IMAGE\n11,21,1\n").sources.at(0);
  EXPECT_EQ(found.x_cen, 10);
  EXPECT_EQ(found.y_cen, 20);
  const auto wcs = tangent("RA---TAN", "DEC--TAN", 150, 30, "ICRS");
  EXPECT_NEAR(marks_of("ra,dec,x,y\n150,30,1,2\n", &wcs).sources.at(0).x_cen, 10, 1e-9);
  EXPECT_EQ(marks_of("ra,dec,x,y\n150,30,1,2\n").sources.at(0).x_cen, 1);
  for (const auto& [text, says] : {
           std::pair{"ra,dec\n1,2\n", "a.dat: the positions are on the sky, and the image has no"},
           std::pair{"x_cen,y_cen,x_min\n1,2,3\n", "a.dat: there is no column 'x_max'; expected"},
           std::pair{"x,y\n1,2\n", "there is no column 'id'; expected one for --labels"},
           std::pair{"name,x,y\nM 1,1,2\n", "row 1: name is 'M 1'; expected an integer"},
           std::pair{"u,v\n1,2\n", "no position columns were recognised"},
           std::pair{"id,x_cen,y_cen,x_min,x_max,y_min,y_max\n1,5,5,0,2147483648,0,1\n",
                     "line 2: x_max is '2147483648'; expected a 32-bit integer"},
           std::pair{"id,x_cen,y_cen,x_min,x_max,y_min,y_max\n1,5,5,0.5,1,0,1\n",
                     "line 2: x_min is '0.5'; expected a 32-bit integer"},
       }) {
    EXPECT_SAYS(marks_error(text, nullptr, true), says);
  }
}

}  // namespace
