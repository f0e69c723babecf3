// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/io/catalogue_reader.hpp>
#include <kastor/io/catalogue_writer.hpp>
#include <limits>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::Catalogue;
using kastor::io::read_catalogue;
using kastor::io::TableFormat;

const std::vector<std::string> k_place{"x_cen", "y_cen"};

Catalogue two_sources() {
  return {
      {1, 1.5, -2.25, 1e-300, 3.0, 4, 5, 6, 7, 8, 9, 10},
      {1LL << 60, std::numeric_limits<double>::quiet_NaN(), 0.1, -0.0, 7.0, 1, 2, 3, 4, 5, 6, 7}};
}

std::string csv_error(const std::string& text) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.csv"), text);
  return error_of([&] { (void)read_catalogue(scratch.file("a.csv"), k_place); });
}

TEST(CatalogueReader, ReadsWhatTheWriterWrote) {
  for (const auto format : {TableFormat::csv, TableFormat::fits}) {
    const ScratchDirectory scratch;
    const auto path = scratch.file(format == TableFormat::csv ? "a.CSV" : "a.fits");
    for (const auto& catalogue : {two_sources(), Catalogue{}}) {
      kastor::io::write_catalogue(path, format, catalogue, {});
      const auto found = read_catalogue(path, {"id", "x_cen", "y_max"});
      EXPECT_EQ(found.size(), catalogue.size());
      EXPECT_EQ(kastor::io::catalogue_hash(found), kastor::io::catalogue_hash(catalogue));
    }
  }
}

TEST(CatalogueReader, FindsColumnsByNameAndIgnoresOthers) {
  const ScratchDirectory scratch;
  write_bytes(scratch.file("a.csv"), "name,y_cen,x_cen\r\nM 13,2,1\r\n,-4e1,nan\r\n");
  const auto found = read_catalogue(scratch.file("a.csv"), k_place);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].x_cen, 1);
  EXPECT_EQ(found[0].y_cen, 2);
  EXPECT_TRUE(std::isnan(found[1].x_cen));
  EXPECT_EQ(found[1].y_cen, -40);
  EXPECT_EQ(found[1].id, 0);
}

TEST(CatalogueReader, RefusesCsvThatIsNoCatalogue) {
  EXPECT_SAYS(csv_error(""), "a.csv: is empty");
  EXPECT_SAYS(csv_error("x_cen,y\n1,2\n"), "no column 'y_cen'; expected the columns x_cen");
  EXPECT_SAYS(csv_error("x_cen,y_cen,x_cen\n"), "twice");
  EXPECT_SAYS(csv_error("x_cen,y_cen\n1,2\n1\n"), "line 3 has 1 fields; expected 2");
  EXPECT_SAYS(csv_error("x_cen,y_cen\n1,2x\n"), "line 2: y_cen is '2x'");
  EXPECT_SAYS(csv_error("x_cen,y_cen\n1, 2\n"), "y_cen is ' 2'");
  EXPECT_SAYS(csv_error("x_cen,y_cen\n1,\n"), "y_cen is ''");
  EXPECT_SAYS(csv_error("x_cen,y_cen,id\n1,2,3.5\n"), "id is '3.5'; expected an integer");
  EXPECT_SAYS(csv_error("x_cen,y_cen,x_min\n1,2,2147483648\n"),
              "x_min is '2147483648'; expected a 32-bit integer");
  EXPECT_SAYS(csv_error("x_cen,y_cen\n\n"), "line 2 has 1 fields");
}

TEST(CatalogueReader, RefusesFilesThatAreNone) {
  const ScratchDirectory scratch;
  const auto error = [&](const std::string& name) {
    return error_of([&] { (void)read_catalogue(scratch.file(name), k_place); });
  };
  EXPECT_SAYS(error("a.csv"), "no such file");
  EXPECT_SAYS(error("a.fits"), "no such file");
  EXPECT_SAYS(error("a.txt"), "suffix");
  std::filesystem::create_directory(scratch.file("b.csv"));
  EXPECT_SAYS(error("b.csv"), "not a regular file");
  write_bytes(scratch.file("image.fits"),
              HandMadeHdu::image(8, {2, 2}).bytes(std::string("\1\2\3\4", 4)));
  EXPECT_SAYS(error("image.fits"), "no binary table was found");
}

TEST(CatalogueReader, RefusesFitsTablesThatLackColumnsOrRows) {
  const ScratchDirectory scratch;
  const auto path = scratch.file("a.fits");
  FitsMaker(path).table("T", 2, {{"x_cen", "1E", ""}}).column<float>(1, TFLOAT, {1.5F, 2.5F});
  EXPECT_EQ(read_catalogue(path, {"x_cen"})[1].x_cen, 2.5);  // any numeric type
  const auto missing = error_of([&] { (void)read_catalogue(path, k_place); });
  EXPECT_SAYS(missing, "a.fits[1]: there is no column 'y_cen'");

  const auto wide = scratch.file("wide.fits");
  FitsMaker(wide)
      .table("T", 1, {{"x_min", "1K", ""}})
      .column<LONGLONG>(1, TLONGLONG, {LONGLONG{1} << 31});
  const auto large = error_of([&] { (void)read_catalogue(wide, {"x_min"}); });
  EXPECT_SAYS(large, "wide.fits");
  EXPECT_SAYS(large, "reading the column x_min");

  kastor::io::write_catalogue(path, TableFormat::fits, Catalogue(1000), {});
  std::filesystem::resize_file(path, 4 * 2880);
  const auto cut = error_of([&] { (void)read_catalogue(path, k_place); });
  EXPECT_SAYS(cut, "a.fits");
}

}  // namespace
