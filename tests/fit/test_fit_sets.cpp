// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "fit/fit_sets.hpp"
#include "generators.hpp"

namespace {

namespace kd = kastor::detail;
namespace ts = testing_support;

kd::FitRules rules_with_beam(double fwhm) {
  kastor::FitParams params;
  if (fwhm > 0) params.beam = kastor::PixelEllipse{fwhm, fwhm, 0};
  return kd::FitRules(params);
}

kd::FitPart part_with(const kastor::PixelEllipse& ellipse, double peak, double x, double y) {
  return kd::part_at(kastor::gaussian_of(ellipse), x, y, peak, 1);
}

/// Whether a point lies in the ellipse of this radius, of the part or of the beam.
bool contains(const kd::FitPart& part, const kd::FitRules& rules, double radius, double x,
              double y) {
  const auto is_within = [&](const kastor::Gaussian& g) {
    const double squared = g.s(x, y) * g.s(x, y) + g.z(y) * g.z(y);
    return squared <= radius * radius * kd::fwhm_squared_of_sigma;
  };
  return is_within(part.now) ||
         (rules.has_beam && is_within(kd::placed(rules.beam, 1, part.now.x, part.now.y)));
}

bool really_overlap(const kd::FitPart& a, const kd::FitPart& b, const kd::FitRules& rules,
                    double radius) {
  for (double y = -20; y <= 20; y += 0.25) {
    for (double x = -20; x <= 20; x += 0.25) {
      if (contains(a, rules, radius, x, y) && contains(b, rules, radius, x, y)) return true;
    }
  }
  return false;
}

TEST(FitSets, NoOverlapIsMissed) {
  ts::Random random(5);
  int overlaps = 0;
  int too_many = 0;
  for (int k = 0; k < 400; ++k) {
    const auto rules = rules_with_beam(k % 2 == 0 ? 0 : 3);
    const auto any = [&]() {
      const double major = 2 + 8 * random.uniform();
      return part_with(
          {major, major * (0.3 + 0.7 * random.uniform()), std::numbers::pi * random.uniform()}, 5,
          12 * random.uniform() - 6, 12 * random.uniform() - 6);
    };
    const kd::FitPart a = any();
    const kd::FitPart b = any();
    const bool says = kd::may_overlap(a, 0.8, b, 0.8, rules);
    EXPECT_EQ(says, kd::may_overlap(b, 0.8, a, 0.8, rules));
    const bool is = really_overlap(a, b, rules, 0.8);
    if (is) {
      EXPECT_TRUE(says);
    }
    overlaps += is ? 1 : 0;
    too_many += says && !is ? 1 : 0;
  }
  EXPECT_GT(overlaps, 50);
  EXPECT_LT(overlaps, 350);
  EXPECT_LT(too_many, 40);
}

/// Random places, and the sets that they fall into by going from neighbour to neighbour.
std::vector<int> sets_naive(const kd::IslandFit& fit, double radius, const kd::FitRules& rules) {
  const auto n = fit.parts.size();
  std::vector<int> set(n);
  for (std::size_t i = 0; i < n; ++i) set[i] = static_cast<int>(i);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (set[j] >= set[i] || !kd::may_overlap(fit.parts[i], radius, fit.parts[j], radius, rules))
          continue;
        set[i] = set[j];
        changed = true;
      }
    }
  }
  return set;
}

kd::IslandFit random_island(int n, double width, std::uint64_t seed) {
  kd::IslandFit fit{};
  ts::Random random(seed);
  for (int i = 0; i < n; ++i)
    fit.parts.push_back(part_with({4, 3, 3 * random.uniform()}, 100.0 - i, width * random.uniform(),
                                  width * random.uniform()));
  return fit;
}

/// The set of each part; each part must be in one.
std::vector<int> set_of_parts(const kd::IslandFit& fit) {
  std::vector<int> set(fit.parts.size(), -1);
  for (std::size_t s = 0; s < fit.sets.size(); ++s) {
    EXPECT_LE(fit.sets[s].count, kd::max_fit_group);
    for (const std::int32_t i : fit.sets[s].parts()) {
      EXPECT_EQ(set[static_cast<std::size_t>(i)], -1);
      set[static_cast<std::size_t>(i)] = static_cast<int>(s);
    }
  }
  for (const int s : set) EXPECT_GE(s, 0);
  return set;
}

TEST(FitSets, AreThoseReachedFromNeighbourToNeighbour) {
  const auto rules = rules_with_beam(3);
  int split = 0;
  int whole = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    kd::IslandFit fit = random_island(40, 20 + 3.0 * static_cast<double>(seed), seed);
    kd::make_sets(fit, 0.6, rules);
    const auto got = set_of_parts(fit);
    const auto want = sets_naive(fit, 0.6, rules);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto size = std::count(want.begin(), want.end(), want[i]);
      const kd::FitSet& set = fit.sets[static_cast<std::size_t>(got[i])];
      EXPECT_EQ(set.is_split, size > kd::max_fit_group);
      EXPECT_EQ((fit.parts[i].flags & kastor::component_group_split) != 0, set.is_split);
      (set.is_split ? split : whole) += 1;
      for (std::size_t j = 0; j < got.size(); ++j) {
        if (got[i] == got[j]) {
          EXPECT_EQ(want[i], want[j]);
        }
        if (want[i] == want[j] && !set.is_split) {
          EXPECT_EQ(got[i], got[j]);
        }
      }
    }
  }
  EXPECT_GT(split, 50);
  EXPECT_GT(whole, 50);
}

TEST(FitSets, ADroppedPartIsInNoneAndAnEstimateAlone) {
  const auto rules = rules_with_beam(3);
  kd::IslandFit fit = random_island(3, 1, 3);
  fit.parts[1].is_dropped = true;
  fit.parts[2].mode = kd::FitMode::estimate;
  EXPECT_EQ(fit.count(), 2);
  kd::make_sets(fit, 0.6, rules);
  ASSERT_EQ(fit.sets.size(), 2U);
  EXPECT_EQ(fit.sets[0].count + fit.sets[1].count, 2);
  for (const kd::FitSet& set : fit.sets) EXPECT_NE(set.members[0], 1);
}

TEST(FitSets, OfAChainGoOnFromTheBrightest) {
  const auto rules = rules_with_beam(4);
  kd::IslandFit fit{};
  for (int i = 0; i < 20; ++i)
    fit.parts.push_back(part_with({4, 4, 0}, 100.0 - i, 4.0 * ((7 * i) % 20), 0));
  kd::make_sets(fit, 0.6, rules);
  EXPECT_EQ(set_of_parts(fit)[0], 0);
  EXPECT_EQ(fit.sets[0].count, 8);
  EXPECT_LE(fit.sets.size(), 5U);

  std::vector<kd::SetRef> refs;
  for (std::size_t s = 0; s < fit.sets.size(); ++s) refs.push_back({0, s});
  kd::set_levels(fit, 0.6, rules, refs);
  int highest = 0;
  for (std::size_t a = 0; a < refs.size(); ++a) {
    highest = std::max(highest, refs[a].level);
    for (std::size_t b = 0; b < a; ++b) {
      bool overlap = false;
      for (const auto i : fit.sets[a].parts()) {
        for (const auto j : fit.sets[b].parts())
          overlap = overlap || kd::may_overlap(fit.part(i), 0.6, fit.part(j), 0.6, rules);
      }
      if (overlap) {
        EXPECT_GT(refs[a].level, refs[b].level);
      }
    }
  }
  ASSERT_GT(highest, 0);
  for (const kd::SetRef& ref : refs) {
    EXPECT_EQ(ref.levels, highest + 1);
    EXPECT_TRUE(ref.is_due(ref.level));
    EXPECT_TRUE(ref.is_due(ref.level + ref.levels));
    EXPECT_FALSE(ref.is_due(ref.level + 1) && ref.levels != 1);
  }
  EXPECT_TRUE(kd::SetRef({0, 0}).is_due(0));
  EXPECT_FALSE(kd::SetRef({0, 0}).is_due(1));
}

TEST(FitSets, ANewPartJoinsThoseThatItOverlaps) {
  const auto rules = rules_with_beam(4);
  kd::IslandFit fit{};
  for (const double x : {0.0, 7.0, 30.0}) fit.parts.push_back(part_with({4, 4, 0}, 9, x, 0));
  kd::make_sets(fit, 0.6, rules);
  ASSERT_EQ(fit.sets.size(), 3U);
  fit.parts.push_back(part_with({4, 4, 0}, 5, 3.5, 0));
  const std::size_t set = kd::join_sets(fit, 3, 0.6, rules);
  EXPECT_EQ(set, 0U);
  EXPECT_EQ(fit.sets[0].count, 3);
  EXPECT_EQ(fit.sets[1].count, 0);
  EXPECT_EQ(fit.sets[2].count, 1);
  EXPECT_FALSE(fit.sets[0].is_split);
  fit.parts.push_back(part_with({4, 4, 0}, 5, 80, 0));
  EXPECT_EQ(kd::join_sets(fit, 4, 0.6, rules), 3U);
  set_of_parts(fit);
}

TEST(FitSets, ANewPartOfAFullSetIsFittedAfterIt) {
  const auto rules = rules_with_beam(4);
  kd::IslandFit fit{};
  for (int i = 0; i < 8; ++i) fit.parts.push_back(part_with({4, 4, 0}, 9.0 - i, 4.0 * i, 0));
  kd::make_sets(fit, 0.6, rules);
  ASSERT_EQ(fit.sets.size(), 1U);
  fit.parts.push_back(part_with({4, 4, 0}, 5, 3.5, 0));
  const std::size_t set = kd::join_sets(fit, 8, 0.6, rules);
  EXPECT_EQ(fit.sets[set].count, 1);
  EXPECT_TRUE(fit.sets[set].is_split);
  for (const kd::FitPart& part : fit.parts)
    EXPECT_NE(part.flags & kastor::component_group_split, 0U);
  // All neighbours whose light reaches it are subtracted.
  std::vector<kastor::Gaussian> fixed;
  kd::add_neighbours(fit, fit.sets[set].parts(), 0.8, rules, fixed);
  ASSERT_GE(fixed.size(), 4U);
  ASSERT_LT(fixed.size(), 8U);
  for (const kastor::Gaussian& g : fixed) EXPECT_LE(std::fabs(g.x - 3.5), 4 * 3.3);
}

TEST(FitSets, ASplitSetIsFilledWithTheClosest) {
  const auto rules = rules_with_beam(4);
  kd::IslandFit fit{};
  for (int i = 0; i < 10; ++i) fit.parts.push_back(part_with({4, 4, 0}, 20.0 - i, 3.0 * i, 0));
  for (kd::FitPart& part : fit.parts) part.fit.free = 6;
  kd::make_sets(fit, 0.8, rules);
  ASSERT_EQ(fit.sets.size(), 2U);
  // Full, and the parts 8 and 9 at 24 and 27: their neighbours within 6.4.
  EXPECT_EQ(kd::fitted_with(fit, fit.sets[0], 0.8, rules).size(), 8U);
  EXPECT_EQ(kd::fitted_with(fit, fit.sets[1], 0.8, rules), (std::vector<std::int32_t>{8, 9, 7, 6}));
  // Parts of other freedom cannot be fitted with them.
  fit.parts[7].fit.free = 3;
  fit.parts[6].is_dropped = true;
  EXPECT_EQ(kd::fitted_with(fit, fit.sets[1], 0.8, rules), (std::vector<std::int32_t>{8, 9}));
  fit.parts[7].fit.free = 6;
  fit.sets[1].is_split = false;
  EXPECT_EQ(kd::fitted_with(fit, fit.sets[1], 0.8, rules), (std::vector<std::int32_t>{8, 9}));
}

TEST(FitSets, ASplitSetIsNotFilledWithWhatIsMuchWider) {
  const auto rules = rules_with_beam(4);
  kd::IslandFit fit{};
  fit.parts.push_back(part_with({30, 30, 0}, 9, 3, 0));  // over all of the others
  fit.parts.push_back(part_with({9, 9, 0}, 9, 2, 0));
  fit.parts.push_back(part_with({4, 4, 0}, 9, 0, 0));
  for (kd::FitPart& part : fit.parts) part.fit.free = 6;
  const auto set_of = [](std::int32_t part) {
    kd::FitSet set;
    set.add(part);
    set.is_split = true;
    return set;
  };
  EXPECT_EQ(kd::fitted_with(fit, set_of(2), 0.8, rules), (std::vector<std::int32_t>{2, 1}));
  EXPECT_EQ(kd::fitted_with(fit, set_of(0), 0.8, rules), (std::vector<std::int32_t>{0, 1, 2}));
  // Without a beam, as with one that is narrower.
  const kd::FitRules no_beam{kastor::FitParams{}};
  EXPECT_EQ(kd::fitted_with(fit, set_of(2), 0.8, no_beam), (std::vector<std::int32_t>{2, 1}));
  fit.parts[2].is_dropped = true;
  EXPECT_EQ(kd::fitted_with(fit, set_of(1), 0.8, no_beam), (std::vector<std::int32_t>{1}));
}

TEST(FitSets, ThePartsOfASetHaveTheSameFreedom) {
  const auto rules = rules_with_beam(3);
  kd::IslandFit fit{};
  for (const double x : {0.0, 2.0, 30.0}) {
    fit.parts.push_back(part_with({3, 3, 0}, 9, x, 0));
    fit.parts.back().mode = kd::FitMode::beam_shape;
  }
  fit.parts[1].mode = kd::FitMode::as_asked;
  kd::make_sets(fit, 0.6, rules);
  EXPECT_EQ(fit.parts[0].mode, kd::FitMode::as_asked);
  EXPECT_EQ(fit.parts[2].mode, kd::FitMode::beam_shape);
}

}  // namespace
