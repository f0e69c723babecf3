// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/io/fits_image.hpp>

#include "rows_as_read.hpp"

namespace {

using namespace testing_support;
using kastor::io::list_hdus;
using testing_support::read_both_ways;

/// An empty primary HDU, three images (two of one name), a table.
std::string multi_extension(const ScratchDirectory& scratch) {
  const std::string path = scratch.file("multi.fits");
  FitsMaker maker(path);
  maker.image<float>(FLOAT_IMG, {}, TFLOAT, {});
  maker.image<float>(FLOAT_IMG, {2, 2}, TFLOAT, {1, 1, 1, 1}, "SCI")
      .key("EXTVER", 1)
      .key("BUNIT", std::string("Jy/beam"));
  maker.image<float>(FLOAT_IMG, {2, 2}, TFLOAT, {2, 2, 2, 2}, "SCI").key("EXTVER", 2);
  maker.image<short>(SHORT_IMG, {2, 2}, TSHORT, {3, 3, 3, 3}, "Mask,7");
  maker.table("TAB", 1, {{"A", "1D", ""}});
  return path;
}

float first_pixel(const std::string& path, const std::string& hdu) {
  return pixels_of<float>(read_both_ways(path, {.hdu = hdu, .plane = {}}))(0, 0);
}

TEST(FitsSelection, TakesTheFirstImageWithData) {
  const ScratchDirectory scratch;
  const auto image = read_both_ways(multi_extension(scratch));
  EXPECT_EQ(image.hdu.index, 1);
  EXPECT_EQ(image.hdu.unit, "Jy/beam");
}

TEST(FitsSelection, FindsByNumberNameAndVersion) {
  const ScratchDirectory scratch;
  const std::string path = multi_extension(scratch);
  EXPECT_EQ(first_pixel(path, "2"), 2.0f);
  EXPECT_EQ(first_pixel(path, "sci"), 1.0f);
  EXPECT_EQ(first_pixel(path, "SCI,2"), 2.0f);
  EXPECT_EQ(first_pixel(path, "Sci,1"), 1.0f);
}

TEST(FitsSelection, SaysWhatIsWrongWithTheHdu) {
  const ScratchDirectory scratch;
  const std::string path = multi_extension(scratch);
  for (const auto& [hdu, expected] :
       {std::pair<std::string, std::string>{"5", "one of the 5 HDUs of the file, 0 to 4"},
        {"99999999999999999999999", "the 5 HDUs of the file"},
        {"SCI,3", "no HDU 'SCI,3'"},
        {"-1", "no HDU '-1'"},
        {"", "has no name"},
        {",1", "has no name"},
        {"TAB", "[4]: the HDU has the type 'binary table'; expected an image"},
        {"0", "[0]: the image has no data"}}) {
    const std::string text = read_error(path, {.hdu = hdu, .plane = {}});
    EXPECT_SAYS(text, expected);
    EXPECT_EQ(text.rfind(path, 0), 0u) << text;
  }
}

TEST(FitsSelection, ListsEveryHdu) {
  const ScratchDirectory scratch;
  const auto hdus = list_hdus(multi_extension(scratch));
  ASSERT_EQ(hdus.size(), 5u);
  EXPECT_EQ(hdus[0].kind, "image");
  EXPECT_TRUE(hdus[0].axes.empty());
  EXPECT_EQ(hdus[2].name, "SCI");
  EXPECT_EQ(hdus[2].version, 2);
  EXPECT_EQ(hdus[3].pixel_type, "float32");
  EXPECT_EQ(hdus[4].kind, "binary table");
}

std::string with_axes(const ScratchDirectory& scratch, const std::vector<long>& axes) {
  std::string name = "axes";
  long count = 1;
  for (const long axis : axes) {
    name += "_" + std::to_string(axis);
    count *= axis;
  }
  const std::string path = scratch.file(name + ".fits");
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  FitsMaker(path).image<float>(FLOAT_IMG, axes, TFLOAT, values);
  return path;
}

TEST(FitsSelection, DropsAxesOfLengthOneFromTheLast) {
  const ScratchDirectory scratch;
  struct Case {
    std::vector<long> axes;
    std::int64_t ny, nx;
    std::array<int, 2> kept;
  };
  for (const Case& c :
       {Case{{4, 3}, 3, 4, {1, 2}}, Case{{4, 3, 1, 1}, 3, 4, {1, 2}}, Case{{1, 5}, 5, 1, {1, 2}},
        Case{{5, 1}, 1, 5, {1, 2}}, Case{{1, 1}, 1, 1, {1, 2}}, Case{{1, 1, 1}, 1, 1, {1, 2}},
        Case{{5, 1, 1}, 1, 5, {1, 2}}, Case{{1, 4, 3}, 3, 4, {2, 3}},
        Case{{4, 1, 3, 1}, 3, 4, {1, 3}}, Case{{1, 1, 1, 6}, 6, 1, {1, 4}}}) {
    const auto image = read_both_ways(with_axes(scratch, c.axes));
    EXPECT_EQ(image.ny, c.ny);
    EXPECT_EQ(image.nx, c.nx);
    EXPECT_EQ(image.fits_axes, c.kept);
    EXPECT_FALSE(image.plane);
    const auto& pixels = pixels_of<float>(image);
    EXPECT_EQ(pixels(image.ny - 1, image.nx - 1), static_cast<float>(c.ny * c.nx - 1));
  }
}

TEST(FitsSelection, RefusesOtherShapesAndNamesTheAxes) {
  const ScratchDirectory scratch;
  EXPECT_SAYS(read_error(with_axes(scratch, {7})), "only one axis (NAXIS1=7)");
  EXPECT_SAYS(read_error(with_axes(scratch, {2, 3, 4})), "NAXIS1=2, NAXIS2=3, NAXIS3=4");
  EXPECT_SAYS(read_error(with_axes(scratch, {2, 3, 4})), "plane (0 to 3) along NAXIS3");
  EXPECT_SAYS(read_error(with_axes(scratch, {2, 3, 4, 5})), "4 axes longer than 1");
  EXPECT_SAYS(read_error(with_axes(scratch, {2, 3, 4, 5}), {.hdu = {}, .plane = 0}), "4 axes");
  const std::string zero = scratch.file("zero.fits");
  write_bytes(zero, HandMadeHdu::image(-32, {4, 0}).bytes());
  EXPECT_SAYS(read_error(zero), "no image with data");
  EXPECT_SAYS(read_error(zero, {.hdu = "0", .plane = {}}), "NAXIS1=4, NAXIS2=0");
}

TEST(FitsSelection, ReadsOnePlane) {
  const ScratchDirectory scratch;
  for (const std::vector<long>& axes : {std::vector<long>{3, 5, 4}, {3, 5, 1, 4}, {1, 3, 5, 4}}) {
    const std::string path = with_axes(scratch, axes);
    for (const std::int64_t plane : {0, 2, 3}) {
      const auto image = read_both_ways(path, {.hdu = {}, .plane = plane});
      ASSERT_EQ(image.plane, plane);
      EXPECT_EQ(pixels_of<float>(image)(0, 0), static_cast<float>(15 * plane));
      EXPECT_EQ(pixels_of<float>(image)(4, 2), static_cast<float>(15 * plane + 14));
      EXPECT_EQ(image.datasum, cfitsio_datasum(path, 0)) << "the sum is of the whole data unit";
    }
    EXPECT_SAYS(read_error(path, {.hdu = {}, .plane = 4}), "no plane 4");
    EXPECT_SAYS(read_error(path, {.hdu = {}, .plane = -1}), "no plane -1");
  }
  const std::string flat = with_axes(scratch, {3, 5});
  EXPECT_EQ(read_both_ways(flat, {.hdu = {}, .plane = 0}).ny, 5);
  EXPECT_SAYS(read_error(flat, {.hdu = {}, .plane = 1}), "no plane 1");
}

TEST(FitsSelection, ReadsPlanesOfBytesThatStartInsideAWord) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("bytes.fits");
  std::vector<unsigned char> values(3 * 5 * 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<unsigned char>(i * 7);
  FitsMaker(path).image<unsigned char>(BYTE_IMG, {3, 5, 4}, TBYTE, values);
  const auto image = read_both_ways(path, {.hdu = {}, .plane = 1});
  EXPECT_EQ(pixels_of<float>(image)(0, 0), static_cast<float>(values[15]));
  EXPECT_EQ(image.datasum, cfitsio_datasum(path, 0));
}

TEST(FitsSelection, ReadsPlanesOfATileCompressedCube) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("cube.fits");
  std::vector<short> values(30 * 20 * 3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<short>(i);
  {
    FitsMaker maker(path);
    fits_set_compression_type(maker.get(), RICE_1, &maker.status());
    maker.image<short>(SHORT_IMG, {30, 20, 3}, TSHORT, values);
  }
  const auto image = read_both_ways(path, {.hdu = {}, .plane = 2});
  EXPECT_EQ(pixels_of<float>(image)(0, 0), 1200.0f);
  EXPECT_EQ(pixels_of<float>(image)(19, 29), 1799.0f);
}

TEST(FitsSelection, DescribesBeamAndAxes) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  FitsMaker(path)
      .image<float>(FLOAT_IMG, {2, 2}, TFLOAT, {1, 2, 3, 4})
      .key("BMAJ", 0.02)
      .key("BMIN", 0.01)
      .key("CTYPE1", std::string("RA---SIN"));
  const auto hdu = read_both_ways(path).hdu;
  ASSERT_TRUE(hdu.beam);
  EXPECT_EQ(hdu.beam->major_deg, 0.02);
  EXPECT_TRUE(std::isnan(hdu.beam->position_angle_deg));
  EXPECT_EQ(hdu.ctype, (std::vector<std::string>{"RA---SIN", ""}));
}

}  // namespace
