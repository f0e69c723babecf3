// SPDX-License-Identifier: Apache-2.0

// Where the sweeps over islands find the pixels that were kept when they were marked.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/kept_pixels.hpp>

namespace {

namespace kd = kastor::detail;

/// Pixels 60 to 129 of a row of three words, and one of the other sign before them.
struct OneRun {
  static constexpr std::uint32_t none = kd::KeptPixels::none;
  static constexpr kd::Run run{60, 130, 0, 1};
  std::array<std::uint64_t, 3> foreground{std::uint64_t{0xf} << 60, ~std::uint64_t{0}, 3};
  std::array<std::uint64_t, 3> negative{1, 0, 0};
  std::array<kd::KeptPixel, 1000> places{};

  /// The place of the run's first pixel, if its words' first ones are at these; -1: not all are
  /// known to be kept.
  [[nodiscard]] std::ptrdiff_t place(std::array<std::uint32_t, 3> first) {
    const kd::KeptPixels kept{places.data(),   1000, first.data(), nullptr, foreground.data(),
                              negative.data(), 3};
    const kd::KeptPixel* const found = kept.of(run);
    return found == nullptr ? -1 : found - places.data();
  }
};

TEST(KeptPixels, AreFoundBehindThoseOfTheOtherSign) {
  OneRun one;
  EXPECT_EQ(one.place({10, 15, 79}), 11);
}

TEST(KeptPixels, AreNotFoundUnlessAllWereKept) {
  OneRun one;
  EXPECT_EQ(one.place({OneRun::none, 15, 79}), -1);
  EXPECT_EQ(one.place({10, 15, OneRun::none}), -1);
  EXPECT_EQ(one.place({10, 15, 80}), -1);
}

/// The ends of the run are as far apart as they should be, but what lies between is not the run's.
TEST(KeptPixels, AreNotFoundIfThoseInTheMiddleAreElsewhere) {
  OneRun one;
  EXPECT_EQ(one.place({10, OneRun::none, 79}), -1);
  EXPECT_EQ(one.place({10, 500, 79}), -1);
}

}  // namespace
