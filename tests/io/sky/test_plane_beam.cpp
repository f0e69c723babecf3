// SPDX-License-Identifier: Apache-2.0
// Images of CASA whose planes have beams of their own, in a table BEAMS.
#include <gtest/gtest.h>

#include <functional>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/fits_writer.hpp>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::BeamOrigin;
using kastor::io::read_beam;
using kastor::io::ReadOptions;

struct BeamRow {
  double major, minor, angle;
  int channel, polarisation;
};

/// A cube with a beam in the header and in its HISTORY, which are those of no plane.
void write_cube(FitsMaker& maker, const std::vector<long>& axes, const char* third_axis) {
  long pixels = 1;
  for (const long axis : axes) pixels *= axis;
  maker.image<float>(FLOAT_IMG, axes, TFLOAT,
                     std::vector<float>(static_cast<std::size_t>(pixels), 1.0f));
  maker.key("CTYPE1", std::string("RA---SIN")).key("CTYPE2", std::string("DEC--SIN"));
  if (axes.size() > 2) maker.key("CTYPE3", std::string(third_axis));
  if (axes.size() > 3) maker.key("CTYPE4", std::string("FREQ"));
  maker.key("BMAJ", 0.5).key("BMIN", 0.5).key("BPA", 0.0);
  int yes = 1;
  fits_update_key(maker.get(), TLOGICAL, "CASAMBM", &yes, "several beams", &maker.status());
  fits_write_history(maker.get(), "AIPS   CLEAN BMAJ=  2.0E-02 BMIN=  1.0E-02 BPA=   1.00",
                     &maker.status());
}

void write_beams(FitsMaker& maker, const std::vector<BeamRow>& rows, const char* unit = "arcsec",
                 const char* name = "BEAMS") {
  maker.table(name, static_cast<int>(rows.size()),
              {{"BMAJ", "1E", unit},
               {"BMIN", "1E", unit},
               {"BPA", "1E", "deg"},
               {"CHAN", "1J", ""},
               {"POL", "1J", ""}});
  std::vector<double> sizes[3];
  std::vector<int> places[2];
  for (const BeamRow& row : rows) {
    sizes[0].push_back(row.major);
    sizes[1].push_back(row.minor);
    sizes[2].push_back(row.angle);
    places[0].push_back(row.channel);
    places[1].push_back(row.polarisation);
  }
  for (int i = 0; i < 3; ++i) maker.column(i + 1, TDOUBLE, sizes[i]);
  for (int i = 0; i < 2; ++i) maker.column(i + 4, TINT, places[i]);
}

class PlaneBeam : public testing::Test {
 protected:
  std::string make(const std::function<void(FitsMaker&)>& write) {
    const std::string path = m_scratch.file(std::to_string(m_files++) + ".fits");
    FitsMaker maker(path);
    write(maker);
    return path;
  }
  static ReadOptions plane(std::int64_t k) {
    ReadOptions options;
    options.plane = k;
    return options;
  }
  static void expect(const std::string& path, const ReadOptions& options, double major_arcsec,
                     double minor_arcsec, double angle) {
    for (const auto& image :
         {kastor::io::read_image(path, options), kastor::io::read_header(path, options)}) {
      const auto reading = read_beam(image);
      ASSERT_TRUE(reading.beam) << testing::PrintToString(reading.notes);
      EXPECT_EQ(reading.origin, BeamOrigin::table);
      EXPECT_NEAR(reading.beam->major_deg * 3600, major_arcsec, 1e-5);
      EXPECT_NEAR(reading.beam->minor_deg * 3600, minor_arcsec, 1e-5);
      EXPECT_NEAR(reading.beam->position_angle_deg, angle, 1e-5);
      EXPECT_TRUE(reading.notes.empty());
    }
  }
  static void expect_none(const std::string& path, const ReadOptions& options,
                          const std::string& says) {
    const auto reading = read_beam(kastor::io::read_header(path, options));
    EXPECT_FALSE(reading.beam);
    EXPECT_EQ(reading.origin, BeamOrigin::none);
    ASSERT_EQ(reading.notes.size(), 1u);
    EXPECT_SAYS(reading.notes[0], says);
  }

 private:
  const ScratchDirectory m_scratch;
  int m_files = 0;
};

const std::vector<BeamRow> k_channels = {
    {12, 6, 10, 0, 0}, {11, 5.5, 20, 1, 0}, {10, 5, -30, 2, 0}};

TEST_F(PlaneBeam, IsTheRowOfThePlane) {
  const auto channels = make([](FitsMaker& maker) {
    write_cube(maker, {4, 3, 3}, "FREQ");
    write_beams(maker, k_channels);
  });
  expect(channels, plane(0), 12, 6, 10);
  expect(channels, plane(1), 11, 5.5, 20);
  expect(channels, plane(2), 10, 5, 150);
  // Polarisations before a single channel, as CASA orders its axes; the rows in any order.
  const auto stokes = make([](FitsMaker& maker) {
    write_cube(maker, {4, 3, 2, 1}, "STOKES");
    write_beams(maker, {{7, 6, 0, 0, 1}, {9, 8, 0, 0, 0}, {70, 60, 0, 1, 1}, {90, 80, 0, 1, 0}});
  });
  expect(stokes, plane(0), 9, 8, 0);
  expect(stokes, plane(1), 7, 6, 0);
  // One channel's beams for all polarisations, in degrees.
  const auto same = make([](FitsMaker& maker) {
    write_cube(maker, {4, 3, 2, 1}, "STOKES");
    write_beams(maker, {{0.002, 0.001, 5, 0, 0}, {0.2, 0.1, 5, 1, 0}}, "deg");
  });
  expect(same, plane(1), 7.2, 3.6, 5);
}

TEST_F(PlaneBeam, ASingleRowIsTheImages) {
  const auto path = make([](FitsMaker& maker) {
    write_cube(maker, {4, 3}, "");
    write_beams(maker, {{12, 6, 10, 4, 0}});
  });
  expect(path, {}, 12, 6, 10);
}

TEST_F(PlaneBeam, IsNeverThatOfTheHeader) {
  const auto write = [](const std::function<void(FitsMaker&)>& table) {
    return [table](FitsMaker& maker) {
      write_cube(maker, {4, 3, 4}, "FREQ");
      table(maker);
    };
  };
  expect_none(make(write([](FitsMaker&) {})), plane(0), "no such table");
  const auto rows = make(write([](FitsMaker& maker) { write_beams(maker, k_channels); }));
  expect_none(rows, plane(3), "no row of CHAN 3 and POL 0");
  expect_none(make(write([](FitsMaker& maker) { write_beams(maker, {}); })), plane(0), "no row");
  expect_none(make(write([](FitsMaker& maker) { write_beams(maker, k_channels, "Jy"); })), plane(0),
              "the unit of BMAJ is 'Jy'");
  expect_none(make(write([](FitsMaker& maker) { write_beams(maker, k_channels, ""); })), plane(0),
              "the unit of BMAJ is ''");
  expect_none(make(write([](FitsMaker& maker) {
                write_beams(maker, {{0, 0, 0, 0, 0}});
              })),
              plane(0), "not used");
  expect_none(make(write([](FitsMaker& maker) {
                maker.table("BEAMS", 1, {{"MAJOR", "1E", "arcsec"}});
              })),
              plane(0), "no column BMAJ");
  // Neither are maps given the header's.
  const auto kept =
      kastor::io::kept_cards(kastor::io::read_header(rows, plane(0)).header_cards, {1, 2});
  for (const auto& card : kept) EXPECT_FALSE(card.starts_with("BMAJ")) << card;
}

TEST_F(PlaneBeam, OtherImagesHaveThatOfTheHeader) {
  const auto path = make([](FitsMaker& maker) {
    maker.image<float>(FLOAT_IMG, {4, 3}, TFLOAT, std::vector<float>(12, 1.0f));
    maker.key("BMAJ", 0.5).key("BMIN", 0.25).key("BPA", 0.0);
    int no = 0;
    fits_update_key(maker.get(), TLOGICAL, "CASAMBM", &no, "Two beams", &maker.status());
    write_beams(maker, {{12, 6, 10, 0, 0}});
  });
  const auto reading = read_beam(kastor::io::read_header(path));
  ASSERT_TRUE(reading.beam);
  EXPECT_EQ(reading.origin, BeamOrigin::header);
  EXPECT_EQ(reading.beam->major_deg, 0.5);
}

}  // namespace
