// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_IO_FITS_TILES_TILE_SUPPORT_HPP
#define KASTOR_TESTS_IO_FITS_TILES_TILE_SUPPORT_HPP

#include <fitsio.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <kastor/error.hpp>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace testing_support {

using Bytes = std::vector<std::uint8_t>;
using Integers = std::vector<std::int32_t>;

/// Integers of several kinds, from `low` to `high`.
inline std::vector<Integers> integers_of_all_kinds(std::size_t count, std::int64_t low,
                                                   std::int64_t high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int64_t> any(low, high);
  std::normal_distribution<double> noise(0, 3);
  const std::int64_t middle = low + (high - low) / 2;
  const auto clipped = [&](double value) {
    const double kept =
        std::max(static_cast<double>(low), std::min(static_cast<double>(high), value));
    return static_cast<std::int32_t>(static_cast<std::int64_t>(kept));
  };
  std::vector<Integers> kinds(7, Integers(count));
  for (std::size_t i = 0; i < count; ++i) {
    kinds[0][i] = static_cast<std::int32_t>(middle);
    kinds[1][i] = static_cast<std::int32_t>(any(random));
    kinds[2][i] = static_cast<std::int32_t>(i % 2 == 0 ? low : high);
    kinds[3][i] = clipped(static_cast<double>(middle) + noise(random));
    kinds[4][i] = clipped(static_cast<double>(low) + static_cast<double>(i));
    kinds[5][i] = static_cast<std::int32_t>(any(random) % 50 == 0 ? any(random) : middle);
    kinds[6][i] = static_cast<std::int32_t>(i / 40 % 2 == 0 ? middle : any(random));
  }
  return kinds;
}

/// The message of the kastor::Error that `call` throws, if it throws one: one sentence.
template <class Call>
std::optional<std::string> refusal_of(Call&& call) {
  try {
    call();
  } catch (const kastor::Error& error) {
    std::string text = error.what();
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  return std::nullopt;
}

/// Damages data in many ways and decodes them each time. What is read or written beyond the ends
/// is found by the sanitizers; that each time ends, by the test's limit.
/// \return how many of them were refused
template <class Decode>
int decode_damaged(const Bytes& good, unsigned seed, int trials, Decode&& decode) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return random() % std::max<std::size_t>(n, 1); };
  int refused = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Bytes data = good;
    switch (trial % 4) {
      case 0:
        data[below(data.size())] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 1:
        data.resize(below(data.size()));
        break;
      case 2:
        for (std::size_t i = below(data.size()); i < data.size(); ++i)
          data[i] = static_cast<std::uint8_t>(random());
        break;
      default:
        for (int k = 0; k < 4; ++k)
          data[below(data.size())] = static_cast<std::uint8_t>(below(2) == 0 ? 0 : 0xff);
    }
    data.shrink_to_fit();  // a sanitizer sees what is read after the end
    if (refusal_of([&] { decode(data); })) ++refused;
  }
  return refused;
}

/// A tile-compressed image that CFITSIO makes in memory.
class PackedImage {
 public:
  /// \param type     CFITSIO's number of the compression
  /// \param set_up   further settings, called with the file and the status
  template <class T, class SetUp>
  PackedImage(int type, int bitpix, std::vector<long> axes, std::vector<long> tile,
              int cfitsio_type, std::vector<T> values, SetUp&& set_up) {
    fits_create_file(&m_fits, "mem://", &m_status);
    fits_set_compression_type(m_fits, type, &m_status);
    fits_set_tile_dim(m_fits, static_cast<int>(tile.size()), tile.data(), &m_status);
    set_up(m_fits, &m_status);
    fits_create_img(m_fits, bitpix, static_cast<int>(axes.size()), axes.data(), &m_status);
    // CFITSIO takes one number for what has no value.
    T nothing = static_cast<T>(-999);
    std::replace_if(
        values.begin(), values.end(), [](T value) { return value != value; }, nothing);
    if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
      fits_write_imgnull(m_fits, cfitsio_type, 1, static_cast<LONGLONG>(values.size()),
                         values.data(), &nothing, &m_status);
    } else {
      fits_write_img(m_fits, cfitsio_type, 1, static_cast<LONGLONG>(values.size()), values.data(),
                     &m_status);
    }
    fits_flush_file(m_fits, &m_status);
    EXPECT_EQ(m_status, 0) << "CFITSIO could not write the test image";
  }
  ~PackedImage() {
    int status = 0;
    if (m_fits != nullptr) fits_close_file(m_fits, &status);
  }
  PackedImage(const PackedImage&) = delete;
  PackedImage& operator=(const PackedImage&) = delete;

  /// The bytes of a tile, from 1, in a column; words of 16 bits are big-endian as they are stored.
  Bytes tile(long row, const char* column = "COMPRESSED_DATA") {
    const int number = column_number(column);
    int type = 0;
    LONGLONG count = 0;
    LONGLONG offset = 0;
    fits_get_coltype(m_fits, number, &type, nullptr, nullptr, &m_status);
    fits_read_descriptll(m_fits, number, row, &count, &offset, &m_status);
    Bytes bytes;
    if (type == -TSHORT) {
      std::vector<short> words(static_cast<std::size_t>(count));
      fits_read_col(m_fits, TSHORT, number, row, 1, count, nullptr, words.data(), nullptr,
                    &m_status);
      for (const short word : words) {
        bytes.push_back(static_cast<std::uint8_t>(static_cast<unsigned short>(word) >> 8));
        bytes.push_back(static_cast<std::uint8_t>(word & 0xff));
      }
    } else {
      bytes.resize(static_cast<std::size_t>(count));
      fits_read_col(m_fits, TBYTE, number, row, 1, count, nullptr, bytes.data(), nullptr,
                    &m_status);
    }
    EXPECT_EQ(m_status, 0) << column << " of tile " << row;
    return bytes;
  }

  double number(long row, const char* column) {
    double value = 0;
    fits_read_col(m_fits, TDOUBLE, column_number(column), row, 1, 1, nullptr, &value, nullptr,
                  &m_status);
    EXPECT_EQ(m_status, 0) << column << " of tile " << row;
    return value;
  }
  std::optional<int> key(const char* name) {
    int value = 0;
    int status = m_status;
    if (fits_read_key(m_fits, TINT, name, &value, nullptr, &status) != 0) return std::nullopt;
    return value;
  }

  /// All values, as CFITSIO reads them.
  template <class T>
  std::vector<T> read(int cfitsio_type, std::size_t count) {
    std::vector<T> values(count);
    T nothing = std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN() : T{};
    fits_read_img(m_fits, cfitsio_type, 1, static_cast<LONGLONG>(count),
                  std::numeric_limits<T>::has_quiet_NaN ? &nothing : nullptr, values.data(),
                  nullptr, &m_status);
    EXPECT_EQ(m_status, 0) << "CFITSIO could not read the test image";
    return values;
  }

 private:
  int column_number(const char* column) {
    int number = 0;
    fits_get_colnum(m_fits, CASEINSEN, const_cast<char*>(column), &number, &m_status);
    return number;
  }

  fitsfile* m_fits = nullptr;
  int m_status = 0;
};

/// Integers as an image of the type that `bitpix` names, in one tile or more.
inline PackedImage packed_integers(int type, int bitpix, std::vector<long> axes,
                                   std::vector<long> tile, const Integers& values) {
  const auto no_settings = [](fitsfile*, int*) {};
  const auto as = [&](auto zero) {
    std::vector<decltype(zero)> copy;
    for (const auto value : values) copy.push_back(static_cast<decltype(zero)>(value));
    return copy;
  };
  if (bitpix == BYTE_IMG) return {type, bitpix, axes, tile, TBYTE, as(std::uint8_t{}), no_settings};
  if (bitpix == SHORT_IMG) return {type, bitpix, axes, tile, TSHORT, as(short{}), no_settings};
  return {type, bitpix, axes, tile, TINT, as(int{}), no_settings};
}

}  // namespace testing_support

#endif
