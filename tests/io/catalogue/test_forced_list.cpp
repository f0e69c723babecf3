// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/io/component_table.hpp>
#include <kastor/io/forced_list.hpp>
#include <kastor/io/forced_table.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "fits_support.hpp"
#include "island_table_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::ForcedList;
using kastor::io::TableParams;

TableParams image_of(const kastor::io::Wcs* wcs, bool has_beam = true) {
  TableParams params;
  params.wcs = wcs;
  if (has_beam) params.beam = beam_of(12, 8, 30);
  params.unit = "Jy/beam";
  params.nx = params.ny = 120;
  return params;
}

ForcedList forced_list_of(const std::string& text, const TableParams& image,
                          bool use_shapes = true) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.csv"), text);
  return kastor::io::read_forced_list(scratch.file("a.csv"), image, use_shapes);
}

template <class T>
const std::vector<T>& values_of(const kastor::io::Table& table, const std::string& name) {
  for (const auto& column : table.columns)
    if (column.name == name) return std::get<std::vector<T>>(column.values);
  throw std::runtime_error("no column " + name);
}

TEST(ForcedList, PlacesRowsBySkyElseByPixels) {
  const auto wcs = Header().wcs();
  const auto list = forced_list_of("id,ra,dec,x,y\na,150,2,7,8\nb,nan,2,1,1\n", image_of(&wcs));
  ASSERT_EQ(list.positions.size(), 2U);
  EXPECT_NEAR(list.positions[0].x, 59, 1e-9);
  EXPECT_NEAR(list.positions[0].y, 59, 1e-9);
  EXPECT_TRUE(std::isnan(list.positions[1].x));
  EXPECT_EQ(list.list.sources[1].id, "b");
  ASSERT_TRUE(list.beam);
  EXPECT_NEAR(list.beam->major, 6, 1e-3);
  EXPECT_NEAR(list.beam->minor, 4, 1e-3);
  // x runs towards west: an angle of 30 degrees from north through east is 120 from x towards y.
  EXPECT_NEAR(list.beam->angle, 120 * k_radian, 1e-3);
  EXPECT_TRUE(list.has_beam_shape[0]);
  EXPECT_EQ(list.shape_columns, "");

  const auto flat = forced_list_of("x,y\n7,8\n", image_of(nullptr));
  EXPECT_EQ(flat.positions[0].x, 7);
  EXPECT_FALSE(flat.beam);
  EXPECT_FALSE(flat.positions[0].shape);
}

TEST(ForcedList, ReadsTheShapesOfPrograms) {
  const auto wcs = Header().wcs();
  const struct {
    const char* text;
    double major, minor, degrees;
  } cases[] = {
      {"component_id,ra,dec,maj_axis,min_axis,pos_ang\n1,150,2,20,10,0\n", 10, 5, 90},
      {"Isl_id,RA,DEC,Total_flux,Peak_flux,Maj,Min,PA\n0,150,2,1,1,0.01,0.005,30\n", 18, 9, 120},
      {"ra,dec,peak_flux,local_rms,a,b,pa\n150,2,1,1,20,10,-10\n", 10, 5, 80},
      {"X_IMAGE,Y_IMAGE,A_IMAGE,B_IMAGE,THETA_IMAGE\n60,60,2,1,-30\n", 2 * k_fwhm, k_fwhm, 150},
      {"x,y,fwhm,minor,angle\n59,59,7,0,nan\n", 7, 7, 0},
      {"ra,dec,major [arcmin],minor [arcmin],pa [rad]\n150,2,1,2,0\n", 60, 30, 0},
  };
  for (const auto& each : cases) {
    const auto list = forced_list_of(each.text, image_of(&wcs));
    ASSERT_TRUE(list.positions[0].shape) << each.text;
    EXPECT_FALSE(list.has_beam_shape[0]) << each.text;
    EXPECT_NEAR(list.positions[0].shape->major, each.major, 2e-3) << each.text;
    EXPECT_NEAR(list.positions[0].shape->minor, each.minor, 2e-3) << each.text;
    const double turned = list.positions[0].shape->angle / k_radian - each.degrees;
    EXPECT_NEAR(std::remainder(turned, 180), 0, 0.05) << each.text;
    EXPECT_TRUE(forced_list_of(each.text, image_of(&wcs), false).has_beam_shape[0]);
  }
  // Moments of islands, and sizes without a unit, are no fitted shapes.
  for (const char* text : {"island_id,ra,dec,maj_axis,min_axis,pos_ang\n1,150,2,20,10,0\n",
                           "ra,dec,maj,min,pa\n150,2,20,10,0\n", "x,y,a,b,theta\n59,59,2,1,0\n"}) {
    const auto list = forced_list_of(text, image_of(&wcs));
    EXPECT_TRUE(list.has_beam_shape[0]) << text;
    EXPECT_NEAR(list.positions[0].shape->major, 6, 1e-3);
  }
}

TEST(ForcedList, RefusesListsWithoutRowsAndShapesWithoutABeam) {
  const auto wcs = Header().wcs();
  const auto trouble = [&](const std::string& text, const TableParams& image) {
    return error_of([&] { (void)forced_list_of(text, image); });
  };
  EXPECT_NE(trouble("x,y\n", image_of(&wcs)).find("the list has no row"), std::string::npos);
  EXPECT_NE(trouble("ra,dec\n1,2\n", image_of(nullptr)).find("no celestial coordinates"),
            std::string::npos);
  const std::string some = "x,y,fwhm,minor,angle\n1,2,7,5,0\n3,4,nan,0,0\n";
  EXPECT_NE(trouble(some, image_of(nullptr, false)).find("row 2 has no size in fwhm, minor, angle"),
            std::string::npos);
  const auto list = forced_list_of(some.substr(0, some.find("3,4")), image_of(nullptr, false));
  ASSERT_TRUE(list.beam);
  EXPECT_EQ(list.beam->major, 5);
}

TEST(ForcedTable, HasARowForEachOfTheList) {
  const auto wcs = Header().wcs();
  const auto image = image_of(&wcs);
  const auto list = forced_list_of(
      "name,x,y,fwhm,minor,angle\nA,59,59,0,0,0\nB,59,59,12,8,0\nC,500,3,0,0,0\n", image);
  kastor::Components rows(3);
  for (std::size_t i = 0; i < 3; ++i) {
    rows[i].gaussian =
        kastor::gaussian_of(*list.positions[i].shape, 2, list.positions[i].x, list.positions[i].y);
    rows[i].covariance[0] = 0.25;
    rows[i].flags = kastor::component_forced;
  }
  rows[0].gaussian.peak = -2;
  rows[2].gaussian.peak = rows[2].covariance[0] = k_nan;
  rows[2].flags |= kastor::component_off_image;
  std::vector<kastor::io::ApertureColumn> apertures = {{"2.5", 4, {}}};
  apertures[0].fluxes = {{10, 1, 19.6, 0, 0}, {20, 1, 19.6, 0, 0}, {k_nan, k_nan, 0, 0, 5}};
  const auto made = kastor::io::forced_table(list, rows, apertures, image);
  const auto& table = made.table;
  EXPECT_EQ(values_of<std::string>(table, "list_id"), (std::vector<std::string>{"A", "B", "C"}));
  const auto& flux = values_of<double>(table, "flux_int");
  const auto& limit = values_of<double>(table, "flux_limit");
  EXPECT_EQ(flux[0], -2);
  EXPECT_NEAR(flux[1], 2 * 4, 1e-3);  // four beams
  EXPECT_TRUE(std::isnan(flux[2]));
  EXPECT_EQ(limit[0], 1.5);
  EXPECT_NEAR(limit[1], 4 * (2 + 1.5), 1e-3);
  EXPECT_EQ(values_of<double>(table, "snr")[0], -4);
  EXPECT_TRUE(std::isnan(values_of<double>(table, "ra_err")[0]));
  const auto& flags = values_of<std::int64_t>(table, "flags");
  EXPECT_EQ(flags[0], kastor::component_forced | kastor::component_beam_shape);
  EXPECT_EQ(flags[1], kastor::component_forced);
  const double beam = kastor::area_of(*list.beam);
  EXPECT_NEAR(values_of<double>(table, "flux_aper_2_5")[1], 20 / beam, 1e-4);
  EXPECT_NEAR(values_of<double>(table, "flux_aper_2_5_err")[1], 2 / beam, 1e-4);
  EXPECT_EQ(values_of<std::int64_t>(table, "flags_aper_2_5")[2], 5);
  EXPECT_THROW((void)kastor::io::forced_table(list, {rows[0]}, {}, image), kastor::Error);

  auto counts = image;
  counts.unit = "adu";
  counts.sums_of_pixels = true;
  const auto sums = kastor::io::forced_table(list, {}, apertures, counts);
  EXPECT_EQ(values_of<double>(sums.table, "flux_aper_2_5")[1], 20);
  EXPECT_EQ(sums.table.columns.back().name, "flags");
}

}  // namespace
