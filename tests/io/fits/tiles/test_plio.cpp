// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/fits/tiles/plio.hpp"
#include "tile_support.hpp"

namespace {

using namespace testing_support;
using kastor::io::detail::decode_plio;
using testing::HasSubstr;
using testing::Optional;

Integers plio_values(const Bytes& data, std::size_t count) {
  Integers out(count, -1);
  decode_plio(data, out);
  return out;
}

Bytes plio_words(const std::vector<int>& words) {
  Bytes bytes;
  for (const int word : words) {
    bytes.push_back(static_cast<std::uint8_t>(word >> 8 & 0xff));
    bytes.push_back(static_cast<std::uint8_t>(word & 0xff));
  }
  return bytes;
}
/// The words after a header of the newer kind.
Bytes line_list(std::vector<int> words) {
  const int size = 7 + static_cast<int>(words.size());
  words.insert(words.begin(), {0, 7, -100, size % 32768, size / 32768, 0, 0});
  return plio_words(words);
}

enum {
  zn = 0,
  sh = 1 << 12,
  ih = 2 << 12,
  dh = 3 << 12,
  hn = 4 << 12,
  pn = 5 << 12,
  is = 6 << 12,
  ds = 7 << 12
};

TEST(Plio, DecodesEachOpcode) {
  struct Case {
    std::vector<int> words;
    Integers values;
  };
  for (const auto& [words, values] :
       std::vector<Case>{{{}, {0, 0}},
                         {{zn + 2}, {0, 0}},
                         {{hn + 3}, {1, 1, 1}},
                         {{pn + 3}, {0, 0, 1}},
                         {{zn + 1, hn + 1}, {0, 1, 0, 0}},
                         {{sh + 5, 3, hn + 2}, {3 * 4096 + 5, 3 * 4096 + 5}},
                         {{ih + 7, pn + 2, dh + 3, hn + 1}, {0, 8, 5}},
                         {{is + 4, is + 1, ds + 2, hn + 1}, {5, 6, 4, 4}},
                         {{ds + 3, is + 0}, {-2, -2}},
                         {{zn + 0, hn + 0, pn + 0, hn + 1}, {1}},
                         {{sh + 4095, 4095, pn + 1}, {16777215}},
                         {{hn + 4095, hn + 1}, Integers(4096, 1)}}) {
    EXPECT_EQ(plio_values(line_list(words), values.size()), values);
  }
  // The older header.
  EXPECT_EQ(plio_values(plio_words({0, 0, 5, ih + 1, hn + 2}), 3), (Integers{2, 2, 0}));
  EXPECT_EQ(plio_values(plio_words({0, 0, 3}), 2), (Integers{0, 0}));
  // A header of another length, and words after the list.
  EXPECT_EQ(plio_values(plio_words({0, 9, -1, 10, 0, 0, 0, 8, 8, hn + 2, hn + 9}), 3),
            (Integers{1, 1, 0}));
}

/// A word or more for each value.
Bytes slowly_encoded(const Integers& values) {
  std::vector<int> words;
  std::int32_t last = 1;
  for (const auto value : values) {
    const std::int32_t step = value - last;
    if (value == 0) {
      words.push_back(zn + 1);
    } else if (step == 0) {
      words.push_back(words.size() % 2 == 0 ? hn + 1 : pn + 1);
    } else if (std::abs(step) < 4096 && words.size() % 2 == 0) {
      words.push_back(step > 0 ? is + step : ds - step);
    } else if (std::abs(step) < 4096) {
      words.insert(words.end(), {step > 0 ? ih + step : dh - step, pn + 1});
    } else {
      words.insert(words.end(), {sh + value % 4096, value / 4096, hn + 1});
    }
    if (value != 0) last = value;
  }
  return line_list(words);
}

TEST(Plio, DecodesWhatADefinitionEncodes) {
  for (const std::size_t count : {1U, 2U, 101U, 20001U}) {
    for (const std::int64_t high : {255, 4095, 70000, 16777215}) {
      for (const auto& values : integers_of_all_kinds(count, 0, high, 1))
        ASSERT_EQ(plio_values(slowly_encoded(values), count), values) << count;
    }
  }
}

/// Only values that CFITSIO's own room for the list is enough for.
TEST(Plio, DecodesWhatCfitsioEncodes) {
  for (const auto& [bitpix, high] :
       {std::pair{BYTE_IMG, 255}, {SHORT_IMG, 32767}, {LONG_IMG, 16777215}}) {
    for (const long nx : {101L, 9001L}) {
      const auto count = static_cast<std::size_t>(nx) * 2;
      auto kinds = integers_of_all_kinds(count, 0, 255, 1);
      kinds.emplace_back(count, 0);
      Integers mask(count);
      for (std::size_t i = 0; i < count; ++i)
        mask[i] = i / 300 % 2 == 0 ? 0 : i % 9 < 4 ? high : high / 2;
      kinds.push_back(mask);
      for (const auto& values : kinds) {
        PackedImage image = packed_integers(PLIO_1, bitpix, {nx, 2}, {nx, 2}, values);
        ASSERT_EQ(plio_values(image.tile(1), count), values) << nx;
      }
    }
  }
}

TEST(Plio, DamagedListsAreRefused) {
  struct Case {
    Bytes data;
    const char* says;
  };
  for (const auto& [data, says] : std::vector<Case>{
           {{}, "0 bytes; expected a header"},
           {plio_words({0, 7}), "4 bytes; expected a header"},
           {plio_words({0, 7, -100, 7}), "8 bytes; expected a header"},
           {plio_words({0, -7, -100, 8, 0, 0, 0, hn + 1}), "unusable length"},
           {plio_words({0, 3, -100, 8, 0, 0, 0, hn + 1}), "unusable length"},
           {plio_words({0, 7, -100, -8, 0, 0, 0, hn + 1}), "unusable length"},
           {plio_words({0, 7, -100, 8, -1, 0, 0, hn + 1}), "unusable length"},
           {plio_words({0, 7, -100, 6, 0, 0, 0, hn + 1}), "6 words; expected 7 to 8"},
           {plio_words({0, 7, -100, 9, 0, 0, 0, hn + 1}), "9 words; expected 7 to 8"},
           {plio_words({0, 7, -100, 8, 1, 0, 0, hn + 1}), "32776 words; expected 7 to 8"},
           {plio_words({0, 0, 2, hn + 1}), "2 words; expected 3 to 4"},
           {line_list({hn + 4}), "more than 3 values"},
           {line_list({hn + 3, is + 1}), "more than 3 values"},
           {line_list({zn + 4095}), "more than 3 values"},
           {line_list({hn + 1, sh + 1}), "needs another one"},
           {line_list({8 << 12}), "opcode 8"},
           {line_list({hn + 1, -1}), "opcode 15"}}) {
    EXPECT_THAT(refusal_of([&, bytes = data] { plio_values(bytes, 3); }),
                Optional(HasSubstr(says)));
  }
  Bytes odd = line_list({hn + 3});
  odd.push_back(1);
  EXPECT_EQ(plio_values(odd, 3), (Integers{1, 1, 1}));
}

TEST(Plio, DamagedDataAreDecodedOrRefused) {
  for (const auto& values : integers_of_all_kinds(400, 0, 16777215, 2)) {
    EXPECT_GT(decode_damaged(slowly_encoded(values), 3, 1000,
                             [](const Bytes& data) { plio_values(data, 400); }),
              200);
  }
}

}  // namespace
