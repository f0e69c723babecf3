// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <cstring>
#include <kastor/io/catalogue_writer.hpp>
#include <kastor/io/sha256.hpp>
#include <limits>
#include <sstream>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::Catalogue;
using kastor::io::catalogue_hash;
using kastor::io::TableFormat;
using kastor::io::write_catalogue;

const double k_nan = std::numeric_limits<double>::quiet_NaN();

Catalogue two_sources() {
  return {{1, 0.1, 1.0 / 3.0, 1e-300, 12345.678, 0, 1, 2, 3, 4, 5, 6},
          {2, k_nan, -k_nan, -0.0, std::numeric_limits<double>::max(), 2147483647, -1,
           9007199254740993, 8, 9, 10, 11}};
}

TEST(CatalogueWriter, TheEndingChoosesTheFormat) {
  using kastor::io::table_format_of;
  EXPECT_EQ(table_format_of("a.csv"), TableFormat::csv);
  EXPECT_EQ(table_format_of("d/A.CSV"), TableFormat::csv);
  EXPECT_EQ(table_format_of("a.Fits"), TableFormat::fits);
  EXPECT_EQ(table_format_of("a.fit"), TableFormat::fits);
  for (const char* name : {"a", "csv", "a.txt", "a.fits.gz", "a.csv ", ""})
    EXPECT_FALSE(table_format_of(name)) << name;
}

TEST(CatalogueWriter, CsvHoldsEveryDigitAndNothingElse) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.csv");
  write_catalogue(path, TableFormat::csv, two_sources(), {});
  EXPECT_EQ(read_all(path),
            "id,x_cen,y_cen,flux_sum,flux_peak,x_peak,y_peak,n_pix,x_min,x_max,y_min,y_max\n"
            "1,0.10000000000000001,0.33333333333333331,1e-300,12345.678,0,1,2,3,4,5,6\n"
            "2,nan,nan,-0,1.7976931348623157e+308,2147483647,-1,9007199254740993,8,9,10,11\n");
  write_catalogue(path, TableFormat::csv, {}, {});
  EXPECT_EQ(read_all(path),
            "id,x_cen,y_cen,flux_sum,flux_peak,x_peak,y_peak,n_pix,x_min,x_max,y_min,y_max\n");
}

TEST(CatalogueWriter, CsvDoesNotDependOnTheLocale) {
  const ScratchDirectory scratch;
  write_catalogue(scratch.file("c.csv"), TableFormat::csv, two_sources(), {});
  const std::string before = std::setlocale(LC_ALL, nullptr);
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr)
    GTEST_SKIP() << "the locale de_DE.UTF-8 is not installed";
  write_catalogue(scratch.file("d.csv"), TableFormat::csv, two_sources(), {});
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(read_all(scratch.file("c.csv")), read_all(scratch.file("d.csv")));
}

TEST(CatalogueWriter, FitsTableComesBack) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  const std::string options = "--kappa 3 " + std::string(300, 'o');
  const std::string input = "/some/where/" + std::string(120, 'd') + "/it's \xc3\xa9.fits";
  write_catalogue(path, TableFormat::fits, two_sources(),
                  {.version = "0.1.0",
                   .command_line = options,
                   .input = input,
                   .input_datasum = 4294967295u,
                   .input_hdu = 2,
                   .unit = "Jy/beam"});

  fitsfile* fits = nullptr;
  int status = 0;
  fits_open_diskfile(&fits, path.c_str(), READONLY, &status);
  char name[] = "CATALOGUE";
  fits_movnam_hdu(fits, BINARY_TBL, name, 0, &status);
  long rows = 0;
  int columns = 0;
  fits_get_num_rows(fits, &rows, &status);
  fits_get_num_cols(fits, &columns, &status);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(columns, 12);
  const auto text = [&](const char* key) {
    char* value = nullptr;
    fits_read_key_longstr(fits, key, &value, nullptr, &status);
    const std::string result = value == nullptr ? "" : value;
    int ignored = 0;
    fits_free_memory(value, &ignored);
    return result;
  };
  EXPECT_EQ(text("TTYPE1"), "id");
  EXPECT_TRUE(text("TFORM1").ends_with("K"));
  EXPECT_TRUE(text("TFORM2").ends_with("D"));
  EXPECT_TRUE(text("TFORM6").ends_with("K"));
  EXPECT_EQ(text("TUNIT2"), "pix");
  EXPECT_EQ(text("TUNIT4"), "Jy/beam");
  EXPECT_EQ(text("TUNIT6"), "pix");
  EXPECT_EQ(text("KASTORV"), "0.1.0");
  EXPECT_EQ(text("INPUT"), input.substr(0, input.size() - 7) + "??.fits");
  LONGLONG sum = 0;
  LONGLONG peak = 0;
  LONGLONG pixels = 0;
  double centre[2] = {};
  int any = 0;
  fits_read_key(fits, TLONGLONG, "INSUM", &sum, nullptr, &status);
  fits_read_col(fits, TLONGLONG, 6, 2, 1, 1, nullptr, &peak, &any, &status);
  fits_read_col(fits, TLONGLONG, 8, 2, 1, 1, nullptr, &pixels, &any, &status);
  fits_read_col(fits, TDOUBLE, 2, 1, 1, 2, nullptr, centre, &any, &status);
  EXPECT_EQ(sum, 4294967295);
  EXPECT_EQ(peak, 2147483647);
  EXPECT_EQ(pixels, 9007199254740993);
  EXPECT_EQ(centre[0], 0.1);
  EXPECT_TRUE(std::isnan(centre[1]));
  EXPECT_EQ(status, 0);
  fits_close_file(fits, &status);

  std::string history;
  const std::string bytes = read_all(path);
  EXPECT_EQ(bytes.size() % 2880, 0u);
  for (std::size_t at = 0; at + 80 <= bytes.size(); at += 80) {
    if (bytes.compare(at, 8, "HISTORY ") == 0) history += bytes.substr(at + 8, 72);
  }
  EXPECT_TRUE(contains(history, "--kappa 3")) << history;
  EXPECT_GE(std::count(history.begin(), history.end(), 'o'), 300);
}

TEST(CatalogueWriter, FitsTablesMayBeEmptyOrLarge) {
  const ScratchDirectory scratch;
  for (const std::size_t count : {0u, 1u, 30000u}) {
    write_catalogue(scratch.file("a.fits"), TableFormat::fits, Catalogue(count), {});
    const auto hdus = kastor::io::list_hdus(scratch.file("a.fits"));
    ASSERT_EQ(hdus.size(), 2u);
    EXPECT_EQ(hdus[1].name, "CATALOGUE");
    EXPECT_EQ(hdus[1].axes, (std::vector<std::int64_t>{96, static_cast<std::int64_t>(count)}));
  }
}

TEST(CatalogueWriter, AnUnwritablePlaceIsAnError) {
  for (const auto format : {TableFormat::csv, TableFormat::fits}) {
    EXPECT_TRUE(contains(error_of([&] { write_catalogue("/nowhere/a", format, {}, {}); }),
                         "/nowhere/a: cannot be opened"));
    EXPECT_TRUE(contains(error_of([&] { write_catalogue("/dev/full", format, two_sources(), {}); }),
                         "No space left"));
  }
}

TEST(CatalogueHash, IsTheShaOfTheLittleEndianRows) {
  EXPECT_EQ(catalogue_hash({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  kastor::io::Sha256 hash;
  const auto add = [&](std::uint64_t bits) {
    for (int i = 0; i < 8; ++i) {
      const auto byte = static_cast<unsigned char>(bits >> (8 * i));
      hash.update(&byte, 1);
    }
  };
  add(1);
  for (const double value : {0.1, 1.0 / 3.0, 1e-300, 12345.678})
    add(std::bit_cast<std::uint64_t>(value));
  for (std::uint64_t i = 0; i < 7; ++i) add(i);
  add(2);
  add(0x7ff8000000000000);
  add(0x7ff8000000000000);
  add(std::bit_cast<std::uint64_t>(-0.0));
  add(std::bit_cast<std::uint64_t>(std::numeric_limits<double>::max()));
  add(2147483647);
  add(~std::uint64_t{0});
  add(9007199254740993);
  for (std::uint64_t i = 8; i < 12; ++i) add(i);
  EXPECT_EQ(catalogue_hash(two_sources()), hash.hex_digest());
}

}  // namespace
