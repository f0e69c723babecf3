// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <kastor/io/fits_image.hpp>
#include <nlohmann/json.hpp>

#include "rows_as_read.hpp"

// Real images, compared with what NumPy says of them. KASTOR_TEST_DATA names a directory with
// expected.json and the files.
namespace {

using namespace testing_support;
using testing_support::read_both_ways;

class FitsData : public testing::Test {
 protected:
  void SetUp() override {
    const char* directory = std::getenv("KASTOR_TEST_DATA");
    if (directory == nullptr ||
        !std::filesystem::exists(std::string(directory) + "/expected.json")) {
      GTEST_SKIP()
          << "set KASTOR_TEST_DATA to a directory with expected.json and the images it names";
    }
    m_directory = directory;
  }
  [[nodiscard]] std::string file(const std::string& name) const { return m_directory + "/" + name; }

 private:
  std::string m_directory;
};

/// The pixels' figures are compared in tests/apps/run_results_tests.py.
TEST_F(FitsData, EveryImageHasTheExpectedShapeAndDatasum) {
  nlohmann::json expected;
  std::ifstream(file("expected.json")) >> expected;
  int compared = 0;
  for (const auto& [key, entry] : expected.items()) {
    if (!entry.contains("data") || !entry["data"].contains("n_finite")) continue;
    const std::string name = key.substr(0, key.rfind('['));
    const std::string hdu = key.substr(key.rfind('[') + 1, key.size() - key.rfind('[') - 2);
    SCOPED_TRACE(key);
    const auto image = read_both_ways(file(name), {.hdu = hdu, .plane = {}});
    EXPECT_EQ(image.ny, entry["shape"][entry["shape"].size() - 2]);
    EXPECT_EQ(image.nx, entry["shape"][entry["shape"].size() - 1]);
    EXPECT_EQ(image.hdu.bitpix, entry["bitpix"]);
    EXPECT_EQ(image.hdu.unit, entry["bunit"].is_null() ? "" : entry["bunit"].get<std::string>());
    EXPECT_EQ(image.datasum, cfitsio_datasum(file(name), image.hdu.index));
    ++compared;
  }
  EXPECT_GE(compared, 30);
}

TEST_F(FitsData, OneImageInManyFormsGivesTheSamePixels) {
  const auto plain = read_both_ways(file("m13.fits"));
  for (const char* name : {"m13_gzip.fits", "m13_hcomp.fits", "m13_plio.fits", "m13_rice.fits"}) {
    const auto packed = read_both_ways(file(name));
    for (std::int64_t i = 0; i < 90000; ++i) {
      ASSERT_EQ(pixels_of<float>(packed).data()[i], pixels_of<float>(plain).data()[i])
          << name << " " << i;
    }
  }
  EXPECT_EQ(read_both_ways(file("ctio_tpv.fits.gz")).datasum,
            read_both_ways(file("ctio_tpv.fits")).datasum);
}

TEST_F(FitsData, WhatIsNotTwoDimensionalIsRefused) {
  EXPECT_SAYS(read_error(file("midas_timmi2_i32_cube.fits")), "NAXIS3=2");
  EXPECT_EQ(read_both_ways(file("midas_timmi2_i32_cube.fits"), {.hdu = {}, .plane = 1}).plane, 1);
  EXPECT_SAYS(read_error(file("kapteyn_ra_pol_freq_dec.fits")), "4 axes longer than 1");
  EXPECT_SAYS(read_error(file("midas_tst0007_ieee_specials_1d.fits")), "only one axis");
}

TEST_F(FitsData, AStrayBlockBehindTheImageIsIgnored) {
  const auto image = read_both_ways(file("midas_nttexample_trailing_block.fits"));
  EXPECT_EQ(image.ny * image.nx, 1024 * 1124);
  EXPECT_EQ(kastor::io::list_hdus(file("midas_nttexample_trailing_block.fits")).size(), 1u);
}

TEST_F(FitsData, AnExtensionOfUnknownKindIsPassed) {
  const auto hdus = kastor::io::list_hdus(file("midas_tst0012_unknown_ext.fits"));
  ASSERT_EQ(hdus.size(), 5u);
  EXPECT_EQ(hdus[1].kind, "binary table");
  EXPECT_EQ(hdus[2].kind, "unknown");
  EXPECT_EQ(hdus[3].kind, "image");
  EXPECT_EQ(hdus[4].kind, "ascii table");
  EXPECT_SAYS(read_error(file("midas_tst0012_unknown_ext.fits"), {.hdu = "2", .plane = {}}),
              "'unknown'");
}

}  // namespace
