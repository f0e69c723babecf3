// SPDX-License-Identifier: Apache-2.0

// What a device's clip expects to be asked: that the answers are right, that they are enough for
// ordinary images, and that nothing depends on them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <kastor/detail/expected_clip.hpp>
#include <kastor/detail/replay.hpp>
#include <kastor/sigma_clip.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "emulated_clip.hpp"
#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

constexpr ts::Division few_teams{3, 2048};

template <class T>
[[nodiscard]] kd::Gathered<T> gathered_of(const ts::EmulatedClip<T>& clip) {
  return {*clip.parts().prediction.brackets, clip.parts().read->totals.sums()};
}

// ------------------------------------------------------------------------------- they are enough

/// The replay with nothing but the answers.
template <class T>
[[nodiscard]] kd::ClipOutcome<T> replay_expected(const ts::EmulatedClip<T>& clip,
                                                 std::int64_t pixels,
                                                 const kastor::SigmaClipParams& params) {
  kd::ExpectedClip<T> expected = *clip.parts().expected;
  kd::ClipOutcome<T> outcome{};
  outcome.result.pixels = pixels;
  outcome.result.kappa = params.kappa;
  const kd::ClipRequest request = ts::request_of(params);
  kd::replay(gathered_of(clip), kd::ExpectedTails<T>(expected), kd::ExpectedWindow<T>(expected),
             params.kappa, params.max_passes, request.level, outcome);
  return outcome;
}

template <class T>
void answers_decide(const ts::HostImage<T>& image, const kastor::SigmaClipParams& params = {}) {
  using Exec = ts::FirstExec;
  ts::EmulatedClip<T> clip(image.ny, image.nx, few_teams);
  static_cast<void>(clip.run(image, ts::request_of(params)));
  ASSERT_EQ(clip.parts().expected->usable, 1);
  const auto outcome = replay_expected(clip, image.ny * image.nx, params);
  ASSERT_EQ(outcome.decided, 1);
  kastor::SigmaClipResult got = outcome.result;
  got.route = kastor::ClipRoute::bracketed;
  EXPECT_TRUE(ts::same_bits(got, kastor::sigma_clip(Exec{}, ts::to_device<Exec>(image), params)));
}
template <class T>
void answers_decide(ts::Pixels kind, const kastor::SigmaClipParams& params = {}) {
  answers_decide(ts::make_image<T>(kind, 290, 311, 5), params);
}

/// So many bright pixels that the first limit lies among them, in a bin that has thousands.
template <class T>
[[nodiscard]] ts::HostImage<T> crowd(bool upwards) {
  ts::HostImage<T> image(800, 811);
  ts::Random random(16);
  for (T& pixel : image.values) {
    const double bright = 200 + 10 * random.uniform();
    pixel = static_cast<T>(random.uniform() < 0.1273 ? bright : random.gaussian());
    if (!upwards) pixel = -pixel;
  }
  return image;
}
TEST(ExpectedClip, DecidesCrowds) {
  for (const bool upwards : {false, true}) {
    const auto image = crowd<float>(upwards);
    const auto all = kastor::sigma_clip(ts::FirstExec{}, ts::to_device<ts::FirstExec>(image)).all;
    const double limit = std::fabs(all.median) + 3 * all.std;
    ASSERT_GT(limit, 202);
    ASSERT_LT(limit, 208);
    answers_decide(image);
    answers_decide(crowd<double>(upwards));
  }
}

TEST(ExpectedClip, DecidesNoise) {
  answers_decide<float>(ts::Pixels::gaussian);
  answers_decide<double>(ts::Pixels::gaussian);
}
TEST(ExpectedClip, DecidesSkies) {
  answers_decide<float>(ts::Pixels::contaminated);
  answers_decide<double>(ts::Pixels::contaminated);
}
TEST(ExpectedClip, DecidesWhatIsHalfBlank) { answers_decide<float>(ts::Pixels::half_blank); }
TEST(ExpectedClip, DecidesClipsThatAreStopped) {
  for (const int most : {1, 2, 3}) answers_decide<float>(ts::Pixels::contaminated, {3.0, most});
}
TEST(ExpectedClip, ExpectsNothingWhereValuesAreCounted) {
  const auto image = ts::make_image<float>(ts::Pixels::tenths, 190, 211, 5);
  ts::EmulatedClip<float> clip(image.ny, image.nx, few_teams);
  static_cast<void>(clip.run(image, ts::request_of({})));
  EXPECT_EQ(clip.parts().expected->usable, 0);
}

/// Where bins hold many pixels, and each moves the next limit far: the passes would ask for
/// something else anyway.
TEST(ExpectedClip, ExpectsNothingOfManyExponentialPixels) {
  using Exec = ts::FirstExec;
  for (const auto& [side, is_usable] : {std::pair{290, 1}, std::pair{1500, 0}}) {
    const auto image = ts::make_image<float>(ts::Pixels::exponential, side, side, 5);
    ts::EmulatedClip<float> clip(side, side, few_teams);
    kastor::SigmaClipResult got = clip.run(image, ts::request_of({})).result;
    EXPECT_EQ(clip.parts().expected->usable, is_usable) << side;
    got.route = kastor::ClipRoute::bracketed;
    EXPECT_TRUE(ts::same_bits(got, kastor::sigma_clip(Exec{}, ts::to_device<Exec>(image), {})))
        << side;
  }
}

// ------------------------------------------------------------------------ nothing depends on them

template <class T>
using Spoil = std::function<void(kd::ExpectedClip<T>&)>;

template <class T>
void forget_limit(kd::ExpectedClip<T>& expected, int side, int i) {
  const T centre = expected.bounds.inner[side][kd::ExpectedBounds<T>::most - 1];
  expected.bounds.inner[side][i] = expected.bounds.outer[side][i] = centre;
}

/// How many pixels are within a limit beside this one stays known, but not that it is the outermost
/// of them; nor which is, of limits with no pixel between their bounds. What is asked before the
/// first pass stays known.
template <class T>
void forget_extreme(kd::ExpectedClip<T>& expected, int side, T extreme) {
  for (int i = 0; i < expected.limits; ++i) {
    kd::ExpectedLimit<T>& limit = expected.limit[side][i];
    limit.has_last = 0;
    const auto* const found = std::find(std::begin(limit.pixel), std::end(limit.pixel), extreme);
    if (found == std::end(limit.pixel)) continue;
    limit.part[0] = limit.part[found - limit.pixel + 1];
    std::fill(std::begin(limit.pixel), std::end(limit.pixel), std::numeric_limits<T>::quiet_NaN());
  }
}

/// `passes`: those that what is left of the expectations decides at least, but not all.
template <class T>
void gives_the_same_bits(ts::Pixels kind, const Spoil<T>& spoil, int passes = 0) {
  const auto image = ts::make_image<T>(kind, 290, 311, 5);
  ts::EmulatedClip<T> clip(image.ny, image.nx, few_teams);
  const auto want = clip.run(image, ts::request_of({}));
  ASSERT_EQ(want.decided, 1);
  const auto& got = clip.run(image, ts::request_of({}), spoil);
  EXPECT_EQ(got.decided, 1);
  EXPECT_TRUE(ts::same_bits(got.result, want.result));
  EXPECT_EQ(got.level, want.level);
  EXPECT_EQ(got.candidates_hold, want.candidates_hold);
  const auto spoilt = replay_expected(clip, image.ny * image.nx, {});
  EXPECT_EQ(spoilt.decided, 0) << "it was not spoilt";
  EXPECT_GE(spoilt.result.passes, passes);
}

TEST(ExpectedClip, MayBeMissing) {
  gives_the_same_bits<float>(ts::Pixels::contaminated, [](auto& expected) {
    expected.usable = 0;
    for (int side = 0; side < 2; ++side) forget_limit(expected, side, expected.limits);
  });
}
TEST(ExpectedClip, MayMissTheFirstPass) {
  gives_the_same_bits<double>(ts::Pixels::contaminated,
                              [](auto& expected) { forget_limit(expected, 0, expected.limits); });
}
TEST(ExpectedClip, MayMissALaterLimit) {
  for (int side = 0; side < 2; ++side) {
    gives_the_same_bits<float>(ts::Pixels::contaminated,
                               [&](auto& expected) { forget_limit(expected, side, 1); });
  }
}
TEST(ExpectedClip, MayMissAMedian) {
  gives_the_same_bits<float>(ts::Pixels::gaussian, [](auto& expected) {
    for (int i = 0; i < expected.ranks; ++i) expected.bounds.past[i] = expected.bounds.first[i];
  });
}
TEST(ExpectedClip, MayMissTheExtremes) {
  const auto image = ts::make_image<float>(ts::Pixels::gaussian, 290, 311, 5);
  ts::EmulatedClip<float> clip(image.ny, image.nx, few_teams);
  static_cast<void>(clip.run(image, ts::request_of({})));
  kd::ExpectedClip<float> expected = *clip.parts().expected;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const kd::Interval<float> interval{-infinity, expected.bounds.inner[1][0]};
  const kd::ExpectedTails<float> tails(expected);
  float extremes[2];
  EXPECT_TRUE(tails.find_outermost(interval, extremes));
  expected.limit[1][0].has_last = 0;
  EXPECT_FALSE(tails.find_outermost(interval, extremes));
}

/// Another replay then has to go on in the middle: after a pass whose extremes nobody needs.
template <class T>
void may_miss_the_last_extremes(ts::Pixels kind) {
  using Exec = ts::FirstExec;
  const auto image = ts::to_device<Exec>(ts::make_image<T>(kind, 290, 311, 5));
  const kastor::Statistics clipped = kastor::sigma_clip(Exec{}, image).clipped;
  for (int side = 0; side < 2; ++side) {
    const T extreme = static_cast<T>(side == 0 ? clipped.min : clipped.max);
    gives_the_same_bits<T>(
        kind, [&](auto& expected) { forget_extreme(expected, side, extreme); }, 2);
  }
}
TEST(ExpectedClip, MayMissTheLastExtremes) {
  may_miss_the_last_extremes<float>(ts::Pixels::contaminated);
  may_miss_the_last_extremes<double>(ts::Pixels::gaussian);
}
TEST(ExpectedClip, MayMissTheFirstExtremes) {
  for (int side = 0; side < 2; ++side) {
    gives_the_same_bits<float>(ts::Pixels::contaminated, [&](auto& expected) {
      expected.limit[side][expected.limits].has_last = 0;
    });
  }
}

// ---------------------------------------------------------------------------------- they are right

/// The finite pixels of a tail within a limit.
template <class T>
struct NaivePart {
  std::int64_t count = 0;
  double sum = 0, squares = 0;
  T outermost = 0;

  NaivePart(const ts::HostImage<T>& image, const kd::Brackets<T>& brackets, int side, T limit) {
    const double unit = std::ldexp(1.0, brackets.grid.exponent);
    const T edge = side == 0 ? brackets.low_edge : brackets.high_edge;
    outermost = brackets.centre;
    for (const T x : image.values) {
      const bool is_beyond = side == 0 ? x <= edge : x >= edge;
      const bool is_inside = side == 0 ? x > limit : x < limit;
      if (!std::isfinite(x) || !is_beyond || !is_inside) continue;
      const double d = std::abs(static_cast<double>(x) - static_cast<double>(brackets.centre));
      ++count;
      sum += d / unit;
      squares += d / unit * (d / unit);
      outermost = side == 0 ? std::min(outermost, x) : std::max(outermost, x);
    }
  }
};

/// \return how many limits were looked at, and of how many the outermost pixel is not known.
struct LookedAt {
  int all = 0, without_extreme = 0;
};
template <class T>
LookedAt limits_are_answered(const ts::HostImage<T>& image, const ts::EmulatedClip<T>& clip) {
  kd::ExpectedClip<T> expected = *clip.parts().expected;
  const kd::Brackets<T>& brackets = *clip.parts().prediction.brackets;
  const kd::ExpectedTails<T> tails(expected);
  constexpr T infinity = std::numeric_limits<T>::infinity();
  LookedAt looked_at;
  for (int side = 0; side < 2; ++side) {
    const T edge = side == 0 ? brackets.low_edge : brackets.high_edge;
    for (int i = 0; i <= expected.limits; ++i) {
      const T inner = expected.bounds.inner[side][i];
      const T outer = expected.bounds.outer[side][i];
      if (inner == brackets.centre) continue;
      EXPECT_FALSE(kd::is_within(side, inner, edge) || kd::is_within(side, outer, inner));
      EXPECT_TRUE(i == expected.limits || (std::isfinite(inner) && std::isfinite(outer)));
      std::vector<T> limits{inner, outer};
      for (const T x : expected.limit[side][i].pixel) {
        if (std::isnan(x)) break;
        for (const T limit : {std::nextafter(x, -infinity), x, std::nextafter(x, infinity)})
          if (!kd::is_within(side, limit, inner) && !kd::is_within(side, outer, limit))
            limits.push_back(limit);
      }
      for (const T limit : limits) {
        const auto where = "side " + std::to_string(side) + ", limit " + std::to_string(limit);
        const kd::Interval<T> interval =
            side == 0 ? kd::Interval<T>{limit, infinity} : kd::Interval<T>{-infinity, limit};
        const NaivePart<T> want(image, brackets, side, limit);
        kd::TailPart parts[2];
        EXPECT_TRUE(tails.within(interval, parts)) << where;
        EXPECT_EQ(parts[side].count, want.count) << where;
        EXPECT_NEAR(parts[side].sum, want.sum, 1e-11 * want.sum) << where;
        EXPECT_NEAR(parts[side].squares, want.squares, 1e-11 * want.squares) << where;
        T extremes[2] = {brackets.centre, brackets.centre};
        if (want.count > 0) {
          const bool is_known = tails.find_outermost(interval, extremes);
          if (is_known) {
            EXPECT_EQ(extremes[side], want.outermost) << where;
          }
          looked_at.without_extreme += is_known ? 0 : 1;
        }
        ++looked_at.all;
      }
    }
  }
  return looked_at;
}

/// \return how many ranks were looked at.
template <class T>
int ranks_are_answered(const ts::HostImage<T>& image, const ts::EmulatedClip<T>& clip) {
  kd::ExpectedClip<T> expected = *clip.parts().expected;
  const kd::Brackets<T>& brackets = *clip.parts().prediction.brackets;
  std::vector<T> window;
  std::copy_if(image.values.begin(), image.values.end(), std::back_inserter(window),
               [&](T x) { return brackets.in_window(x); });
  std::sort(window.begin(), window.end());
  const kd::ExpectedWindow<T> answers(expected);
  EXPECT_EQ(answers.pixels(), static_cast<std::int64_t>(window.size()));
  int looked_at = 0;
  const auto n = static_cast<std::int64_t>(window.size());
  for (std::int64_t rank = 0; rank < n; ++rank) {
    T first, second;
    if (answers.find(rank, rank, first, second)) {
      EXPECT_EQ(first, window[static_cast<std::size_t>(rank)]) << rank;
      EXPECT_EQ(second, first) << rank;
      ++looked_at;
    }
    if (rank + 1 < n && answers.find(rank, rank + 1, first, second)) {
      EXPECT_EQ(first, window[static_cast<std::size_t>(rank)]) << rank;
      EXPECT_EQ(second, window[static_cast<std::size_t>(rank + 1)]) << rank;
    }
  }
  return looked_at;
}

template <class T>
void answers_are_right(const ts::HostImage<T>& image, int least_limits = 20,
                       const ts::Division& division = few_teams) {
  ts::EmulatedClip<T> clip(image.ny, image.nx, division);
  static_cast<void>(clip.run(image, ts::request_of({})));
  ASSERT_EQ(clip.parts().expected->usable, 1);
  const LookedAt looked_at = limits_are_answered(image, clip);
  EXPECT_GE(looked_at.all, least_limits);
  EXPECT_LE(looked_at.without_extreme, looked_at.all / 4);
  EXPECT_GT(ranks_are_answered(image, clip), 20);
  EXPECT_TRUE(clip.memory_is_whole());
}

TEST(ExpectedClip, AnswersAreRight) {
  answers_are_right(ts::make_image<float>(ts::Pixels::contaminated, 290, 311, 6));
  answers_are_right(ts::make_image<double>(ts::Pixels::gaussian, 290, 311, 6));
}
TEST(ExpectedClip, AnswersAreRightFarOut) {
  answers_are_right(ts::make_image<double>(ts::Pixels::cauchy, 290, 311, 6));
  answers_are_right(ts::make_image<float>(ts::Pixels::exponential, 290, 311, 6));
  // Beyond floats' squares nothing is expected but what is asked first.
  answers_are_right(ts::make_image<float>(ts::Pixels::wild, 290, 311, 6), 4);
}
TEST(ExpectedClip, AnswersAreRightInSharedGroupsOfSeveralBands) {
  answers_are_right(ts::make_image<float>(ts::Pixels::exponential, 290, 311, 6), 20,
                    {41, 512, 64, 3});
}
/// Pixels of few different values leave too many near some limit, or none.
TEST(ExpectedClip, AnswersAreRightAmongEqualPixels) {
  auto image = ts::make_image<float>(ts::Pixels::gaussian, 290, 311, 6);
  for (float& pixel : image.values)
    pixel = std::abs(pixel) > 2 ? std::round(pixel * 50) / 50 : pixel;
  answers_are_right(image, 10);
}
/// Where bins have more pixels than there is room for, those about the ranks are chosen.
TEST(ExpectedClip, AnswersAreRightWhereBinsAreFull) {
  auto image = ts::make_image<double>(ts::Pixels::gaussian, 290, 311, 6);
  ts::Random random(12);
  for (double& pixel : image.values)
    if (random.below(4) == 0) pixel = 1e-4 * (random.uniform() - 0.5);
  answers_are_right(image);
}

// ------------------------------------------------------------------------- at the ends of numbers

/// Noise about a level, and a few pixels of other values.
template <class T>
[[nodiscard]] ts::HostImage<T> noise_and(double level, double sigma, std::vector<double> others) {
  ts::HostImage<T> image(160, 170);
  ts::Random random(13);
  for (T& pixel : image.values) pixel = static_cast<T>(level + sigma * random.gaussian());
  for (std::size_t i = 0; i < others.size(); ++i)
    image.values[1000 + 700 * i] = static_cast<T>(others[i]);
  return image;
}

template <class T>
void is_as_without(const ts::HostImage<T>& image, const kastor::SigmaClipParams& params = {}) {
  ts::EmulatedClip<T> clip(image.ny, image.nx, few_teams);
  const auto want =
      clip.run(image, ts::request_of(params), [](auto& expected) { expected.usable = 0; });
  // Of another image nothing must be left.
  static_cast<void>(clip.run(noise_and<T>(0, 1, {100, 1000, -30}), ts::request_of({})));
  const auto& got = clip.run(image, ts::request_of(params));
  EXPECT_EQ(got.decided, want.decided);
  EXPECT_TRUE(ts::same_bits(got.result, want.result));
  if (clip.parts().expected->usable != 0) static_cast<void>(limits_are_answered(image, clip));
}

TEST(ExpectedClip, IsNoWorseWithOutliersFarBeyondAFloat) {
  is_as_without(noise_and<double>(0, 1, {1e50}));
  is_as_without(noise_and<double>(0, 1, {std::ldexp(1.5, 293)}));
  is_as_without(noise_and<double>(0, 1e250, {1.7e308}));
  is_as_without(noise_and<float>(0, 1e-6, {std::numeric_limits<float>::max()}));
}
TEST(ExpectedClip, IsNoWorseWithLimitsBeyondAllNumbers) {
  const std::vector<double> bright(29, 3.39e38);
  is_as_without(noise_and<float>(2.9e38, 1e37, bright), {6.0, 0});
}

}  // namespace
