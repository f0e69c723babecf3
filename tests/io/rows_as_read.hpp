// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_IO_ROWS_AS_READ_HPP
#define KASTOR_TESTS_IO_ROWS_AS_READ_HPP

#include <algorithm>
#include <cstring>
#include <fstream>
#include <kastor/io/fits_rows.hpp>
#include <span>
#include <vector>

#include "fits_support.hpp"

namespace testing_support {

template <class T>
class RowCheck {
 public:
  RowCheck(kastor::io::FitsRows<T>& rows, const kastor::io::HostPixels<T>& expected)
      : m_rows(rows), m_expected(expected), m_nx(rows.nx()) {}

  void band(std::int64_t first, std::int64_t count) {
    // Memory of the size asked for, so that a sanitizer sees a write beyond it.
    std::vector<T> pixels(static_cast<std::size_t>(count * m_nx));
    m_rows.read(first, count, pixels);
    compare(first * m_nx, pixels);
  }
  void pixels(std::int64_t first, std::int64_t count) {
    std::vector<T> pixels(static_cast<std::size_t>(count));
    m_rows.read_pixels(first, pixels);
    compare(first, pixels);
  }

 private:
  void compare(std::int64_t first, const std::vector<T>& pixels) {
    if (pixels.empty()) return;  // it has no address
    EXPECT_EQ(std::memcmp(pixels.data(), m_expected.data() + first, pixels.size() * sizeof(T)), 0)
        << pixels.size() << " pixels from " << first << " on";
  }

  kastor::io::FitsRows<T>& m_rows;
  const kastor::io::HostPixels<T>& m_expected;
  std::int64_t m_nx;
};

/// Compares bands of several heights, and samples, with the image read as a whole.
template <class T>
void expect_rows_as_read(kastor::io::FitsRows<T>& rows, const kastor::io::FitsImage& image) {
  const std::int64_t ny = image.ny;
  const std::int64_t nx = image.nx;
  ASSERT_EQ(rows.ny(), ny);
  ASSERT_EQ(rows.nx(), nx);
  EXPECT_EQ(rows.about().header_cards, image.header_cards);
  RowCheck<T> check(rows, pixels_of<T>(image));
  // Some bands, at both ends and between, if there are many rows.
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{3}, rows.rows_of_tile() + 1, ny}) {
    const std::int64_t band = std::min(count, ny);
    const std::int64_t step = std::max(band, ny / 16 / band * band);
    for (std::int64_t y = 0; y < ny; y += step) check.band(y, std::min(band, ny - y));
    check.band(ny - band, band);
  }
  const std::int64_t all = nx * ny;
  check.pixels(0, 0);
  for (const std::int64_t count : {std::int64_t{1}, nx, 2 * nx + 1}) {
    const std::int64_t length = std::min(count, all);
    check.pixels(0, length);
    check.pixels((all - length) / 2, length);
    check.pixels(all - length, length);
  }
  EXPECT_EQ(rows.datasum(), image.datasum);
}

/// Reads an image as a whole, and checks that its rows are the same if it is read by rows.
inline kastor::io::FitsImage read_both_ways(const std::string& path,
                                            const kastor::io::ReadOptions& options = {}) {
  auto image = kastor::io::read_image(path, options);
  const bool packed = std::ifstream(path, std::ios::binary).get() != 'S';
  try {
    std::visit([&](const auto& rows) { expect_rows_as_read(*rows, image); },
               kastor::io::open_rows(path, options));
    EXPECT_FALSE(packed) << path;
  } catch (const kastor::Error& error) {
    EXPECT_TRUE(packed && contains(error.what(), "cannot be read by rows")) << error.what();
  }
  return image;
}

}  // namespace testing_support

#endif
