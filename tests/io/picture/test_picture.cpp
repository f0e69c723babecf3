// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <kastor/io/picture.hpp>
#include <limits>
#include <map>
#include <vector>

#include "fits_support.hpp"

namespace {

using namespace testing_support;
using kastor::Catalogue;
using kastor::io::FitsImage;
using kastor::io::PictureAxes;
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

TEST(Picture, DrawsEllipsesAlongTheirAxes) {
  auto image = image_of(std::vector<float>(100 * 80, 1.0F), 100);
  image.path = "even.fits";
  const ScratchDirectory scratch;
  for (const bool flip : {false, true}) {
    auto params = bare(100);
    params.flip = flip;
    // Its half axes are 30 and 10 pixels, the major one 30 degrees from +x towards +y.
    const std::vector<kastor::io::PictureEllipse> ellipses{{1, 50, 40, 60, 20, 30}};
    kastor::io::write_picture_with_ellipses(scratch.file("e.png"), image, ellipses, params, {});
    const auto png = read_png(scratch.file("e.png"));
    const auto plain = png.at(2, 2);
    const auto is_line_at = [&](double along, double across) {
      const double c = std::sqrt(0.75);
      const double x = 50 + c * along - 0.5 * across;
      const double y = 40 + 0.5 * along + c * across;
      const int column = static_cast<int>(std::lround(x));
      const int row = static_cast<int>(std::lround(y));
      for (const int up : {-1, 0, 1}) {
        for (const int right : {-1, 0, 1}) {
          if (png.at((flip ? 99 - column : column) + right, row + up) != plain) return true;
        }
      }
      return false;
    };
    for (const double side : {-1.0, 1.0}) {
      EXPECT_TRUE(is_line_at(30 * side, 0));
      EXPECT_TRUE(is_line_at(0, 10 * side));
      EXPECT_FALSE(is_line_at(0, 30 * side));
      EXPECT_FALSE(is_line_at(36 * side, 0));
      EXPECT_FALSE(is_line_at(15 * side, 0));
      EXPECT_TRUE(is_line_at(30 * std::sqrt(0.5) * side, 10 * std::sqrt(0.5) * side));
    }
  }
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
  EXPECT_SAYS(error(good, font, scratch.file("a.png")), "none.ttf: no such font");
  PictureParams size;
  size.size = 0;
  EXPECT_SAYS(error(good, size, scratch.file("a.png")), "size is 0");
  PictureParams percentiles;
  percentiles.lower_percentile = 100;
  EXPECT_SAYS(error(good, percentiles, scratch.file("a.png")), "percentiles");
  EXPECT_EQ(scratch.entries(), 0u);
  EXPECT_SAYS(error(good, {}, "/dev/full"), "cannot be written");
}

}  // namespace
