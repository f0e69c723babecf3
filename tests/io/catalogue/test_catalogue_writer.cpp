// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <kastor/io/catalogue_writer.hpp>
#include <kastor/io/sha256.hpp>
#include <limits>

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
    EXPECT_SAYS(error_of([&] { write_catalogue("/nowhere/a", format, {}, {}); }),
                "/nowhere/a: cannot be opened");
    EXPECT_SAYS(error_of([&] { write_catalogue("/dev/full", format, two_sources(), {}); }),
                "No space left");
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
