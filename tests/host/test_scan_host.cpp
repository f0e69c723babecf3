// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <kastor/detail/scan_host.hpp>
#include <kastor/detail/threshold_host.hpp>
#include <limits>
#include <string>
#include <vector>

#include "generators.hpp"
#include "host_levels.hpp"

namespace {

namespace ts = testing_support;
using kastor::detail::HostLevel;
using kastor::detail::HostLists;
using kastor::detail::HostScan;
using kastor::detail::HostScanSums;

constexpr std::uint64_t sentinel_word = 0x0123456789abcdef;

template <class T>
std::vector<std::uint64_t> words_naive(T low, T high, const std::vector<T>& pixels) {
  std::vector<std::uint64_t> words((pixels.size() + 63) / 64);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    if (low < pixels[i] && pixels[i] < high) words[i / 64] |= std::uint64_t{1} << (i % 64);
  return words;
}

template <class T>
struct Scanned {
  HostScanSums sums;
  std::vector<T> tails, window;
  std::vector<std::uint64_t> bits;

  void sort() {
    // By bits: -0 and 0 are different pixels.
    using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    const auto before = [](T a, T b) { return std::bit_cast<Bits>(a) < std::bit_cast<Bits>(b); };
    std::sort(tails.begin(), tails.end(), before);
    std::sort(window.begin(), window.end(), before);
  }
};

/// The definition, pixel by pixel.
template <class T>
Scanned<T> scan_naive(const HostScan<T>& scan, const std::vector<T>& pixels) {
  Scanned<T> result;
  for (const T x : pixels) {
    const bool inside = x > scan.low_edge && x < scan.high_edge;
    const double u = inside ? (static_cast<double>(x) - scan.centre) * scan.scale : 0.0;
    result.sums.sum += std::bit_cast<std::uint64_t>(u + 384.0);
    result.sums.squares += std::bit_cast<std::uint64_t>(u * u + 384.0);
    result.sums.inside += inside ? 1 : 0;
    result.sums.below += inside && x < scan.window_low ? 1 : 0;
    if (inside && x >= scan.window_low && x <= scan.window_high) result.window.push_back(x);
    if (!inside && std::isfinite(x)) result.tails.push_back(x);
  }
  result.bits = words_naive(scan.candidate, std::numeric_limits<T>::infinity(), pixels);
  result.sort();
  return result;
}

/// Onto what lists and sums hold already. Nothing may be written beyond the words and beyond 16
/// elements after the lists' ends.
template <class T>
Scanned<T> scanned(HostLevel level, const HostScan<T>& scan, const T* pixels, std::size_t n,
                   bool with_bits) {
  constexpr std::int64_t before = 3;
  constexpr T sentinel = T(-12345);
  Scanned<T> result;
  result.sums = {10, 20, 30, 40};
  result.tails.assign(before + n + 16 + 1, sentinel);
  result.window.assign(before + n + 16 + 1, sentinel);
  result.bits.assign((n + 63) / 64 + 1, sentinel_word);
  HostLists<T> lists{result.tails.data(), result.window.data(), before, before};
  kastor::detail::scan_on_host(level, scan, pixels, static_cast<std::int64_t>(n), result.sums,
                               lists, with_bits ? result.bits.data() : nullptr);
  for (auto* list : {&result.tails, &result.window}) {
    EXPECT_EQ(list->back(), sentinel);
    for (std::int64_t i = 0; i < before; ++i)
      EXPECT_EQ((*list)[static_cast<std::size_t>(i)], sentinel);
  }
  EXPECT_EQ(result.bits.back(), sentinel_word);
  result.bits.pop_back();
  if (!with_bits) {
    for (const std::uint64_t word : result.bits) EXPECT_EQ(word, sentinel_word);
    result.bits = words_naive(scan.candidate, std::numeric_limits<T>::infinity(),
                              std::vector<T>(pixels, pixels + n));
  }
  result.tails.resize(static_cast<std::size_t>(lists.in_tails));
  result.window.resize(static_cast<std::size_t>(lists.in_window));
  result.tails.erase(result.tails.begin(), result.tails.begin() + before);
  result.window.erase(result.window.begin(), result.window.begin() + before);
  result.sums.inside -= 10;
  result.sums.below -= 20;
  result.sums.sum -= 30;
  result.sums.squares -= 40;
  result.sort();
  return result;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](T x, T y) { return std::bit_cast<Bits>(x) == std::bit_cast<Bits>(y); });
}

/// Every level that this machine has gives what the definition gives, wherever the pixels begin.
template <class T>
void matches_naive(const HostScan<T>& scan, const std::vector<T>& pixels, const std::string& name) {
  const auto want = scan_naive(scan, pixels);
  for (const std::size_t offset : {0U, 1U, 3U}) {
    std::vector<T> moved(offset, T(0));
    moved.insert(moved.end(), pixels.begin(), pixels.end());
    for (const HostLevel level : ts::host_levels()) {
      for (const bool with_bits : {true, false}) {
        const std::string what = name + " of " + std::to_string(pixels.size()) + " at level " +
                                 std::to_string(static_cast<int>(level)) + ", offset " +
                                 std::to_string(offset);
        const auto got = scanned(level, scan, moved.data() + offset, pixels.size(), with_bits);
        EXPECT_EQ(got.sums.inside, want.sums.inside) << what;
        EXPECT_EQ(got.sums.below, want.sums.below) << what;
        EXPECT_EQ(got.sums.sum, want.sums.sum) << what;
        EXPECT_EQ(got.sums.squares, want.sums.squares) << what;
        EXPECT_TRUE(same_bits(got.tails, want.tails)) << what;
        EXPECT_TRUE(same_bits(got.window, want.window)) << what;
        EXPECT_EQ(got.bits, want.bits) << what;
      }
    }
  }
}

template <class T>
constexpr HostScan<T> usual_scan{T(-2),     T(2.5), T(-0.125), T(0.25),
                                 T(0.0625), 0.0625, 0.125,     T(1.25)};

template <class T>
std::vector<T> gaussian(std::int64_t n, unsigned seed) {
  auto values =
      ts::make_image<T>(ts::Pixels::gaussian, 1, std::max<std::int64_t>(n, 1), seed).values;
  values.resize(static_cast<std::size_t>(n));
  return values;
}

/// On the bounds, beside them, and the values that compare in their own way.
template <class T>
std::vector<T> special_values(const HostScan<T>& scan) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{Limits::quiet_NaN(),
                        -Limits::quiet_NaN(),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::max(),
                        Limits::lowest(),
                        Limits::denorm_min(),
                        -Limits::denorm_min(),
                        T(0),
                        -T(0)};
  const T bounds[] = {scan.low_edge,    scan.high_edge, scan.window_low,
                      scan.window_high, scan.middle,    scan.candidate};
  for (const T bound : bounds) {
    values.push_back(bound);
    values.push_back(std::nextafter(bound, Limits::infinity()));
    values.push_back(std::nextafter(bound, -Limits::infinity()));
  }
  return values;
}

template <class T>
std::vector<T> with_special_values(std::vector<T> pixels, std::size_t each) {
  const auto values = special_values(usual_scan<T>);
  for (std::size_t i = 0; i < pixels.size(); i += each)
    pixels[i] = values[i / each % values.size()];
  return pixels;
}

constexpr std::int64_t long_lengths[] = {1000, 4096, 8191, 8192, 8193};

template <class T>
void every_length_matches_naive() {
  for (std::int64_t n = 0; n <= 200; ++n) {
    matches_naive(usual_scan<T>, gaussian<T>(n, 3), "gaussian");
    matches_naive(usual_scan<T>, with_special_values(gaussian<T>(n, 3), 3), "special values");
  }
  for (const std::int64_t n : long_lengths) {
    matches_naive(usual_scan<T>, gaussian<T>(n, 4), "gaussian");
    matches_naive(usual_scan<T>, with_special_values(gaussian<T>(n, 4), 1), "special values");
    matches_naive(usual_scan<T>, with_special_values(gaussian<T>(n, 4), 101), "few special values");
  }
}
TEST(ScanOnHost, EveryLengthMatchesNaiveForFloat) { every_length_matches_naive<float>(); }
TEST(ScanOnHost, EveryLengthMatchesNaiveForDouble) { every_length_matches_naive<double>(); }

/// Any number of pixels of one list among 64.
template <class T>
void any_density_matches_naive() {
  for (const T listed :
       {T(0.125), T(3), std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    for (std::size_t density = 0; density <= 64; ++density) {
      for (const std::size_t n : {64U, 192U, 150U}) {
        std::vector<T> pixels(n, T(1));
        for (std::size_t i = 0; i < n; ++i)
          if (i * 37 % 64 < density) pixels[i] = listed;
        matches_naive(usual_scan<T>, pixels, "density " + std::to_string(density));
      }
    }
  }
}
TEST(ScanOnHost, AnyDensityMatchesNaiveForFloat) { any_density_matches_naive<float>(); }
TEST(ScanOnHost, AnyDensityMatchesNaiveForDouble) { any_density_matches_naive<double>(); }

/// The pixels u = -1 ... 1 about a centre that is large, or on a grid that is fine or coarse: u is
/// what it would be if the difference were taken first.
template <class T>
void far_centres_match_naive() {
  using Limits = std::numeric_limits<T>;
  const int finest = Limits::min_exponent + Limits::digits;
  for (const int exponent : {finest, -40, -3, 0, 60}) {
    for (const T steps : {T(0), T(3), T(1001), T(0x1p20) + T(5)}) {
      const T unit = std::ldexp(T(1), exponent);  // |x - centre| < unit
      const T centre = steps * unit;
      const HostScan<T> scan{centre - unit * T(0.875),
                             centre + unit * T(0.875),
                             centre - unit * T(0.125),
                             centre + unit * T(0.125),
                             centre,
                             static_cast<double>(centre),
                             std::ldexp(1.0, -exponent),
                             centre + unit};
      auto pixels = gaussian<T>(500, 8);
      for (T& x : pixels) x = centre + unit * x / 2;
      matches_naive(scan, pixels,
                    "exponent " + std::to_string(exponent) + ", steps " + std::to_string(steps));
    }
  }
}
TEST(ScanOnHost, FarCentresMatchNaiveForFloat) { far_centres_match_naive<float>(); }
TEST(ScanOnHost, FarCentresMatchNaiveForDouble) { far_centres_match_naive<double>(); }

template <class T>
void extreme_bounds_match_naive() {
  using Limits = std::numeric_limits<T>;
  for (const std::int64_t n : {63, 64, 200, 5000}) {
    const auto pixels = with_special_values(gaussian<T>(n, 5), 5);
    for (const T candidate : {Limits::infinity(), -Limits::infinity(), Limits::max(),
                              Limits::lowest(), T(0), -T(0), Limits::quiet_NaN()}) {
      auto scan = usual_scan<T>;
      scan.candidate = candidate;
      matches_naive(scan, pixels, "candidate " + std::to_string(candidate));
    }
    const HostScan<T> all_window{T(-100), T(100), T(-99), T(99), T(0), 0.0, 0.0078125, T(1)};
    matches_naive(all_window, pixels, "all in the window");
    matches_naive(all_window, gaussian<T>(n, 6), "all in the window");
    const HostScan<T> all_tails{T(50), T(52), T(51), T(51), T(51), 51.0, 0.5, T(1)};
    matches_naive(all_tails, pixels, "all in the tails");
    const HostScan<T> one_value{T(-2), T(2), T(0), T(0), T(0), 0.0, 0.25, T(1)};
    matches_naive(one_value, pixels, "a window of one value");
  }
}
TEST(ScanOnHost, ExtremeBoundsMatchNaiveForFloat) { extreme_bounds_match_naive<float>(); }
TEST(ScanOnHost, ExtremeBoundsMatchNaiveForDouble) { extreme_bounds_match_naive<double>(); }

template <class T>
void threshold_matches_naive(T low, T high, const std::vector<T>& pixels) {
  const auto want = words_naive(low, high, pixels);
  for (const std::size_t offset : {0U, 1U, 3U}) {
    std::vector<T> moved(offset, T(0));
    moved.insert(moved.end(), pixels.begin(), pixels.end());
    for (const HostLevel level : ts::host_levels()) {
      std::vector<std::uint64_t> got(want.size() + 1, sentinel_word);
      kastor::detail::threshold_on_host(level, low, high, moved.data() + offset,
                                        static_cast<std::int64_t>(pixels.size()), got.data());
      EXPECT_EQ(got.back(), sentinel_word);
      got.pop_back();
      EXPECT_EQ(got, want) << low << " to " << high << ", " << pixels.size() << " pixels at level "
                           << static_cast<int>(level) << ", offset " << offset;
    }
  }
}

template <class T>
void every_threshold_matches_naive() {
  using Limits = std::numeric_limits<T>;
  for (std::int64_t n = 0; n <= 200; ++n) {
    threshold_matches_naive(T(-0.5), T(0.5), gaussian<T>(n, 7));
    threshold_matches_naive(T(1.25), Limits::infinity(), with_special_values(gaussian<T>(n, 7), 2));
  }
  for (const std::int64_t n : long_lengths) {
    const auto pixels = with_special_values(gaussian<T>(n, 8), 3);
    for (const T low : {-Limits::infinity(), Limits::lowest(), -T(0), T(0), Limits::denorm_min(),
                        T(1.25), Limits::max(), Limits::infinity(), Limits::quiet_NaN()}) {
      for (const T high : {Limits::infinity(), Limits::max(), T(2.5), T(0), Limits::quiet_NaN()})
        threshold_matches_naive(low, high, pixels);
    }
  }
}
TEST(ThresholdOnHost, MatchesNaiveForFloat) { every_threshold_matches_naive<float>(); }
TEST(ThresholdOnHost, MatchesNaiveForDouble) { every_threshold_matches_naive<double>(); }

/// Marked pixels that are not above a bound.
template <class T>
void marked_pixels_match_naive(T bound, const std::vector<T>& pixels,
                               const std::vector<std::uint64_t>& words) {
  std::vector<std::uint64_t> want((pixels.size() + 63) / 64);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    if ((words[i / 64] >> i % 64 & 1) != 0 && !(pixels[i] > bound))
      want[i / 64] |= std::uint64_t{1} << i % 64;
  for (const HostLevel level : ts::host_levels()) {
    std::vector<kastor::detail::MarkedBits> found(words.size() + 1);
    found.back() = {-7, sentinel_word};
    const std::int64_t n = kastor::detail::find_not_above_on_host(
        level, bound, pixels.data(), static_cast<std::int64_t>(pixels.size()), words.data(),
        found.data());
    EXPECT_EQ(found.back().word, -7);
    std::vector<std::uint64_t> got(want.size());
    std::int64_t last = -1;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto& [word, bits] = found[static_cast<std::size_t>(i)];
      EXPECT_GT(word, last);
      EXPECT_NE(bits, 0U);
      last = word;
      got[static_cast<std::size_t>(word)] = bits;
    }
    EXPECT_EQ(got, want) << pixels.size() << " pixels, bound " << bound << ", level "
                         << static_cast<int>(level);
  }
}

template <class T>
void every_marked_pixel_matches_naive() {
  for (const std::int64_t n : {0, 1, 63, 64, 65, 511, 512, 513, 1000, 8192}) {
    const auto pixels = with_special_values(gaussian<T>(n, 9), 7);
    for (const T level : {T(0.5), T(2), T(3), T(100)}) {
      auto words = words_naive(level, std::numeric_limits<T>::infinity(), pixels);
      for (const T bound : {T(-1), level, T(2.25), T(5), std::numeric_limits<T>::infinity()})
        marked_pixels_match_naive(bound, pixels, words);
    }
  }
}
TEST(ThresholdOnHost, FindsMarkedPixelsThatAreNotAboveForFloat) {
  every_marked_pixel_matches_naive<float>();
}
TEST(ThresholdOnHost, FindsMarkedPixelsThatAreNotAboveForDouble) {
  every_marked_pixel_matches_naive<double>();
}

}  // namespace
