// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/bits.hpp"
#include "core/word_rows.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;

/// Single bits, all but one, random ones.
std::vector<std::uint64_t> some_words() {
  std::vector<std::uint64_t> words{0, ~std::uint64_t{0}};
  ts::Random random(1);
  for (int b = 0; b < 64; ++b) {
    const std::uint64_t bit = std::uint64_t{1} << b;
    words.insert(words.end(), {bit, ~bit, bit - 1, random.next(), random.next() & random.next()});
  }
  return words;
}

struct BitFigures {
  int ones, lowest, width;
  std::uint64_t low;
};
struct FiguresOf {
  const std::uint64_t* words;
  KOKKOS_FUNCTION BitFigures operator()(std::int64_t i) const {
    const std::uint64_t word = words[i];
    return {core::popcount(word), word == 0 ? -1 : core::countr_zero(word),
            core::bit_width(static_cast<std::int64_t>(word >> 1)), core::low_bits(i % 65)};
  }
};

template <class Exec>
class Bits : public ::testing::Test {};
TYPED_TEST_SUITE(Bits, ts::Execs, ts::CaseName);

TYPED_TEST(Bits, AreCountedAndFound) {
  using Exec = TypeParam;
  const auto words = some_words();
  const auto on_device = ts::to_device_list<Exec>(words);
  const auto found =
      ts::map_on<Exec>(static_cast<std::int64_t>(words.size()), FiguresOf{on_device.data()});
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(found[i].ones, std::popcount(words[i])) << words[i];
    EXPECT_EQ(found[i].lowest, words[i] == 0 ? -1 : std::countr_zero(words[i])) << words[i];
    EXPECT_EQ(found[i].width, std::bit_width(words[i] >> 1)) << words[i];
    std::uint64_t low = 0;
    for (std::size_t b = 0; b < i % 65; ++b) low |= std::uint64_t{1} << b;
    EXPECT_EQ(found[i].low, low) << i % 65;
  }
}

constexpr std::int64_t row_bits = 200;

/// Every interval of a row.
struct AnyBetween {
  const std::uint64_t* words;
  KOKKOS_FUNCTION int operator()(std::int64_t i) const {
    const std::int64_t begin = i / (row_bits + 1), end = i % (row_bits + 1);
    return begin < end && core::any_between(words, begin, end) ? 1 : 0;
  }
};

TYPED_TEST(Bits, OfAnIntervalAreFound) {
  using Exec = TypeParam;
  for (const std::int64_t every : {1, 30, 64, 130}) {
    std::vector<std::uint64_t> words(4, 0);
    for (std::int64_t b = every - 1; b < row_bits; b += every)
      words[static_cast<std::size_t>(b / 64)] |= std::uint64_t{1} << (b % 64);
    const auto on_device = ts::to_device_list<Exec>(words);
    const auto found =
        ts::map_on<Exec>((row_bits + 1) * (row_bits + 1), AnyBetween{on_device.data()});
    for (std::int64_t begin = 0; begin < row_bits; ++begin) {
      bool any = false;
      for (std::int64_t end = begin + 1; end <= row_bits; ++end) {
        any = any || (words[static_cast<std::size_t>((end - 1) / 64)] >> ((end - 1) % 64) & 1) != 0;
        ASSERT_EQ(found[static_cast<std::size_t>(begin * (row_bits + 1) + end)], any ? 1 : 0)
            << "every " << every << ", from " << begin << " to " << end;
      }
    }
  }
}

struct WordAndRow {
  std::int64_t word, per_row;
};
struct RowOf {
  const WordAndRow* list;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return core::row_of_word(list[i].word, list[i].per_row);
  }
};

/// On both sides of 32 bits.
TYPED_TEST(Bits, LieInRowsOfWords) {
  using Exec = TypeParam;
  std::vector<WordAndRow> list;
  for (const std::int64_t per_row : {1L, 2L, 3L, 256L, 33554432L, 5000000000L}) {
    for (const std::int64_t word :
         {0L, 1L, 255L, 256L, 4294967295L, 4294967296L, 4294967297L, 1L << 50})
      list.push_back({word, per_row});
  }
  const auto on_device = ts::to_device_list<Exec>(list);
  const auto found =
      ts::map_on<Exec>(static_cast<std::int64_t>(list.size()), RowOf{on_device.data()});
  for (std::size_t i = 0; i < list.size(); ++i)
    EXPECT_EQ(found[i], list[i].word / list[i].per_row) << list[i].word << " / " << list[i].per_row;
}

}  // namespace
