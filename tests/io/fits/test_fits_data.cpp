// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <kastor/io/fits_image.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "fits_support.hpp"

// Real images, compared with what NumPy says of them. KASTOR_TEST_DATA names a directory with
// expected.json and the files.
namespace {

using namespace testing_support;
using kastor::io::read_image;

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

struct Summary {
  std::int64_t finite = 0;
  std::int64_t blank = 0;
  double mean = 0.0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
};

Summary summary_of(const kastor::io::FitsImage& image) {
  return std::visit(
      [&](const auto& pixels) {
        Summary result;
        long double sum = 0.0L;
        for (std::int64_t i = 0; i < image.ny * image.nx; ++i) {
          const double value = pixels.data()[i];
          if (!std::isfinite(value)) {
            ++result.blank;
            continue;
          }
          ++result.finite;
          sum += value;
          result.min = std::min(result.min, value);
          result.max = std::max(result.max, value);
        }
        result.mean = static_cast<double>(sum / static_cast<long double>(result.finite));
        return result;
      },
      image.pixels);
}

TEST_F(FitsData, EveryImageHasTheExpectedPixels) {
  nlohmann::json expected;
  std::ifstream(file("expected.json")) >> expected;
  int compared = 0;
  for (const auto& [key, entry] : expected.items()) {
    if (!entry.contains("data") || !entry["data"].contains("n_finite")) continue;
    const std::string name = key.substr(0, key.rfind('['));
    const std::string hdu = key.substr(key.rfind('[') + 1, key.size() - key.rfind('[') - 2);
    SCOPED_TRACE(key);
    const auto image = read_image(file(name), {.hdu = hdu, .plane = {}});
    EXPECT_EQ(image.ny, entry["shape"][entry["shape"].size() - 2]);
    EXPECT_EQ(image.nx, entry["shape"][entry["shape"].size() - 1]);
    EXPECT_EQ(image.hdu.bitpix, entry["bitpix"]);
    EXPECT_EQ(image.hdu.unit, entry["bunit"].is_null() ? "" : entry["bunit"].get<std::string>());
    const Summary got = summary_of(image);
    EXPECT_EQ(got.finite, entry["data"]["n_finite"]);
    EXPECT_EQ(got.blank, entry["data"]["n_nan"]);
    // Scaled 8- and 16-bit images are float here and double there.
    const double scale = std::max(std::abs(got.min), std::abs(got.max));
    const double tolerance =
        image.hdu.bitpix > 0 && image.hdu.pixel_type == "float32" ? 1e-7 * scale : 1e-12 * scale;
    EXPECT_NEAR(got.mean, entry["data"]["mean"].get<double>(), tolerance);
    EXPECT_NEAR(got.min, entry["data"]["min"].get<double>(), tolerance);
    EXPECT_NEAR(got.max, entry["data"]["max"].get<double>(), tolerance);
    EXPECT_EQ(image.datasum, cfitsio_datasum(file(name), image.hdu.index));
    ++compared;
  }
  EXPECT_GE(compared, 30);
}

TEST_F(FitsData, OneImageInManyFormsGivesTheSamePixels) {
  const auto plain = read_image(file("m13.fits"));
  for (const char* name : {"m13_gzip.fits", "m13_hcomp.fits", "m13_plio.fits", "m13_rice.fits"}) {
    const auto packed = read_image(file(name));
    for (std::int64_t i = 0; i < 90000; ++i) {
      ASSERT_EQ(pixels_of<float>(packed).data()[i], pixels_of<float>(plain).data()[i])
          << name << " " << i;
    }
  }
  EXPECT_EQ(read_image(file("ctio_tpv.fits.gz")).datasum,
            read_image(file("ctio_tpv.fits")).datasum);
}

TEST_F(FitsData, WhatIsNotTwoDimensionalIsRefused) {
  EXPECT_TRUE(contains(read_error(file("midas_timmi2_i32_cube.fits")), "NAXIS3=2"));
  EXPECT_EQ(read_image(file("midas_timmi2_i32_cube.fits"), {.hdu = {}, .plane = 1}).plane, 1);
  EXPECT_TRUE(contains(read_error(file("kapteyn_ra_pol_freq_dec.fits")), "4 axes longer than 1"));
  EXPECT_TRUE(contains(read_error(file("midas_tst0007_ieee_specials_1d.fits")), "only one axis"));
}

TEST_F(FitsData, AStrayBlockBehindTheImageIsIgnored) {
  const auto image = read_image(file("midas_nttexample_trailing_block.fits"));
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
  EXPECT_TRUE(contains(
      read_error(file("midas_tst0012_unknown_ext.fits"), {.hdu = "2", .plane = {}}), "'unknown'"));
}

}  // namespace
