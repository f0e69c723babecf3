// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <kastor/io/picture.hpp>
#include <limits>
#include <map>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::Catalogue;
using kastor::io::FitsImage;
using kastor::io::PictureAxes;
using kastor::io::PictureLook;
using kastor::io::PictureParams;
using kastor::io::Provenance;

using Rgb = std::array<int, 3>;
constexpr Rgb k_blank{150, 170, 200};
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

/// As libpng reads it back.
struct Png {
  int width = 0;
  int height = 0;
  std::vector<unsigned char> rgb;

  /// The first row is the lowest one here.
  [[nodiscard]] Rgb at(int x, int y_up) const {
    const auto i = 3 * static_cast<std::size_t>((height - 1 - y_up) * width + x);
    return {rgb[i], rgb[i + 1], rgb[i + 2]};
  }
};

Png read_png(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0) << image.message;
  EXPECT_EQ(image.format, static_cast<png_uint_32>(PNG_FORMAT_RGB));
  Png png{static_cast<int>(image.width), static_cast<int>(image.height), {}};
  png.rgb.resize(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, png.rgb.data(), 0, nullptr), 0);
  return png;
}

std::map<std::string, std::string> texts_of(const std::string& path) {
  const std::string bytes = read_all(path);
  std::map<std::string, std::string> texts;
  for (std::size_t at = 8; at + 8 <= bytes.size();) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i)
      size = size << 8 | static_cast<unsigned char>(bytes[at + i]);
    const std::string chunk = bytes.substr(at + 8, size);
    if (bytes.compare(at + 4, 4, "tEXt") == 0)
      texts[chunk.substr(0, chunk.find('\0'))] = chunk.substr(chunk.find('\0') + 1);
    at += 12 + size;
  }
  return texts;
}

FitsImage image_of(const std::vector<float>& values, std::int64_t nx) {
  FitsImage image;
  image.path = "made.fits";
  image.hdu.unit = "Jy/beam";
  image.nx = nx;
  image.ny = static_cast<std::int64_t>(values.size()) / nx;
  const kastor::io::HostPixels<float> pixels(
      "kastor::test::pixels", static_cast<std::size_t>(image.ny), static_cast<std::size_t>(nx));
  std::copy(values.begin(), values.end(), pixels.data());
  image.pixels = pixels;
  return image;
}

PictureParams bare(int size) {
  PictureParams params;
  params.axes = PictureAxes::none;
  params.size = size;
  return params;
}

Png drawn(const FitsImage& image, const PictureParams& params, const Catalogue& sources = {}) {
  const ScratchDirectory scratch;
  kastor::io::write_picture(scratch.file("a.png"), image, sources, params, {});
  return read_png(scratch.file("a.png"));
}

int lesson_grey(double value, double largest) {
  const double low = std::log(largest / 100.0);
  const double high = std::log(largest / 10.0);
  const double t = (std::log(value) - low) / (high - low);
  return std::clamp(static_cast<int>(std::floor(t * 256.0)), 0, 255);
}

TEST(Picture, OfTheLessonHasTheseVeryPixels) {
  auto params = bare(4);
  params.look = PictureLook::lesson;
  const std::vector<float> values{-1,    0,  1,   1.01F,  //
                                  2,     4,  8,   9.9F,   //
                                  10,    50, 100, 99,     //
                                  k_nan, 5,  3,   -k_nan};
  const auto png = drawn(image_of(values, 4), params);
  ASSERT_EQ(png.width, 4);
  ASSERT_EQ(png.height, 4);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      const float value = values[static_cast<std::size_t>(4 * y + x)];
      if (std::isnan(value)) {
        EXPECT_EQ(png.at(x, y), k_blank);
        continue;
      }
      const int grey = value <= 0 ? 0 : lesson_grey(value, 100);
      EXPECT_EQ(png.at(x, y), (Rgb{grey, grey, grey})) << value;
    }
  }
  EXPECT_EQ(png.at(2, 0), (Rgb{0, 0, 0}));        // max/100
  EXPECT_EQ(png.at(0, 2), (Rgb{255, 255, 255}));  // max/10
}

TEST(Picture, FlipsLeftAndRight) {
  auto params = bare(3);
  const auto image = image_of({0, 1, 2, 3, 4, 5, 6, 7, k_nan}, 3);
  const auto plain = drawn(image, params);
  params.flip = true;
  const auto flipped = drawn(image, params);
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 3; ++x) EXPECT_EQ(flipped.at(x, y), plain.at(2 - x, y));
  }
  EXPECT_EQ(plain.at(2, 2), k_blank);
  EXPECT_EQ(flipped.at(0, 2), k_blank);
}

TEST(Picture, EnlargesByWholeFactorsAndAveragesBlocks) {
  auto params = bare(100);
  params.scale = kastor::io::IntensityScale::linear;
  params.colour_map = kastor::io::ColourMap::grey;
  params.minimum = 0;
  params.maximum = 256;
  const auto large = drawn(image_of({10.5F, 200.5F}, 2), params);
  EXPECT_EQ(large.width, 100);
  EXPECT_EQ(large.height, 50);
  EXPECT_EQ(large.at(49, 0), (Rgb{10, 10, 10}));
  EXPECT_EQ(large.at(50, 49), (Rgb{200, 200, 200}));
  params.size = 2;
  const auto small = drawn(image_of({10, 20, 30, k_nan, 10, 21, 50, k_nan, 0, 0, 9, 9}, 4), params);
  EXPECT_EQ(small.width, 2);
  EXPECT_EQ(small.height, 2);
  EXPECT_EQ(small.at(0, 0), (Rgb{15, 15, 15}));
  EXPECT_EQ(small.at(1, 0), (Rgb{40, 40, 40}));
  EXPECT_EQ(small.at(0, 1), (Rgb{0, 0, 0}));
  EXPECT_EQ(small.at(1, 1), (Rgb{9, 9, 9}));
}

TEST(Picture, HasMarksThatFollowTheFlip) {
  auto params = bare(64);
  params.minimum = 0;
  params.maximum = 1;
  const auto image = image_of(std::vector<float>(64 * 64, 0.0F), 64);
  kastor::Source source{};
  source.x_cen = 15;
  source.y_cen = 50;
  source.x_min = 15 - 9;
  source.x_max = 15 + 9;
  source.y_min = 50 - 4;
  source.y_max = 50 + 4;
  const auto red_at = [&](int x, int y) {
    const auto colour = drawn(image, params, {source}).at(x, y);
    return colour[0] > colour[1] + 60;
  };
  EXPECT_TRUE(red_at(15 + 11, 50));
  EXPECT_FALSE(red_at(63 - 26, 50));
  params.flip = true;
  EXPECT_TRUE(red_at(63 - 26, 50));
  EXPECT_FALSE(red_at(26, 50));
}

TEST(Picture, WithAxesHoldsTheImageUnscaledAndMore) {
  PictureParams params;
  params.size = 40;
  const auto image = image_of(std::vector<float>(40 * 40, k_nan), 40);
  auto some = image;
  std::get<kastor::io::HostPixels<float>>(some.pixels)(0, 0) = 1;
  const auto png = drawn(some, params);
  int blank = 0;
  for (int y = 0; y < png.height; ++y) {
    for (int x = 0; x < png.width; ++x) blank += png.at(x, y) == k_blank ? 1 : 0;
  }
  EXPECT_EQ(blank, 40 * 40 - 1);
  EXPECT_GT(png.width, 100);
  // Nothing touches the border of the picture.
  for (int x = 0; x < png.width; ++x) {
    EXPECT_EQ(png.at(x, 0), (Rgb{255, 255, 255}));
    EXPECT_EQ(png.at(x, png.height - 1), (Rgb{255, 255, 255}));
  }
  for (int y = 0; y < png.height; ++y) {
    EXPECT_EQ(png.at(0, y), (Rgb{255, 255, 255}));
    EXPECT_EQ(png.at(png.width - 1, y), (Rgb{255, 255, 255}));
  }
}

TEST(Picture, OfAnyShapeCanBeDrawn) {
  for (const std::int64_t nx : {1, 2, 3000}) {
    for (const std::int64_t ny : {1, 2, 3000}) {
      const auto image = image_of(std::vector<float>(static_cast<std::size_t>(nx * ny), 7.0F), nx);
      const auto png = drawn(image, {});
      EXPECT_GT(png.width, 24) << nx << ' ' << ny;
      EXPECT_GT(png.height, 24) << nx << ' ' << ny;
    }
  }
}

TEST(Picture, IsTheSameEachTimeAndSaysWhereItCameFrom) {
  const ScratchDirectory scratch;
  const auto image = image_of({1, 2, 3, 4, 5, 6}, 3);
  Provenance provenance;
  provenance.version = "9.8.7";
  provenance.command_line = "kastor view \xc3\xa9";
  provenance.input = "made.fits";
  provenance.input_hdu = 2;
  provenance.input_datasum = 4294967295U;
  for (const char* name : {"a.png", "b.png"})
    kastor::io::write_picture(scratch.file(name), image, {}, {}, provenance);
  EXPECT_EQ(read_all(scratch.file("a.png")), read_all(scratch.file("b.png")));
  const auto texts = texts_of(scratch.file("a.png"));
  EXPECT_EQ(texts.at("Software"), "kastor 9.8.7");
  EXPECT_EQ(texts.at("Source"), "made.fits[2]");
  EXPECT_EQ(texts.at("DATASUM"), "4294967295");
  EXPECT_EQ(texts.at("Options"), "kastor view ??");
}

TEST(Picture, FailsWithOneSentence) {
  const ScratchDirectory scratch;
  const auto error = [&](const FitsImage& image, const PictureParams& params,
                         const std::string& path) {
    return error_of([&] { kastor::io::write_picture(path, image, {}, params, {}); });
  };
  const auto good = image_of({1, 2}, 2);
  PictureParams sky;
  sky.axes = PictureAxes::sky;
  EXPECT_EQ(error(good, sky, scratch.file("a.png")),
            "made.fits[0]: the header has no world coordinates for these axes; expected celestial "
            "coordinates on both axes");
  EXPECT_EQ(error(image_of({k_nan, k_nan}, 2), {}, scratch.file("a.png")),
            "made.fits[0]: every pixel is blank; expected at least one finite pixel");
  PictureParams font;
  font.font = scratch.file("none.ttf");
  EXPECT_TRUE(contains(error(good, font, scratch.file("a.png")), "none.ttf: no such font"));
  PictureParams size;
  size.size = 0;
  EXPECT_TRUE(contains(error(good, size, scratch.file("a.png")), "size is 0"));
  PictureParams percentiles;
  percentiles.lower_percentile = 100;
  EXPECT_TRUE(contains(error(good, percentiles, scratch.file("a.png")), "percentiles"));
  EXPECT_EQ(scratch.entries(), 0u);
  EXPECT_TRUE(contains(error(good, {}, "/dev/full"), "cannot be written"));
}

TEST(Picture, WithoutTextNeedsNoFont) {
  auto params = bare(2);
  params.font = "/no/such.ttf";
  EXPECT_NO_THROW(kastor::io::require_font(params));
  EXPECT_EQ(drawn(image_of({1, 2}, 2), params).width, 2);
  params.labels = true;
  EXPECT_TRUE(contains(error_of([&] { kastor::io::require_font(params); }), "no such font"));
}

TEST(PictureOfRealImages, HasSkyAxes) {
  const char* folder = std::getenv("KASTOR_TEST_DATA");
  if (folder == nullptr) GTEST_SKIP() << "no KASTOR_TEST_DATA";
  for (const char* name : {"gc_bolocam_gps.fits", "sumss_J2248M36.fits", "m13.fits",
                           "kapteyn_m101_nan.fits", "hsc_multiext.fits", "ctio_tpv.fits"}) {
    const std::string path = std::string(folder) + "/" + name;
    if (!std::filesystem::exists(path)) continue;
    PictureParams params;
    params.size = 300;
    const auto image = kastor::io::read_image(path);
    const auto in_pixels = drawn(image, params);
    params.axes = PictureAxes::sky;
    const auto on_sky = drawn(image, params);
    EXPECT_NE(in_pixels.rgb, on_sky.rgb) << name;
  }
}

}  // namespace
