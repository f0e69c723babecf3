// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <kastor/detail/radix_sort.hpp>
#include <kastor/detail/scan_host.hpp>
#include <limits>
#include <vector>

#include "generators.hpp"

namespace {

namespace ts = testing_support;
using kastor::detail::HostLevel;
using kastor::detail::HostLists;
using kastor::detail::HostScan;
using kastor::detail::HostScanSums;

template <class T>
struct Scanned {
  HostScanSums sums;
  std::vector<T> tails, window;
};

/// The definition, pixel by pixel; lists sorted.
template <class T>
Scanned<T> scan_naive(const HostScan<T>& scan, const std::vector<T>& pixels) {
  Scanned<T> result;
  for (const T x : pixels) {
    const bool below = x > scan.low_edge && x < scan.window_low;
    const bool above = x > scan.window_high && x < scan.high_edge;
    const double u = below || above ? (static_cast<double>(x) - scan.centre) * scan.scale : 0.0;
    result.sums.sum += std::bit_cast<std::uint64_t>(u + 384.0);
    result.sums.squares += std::bit_cast<std::uint64_t>(u * u + 384.0);
    result.sums.below += below ? 1 : 0;
    result.sums.above += above ? 1 : 0;
    if (x >= scan.window_low && x <= scan.window_high) {
      result.window.push_back(x);
    } else if (!below && !above && std::isfinite(x)) {
      result.tails.push_back(x);
    }
  }
  std::sort(result.tails.begin(), result.tails.end());
  std::sort(result.window.begin(), result.window.end());
  return result;
}

template <class T>
Scanned<T> scanned(HostLevel level, const HostScan<T>& scan, const std::vector<T>& pixels) {
  Scanned<T> result;
  result.tails.resize(pixels.size() + 16);
  result.window.resize(pixels.size() + 16);
  HostLists<T> lists{result.tails.data(), result.window.data()};
  kastor::detail::scan_on_host(level, scan, pixels.data(), static_cast<std::int64_t>(pixels.size()),
                               result.sums, lists);
  result.tails.resize(static_cast<std::size_t>(lists.in_tails));
  result.window.resize(static_cast<std::size_t>(lists.in_window));
  std::sort(result.tails.begin(), result.tails.end());
  std::sort(result.window.begin(), result.window.end());
  return result;
}

/// Every level that this machine has gives what the definition gives.
template <class T>
void every_level_matches_naive() {
  using Limits = std::numeric_limits<T>;
  const HostScan<T> scan{T(-2), T(-0.125), T(0.25), T(2.5), T(0.0625), 0.0625, 0.125};
  const T specials[] = {scan.low_edge,
                        scan.window_low,
                        scan.window_high,
                        scan.high_edge,
                        Limits::quiet_NaN(),
                        -Limits::quiet_NaN(),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::max(),
                        Limits::lowest(),
                        Limits::denorm_min(),
                        T(0),
                        -T(0)};
  int levels = 0;
  for (const HostLevel level : {HostLevel::baseline, HostLevel::avx2, HostLevel::avx512}) {
    if (level > kastor::detail::best_host_level()) continue;
    ++levels;
    for (const std::int64_t n : {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000, 8192}) {
      auto pixels =
          ts::make_image<T>(ts::Pixels::gaussian, 1, std::max<std::int64_t>(n, 1), 3).values;
      pixels.resize(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < pixels.size(); i += 3)
        pixels[i] = specials[i / 3 % std::size(specials)];
      const auto want = scan_naive(scan, pixels);
      const auto got = scanned(level, scan, pixels);
      EXPECT_EQ(got.sums.below, want.sums.below) << n;
      EXPECT_EQ(got.sums.above, want.sums.above) << n;
      EXPECT_EQ(got.sums.sum, want.sums.sum) << n;
      EXPECT_EQ(got.sums.squares, want.sums.squares) << n;
      EXPECT_EQ(got.tails, want.tails) << n;
      EXPECT_EQ(got.window, want.window) << n;
    }
  }
  EXPECT_GE(levels, 1);
}

TEST(ScanOnHost, EveryLevelMatchesNaiveForFloat) { every_level_matches_naive<float>(); }
TEST(ScanOnHost, EveryLevelMatchesNaiveForDouble) { every_level_matches_naive<double>(); }

template <class T>
void radix_sort_is_a_sort() {
  std::vector<T> spare;
  for (const std::int64_t n : {0, 1, 2, 100, 5000}) {
    auto values =
        ts::make_image<T>(ts::Pixels::gaussian, 1, std::max<std::int64_t>(n, 1), 5).values;
    values.resize(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); i += 4)
      values[i] =
          i % 8 == 0 ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::denorm_min();
    auto want = values;
    std::sort(want.begin(), want.end());
    kastor::detail::radix_sort(values, spare);
    EXPECT_EQ(values, want) << n;
  }
}

TEST(RadixSort, IsASortOfFloats) { radix_sort_is_a_sort<float>(); }
TEST(RadixSort, IsASortOfDoubles) { radix_sort_is_a_sort<double>(); }

}  // namespace
