// SPDX-License-Identifier: Apache-2.0

// The kernels of a device's clip, run by teams of a host's threads: the same bits as a host's clip.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <kastor/sigma_clip.hpp>
#include <limits>
#include <set>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "emulated_clip.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;
using ts::all_alone, ts::Division, ts::EmulatedClip, ts::request_of;

template <class T>
void gives_the_bits_of_a_host(const ts::HostImage<T>& image, const Division& division) {
  using Exec = ts::FirstExec;
  const kastor::SigmaClipParams params;
  EmulatedClip<T> device(image.ny, image.nx, division);
  // Another image first, of which nothing must be left.
  static_cast<void>(
      device.run(ts::make_image<T>(ts::Pixels::cauchy, image.ny, image.nx, 3), request_of(params)));
  device.touch_mask();
  const kd::ClipOutcome<T>& outcome = device.run(image, request_of(params));
  ASSERT_EQ(outcome.decided, 1);
  kastor::SigmaClipResult got = outcome.result;
  got.route = kastor::ClipRoute::bracketed;
  const auto expected = kastor::sigma_clip(Exec{}, ts::to_device<Exec>(image), params);
  EXPECT_TRUE(ts::same_bits(got, expected));
  EXPECT_TRUE(device.memory_is_whole());
  EXPECT_TRUE(device.mask_was_cleared());
  if (division.most_alone != all_alone) {
    EXPECT_GT(device.heaviest_group(), division.most_alone);
    EXPECT_GT(device.heaviest_group(), device.share()) << "so that it is shared";
  }

  ASSERT_EQ(outcome.candidates_hold, 1);
  std::set<std::uint64_t> foreground;
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    const T x = image.values[i];
    if (std::isfinite(x) && static_cast<double>(x) > outcome.level) foreground.insert(i);
  }
  EXPECT_EQ(device.foreground(), foreground);
}
template <class T>
void gives_the_bits_of_a_host(ts::Pixels kind, const Division& division) {
  gives_the_bits_of_a_host(ts::make_image<T>(kind, 190, 211, 7), division);
}

TEST(DeviceClip, JoinsGroupsAlone) {
  gives_the_bits_of_a_host<float>(ts::Pixels::contaminated, {3, 512});
}
TEST(DeviceClip, SharesHeavyGroupsAmongTeams) {
  gives_the_bits_of_a_host<float>(ts::Pixels::exponential, {41, 512, 64});
}
TEST(DeviceClip, SharesHeavyGroupsFarOut) {
  gives_the_bits_of_a_host<double>(ts::Pixels::wild, {41, 640, 12, 2});
}

/// A ninth of the pixels are in one group of bins, so many that a team sorts several pieces, of
/// more pages than it has threads; all are certainly above the level.
template <class T>
void shares_a_group_piece_by_piece(bool by_large_teams) {
  ts::HostImage<T> image(800, 811);
  ts::Random random(15);
  std::size_t bright = 0;
  for (T& pixel : image.values) {
    const bool is_bright = random.below(9) == 0;
    bright += is_bright ? 1 : 0;
    pixel = static_cast<T>(is_bright ? 226 + 24 * random.uniform() : random.gaussian());
  }
  const Division division{2, 64, 4096, 1, by_large_teams};
  EmulatedClip<T> device(image.ny, image.nx, division);
  static_cast<void>(device.run(image, request_of({})));
  using Large = kd::JoinTails<T, ts::EmulatedTeams, 512>;
  EXPECT_GT(device.share(), 4 * Large::pixels_at_once);
  EXPECT_GT(*device.parts().pages, 2 * Large::threads) << "pages of two shares";
  EXPECT_GE(device.marked().size(), bright);
  gives_the_bits_of_a_host(image, division);
}
TEST(DeviceClip, SharesAGroupPieceByPiece) {
  shares_a_group_piece_by_piece<float>(false);
  shares_a_group_piece_by_piece<double>(true);
}
TEST(DeviceClip, JoinsByLargeTeams) {
  constexpr int page = kd::SortIntoPages<double, ts::EmulatedTeams>::most_pixels;
  gives_the_bits_of_a_host<double>(ts::Pixels::exponential, {41, page, 60, 1, true});
}
/// Bright sources, far behind the noise, among whose pixels the first limits lie; and both sides.
template <class T>
void limits_lie_among_bright_pixels(bool of_both_sides, const Division& division) {
  ts::HostImage<T> image(290, 311);
  ts::Random random(12);
  for (T& pixel : image.values) {
    double value = random.gaussian();
    if (random.below(25) == 0) value += 500 * std::exp(2 * random.gaussian());
    pixel = static_cast<T>(of_both_sides && random.below(2) == 0 ? -value : value);
  }
  gives_the_bits_of_a_host(image, division);
}
TEST(DeviceClip, FindsLimitsAmongBrightPixels) {
  limits_lie_among_bright_pixels<float>(false, {3, 2048});
  limits_lie_among_bright_pixels<double>(true, {41, 640});
}

TEST(DeviceClip, CountsSpikes) {
  gives_the_bits_of_a_host<double>(ts::Pixels::tenths, {3, 2048, all_alone, 3});
}

/// An eighth of the pixels lie so close to the median, here 0, that a few bins of the window have
/// many: of `values` different ones, or all different.
template <class T>
ts::HostImage<T> peaked_image(double width, std::int64_t values) {
  ts::HostImage<T> image(290, 311);
  ts::Random random(11);
  for (T& pixel : image.values) {
    const double place =
        values > 0 ? static_cast<double>(random.below(values)) / static_cast<double>(values)
                   : random.uniform();
    pixel = static_cast<T>(random.below(8) == 0 ? width * (place - 0.5) : random.gaussian());
  }
  return image;
}
/// `fullest`: pixels that some bin of the window has at least.
template <class T>
void finds_medians_of_a_peak(double width, std::int64_t values, std::uint64_t fullest) {
  const auto image = peaked_image<T>(width, values);
  const auto want = ts::sigma_clip_naive(image, {});
  using Exec = ts::FirstExec;
  ts::expect_matches_naive(kastor::sigma_clip(Exec{}, ts::to_device<Exec>(image), {}), want,
                           "on the host");
  const Division with_room{3, 2048};
  EmulatedClip<T> device(image.ny, image.nx, with_room);
  static_cast<void>(device.run(image, request_of({})));
  EXPECT_GE(device.fullest_bin(), fullest);
  gives_the_bits_of_a_host(image, with_room);
  // Without room for the pixels of such a bin.
  gives_the_bits_of_a_host(image, {3, 2048, all_alone, 1, false, 0, 120});
}

TEST(DeviceClip, FindsMediansInFullBins) { finds_medians_of_a_peak<float>(1e-5, 0, 200); }
TEST(DeviceClip, FindsMediansInFullShares) { finds_medians_of_a_peak<double>(1e-6, 0, 2000); }
TEST(DeviceClip, FindsMediansInOneShare) { finds_medians_of_a_peak<double>(1e-9, 0, 5000); }
TEST(DeviceClip, FindsMediansAmongEqualPixels) { finds_medians_of_a_peak<float>(1e-5, 40, 200); }

/// An eighth of the pixels are zeros of both signs, the median among them, beside others so small
/// that the keys of the bin's pixels have nearly any exponent. The few hundred pixels that would
/// find such values frequent have none of them.
template <class T>
void finds_medians_among_zeros(T smallest) {
  ts::HostImage<T> image(290, 311);
  const kd::Stride rough(image.ny * image.nx, kd::rough_size);
  ts::Random random(12);
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    T& pixel = image.values[i];
    const auto sign = static_cast<T>(random.below(2) == 0 ? 1 : -1);
    const auto kind = static_cast<std::int64_t>(i) % rough.stride == 0 ? 3 : random.below(16);
    if (kind < 2) {
      pixel = sign * T{0};
    } else if (kind == 2) {
      pixel = sign * smallest;
    } else {
      pixel = static_cast<T>(random.gaussian());
    }
  }
  const Division with_room{3, 2048};
  EmulatedClip<T> device(image.ny, image.nx, with_room);
  static_cast<void>(device.run(image, request_of({})));
  EXPECT_EQ(device.parts().prediction.brackets->spikes, 0);
  EXPECT_GE(device.fullest_bin(), 5000);
  gives_the_bits_of_a_host(image, with_room);
  // Without room for the pixels of such a bin.
  gives_the_bits_of_a_host(image, {3, 2048, all_alone, 1, false, 0, 120});
}
TEST(DeviceClip, FindsMediansAmongZeros) {
  finds_medians_among_zeros<float>(std::numeric_limits<float>::denorm_min());
  finds_medians_among_zeros<double>(1e-200);
}

/// Few values, which nearly no sample of 256 pixels finds frequent, but of each there are so many
/// that they fill their pages.
TEST(DeviceClip, FindsMediansOfIntegers) {
  ts::HostImage<float> image(400, 411);
  ts::Random random(13);
  for (float& pixel : image.values) pixel = static_cast<float>(std::round(80 * random.gaussian()));
  gives_the_bits_of_a_host(image, {3, 2048, all_alone, 1, false, 0, 120});
  gives_the_bits_of_a_host(image, {3, 2048, all_alone, 2});
}

/// Of one value, or of two that are so frequent that the window reaches from one to the other, and
/// `others` per cent between them.
template <class T>
void counts_where_all_are_wanted(double low, double high, int others) {
  ts::HostImage<T> image(290, 311);
  ts::Random random(14);
  for (T& pixel : image.values) {
    const double share =
        random.below(100) < others ? random.uniform() : (random.below(2) == 0 ? 0.0 : 1.0);
    pixel = static_cast<T>(low + share * (high - low));
  }
  EmulatedClip<T> device(image.ny, image.nx, {3, 2048});
  const auto& outcome = device.run(image, request_of({}));
  ASSERT_EQ(outcome.decided, 1);
  kastor::SigmaClipResult got = outcome.result;
  got.route = kastor::ClipRoute::bracketed;
  using Exec = ts::FirstExec;
  EXPECT_TRUE(ts::same_bits(got, kastor::sigma_clip(Exec{}, ts::to_device<Exec>(image), {})));
  const auto& brackets = *device.parts().prediction.brackets;
  EXPECT_GE(brackets.spikes, 1);
  EXPECT_EQ(std::count_if(image.values.begin(), image.values.end(),
                          [&](T x) { return brackets.in_window(x); }),
            image.ny * image.nx);
}
TEST(DeviceClip, CountsSpikesOfWholeTiles) {
  counts_where_all_are_wanted<float>(5, 5, 0);
  counts_where_all_are_wanted<double>(-7, -7, 0);
}
TEST(DeviceClip, CountsSpikesOfWholeTilesAmongOthers) {
  counts_where_all_are_wanted<float>(5, 6, 3);
  counts_where_all_are_wanted<double>(5, 6, 3);
}

/// What bright sources do to the first passes a sample does not tell: the level of a clip that is
/// stopped is far above that of the whole, and nothing is thought to be certainly above it.
TEST(DeviceClip, MarksNothingForAClipThatMayBeStopped) {
  const auto image = ts::make_image<float>(ts::Pixels::contaminated, 290, 311, 8);
  for (const int max_passes : {0, 1, 2}) {
    EmulatedClip<float> device(image.ny, image.nx, {3, 2048});
    const auto& outcome = device.run(image, request_of({3.0, max_passes}));
    ASSERT_EQ(outcome.decided, 1);
    ASSERT_EQ(outcome.candidates_hold, 1) << max_passes;
    EXPECT_EQ(device.marked().empty(), max_passes > 0) << max_passes;
    std::set<std::uint64_t> foreground;
    for (std::size_t i = 0; i < image.values.size(); ++i) {
      const float x = image.values[i];
      if (std::isfinite(x) && static_cast<double>(x) > outcome.level) foreground.insert(i);
    }
    EXPECT_EQ(device.foreground(), foreground) << max_passes;
  }
}

/// Where a level comes out above what was thought certain, what was marked is no foreground.
TEST(DeviceClip, KnowsALevelAboveWhatWasThoughtCertain) {
  const auto image = ts::make_image<float>(ts::Pixels::contaminated, 290, 311, 8);
  EmulatedClip<float> device(image.ny, image.nx, {3, 2048});
  const double level = device.run(image, request_of({})).level;
  EXPECT_FALSE(device.marked().empty());
  for (const int below : {0, 1}) {
    const auto& outcome = device.run(image, request_of({}), [&](auto&) {
      auto& brackets = *device.parts().prediction.brackets;
      brackets.certain = static_cast<float>(level * (below != 0 ? 0.999 : 1.001));
    });
    EXPECT_EQ(outcome.level, level);
    EXPECT_EQ(outcome.candidates_hold, below != 0 ? 0 : 1);
  }
}

/// One after the other, of which each leaves its counters for the next.
TEST(DeviceClip, ReadsManyTilesByOneTeam) {
  gives_the_bits_of_a_host(ts::make_image<float>(ts::Pixels::contaminated, 290, 311, 8),
                           {1, kd::SortIntoPages<float, ts::EmulatedTeams>::most_pixels});
}

/// Many threads have no pixel of their own, and keep what others found.
TEST(DeviceClip, ReadsWhatIsMostlyBlank) {
  auto image = ts::make_image<double>(ts::Pixels::contaminated, 400, 411, 8);
  ts::Random random(9);
  for (double& pixel : image.values) {
    if (random.below(4) != 0) pixel = std::numeric_limits<double>::quiet_NaN();
  }
  gives_the_bits_of_a_host(image, {41, 512});
}

TEST(DeviceClip, SaysWhenPixelsWereLost) {
  const auto image = ts::make_image<float>(ts::Pixels::contaminated, 190, 211, 7);
  EmulatedClip<float> device(image.ny, image.nx, {3, 512, all_alone, 1, false, 100});
  const auto& outcome = device.run(image, request_of({}));
  EXPECT_EQ(outcome.usable, 1);
  EXPECT_EQ(outcome.decided, 0);
  EXPECT_GT(outcome.longest_list, 100);
  EXPECT_TRUE(device.memory_is_whole());
}

}  // namespace
