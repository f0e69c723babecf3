// SPDX-License-Identifier: Apache-2.0

// Which lines of a mask have a bit, and what is written of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/mask_lines.hpp>
#include <thread>
#include <vector>

#include "generators.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

constexpr auto line = static_cast<std::size_t>(kd::MaskLines::words);

/// A mask and its lines; every line was touched and has garbage.
struct Mask {
  explicit Mask(std::size_t lines)
      : words(lines * line, 0xdeadbeefU),
        touched(lines + static_cast<std::size_t>(kd::MaskLines::padding), 1) {}
  [[nodiscard]] kd::MaskLines lines() { return {touched.data()}; }
  /// Lines that are not 0 and were not touched, or the other way round.
  [[nodiscard]] std::size_t not_as_said() const {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < words.size() / line; ++i) {
      const auto first = words.begin() + static_cast<std::ptrdiff_t>(i * line);
      const bool any = std::any_of(first, first + static_cast<std::ptrdiff_t>(line),
                                   [](std::uint64_t word) { return word != 0; });
      wrong += any != (touched[i] != 0) ? 1 : 0;
    }
    return wrong;
  }

  std::vector<std::uint64_t> words;
  std::vector<std::uint8_t> touched;
};

/// Some words, most of them 0 and often all of a line.
std::vector<std::uint64_t> some_words(std::size_t n, std::uint64_t seed) {
  ts::Random random(seed);
  std::vector<std::uint64_t> words(n);
  for (std::size_t i = 0; i < n; i += 1 + static_cast<std::size_t>(random.below(20)))
    words[i] = random.below(3) == 0 ? ~std::uint64_t{0} : std::uint64_t{1} << random.below(64);
  return words;
}

TEST(MaskLines, HaveWhatWasWrittenLast) {
  Mask mask(40);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto words = some_words(mask.words.size(), seed);
    kd::write_words(mask.words.data(), mask.lines(), 0, words.data(),
                    static_cast<std::int64_t>(words.size()));
    EXPECT_EQ(mask.words, words);
    EXPECT_EQ(mask.not_as_said(), 0U);
  }
}

TEST(MaskLines, AreSharedByThoseWhoWritePartsOfThem) {
  Mask mask(40);
  for (const std::size_t part : {1U, 3U, 7U, 8U, 9U, 21U, 320U}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const auto words = some_words(mask.words.size(), seed);
      for (std::size_t first = 0; first < words.size(); first += part)
        kd::write_words(mask.words.data(), mask.lines(), static_cast<std::int64_t>(first),
                        words.data() + first,
                        static_cast<std::int64_t>(std::min(part, words.size() - first)));
      EXPECT_EQ(mask.words, words) << part;
      for (std::size_t i = 0; i < mask.words.size(); ++i)
        EXPECT_TRUE(words[i] == 0 || mask.touched[i / line] != 0) << part << ", word " << i;
    }
  }
}

/// Lines that two threads write at the same time, of which some were touched before.
TEST(MaskLines, MayBeWrittenByManyThreads) {
  constexpr std::size_t threads = 4;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::size_t part = 3 + seed;
    Mask mask(300);
    for (std::size_t i = 0; i < 300; ++i) {
      if ((i + seed) % 3 == 0) continue;
      mask.touched[i] = 0;
      std::fill_n(mask.words.begin() + static_cast<std::ptrdiff_t>(i * line), line, 0);
    }
    const auto words = some_words(mask.words.size(), seed);
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < threads; ++t) {
      all.emplace_back([&, t] {
        for (std::size_t first = t * part; first < words.size(); first += threads * part)
          kd::write_words(mask.words.data(), mask.lines(), static_cast<std::int64_t>(first),
                          words.data() + first,
                          static_cast<std::int64_t>(std::min(part, words.size() - first)));
      });
    }
    for (std::thread& thread : all) thread.join();
    EXPECT_EQ(mask.words, words);
    for (std::size_t i = 0; i < mask.words.size(); ++i)
      EXPECT_TRUE(words[i] == 0 || mask.touched[i / line] != 0) << "word " << i;
  }
}

TEST(MaskLines, SayWhereBitsMayBe) {
  std::vector<std::uint8_t> touched(20, 0);
  touched[2] = touched[5] = 1;
  const kd::MaskLines lines{touched.data()};
  EXPECT_TRUE(kd::may_have_bits(lines, 16, 8));
  EXPECT_TRUE(kd::may_have_bits(lines, 9, 8));
  EXPECT_TRUE(kd::may_have_bits(lines, 23, 1));
  EXPECT_TRUE(kd::may_have_bits(lines, 23, 4));
  EXPECT_FALSE(kd::may_have_bits(lines, 8, 8));
  EXPECT_FALSE(kd::may_have_bits(lines, 24, 8));
  EXPECT_FALSE(kd::may_have_bits(lines, 25, 8));
  EXPECT_EQ(kd::words_with_bits(lines, 0), 0xff0000ff0000U);
  EXPECT_EQ(kd::words_with_bits(lines, 24), 0xff0000U);
  EXPECT_EQ(kd::words_with_bits(lines, 48), 0U);
  EXPECT_EQ(kd::words_with_bits(lines, 4), ~std::uint64_t{0}) << "begins no line";
  EXPECT_TRUE(kd::may_have_bits({}, 8, 8)) << "nothing is known";
  EXPECT_EQ(kd::words_with_bits({}, 0), ~std::uint64_t{0}) << "nothing is known";
}

}  // namespace
