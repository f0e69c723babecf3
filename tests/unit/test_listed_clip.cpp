// SPDX-License-Identifier: Apache-2.0

// What a host's clip asks of the pixels that it gathered: the tails octave by octave, ranks of the
// window.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <kastor/detail/listed_tails.hpp>
#include <kastor/detail/listed_window.hpp>
#include <kastor/detail/sift_host.hpp>
#include <kastor/detail/sift_tails.hpp>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "generators.hpp"
#include "host_levels.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

template <class T>
constexpr T nan_of = std::numeric_limits<T>::quiet_NaN();

template <class T>
kd::Brackets<T> brackets_between(double low_edge, double centre, double high_edge) {
  kd::Brackets<T> brackets{};
  brackets.low_edge = static_cast<T>(low_edge);
  brackets.high_edge = static_cast<T>(high_edge);
  brackets.centre = static_cast<T>(centre);
  brackets.grid = kd::Grid(static_cast<double>(brackets.centre), low_edge, high_edge);
  return brackets;
}
template <class T>
kd::GatheredBins<T> bins_between(double low_edge, double centre, double high_edge) {
  return kd::GatheredBins<T>(brackets_between<T>(low_edge, centre, high_edge));
}

/// Beyond the edges, some far, some at the borders of octaves, where rounding matters.
template <class T>
std::vector<T> some_tails(const kd::GatheredBins<T>& bins, double low_edge, double high_edge,
                          std::size_t n, int most_octaves) {
  ts::Random random(n);
  std::vector<T> tails;
  while (tails.size() < n) {
    const double octave =
        random.uniform() < 0.7 ? random.uniform() * 2 : random.uniform() * most_octaves;
    const int whole = static_cast<int>(octave);
    const double nearest = std::ldexp(1.0, bins.exponent_of(whole));
    const double u = random.uniform() < 0.1 ? static_cast<double>(random.below(3)) * 1e-8 - 1e-8
                                            : octave - whole;
    const double distance = nearest * (1 + u);
    const auto x = static_cast<T>(bins.centre + (random.below(2) == 0 ? distance : -distance));
    if (std::isfinite(x) && (x <= static_cast<T>(low_edge) || x >= static_cast<T>(high_edge)))
      tails.push_back(x);
  }
  return tails;
}

template <class T>
class ListedClip : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
struct RealName {
  template <class T>
  static std::string GetName(int) {
    return sizeof(T) == 4 ? "float" : "double";
  }
};
TYPED_TEST_SUITE(ListedClip, Reals, RealName);

TYPED_TEST(ListedClip, BoundsAreTheFirstPixelsOfAnOctave) {
  using T = TypeParam;
  for (const auto& [low, centre, high] : {std::array{-0.037, 6.3e-7, 0.03705},
                                          {-3.0, 1e-3, 2.5},
                                          {99990.0, 1e5, 100013.0},
                                          {-1.5, -1.0, 0.25},
                                          {-1e-30, 0.0, 2e-30},
                                          {-3e37, 1e36, 2.5e37}}) {
    const auto bins = bins_between<T>(low, centre, high);
    const auto low_edge = static_cast<T>(low), high_edge = static_cast<T>(high);
    const kd::TailBounds<T> bounds = kd::tail_bounds(bins, low_edge, high_edge);
    EXPECT_EQ(bounds.first_octave[0], bins.octave_of(low_edge));
    EXPECT_EQ(bounds.first_octave[1], bins.octave_of(high_edge));
    for (int i = 0; i < 2; ++i) {
      const int below = bounds.first_octave[0] + i, above = bounds.first_octave[1] + i;
      EXPECT_GT(bins.octave_of(bounds.high[i]), above);
      EXPECT_LE(bins.octave_of(kd::next_below(bounds.high[i])), above);
      EXPECT_GT(bins.octave_of(bounds.low[i]), below);
      EXPECT_LE(bins.octave_of(kd::next_above(bounds.low[i])), below);
    }
    EXPECT_LE(bounds.low[1], bounds.low[0]);
    EXPECT_LT(bounds.low[0], bounds.centre);
    EXPECT_LT(bounds.centre, bounds.high[0]);
    EXPECT_LE(bounds.high[0], bounds.high[1]);
  }
}

TYPED_TEST(ListedClip, SiftsEveryPixelIntoItsListAtEveryLevel) {
  using T = TypeParam;
  for (const auto& [low, high] : {std::array{-2.9, 3.3}, {-0.1, 3.3}, {-40.0, 0.3}}) {
    const auto bins = bins_between<T>(low, 0.125, high);
    const kd::TailBounds<T> bounds =
        kd::tail_bounds(bins, static_cast<T>(low), static_cast<T>(high));
    const auto list_of = [&](T x) {
      const int side = x < bounds.centre ? 0 : 1;
      const int octave = bins.octave_of(x) - bounds.first_octave[side];
      EXPECT_GE(octave, 0);
      return octave > 1 ? kd::SiftedTails<T>::near : 2 * side + octave;
    };
    for (const std::size_t n : {64UL, 128UL, 1024UL}) {
      for (const std::size_t blanks : {0UL, 1UL, 17UL, n}) {
        std::vector<T> pixels = some_tails(bins, low, high, n, 12);
        std::fill(pixels.end() - static_cast<std::ptrdiff_t>(blanks), pixels.end(), nan_of<T>);
        pixels[0] = pixels[0] == pixels[0] ? bounds.low[0] : pixels[0];
        std::vector<T> expected[kd::SiftedTails<T>::lists];
        for (const T x : pixels)
          if (x == x) expected[list_of(x)].push_back(x);
        for (const auto level : ts::host_levels()) {
          kd::SiftedTails<T> sifted;
          kd::sift_on_host(level, bounds, pixels.data(), static_cast<std::int64_t>(n), sifted);
          for (int i = 0; i < kd::SiftedTails<T>::lists; ++i)
            EXPECT_EQ(expected[i], std::vector<T>(sifted.list[i], sifted.list[i] + sifted.n[i]))
                << "list " << i << " of " << n;
        }
      }
    }
  }
}

template <class C>
class ListedClipOn : public ::testing::Test {};
TYPED_TEST_SUITE(ListedClipOn, ts::ExecsAndReals, ts::CaseName);

/// A tail within an interval by the definition: octave by octave, integers.
template <class T>
kd::TailPart part_naive(const kd::GatheredBins<T>& bins, const std::vector<T>& tails, int side,
                        const kd::Interval<T>& interval) {
  kd::TailPart part{0, 0, 0};
  int octaves = 0;
  for (const T x : tails) octaves = std::max(octaves, bins.octave_of(x) + 1);
  for (int octave = 0; octave < octaves; ++octave) {
    const kd::TailTerm<T> term(bins.centre, bins.exponent_of(octave));
    kd::TailSums sums;
    for (const T x : tails) {
      if ((static_cast<double>(x) < bins.centre ? 0 : 1) != side || bins.octave_of(x) != octave ||
          !interval.contains(x))
        continue;
      kd::FewTailSums one;
      term.add(x, true, one);
      one.move_to(sums);
    }
    part.count += sums.count;
    part.sum += bins.in_grid_units(sums.sum, octave, false);
    part.squares += bins.in_grid_units(sums.squares, octave, true);
  }
  return part;
}

/// Tails in the lists of their octaves, and what a clip keeps of them.
template <class Exec, class T>
struct Sifted {
  static constexpr T canary = -77;

  Exec space;
  kd::GatheredBins<T> bins;
  std::vector<T> sorted;  ///< one more
  kd::OctaveLists<T> lists;
  struct Near {
    kd::NearLimit<T> side[2];
  };
  std::unique_ptr<Near> near = std::make_unique<Near>();

  Sifted(const kd::Brackets<T>& brackets, std::vector<T> tails) : bins(brackets) {
    const auto n = static_cast<std::int64_t>(tails.size());
    tails.resize(static_cast<std::size_t>(kd::whole_blocks(n)), nan_of<T>);
    std::vector<std::int64_t> counts(
        static_cast<std::size_t>(space.concurrency() * kd::OctaveLists<T>::count));
    sorted.resize(static_cast<std::size_t>(kd::OctaveLists<T>::most_size(n)) + 1, canary);
    lists.pixels = sorted.data();
    kd::sift_tails(space, brackets, tails.data(), n, counts.data(), lists);
  }
  [[nodiscard]] kd::ListedTails<Exec, T> begin_clip() const {
    return {space, bins, lists, near->side};
  }
};

template <class Exec, class T>
void tails_are_added_up(double low_edge, double centre, double high_edge, std::size_t n,
                        int most_octaves) {
  const auto brackets = brackets_between<T>(low_edge, centre, high_edge);
  const kd::GatheredBins<T> bins(brackets);
  std::vector<T> tails = some_tails(bins, low_edge, high_edge, n, most_octaves);
  const Sifted<Exec, T> sifted(brackets, tails);
  EXPECT_LE(sifted.lists.size(), kd::OctaveLists<T>::most_size(static_cast<std::int64_t>(n)));
  EXPECT_EQ(sifted.sorted.back(), (Sifted<Exec, T>::canary));
  const kd::ListedTails<Exec, T> listed = sifted.begin_clip();
  EXPECT_TRUE(listed.hold_all());

  std::sort(tails.begin(), tails.end());
  std::vector<kd::Interval<T>> intervals{{}};
  for (const double share : {0.0, 0.01, 0.1, 0.3, 0.45}) {
    const auto at = static_cast<std::size_t>(share * static_cast<double>(n));
    const kd::Interval<T> at_pixels{tails[at], tails[n - 1 - at]};
    intervals.push_back(at_pixels);
    intervals.push_back({kd::next_below(at_pixels.low), kd::next_above(at_pixels.high)});
    intervals.push_back({at_pixels.low, kd::Interval<T>{}.high});
  }
  intervals.push_back({static_cast<T>(low_edge), static_cast<T>(high_edge)});
  for (const auto& interval : intervals) {
    if (interval.low > static_cast<T>(low_edge) || interval.high < static_cast<T>(high_edge))
      continue;
    kd::TailPart parts[2];
    listed.within(interval, parts);
    T extreme[2] = {T{-1}, T{-1}};
    listed.find_outermost(interval, extreme);
    T expected[2] = {T{-1}, T{-1}};
    for (auto x = tails.rbegin(); x != tails.rend(); ++x)
      if (interval.contains(*x) && static_cast<double>(*x) < bins.centre) expected[0] = *x;
    for (const T x : tails)
      if (interval.contains(x) && static_cast<double>(x) >= bins.centre) expected[1] = x;
    for (int side = 0; side < 2; ++side) {
      const kd::TailPart naive = part_naive(bins, tails, side, interval);
      EXPECT_EQ(parts[side].count, naive.count);
      EXPECT_EQ(parts[side].sum, naive.sum);
      EXPECT_EQ(parts[side].squares, naive.squares);
      EXPECT_EQ(extreme[side], expected[side]);
    }
  }
}

TYPED_TEST(ListedClipOn, AddsUpTheTailsOctaveByOctave) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  if constexpr (kastor::is_host_space_v<Exec>) {
    for (const std::size_t n : {1UL, 64UL, 1000UL, 5000UL})
      tails_are_added_up<Exec, T>(-0.037, 6.3e-7, 0.03705, n, 12);
    tails_are_added_up<Exec, T>(99990.0, 1e5, 100013.0, 3000, 9);
    tails_are_added_up<Exec, T>(-0.01, 0.0, 7.0, 3000, 15);
    tails_are_added_up<Exec, T>(-3.0, 1e-3, 2.5, 1500000, 2);  // several threads
    if constexpr (sizeof(T) == 8) {
      tails_are_added_up<Exec, T>(-1e-280, 1e-281, 2e-280, 3000, 200);
      tails_are_added_up<Exec, T>(-1e280, 1e279, 2e280, 3000, 90);  // to 2^1023
    }
  }
}

/// Tails of one octave each, and the limits that a clip asks for, one after the other.
template <class Exec, class T>
struct ManyLimits {
  static constexpr double low_edge = -1.25, high_edge = 1.25;

  std::vector<T> tails;
  Sifted<Exec, T> sifted;

  /// `distance(u)`: of a pixel from the centre, for u from 0 to 1.
  template <class Distance>
  ManyLimits(std::size_t n, const Distance& distance)
      : tails(some(n, distance)), sifted(brackets_between<T>(low_edge, 0.0, high_edge), tails) {}

  template <class Distance>
  [[nodiscard]] static std::vector<T> some(std::size_t n, const Distance& distance) {
    ts::Random random(n);
    std::vector<T> list;
    for (std::size_t i = 0; i < n; ++i)
      list.push_back(static_cast<T>((i % 2 == 0 ? -1 : 1) * distance(random.uniform())));
    return list;
  }

  void match_naive(const std::vector<double>& limits) const {
    const kd::ListedTails<Exec, T> listed = sifted.begin_clip();
    for (const double limit : limits) {
      const kd::Interval<T> interval{static_cast<T>(-limit * 1.01), static_cast<T>(limit)};
      kd::TailPart parts[2];
      EXPECT_TRUE(listed.within(interval, parts));
      for (int side = 0; side < 2; ++side) {
        const kd::TailPart naive = part_naive(sifted.bins, tails, side, interval);
        EXPECT_EQ(parts[side].count, naive.count) << limit << " of side " << side;
        EXPECT_EQ(parts[side].sum, naive.sum) << limit << " of side " << side;
        EXPECT_EQ(parts[side].squares, naive.squares) << limit << " of side " << side;
      }
    }
  }
  /// How many pixels are looked at for a limit of the upper tail.
  [[nodiscard]] std::int64_t looked_at(double limit) const {
    const int octave = sifted.bins.octave_of(static_cast<T>(limit));
    return sifted.near->side[1].pixels_for(octave, static_cast<T>(limit), {nullptr, -1, {}}).n;
  }
};

template <class Exec, class T>
void only_pixels_near_the_limit_are_looked_at() {
  const ManyLimits<Exec, T> tails(300000, [](double u) { return 1.26 + 0.7 * u; });
  tails.match_naive({1.9, 1.8, 1.78, 1.776, 1.7752, 1.77504, 1.775});
  const std::int64_t few = tails.looked_at(1.775);
  EXPECT_GE(few, 0) << "all are looked at";
  EXPECT_LE(few, 4096);
  tails.match_naive({1.9, 1.8, 1.78, 1.776, 1.7752});
  const std::int64_t more = tails.looked_at(1.7752);
  EXPECT_GT(more, 0);
  EXPECT_EQ(tails.looked_at(1.7), -1) << "nearer to the centre than what is kept";
  EXPECT_EQ(tails.looked_at(1.7752), -1) << "and then nothing is kept";
}

/// Limits that jump, stand still, and pass a crowd of pixels that nothing announced.
template <class Exec, class T>
void limits_may_lie_anywhere() {
  const ManyLimits<Exec, T> tails(300000, [](double u) { return 1.26 + 0.7 * u; });
  tails.match_naive({1.9, 1.8, 1.78, 1.776, 1.9, 1.776, 1.7752, 1.3, 1.25, 1.96, 2.5});
  tails.match_naive({1.8, 1.8, 1.8, 1.79, 1.79, 1.788, 1.788, 1.7879, 1.5});
  tails.match_naive({1.9, 1.8, 1.78, 1.776, 1.7716, 1.76, 1.775});
  const ManyLimits<Exec, T> crowd(
      300000, [](double u) { return u < 0.9 ? 1.5 + 1e-4 * u : 1.26 + 0.7 * u; });
  crowd.match_naive({1.9, 1.7, 1.52, 1.51, 1.502, 1.50005, 1.50004, 1.500039, 1.4});
  const ManyLimits<Exec, T> same(100000, [](double u) { return u < 0.99 ? 1.5 : 1.9; });
  same.match_naive({1.95, 1.6, 1.51, 1.501, 1.5, 1.4999});
}

/// Kept pixels of which fewer are kept, with a crowd nearer to the centre than any of them.
template <class Exec, class T>
void fewer_are_kept_of_few() {
  const ManyLimits<Exec, T> tails(300000, [](double u) {
    if (u < 0.7) return 1.26 + 0.2 * u;
    if (u < 0.85) return 1.5 + (u - 0.7) / 1.5;
    return u < 0.98 ? 1.6 + (u - 0.85) / 1.3 : 1.7 + (u - 0.98) * 12.5;
  });
  tails.match_naive({1.9, 1.8, 1.7, 1.625, 1.61, 1.605, 1.56, 1.5});
  tails.match_naive({1.9, 1.8, 1.7, 1.625, 1.56});
  const ManyLimits<Exec, T> even(2000000, [](double u) { return 1.26 + 0.7 * u; });
  even.match_naive({1.9, 1.8, 1.79, 1.788, 1.7877, 1.78763, 1.78761, 1.7876});
}

/// Too many pixels for the room, which one would not expect: no more attempts until limits move a
/// quarter as much.
template <class T>
void attempts_end_when_they_fail() {
  const auto near = std::make_unique<kd::NearLimit<T>>();
  near->begin(1);
  const typename kd::NearLimit<T>::Pixels all{nullptr, 1000000, {}};
  typename kd::NearLimit<T>::Choice choice;
  (void)near->pixels_for(3, T{8}, all);
  near->note(T{8}, 900000);
  near->note(T{7}, 899000);
  EXPECT_TRUE(near->narrows(T{6.5}, all, choice));
  near->give_up(T{6.5});
  EXPECT_FALSE(near->narrows(T{6.5}, all, choice));
  EXPECT_FALSE(near->narrows(T{6.875}, all, choice));
  EXPECT_TRUE(near->narrows(T{6.9375}, all, choice));
  (void)near->pixels_for(2, T{6.5}, all);  // another octave
  near->note(T{6}, 900000);
  near->note(T{5.5}, 899000);
  EXPECT_TRUE(near->narrows(T{5.25}, all, choice));
}

TEST(NearLimit, GivesUpWhereMorePixelsLieThanExpected) {
  attempts_end_when_they_fail<float>();
  attempts_end_when_they_fail<double>();
}

TYPED_TEST(ListedClipOn, KeepsFewerOfTheKeptPixels) {
  using Exec = typename TypeParam::exec;
  if constexpr (kastor::is_host_space_v<Exec>)
    fewer_are_kept_of_few<Exec, typename TypeParam::real>();
}
TYPED_TEST(ListedClipOn, LooksAtFewPixelsOnceLimitsHardlyMove) {
  using Exec = typename TypeParam::exec;
  if constexpr (kastor::is_host_space_v<Exec>)
    only_pixels_near_the_limit_are_looked_at<Exec, typename TypeParam::real>();
}
TYPED_TEST(ListedClipOn, AddsUpTheTailsWhateverLimitsComeNext) {
  using Exec = typename TypeParam::exec;
  if constexpr (kastor::is_host_space_v<Exec>)
    limits_may_lie_anywhere<Exec, typename TypeParam::real>();
}

TYPED_TEST(ListedClipOn, KnowsPixelsThatNoOctaveHolds) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  if constexpr (kastor::is_host_space_v<Exec> && sizeof(T) == 8) {
    const auto brackets = brackets_between<T>(-1.0, 0.1, 1.0);
    for (const double far : {-1e200, 1e200})
      EXPECT_FALSE((Sifted<Exec, T>(brackets, {1.5, far}).begin_clip().hold_all()));
  }
}

template <class T>
using Draw = std::function<double(ts::Random&)>;

template <class Exec, class T>
void ranks_are_found(const std::string& name, std::size_t n, const Draw<T>& draw) {
  const Exec space;
  ts::Random random(n + name.size());
  std::vector<T> pixels(n);
  for (T& x : pixels) x = static_cast<T>(draw(random));
  std::vector<T> sorted = pixels;
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<std::int64_t>(n);
  pixels.resize(static_cast<std::size_t>(kd::whole_blocks(count)), nan_of<T>);
  std::vector<T> room(n + 65, T{-77});
  kd::SmallList<T> few;
  kd::ListedWindow<Exec, T> window(space, pixels.data(), count, sorted.front(), sorted.back(),
                                   room.data(), few);
  EXPECT_EQ(window.pixels(), count);
  std::vector<std::int64_t> ranks{0, count - 1, count / 2, (count - 1) / 2};
  for (int i = 0; i < 30; ++i) {  // as medians do: ever nearer, and anywhere
    ranks.push_back(count / 2 - (count >> (2 + i)));
    ranks.push_back(random.below(count));
  }
  for (const std::int64_t rank : ranks) {
    const T x = sorted[static_cast<std::size_t>(rank)];
    ASSERT_EQ(window(rank), x) << name << ", rank " << rank << " of " << n;
    EXPECT_EQ(window.below(x), std::lower_bound(sorted.begin(), sorted.end(), x) - sorted.begin())
        << name;
  }
  EXPECT_EQ(room.back(), T{-77});
}

TYPED_TEST(ListedClipOn, FindsEveryRankOfTheWindow) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  if constexpr (kastor::is_host_space_v<Exec>) {
    const double huge = static_cast<double>(std::numeric_limits<T>::max());
    const double tiny = static_cast<double>(std::numeric_limits<T>::denorm_min());
    const std::vector<std::pair<std::string, Draw<T>>> draws{
        {"even", [](ts::Random& r) { return r.uniform(); }},
        {"Gaussian", [](ts::Random& r) { return r.gaussian(); }},
        {"one value", [](ts::Random&) { return 3.5; }},
        {"two values", [](ts::Random& r) { return r.below(2) == 0 ? -1.0 : 4.0; }},
        {"signed zeros", [](ts::Random& r) { return r.below(2) == 0 ? -0.0 : 0.0; }},
        {"few values", [](ts::Random& r) { return std::floor(5 * r.gaussian()); }},
        {"mostly one", [](ts::Random& r) { return r.below(50) == 0 ? r.uniform() : 0.25; }},
        {"steep", [](ts::Random& r) { return std::exp(15 * r.gaussian()); }},
        {"lowest and highest", [=](ts::Random& r) { return r.below(2) == 0 ? -huge : huge; }},
        {"over all numbers", [=](ts::Random& r) { return (2 * r.uniform() - 1) * huge; }},
        {"denormal", [=](ts::Random& r) { return std::floor(1000 * r.uniform()) * tiny; }},
    };
    for (const auto& [name, draw] : draws) {
      for (const std::size_t n : {1UL, 2UL, 63UL, 64UL, 1000UL, 5000UL, 70000UL})
        ranks_are_found<Exec, T>(name, n, draw);
    }
    ranks_are_found<Exec, T>("even, of many", 1100001, draws[0].second);
    ranks_are_found<Exec, T>("few values, of many", 1100000, draws[5].second);
  }
}

}  // namespace
