// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "fit/fit_rounds.hpp"
#include "fit/fit_rows.hpp"

namespace {

namespace kd = kastor::detail;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// What became of a group, by its components; the errors of all are `error`.
struct Verdict {
  kd::FitStatus status = kd::FitStatus::converged;
  double error = 1;
};

/// In place of the kernels: groups that come out as they began.
class FakeFits {
 public:
  using Judge = std::function<Verdict(std::span<const kd::FitComponent>, const kd::FitGroup&)>;
  using Search = std::function<kd::ResidualPeak(const kd::ResidualTask&)>;

  explicit FakeFits(Judge judge) : m_judge(std::move(judge)) {}
  Search search = [](const kd::ResidualTask&) { return kd::ResidualPeak{-infinity, 0, 0, 0, 0}; };
  int calls = 0;
  std::vector<kd::FitGroup> groups;  ///< of all calls
  std::vector<bool> with_covariance;

  [[nodiscard]] kd::FitCalls as_calls() {
    return {
        [this](std::span<const kd::FitComponent> components, std::span<const kd::FitGroup> to_fit,
               std::span<const kastor::Gaussian>,
               bool asks) -> const kd::GroupFits& { return fit(components, to_fit, asks); },
        [this](const std::vector<kd::ResidualTask>& tasks, const std::vector<kastor::Gaussian>&) {
          m_peaks.clear();
          for (const kd::ResidualTask& task : tasks) m_peaks.push_back(search(task));
          return std::span<const kd::ResidualPeak>(m_peaks);
        }};
  }

 private:
  const kd::GroupFits& fit(std::span<const kd::FitComponent> components,
                           std::span<const kd::FitGroup> to_fit, bool asks) {
    ++calls;
    m_fits = {};
    for (const kd::FitGroup& group : to_fit) {
      groups.push_back(group);
      with_covariance.push_back(asks);
      const auto of_group = components.subspan(static_cast<std::size_t>(group.first),
                                               static_cast<std::size_t>(group.count));
      const Verdict verdict = m_judge(of_group, group);
      for (const kd::FitComponent& c : of_group) m_fits.fitted.push_back(c.start);
      m_fits.outcomes.push_back({verdict.status, 3, 20, 1, 0, 40.0});
      if (!asks) continue;
      const std::size_t size = 6 * of_group.size();
      for (std::size_t i = 0; i < size * size; ++i)
        m_fits.covariance.push_back(i % (size + 1) == 0 ? verdict.error * verdict.error : 0.5);
    }
    return m_fits;
  }

  Judge m_judge;
  kd::GroupFits m_fits;
  std::vector<kd::ResidualPeak> m_peaks;
};

kastor::FitParams params_with_beam() {
  kastor::FitParams params;
  params.beam = kastor::PixelEllipse{4, 4, 0};
  return params;
}

/// An island of 60 x 60 pixels at (0, 0) with peaks at these columns, 50, 49, 48 ... high.
kd::IslandFit island_with(const std::vector<int>& columns, const kd::FitRules& rules,
                          std::int64_t id = 1) {
  kastor::Island island{};
  island.id = id;
  island.n_pix = 300;
  island.x_max = island.y_max = 59;
  island.x_cen = island.y_cen = 30;
  island.var_xx = island.var_yy = 9;
  island.rms_at_peak = 1;
  island.flux_peak = 50;
  std::vector<kastor::IslandPeak> peaks;
  for (const int x : columns)
    peaks.push_back({id, x, 30, 10, 50.0 - static_cast<double>(peaks.size()), 1, 3, false});
  kd::IslandFit fit;
  kd::begin_island(island, static_cast<std::uint32_t>(id), peaks, rules, fit);
  return fit;
}

std::vector<kd::IslandFit> run(const kd::FitRules& rules, FakeFits& fake,
                               std::vector<kd::IslandFit> islands) {
  kd::FitRounds(rules, fake.as_calls()).run(islands);
  return islands;
}

TEST(FitRounds, FitInTwoPasses) {
  const kd::FitRules rules(params_with_beam());
  FakeFits fake([](auto, const auto&) { return Verdict{}; });
  const auto islands = run(rules, fake, {island_with({20, 22}, rules), island_with({30}, rules)});
  ASSERT_EQ(fake.groups.size(), 4U);
  EXPECT_EQ(fake.calls, 2);
  EXPECT_EQ(fake.groups[0].count, 2);
  EXPECT_EQ(fake.groups[0].radius, 0.6);
  EXPECT_GT(fake.groups[0].island_radius, 5);
  EXPECT_FALSE(fake.with_covariance[0]);
  EXPECT_EQ(fake.groups[2].radius, 0.8);
  EXPECT_EQ(fake.groups[2].island_radius, 1.5);
  EXPECT_EQ(fake.groups[3].island_radius, 0);
  EXPECT_TRUE(fake.with_covariance[3]);
  EXPECT_EQ(islands[0].count(), 2);
  EXPECT_EQ(islands[1].sets[0].outcome.n_pix, 20);
}

TEST(FitRounds, WhatAlwaysFailsEndsAsEstimates) {
  for (const bool has_beam : {false, true}) {
    auto params = params_with_beam();
    if (!has_beam) params.beam.reset();
    const kd::FitRules rules(params);
    std::vector<int> many;
    for (int x = 0; x < 60; ++x) many.push_back(x);
    FakeFits fake([](auto, const auto&) { return Verdict{kd::FitStatus::failed, 1}; });
    const auto islands = run(rules, fake, {island_with(many, rules), island_with({30}, rules, 2)});
    for (const auto& fit : islands) EXPECT_GE(fit.count(), 1);
    const auto rows = kd::rows_of_fits(islands);
    EXPECT_LT(fake.calls, 400);
    ASSERT_GE(rows.components.size(), 2U);
    for (const kastor::Component& c : rows.components) {
      EXPECT_NE(c.flags & kastor::component_from_moments, 0U);
      EXPECT_TRUE(std::isnan(c.covariance[0]));
      EXPECT_TRUE(std::isnan(c.chi_squared));
      EXPECT_EQ(c.group_size, 1);
      EXPECT_GT(c.gaussian.u, 0);
      EXPECT_EQ(c.n_pix, 0);
    }
    // The only one of its island has the island's moments, which are wider than the beam.
    const auto& last = rows.components.back();
    EXPECT_EQ(last.island_id, 2);
    EXPECT_LT(last.gaussian.u, 0.5);
  }
}

TEST(FitRounds, ASecondPassThatFailsStepsDown) {
  const kd::FitRules rules(params_with_beam());
  FakeFits fake([](auto components, const kd::FitGroup& group) {
    const bool fails = group.radius == 0.8 && components[0].free == 6;
    return Verdict{fails ? kd::FitStatus::failed : kd::FitStatus::converged, 1};
  });
  const auto rows = kd::rows_of_fits(run(rules, fake, {island_with({20, 22}, rules)}));
  ASSERT_EQ(rows.components.size(), 1U);
  EXPECT_EQ(rows.components[0].gaussian.x, 20);
  EXPECT_EQ(rows.components[0].flags, std::uint32_t{kastor::component_beam_shape});
  EXPECT_EQ(fake.groups.back().radius, 0.6);
}

TEST(FitRounds, TheWeakestGoUntilTheRestIsSignificant) {
  const kd::FitRules rules(params_with_beam());
  // Each further component makes all errors larger: 50 / 15 = 3.3, 49 / 20 = 2.5.
  FakeFits fake([](auto components, const auto&) {
    return Verdict{kd::FitStatus::converged, 5.0 * static_cast<double>(components.size())};
  });
  auto rows = kd::rows_of_fits(run(rules, fake, {island_with({20, 22, 24, 26, 28}, rules)}));
  ASSERT_EQ(rows.components.size(), 3U);
  EXPECT_EQ(rows.components[2].gaussian.x, 24);
  EXPECT_EQ(rows.components[2].group_size, 3);

  FakeFits hopeless([](auto, const auto&) { return Verdict{kd::FitStatus::converged, 100}; });
  rows = kd::rows_of_fits(run(rules, hopeless, {island_with({5, 20, 22, 24, 50}, rules)}));
  ASSERT_EQ(rows.components.size(), 1U);
  EXPECT_EQ(rows.components[0].gaussian.x, 5);
}

TEST(FitRounds, APeakOfTheResidualsIsKeptIfItIsSignificant) {
  for (const double error : {1.0, 4.0}) {
    const kd::FitRules rules(params_with_beam());
    FakeFits fake([error](auto components, const auto&) {
      return Verdict{kd::FitStatus::converged, components.size() == 1 ? 1 : error};
    });
    int searches = 0;
    fake.search = [&](const kd::ResidualTask& task) {
      EXPECT_EQ(task.count, ++searches);
      return kd::ResidualPeak{10, 2, 1000 - 10.0 * searches, 31, 33};
    };
    const auto islands = run(rules, fake, {island_with({30}, rules)});
    const auto rows = kd::rows_of_fits(islands);
    // 10 / 4 is below 3: the former fit is restored.
    ASSERT_EQ(rows.components.size(), error > 3 ? 1U : 4U);
    EXPECT_EQ(searches, error > 3 ? 1 : 4);
    EXPECT_EQ(rows.components[0].group_size, error > 3 ? 1 : 4);
    EXPECT_EQ(islands[0].parts[0].now.u<0.4, error> 3);
    if (error > 3) continue;
    EXPECT_EQ(rows.components[1].flags, std::uint32_t{kastor::component_from_residual});
    EXPECT_EQ(rows.components[1].gaussian.x, 33);
    EXPECT_EQ(rows.components[1].gaussian.y, 31);
  }
}

TEST(FitRounds, APeakOfTheResidualsMustBeHighEnough) {
  const kd::FitRules rules(params_with_beam());
  struct Case {
    double value, rms;
    std::int64_t x;
    std::size_t components;
  };
  // The thresholds are 4 rms, 2 % of 50, and 5 % of it where the Gaussian of the island has 1 % of
  // its peak or more: up to 10 pixels from (30, 30).
  for (const Case& c :
       {Case{7.9, 2, 33, 1}, Case{8, 2, 33, 4}, Case{0.99, 0.1, 50, 1}, Case{1, 0.1, 50, 4},
        Case{2.49, 0.1, 33, 1}, Case{2.5, 0.1, 33, 4}, Case{2.49, 0.1, 39, 1},
        Case{2.49, 0.1, 41, 4}, Case{-infinity, 0, 33, 1}}) {
    FakeFits fake([](auto, const auto&) { return Verdict{kd::FitStatus::converged, 0.1}; });
    double squares = 1000;
    fake.search = [&](const kd::ResidualTask&) {
      return kd::ResidualPeak{c.value, c.rms, --squares, 31, c.x};
    };
    const auto rows = kd::rows_of_fits(run(rules, fake, {island_with({30}, rules)}));
    EXPECT_EQ(rows.components.size(), c.components) << c.value << " at " << c.x;
  }
}

TEST(FitRounds, APartThatFitsTheIslandWorseIsTakenBack) {
  const kd::FitRules rules(params_with_beam());
  FakeFits fake([](auto, const auto&) { return Verdict{}; });
  // The sums of squares after 0, 1, 2 parts were added.
  const double squares[] = {1000, 600, 700};
  fake.search = [&](const kd::ResidualTask& task) {
    return kd::ResidualPeak{20, 1, squares[task.count - 1], 31, 33};
  };
  const auto rows = kd::rows_of_fits(run(rules, fake, {island_with({30}, rules)}));
  EXPECT_EQ(rows.components.size(), 2U);
}

TEST(FitRounds, AnIslandThatIsTooLargeIsNotSearched) {
  const kd::FitRules rules(params_with_beam());
  FakeFits fake([](auto, const auto&) { return Verdict{}; });
  fake.search = [](const kd::ResidualTask&) { return kd::ResidualPeak{20, 1, 100, 31, 33}; };
  auto large = island_with({30}, rules);
  large.island.n_pix = 65537;
  auto wide = island_with({30}, rules, 2);
  wide.island.x_max = 1 << 20;
  const auto rows = kd::rows_of_fits(run(rules, fake, {large, wide}));
  ASSERT_EQ(rows.components.size(), 2U);
  for (const auto& c : rows.components) EXPECT_EQ(c.flags, std::uint32_t{kastor::component_capped});
}

TEST(FitRounds, ManyAreFittedInGroupsTwice) {
  const kd::FitRules rules(params_with_beam());
  std::vector<int> chain;
  for (int i = 0; i < 20; ++i) chain.push_back(3 * i);
  FakeFits fake([](auto, const auto&) { return Verdict{}; });
  const auto rows = kd::rows_of_fits(run(rules, fake, {island_with(chain, rules)}));
  ASSERT_EQ(rows.components.size(), 20U);
  int fixed = 0;
  for (const kd::FitGroup& group : fake.groups) {
    // The last four are filled with the two that overlap with them.
    EXPECT_TRUE(group.count == 8 || group.count == 6) << group.count;
    fixed += group.fixed;
  }
  EXPECT_GT(fixed, 0);
  // Three groups, three passes (the second one is repeated at the end), two sweeps. Only the last
  // sweep of a second pass asks for the covariance.
  EXPECT_EQ(fake.groups.size(), 18U);
  EXPECT_EQ(std::count(fake.with_covariance.begin(), fake.with_covariance.end(), true), 6);
  for (const auto& c : rows.components)
    EXPECT_EQ(c.flags, std::uint32_t{kastor::component_group_split});
  // A group has the covariance of its own components.
  EXPECT_EQ(rows.covariance_begin, (std::vector<std::size_t>{0, 2304, 4608, 5184}));
  EXPECT_EQ(rows.components.back().group_size, 4);
  for (const auto& c : rows.components) EXPECT_EQ(c.covariance[7], 1);
}

TEST(FitRounds, ACrowdGetsPartsAtManyPeaksAtATime) {
  const kd::FitRules rules(params_with_beam());
  std::vector<int> chain;
  for (int i = 0; i < 10; ++i) chain.push_back(3 * i);
  double highest_start = 0;
  FakeFits fake([&](auto components, const auto&) {
    for (const kd::FitComponent& c : components) {
      if (c.start.y > 30) highest_start = std::fmax(highest_start, c.start.peak);
    }
    return Verdict{};
  });
  std::vector<kd::ResidualTask> boxes;
  fake.search = [&](const kd::ResidualTask& task) {
    boxes.push_back(task);
    // One row above the chain, near the border of two boxes, and one far away.
    if (boxes.size() > 4 || task.x_max < 40 || task.y_min > 30) {
      const bool is_near = boxes.size() <= 2;
      return kd::ResidualPeak{is_near ? 10.0 : -infinity, 1, 100, 31,
                              is_near ? 28 + task.x_min / 30 : 0};
    }
    return kd::ResidualPeak{10, 1, 100, 31, 58};
  };
  const auto rows = kd::rows_of_fits(run(rules, fake, {island_with(chain, rules)}));
  // Ten components: two rows and columns of boxes, which are the whole island.
  ASSERT_GE(boxes.size(), 4U);
  std::int64_t pixels = 0;
  for (std::size_t i = 0; i < 4; ++i)
    pixels +=
        std::int64_t{boxes[i].x_max - boxes[i].x_min + 1} * (boxes[i].y_max - boxes[i].y_min + 1);
  EXPECT_EQ(pixels, 3600);
  int added = 0;
  for (const auto& c : rows.components)
    added += (c.flags & kastor::component_from_residual) != 0 ? 1 : 0;
  EXPECT_EQ(added, 2);
  // Above the residual of 10: as high as the image, which the chain is part of.
  EXPECT_GT(highest_start, 30);
}

TEST(FitRows, AreInOrderWithTheirCovariances) {
  const kd::FitRules rules(params_with_beam());
  kd::IslandFit fit = island_with({10, 12, 50}, rules);
  fit.flags = kastor::component_negative;
  for (kd::FitPart& part : fit.parts) kd::begin_part(fit, rules, part);
  kd::make_sets(fit, 0.6, rules);
  ASSERT_EQ(fit.sets.size(), 2U);
  const double peaks[] = {5, 9, 7};
  for (std::size_t i = 0; i < 3; ++i) {
    fit.parts[i].now.peak = peaks[i];
    fit.parts[i].rms = 1 + static_cast<double>(i);
  }
  for (kd::FitSet& set : fit.sets) {
    set.outcome = {kd::FitStatus::not_converged, 50, 30, 2, kastor::component_at_edge, 120};
    const auto size = static_cast<std::size_t>(36 * set.count * set.count);
    for (std::size_t i = 0; i < size; ++i) set.covariance.push_back(static_cast<double>(i));
  }
  const auto rows = kd::rows_of_fits({fit});
  ASSERT_EQ(rows.components.size(), 3U);
  const double want_peaks[] = {-9, -7, -5};
  const std::int64_t want_groups[] = {1, 2, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    const kastor::Component& c = rows.components[i];
    EXPECT_EQ(c.id, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(c.gaussian.peak, want_peaks[i]);
    EXPECT_EQ(c.group_id, want_groups[i]);
    EXPECT_EQ(c.group_size, want_groups[i] == 1 ? 2 : 1);
    EXPECT_EQ(c.iterations, 50);
    EXPECT_EQ(c.residual_rms, 2);
    // The noise of the group is that of its brightest component.
    EXPECT_EQ(c.chi_squared, want_groups[i] == 1 ? 30 : 120.0 / 9);
    EXPECT_EQ(c.flags, kastor::component_negative | kastor::component_not_converged |
                           kastor::component_sampled | kastor::component_at_edge);
  }
  // The first row is the second member: its block begins at row and column 6 of 12.
  EXPECT_EQ(rows.components[0].covariance[0], 6 * 12 + 6);
  EXPECT_EQ(rows.components[0].covariance[1], -(6 * 12 + 7));
  EXPECT_EQ(rows.components[0].covariance[7], 7 * 12 + 7);
  ASSERT_EQ(rows.covariance_begin, (std::vector<std::size_t>{0, 144, 180}));
  ASSERT_EQ(rows.covariance.size(), 180U);
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t j = 0; j < 12; ++j) {
      const auto from = static_cast<double>((i + 6) % 12 * 12 + (j + 6) % 12);
      const bool flips = (i % 6 == 0) != (j % 6 == 0);
      EXPECT_EQ(rows.covariance[12 * i + j], flips ? -from : from);
    }
  }
}

}  // namespace
