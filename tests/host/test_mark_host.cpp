// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <kastor/detail/mark_host.hpp>
#include <limits>
#include <string>
#include <vector>

#include "generators.hpp"
#include "host_levels.hpp"

namespace {

namespace ts = testing_support;
using kastor::detail::HostLevel;
using kastor::detail::PatchLimits;

using Words = std::vector<std::uint64_t>;

struct Marked {
  Words finite, above, below;
};

/// The definition, pixel by pixel.
template <class T>
Marked mark_naive(const std::vector<PatchLimits<T>>& limits, const std::vector<T>& pixels) {
  const std::size_t words = (pixels.size() + 63) / 64;
  Marked marked{Words(words), Words(words), Words(words)};
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (!std::isfinite(pixels[i])) continue;
    const std::uint64_t bit = std::uint64_t{1} << (i % 64);
    marked.finite[i / 64] |= bit;
    if (pixels[i] > limits[i / 64].above) marked.above[i / 64] |= bit;
    if (pixels[i] < limits[i / 64].below) marked.below[i / 64] |= bit;
  }
  return marked;
}

/// On the limits, beside them, and the values that compare in their own way.
template <class T>
std::vector<T> pixels_about(const std::vector<PatchLimits<T>>& limits, std::size_t n) {
  using Limits = std::numeric_limits<T>;
  auto pixels = ts::make_image<T>(ts::Pixels::gaussian, 1, static_cast<std::int64_t>(n), 9).values;
  for (std::size_t i = 0; i < n; i += 3) {
    const auto& here = limits[i / 64];
    const T special[] = {Limits::quiet_NaN(),
                         Limits::infinity(),
                         -Limits::infinity(),
                         Limits::max(),
                         Limits::lowest(),
                         here.above,
                         std::nextafter(here.above, Limits::infinity()),
                         here.below,
                         std::nextafter(here.below, -Limits::infinity()),
                         T(0)};
    pixels[i] = special[i / 3 % std::size(special)];
  }
  return pixels;
}

template <class T>
void every_level_matches_naive() {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (const std::size_t n : {1U, 63U, 64U, 65U, 200U, 1000U, 4096U}) {
    std::vector<PatchLimits<T>> limits((n + 63) / 64);
    for (std::size_t w = 0; w < limits.size(); ++w) {
      const T step = T(0.25) * static_cast<T>(w % 8);
      limits[w] = {T(-1) + step, T(1) - step, true};
      if (w % 5 == 4) limits[w] = {-infinity, infinity, false};  // nothing is known of the maps
    }
    const auto pixels = pixels_about(limits, n);
    const Marked want = mark_naive(limits, pixels);
    for (const HostLevel level : ts::host_levels()) {
      for (const bool negative : {true, false}) {
        const std::string what = std::to_string(n) + " pixels at level " +
                                 std::to_string(static_cast<int>(level)) +
                                 (negative ? ", both sides" : ", one side");
        constexpr std::uint64_t sentinel = 0x0123456789abcdef;
        Words finite(limits.size() + 1, sentinel), above = finite, below = finite;
        kastor::detail::mark_on_host(level, limits.data(), pixels.data(),
                                     static_cast<std::int64_t>(n), finite.data(), above.data(),
                                     negative ? below.data() : nullptr);
        for (Words* words : {&finite, &above, &below}) {
          EXPECT_EQ(words->back(), sentinel) << what;
          words->pop_back();
        }
        EXPECT_EQ(finite, want.finite) << what;
        EXPECT_EQ(above, want.above) << what;
        EXPECT_EQ(below, negative ? want.below : Words(limits.size(), sentinel)) << what;
      }
    }
  }
}
TEST(MarkOnHost, EveryLevelMatchesNaiveForFloat) { every_level_matches_naive<float>(); }
TEST(MarkOnHost, EveryLevelMatchesNaiveForDouble) { every_level_matches_naive<double>(); }

}  // namespace
