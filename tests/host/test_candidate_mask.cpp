// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/candidate_mask.hpp>
#include <vector>

#include "generators.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

struct OneOfCrew {
  int my_rank, all;
  [[nodiscard]] int rank() const { return my_rank; }
  [[nodiscard]] int size() const { return all; }
};

/// Sets the bits of pixels (y, x) with a value above 1, of an image so wide, and compares.
void bits_are_set(std::uint64_t nx, std::uint64_t rows, std::uint64_t columns, std::size_t n) {
  ts::Random random(n + nx);
  const std::uint64_t per_row = (columns + 63) / 64;
  std::vector<std::uint64_t> words(rows * per_row, 0), expected = words;
  std::vector<std::uint8_t> touched(
      static_cast<std::size_t>(kd::MaskLines::size(static_cast<std::int64_t>(words.size()))));
  std::vector<std::uint8_t> lines = touched;
  std::vector<kd::Candidate<float>> some;
  for (std::size_t i = 0; i < n; ++i) {
    const auto y = static_cast<std::uint64_t>(random.uniform() * static_cast<double>(rows));
    const auto x = static_cast<std::uint64_t>(random.uniform() * static_cast<double>(columns));
    const float value = i % 3 == 0 ? 1.0F : 1.5F;
    some.push_back({y * nx + x, value});
    if (!(value > 1.0F)) continue;
    const std::uint64_t word = y * per_row + x / 64;
    expected[word] |= std::uint64_t{1} << (x % 64);
    lines[word / 8] = 1;
  }
  const kd::CandidateMask mask{nx, per_row, words.data(), {touched.data()}};
  constexpr int crew = 64;
  for (int rank = 0; rank < crew; ++rank)
    mask.set_above(OneOfCrew{rank, crew}, 1.0F, some.data(), static_cast<std::int64_t>(n));
  EXPECT_EQ(words, expected) << n << " of " << nx;
  EXPECT_EQ(touched, lines) << n << " of " << nx;
  if (nx * rows >= static_cast<std::uint64_t>(kd::CandidateMask::too_many_pixels)) return;
  std::fill(words.begin(), words.end(), 0);
  std::fill(touched.begin(), touched.end(), std::uint8_t{0});
  for (const auto& [pixel, value] : some) {
    if (value > 1.0F) mask.set(static_cast<std::uint32_t>(pixel));
  }
  EXPECT_EQ(words, expected) << n << " of " << nx << ", one by one";
  EXPECT_EQ(touched, lines) << n << " of " << nx << ", one by one";
}

TEST(CandidateMask, HasTheBitsOfCandidatesAboveTheLevel) {
  for (const std::size_t n : {0UL, 1UL, 31UL, 64UL, 255UL, 256UL, 257UL, 5000UL}) {
    bits_are_set(100, 90, 100, n);
    bits_are_set(128, 90, 128, n);
    bits_are_set(1, 90, 1, n);
  }
}

TEST(CandidateMask, KnowsPixelsThatNeedMoreThan32Bits) {
  constexpr std::uint64_t widest = (std::uint64_t{1} << 31) - 1;
  bits_are_set(widest, 9, 200, 3000);
  bits_are_set(65536, 70000, 70, 3000);
  bits_are_set(65535, 65536, 70, 3000);  // just not
}

}  // namespace
