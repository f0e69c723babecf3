// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <kastor/io/fits_row_writer.hpp>
#include <optional>
#include <thread>

#include "rows_as_read.hpp"

namespace {

using namespace testing_support;
using kastor::io::FitsRowWriter;
using kastor::io::PixelRows;

constexpr std::int64_t k_ny = 301;
constexpr std::int64_t k_nx = 1009;
const std::vector<kastor::io::HeaderCard> k_extra = {{"SEED", std::int64_t{5}, "seed"}};

kastor::io::Provenance provenance() {
  return {.version = "0.1.0", .command_line = "test", .input = "", .unit = "Jy"};
}

template <class T>
class FitsRowWriters : public testing::Test {
 protected:
  FitsRowWriters() : m_values(static_cast<std::size_t>(k_ny * k_stride)) {
    for (std::size_t i = 0; i < m_values.size(); ++i)
      m_values[i] = static_cast<T>(i) - static_cast<T>(1000);
    kastor::io::write_image(file("whole.fits"), rows(0, k_ny), {}, provenance(), k_extra);
  }

  [[nodiscard]] std::string file(const char* name) const { return m_scratch.file(name); }
  [[nodiscard]] PixelRows<T> rows(std::int64_t first, std::int64_t count) const {
    return {m_values.data() + first * k_stride, count, k_nx, k_stride};
  }
  [[nodiscard]] FitsRowWriter<T> writer(const std::string& path) const {
    return FitsRowWriter<T>(path, k_ny, k_nx, {}, provenance(), k_extra);
  }
  void expect_whole(const std::string& path) const {
    EXPECT_TRUE(read_all(path) == read_all(file("whole.fits")));
  }

 private:
  static constexpr std::int64_t k_stride = 1013;
  ScratchDirectory m_scratch;
  std::vector<T> m_values;
};

using Types = testing::Types<float, double, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(FitsRowWriters, Types);

TYPED_TEST(FitsRowWriters, BandsInAnyOrderGiveTheBytesOfTheWhole) {
  for (const std::int64_t band : {1, 3, 100, 301}) {
    const std::string path = this->file("bands.fits");
    auto writer = this->writer(path);
    for (std::int64_t y = (k_ny - 1) / band * band; y >= 0; y -= band)
      writer.write(y, this->rows(y, std::min(band, k_ny - y)));
    writer.write(7, this->rows(0, 0));
    writer.close();
    this->expect_whole(path);
  }
}

TYPED_TEST(FitsRowWriters, SeveralWriteOneFile) {
  const std::string path = this->file("parts.fits");
  auto first = this->writer(path);
  std::vector<std::thread> threads;
  for (std::int64_t part = 1; part < 4; ++part) {
    threads.emplace_back([&, part] {
      FitsRowWriter<TypeParam> other(path, k_ny, k_nx, first.data_begin());
      EXPECT_EQ(other.data_begin(), first.data_begin());
      for (std::int64_t y = part; y < k_ny; y += 4) other.write(y, this->rows(y, 1));
      other.close();
    });
  }
  for (std::int64_t y = 0; y < k_ny; y += 4) first.write(y, this->rows(y, 1));
  for (std::thread& thread : threads) thread.join();
  first.close();
  this->expect_whole(path);
}

TEST(FitsRowWriter, ReplacesAFileAndFillsItWithZeros) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  write_bytes(path, std::string(50000, 'x'));
  const std::vector<float> row{1, 2, 3};
  FitsRowWriter<float> writer(path, 4, 3, {}, {});
  writer.write(2, {row.data(), 1, 3, 3});
  writer.close();
  const auto image = read_both_ways(path);
  EXPECT_EQ(std::filesystem::file_size(path), 5760u);
  EXPECT_EQ(pixels_of<float>(image)(2, 2), 3.0f);
  EXPECT_EQ(pixels_of<float>(image)(3, 2), 0.0f);
  EXPECT_EQ(image.datasum, cfitsio_datasum(path, 0));
}

TEST(FitsRowWriter, ChecksWhatItIsGiven) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.fits");
  const std::vector<float> pixels(20);
  EXPECT_SAYS(error_of([&] { FitsRowWriter<float>(path, 0, 3, {}, {}); }),
              "expected at least 1 x 1");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_SAYS(error_of([&] { FitsRowWriter<float>(path, 4, 3, 2880); }), "No such file");
  FitsRowWriter<float> writer(path, 4, 3, {}, {});
  for (const auto& [first, count, columns] :
       {std::array{0, 1, 4}, {0, 5, 3}, {4, 1, 3}, {-1, 1, 3}, {3, 2, 3}, {0, -1, 3}}) {
    const PixelRows<float> rows{pixels.data(), count, columns, columns};
    const std::int64_t row = first;
    EXPECT_SAYS(error_of([&] { writer.write(row, rows); }),
                "expected rows of 3 pixels, of the 4 that there are");
  }
  const std::string folder = scratch.file("no/such/folder");
  EXPECT_SAYS(error_of([&] { FitsRowWriter<float>(folder, 4, 3, {}, {}); }), "opened for writing");
}

}  // namespace
