// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <kastor/detail/convolve_host.hpp>
#include <vector>

#include "generators.hpp"

namespace {

namespace ts = testing_support;
using kastor::detail::HostConvolution;
using kastor::detail::HostLevel;
using kastor::detail::HostSignalConvolution;
using kastor::detail::HostTile;

template <class T>
std::vector<T> random_values(std::int64_t n, std::uint64_t seed) {
  return ts::make_image<T>(ts::Pixels::gaussian, 1, n, seed).values;
}

struct Case {
  std::int64_t ny, nx, taps_y, taps_x, parts;
};

template <class T>
std::vector<T> tile_at(HostLevel level, const Case& c) {
  const auto image = random_values<T>(c.ny * c.nx, 1);
  const auto taps =
      random_values<T>(c.parts == 0 ? c.taps_y * c.taps_x : c.parts * (c.taps_y + c.taps_x), 2);
  const std::int64_t ny = c.ny + c.taps_y - 1;
  const std::int64_t nx = c.nx + c.taps_x - 1;
  std::vector<T> result(static_cast<std::size_t>(ny * nx));
  std::vector<T> scratch(kastor::detail::host_tile_scratch(c.taps_y, c.taps_x, c.parts));
  const HostConvolution<T> convolution{
      image.data(),    c.ny,     c.nx,     c.nx,    result.data(), ny,   nx, nx, -(c.taps_y - 1),
      -(c.taps_x - 1), c.taps_y, c.taps_x, c.parts, taps.data(),   level};
  for (std::int64_t x = 0; x < nx; x += kastor::detail::host_tile_width) {
    kastor::detail::convolve_tile(
        convolution, HostTile{0, ny, x, std::min(nx, x + kastor::detail::host_tile_width)},
        scratch.data());
  }
  return result;
}

template <class T>
std::vector<T> signal_at(HostLevel level, std::int64_t length, std::int64_t taps_length) {
  const auto signal = random_values<T>(length, 3);
  const auto taps = random_values<T>(taps_length, 4);
  std::vector<T> result(static_cast<std::size_t>(length + taps_length - 1));
  const HostSignalConvolution<T> convolution{signal.data(), length,        taps.data(),
                                             taps_length,   result.data(), level};
  kastor::detail::convolve_signal_piece(convolution, 0, convolution.result_length());
  return result;
}

/// Every level that this machine has gives the bits of the baseline, which other tests compare with
/// the definition wherever it is the machine's best.
template <class T>
void every_level_gives_the_same_bits() {
  const auto same = [](const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
  };
  for (const HostLevel level : {HostLevel::avx2, HostLevel::avx512}) {
    if (level > kastor::detail::best_host_level()) continue;
    for (const Case& c : {Case{37, 1201, 15, 15, 0}, Case{37, 1201, 15, 15, 1},
                          Case{20, 61, 4, 7, 2}, Case{9, 5, 31, 2, 0}, Case{1, 1, 3, 3, 1}}) {
      EXPECT_TRUE(same(tile_at<T>(level, c), tile_at<T>(HostLevel::baseline, c)))
          << static_cast<int>(level) << ": " << c.ny << ' ' << c.nx << ' ' << c.parts;
    }
    for (const std::int64_t length : {15, 100, 5003}) {
      EXPECT_TRUE(
          same(signal_at<T>(level, length, 15), signal_at<T>(HostLevel::baseline, length, 15)));
    }
  }
}

TEST(ConvolveOnHost, EveryLevelGivesTheSameBitsForFloat) {
  every_level_gives_the_same_bits<float>();
}
TEST(ConvolveOnHost, EveryLevelGivesTheSameBitsForDouble) {
  every_level_gives_the_same_bits<double>();
}

}  // namespace
