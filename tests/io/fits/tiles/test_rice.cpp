// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/fits/tiles/rice.hpp"
#include "tile_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::detail::decode_rice;
using testing::HasSubstr;
using testing::Optional;

struct RiceWidth {
  int bytes;
  std::int64_t low, high;
};
constexpr RiceWidth rice_widths[] = {
    {1, 0, 255}, {2, -32768, 32767}, {4, -2147483648LL, 2147483647LL}};

Integers rice_values(const Bytes& data, int block_size, int bytes, std::size_t count) {
  Integers out(count, -1);
  decode_rice(data, block_size, bytes, out);
  return out;
}

/// Rice's code by its definition, one bit after the other; the number of low bits is the one with
/// which a block is shortest.
class SlowRiceEncoder {
 public:
  SlowRiceEncoder(int bytes, int block_size) : m_bytes(bytes), m_block(block_size) {}

  Bytes encode(const Integers& values) {
    m_bits.clear();
    const int value_bits = 8 * m_bytes;
    const int head_bits = m_bytes == 1 ? 3 : m_bytes == 2 ? 4 : 5;
    const int most_low_bits = m_bytes == 1 ? 5 : m_bytes == 2 ? 13 : 24;
    const std::uint64_t range = 1ULL << value_bits;
    put(static_cast<std::uint32_t>(values.at(0)), value_bits);
    std::int64_t last = values[0];
    for (std::size_t begin = 0; begin < values.size(); begin += static_cast<std::size_t>(m_block)) {
      std::vector<std::uint64_t> codes;
      for (std::size_t i = begin;
           i < std::min(values.size(), begin + static_cast<std::size_t>(m_block)); ++i) {
        // The difference, modulo 2^bits, between -2^(bits-1) and 2^(bits-1).
        auto step = static_cast<std::int64_t>(static_cast<std::uint64_t>(values[i] - last) % range);
        if (step >= static_cast<std::int64_t>(range / 2)) step -= static_cast<std::int64_t>(range);
        codes.push_back(static_cast<std::uint64_t>(step >= 0 ? 2 * step : -2 * step - 1));
        last = values[i];
      }
      put_block(codes, head_bits, most_low_bits, value_bits);
    }
    Bytes bytes((m_bits.size() + 7) / 8);
    for (std::size_t i = 0; i < m_bits.size(); ++i)
      if (m_bits[i]) bytes[i / 8] |= static_cast<std::uint8_t>(0x80 >> i % 8);
    return bytes;
  }

 private:
  void put(std::uint64_t value, int count) {
    for (int bit = count - 1; bit >= 0; --bit) m_bits.push_back((value >> bit & 1) != 0);
  }
  void put_block(const std::vector<std::uint64_t>& codes, int head_bits, int most_low_bits,
                 int value_bits) {
    std::uint64_t best = codes.size() * static_cast<std::uint64_t>(value_bits);
    int low_bits = most_low_bits + 1;  // as they are
    for (int k = 0; k <= most_low_bits; ++k) {
      std::uint64_t size = 0;
      for (const auto code : codes) size += (code >> k) + 1 + static_cast<std::uint64_t>(k);
      if (size < best) {
        best = size;
        low_bits = k;
      }
    }
    if (std::all_of(codes.begin(), codes.end(), [](auto code) { return code == 0; }))
      return put(0, head_bits);
    put(static_cast<std::uint64_t>(low_bits) + 1, head_bits);
    for (const auto code : codes) {
      if (low_bits > most_low_bits) {
        put(code, value_bits);
      } else {
        for (std::uint64_t i = 0; i < code >> low_bits; ++i) m_bits.push_back(false);
        m_bits.push_back(true);
        put(code, low_bits);
      }
    }
  }

  int m_bytes;
  int m_block;
  std::vector<bool> m_bits;
};

TEST(Rice, DecodesWhatADefinitionEncodes) {
  for (const auto& width : rice_widths) {
    for (const int block : {16, 32, 1, 7, 1000}) {
      for (const std::size_t count : {1U, 2U, 31U, 32U, 33U, 97U, 1009U}) {
        int kind = 0;
        for (const auto& values : integers_of_all_kinds(count, width.low, width.high, 1)) {
          SCOPED_TRACE(testing::Message() << width.bytes << " bytes, blocks of " << block << ", "
                                          << count << " values of kind " << kind++);
          const Bytes data = SlowRiceEncoder(width.bytes, block).encode(values);
          ASSERT_EQ(rice_values(data, block, width.bytes, count), values);
        }
      }
    }
  }
}

TEST(Rice, DecodesWhatCfitsioEncodes) {
  const int bitpix[] = {BYTE_IMG, SHORT_IMG, LONG_IMG};
  for (std::size_t k = 0; k < 3; ++k) {
    const auto& width = rice_widths[k];
    for (const long nx : {1L, 5L, 101L}) {
      const long ny = 3;
      for (const auto& values :
           integers_of_all_kinds(static_cast<std::size_t>(nx * ny), width.low, width.high, 2)) {
        PackedImage image = packed_integers(RICE_1, bitpix[k], {nx, ny}, {nx, ny}, values);
        EXPECT_EQ(rice_values(image.tile(1), 32, width.bytes, values.size()), values);
      }
    }
  }
}

TEST(Rice, DataThatEndTooEarlyAreRefused) {
  for (const auto& width : rice_widths) {
    const auto values = integers_of_all_kinds(100, width.low, width.high, 3)[6];
    const Bytes data = SlowRiceEncoder(width.bytes, 32).encode(values);
    for (std::size_t size = 0; size < data.size(); ++size) {
      const Bytes part(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_THAT(refusal_of([&] { rice_values(part, 32, width.bytes, 100); }),
                  Optional(HasSubstr("of 100 values")))
          << size;
    }
  }
  EXPECT_EQ(refusal_of([] {
              rice_values({0, 0, 0, 7, 0}, 12, 4, 64);
            }),
            "the RICE_1 data end after 12 of 64 values");
  // Zeros without end before a one.
  Bytes zeros(1000);
  zeros[4] = 0x10;
  EXPECT_EQ(refusal_of([&] { rice_values(zeros, 32, 4, 64); }),
            "the RICE_1 data end after 0 of 64 values");
}

TEST(Rice, BytesAfterTheLastValueAreIgnored) {
  EXPECT_EQ(rice_values({9, 0, 1, 2, 3}, 32, 1, 3), (Integers{9, 9, 9}));
}

TEST(Rice, DamagedDataAreDecodedOrRefused) {
  for (const auto& width : rice_widths) {
    for (const auto& values : integers_of_all_kinds(200, width.low, width.high, 4)) {
      const Bytes data = SlowRiceEncoder(width.bytes, 32).encode(values);
      const int refused = decode_damaged(data, 5, 500, [&](const Bytes& damaged) {
        for (const std::int32_t value : rice_values(damaged, 32, width.bytes, 200)) {
          ASSERT_GE(value, width.low);
          ASSERT_LE(value, width.high);
        }
      });
      EXPECT_GT(refused, 50);
    }
  }
}

TEST(Rice, WhatCannotBeIsRefused) {
  EXPECT_THAT(refusal_of([] {
                rice_values({0, 0, 0, 0, 0}, 0, 4, 1);
              }),
              Optional(HasSubstr("block size of RICE_1 is 0")));
  for (const int bytes : {-1, 0, 3, 8}) {
    EXPECT_THAT(refusal_of([=] {
                  rice_values({0, 0, 0, 0, 0}, 32, bytes, 1);
                }),
                Optional(HasSubstr("expected 1, 2 or 4")));
  }
  // A head of 27 to 31 has no meaning for 4 bytes.
  EXPECT_THAT(refusal_of([] {
                rice_values({0, 0, 0, 0, 27 << 3, 255, 255}, 32, 4, 1);
              }),
              Optional(HasSubstr("begins with 27")));
}

}  // namespace
