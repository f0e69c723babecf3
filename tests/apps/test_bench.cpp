// SPDX-License-Identifier: Apache-2.0

// The parts of `kastor bench` that decide what its table says: how often a job is repeated, what
// the figures of the repeats are, whether two results are the same, and what is said if not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "bench/answer.hpp"
#include "bench/table.hpp"
#include "bench/timing.hpp"

namespace {

using kastor::bench::compare;
using kastor::bench::Facts;
using kastor::bench::make_timing;
using kastor::bench::Numbers;
using kastor::bench::repeat;
using kastor::bench::TimingRules;
using Doubles = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(BenchTiming, MedianMinimumAndSpreadOfTheRepeats) {
  const auto odd = make_timing({5, 1, 2, 100, 3}, false);
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.minimum, 1);
  EXPECT_EQ(odd.spread, 2);  // of 2, 2, 1, 97, 0
  EXPECT_THAT(odd.seconds, ::testing::ElementsAre(5, 1, 2, 100, 3));
  const auto even = make_timing({4, 1, 3, 2}, true);
  EXPECT_EQ(even.median, 2.5);
  EXPECT_EQ(even.spread, 1);  // of 1.5, 1.5, 0.5, 0.5
  EXPECT_TRUE(even.stopped_early);
}

/// A job whose runs take the given seconds, the last one from then on.
class Job {
 public:
  explicit Job(Doubles seconds) : m_seconds(std::move(seconds)) {}
  double operator()() {
    const std::size_t i = std::min(m_runs, m_seconds.size() - 1);
    ++m_runs;
    return m_seconds[i];
  }
  [[nodiscard]] std::size_t runs() const { return m_runs; }

 private:
  Doubles m_seconds;
  std::size_t m_runs = 0;
};

kastor::bench::Timing repeat(const TimingRules& rules, Job& job) {
  return repeat(rules, [&job] { return job(); });
}

TEST(BenchTiming, LeavesTheWarmUpOut) {
  Job job({9, 1});
  const auto timing = repeat({3, 0, 100, 2000}, job);
  EXPECT_THAT(timing.seconds, ::testing::ElementsAre(1, 1, 1));
  EXPECT_EQ(job.runs(), 4U);
  EXPECT_FALSE(timing.stopped_early);
}

TEST(BenchTiming, RepeatsShortJobsUntilTheyTookTheLeastTime) {
  Job job({0.25});
  EXPECT_EQ(repeat({2, 2.5, 100, 2000}, job).seconds.size(), 10U);
  Job limited({0.25});
  EXPECT_EQ(repeat({2, 2.5, 100, 5}, limited).seconds.size(), 5U);
}

TEST(BenchTiming, StopsLongJobsAndSaysSo) {
  Job job({4});
  const auto timing = repeat({10, 0, 10, 2000}, job);
  EXPECT_EQ(timing.seconds.size(), 3U);  // at 8 s another one begins
  EXPECT_TRUE(timing.stopped_early);
}

TEST(BenchTiming, TakesAVeryLongWarmUpForTheOneRepeat) {
  Job job({20, 1});
  const auto timing = repeat({10, 0, 10, 2000}, job);
  EXPECT_THAT(timing.seconds, ::testing::ElementsAre(20));
  EXPECT_EQ(job.runs(), 1U);
  EXPECT_TRUE(timing.stopped_early);
}

void expect_difference(const Numbers& a, const Numbers& b, double wanted) {
  const auto found = compare(a, b);
  EXPECT_FALSE(found.identical);
  EXPECT_EQ(found.max_difference, wanted);
}

TEST(BenchAnswer, SameBitsAreIdentical) {
  const auto same = compare(Numbers(Doubles{1, nan, infinity}), Numbers(Doubles{1, nan, infinity}));
  EXPECT_TRUE(same.identical);
  EXPECT_EQ(same.max_difference, 0);
  EXPECT_TRUE(compare(Numbers(Doubles{}), Numbers(Doubles{})).identical);
}

TEST(BenchAnswer, TheDifferenceIsOverTheLargestMagnitude) {
  const double next = std::nextafter(1, 2);
  expect_difference(Numbers(Doubles{1}), Numbers(Doubles{next}), (next - 1) / next);
  expect_difference(Numbers(Doubles{0.0}), Numbers(Doubles{-0.0}), 0);
  expect_difference(Numbers(Doubles{-8, 1, 0}), Numbers(Doubles{-8, 3, 0.5}), 0.25);
  using Words = std::vector<std::uint64_t>;
  expect_difference(Numbers(Words{1, 2}), Numbers(Words{1, 3}), 1);  // of masks: pixels of 0 and 1
}

TEST(BenchAnswer, WhatCannotBeComparedIsInfinitelyFarOff) {
  expect_difference(Numbers(Doubles{1, 2}), Numbers(Doubles{1}), infinity);
  expect_difference(Numbers(Doubles{1}), Numbers(Doubles{nan}), infinity);
  expect_difference(Numbers(Doubles{infinity}), Numbers(Doubles{1}), infinity);
  expect_difference(Numbers(Doubles{1}), Numbers(std::vector<float>{1}), infinity);
}

TEST(BenchAnswer, FactsAreComparedByName) {
  const Facts kastor{{"mean", 2.0}, {"sources", std::int64_t{4}}, {"method", "separable"}};
  EXPECT_TRUE(compare(kastor, Facts{{"sources", std::int64_t{4}}, {"other", 7.0}}).identical);
  EXPECT_TRUE(compare(kastor, Facts{{"sources", 4.0}, {"mean", 2.0}}).identical);
  const auto found = compare(kastor, Facts{{"sources", std::int64_t{3}}, {"mean", 2.0}});
  EXPECT_FALSE(found.identical);
  EXPECT_EQ(found.max_difference, 0.25);
}

using kastor::bench::Row;
using kastor::bench::RowKind;
using kastor::bench::Table;

Row row_of(RowKind kind, const char* who, double seconds) {
  Row row;
  row.kind = kind;
  row.who = who;
  row.timing = make_timing({seconds}, false);
  return row;
}

/// One step by two backends, whose results differ by `difference`, and by a peer, who is far off.
Table table_with(double difference) {
  Row second = row_of(RowKind::backend, "openmp", 0.5);
  second.compared = kastor::bench::Comparison{difference == 0, difference};
  Row peer = row_of(RowKind::peer, "numpy", 8);
  peer.compared = kastor::bench::Comparison{false, 0.25};
  Table table;
  table.steps.push_back({"label", "labelling", 100, 800, {}});
  table.steps.back().rows = {row_of(RowKind::backend, "serial", 2), second, peer};
  return table;
}

TEST(BenchTable, TellsTheFirstDifferenceOfKastorsOwn) {
  EXPECT_EQ(first_difference(table_with(0)), "");
  EXPECT_EQ(first_difference(table_with(0x1p-50)), "'openmp' in the step 'label'");
  const auto same = table_text(table_with(0));
  EXPECT_THAT(same, ::testing::HasSubstr("same bits"));
  EXPECT_THAT(same, ::testing::HasSubstr("2.5e-01"));
  EXPECT_THAT(same, ::testing::Not(::testing::HasSubstr("DIFFERS")));
  const auto other = table_text(table_with(0x1p-50));
  EXPECT_THAT(other, ::testing::HasSubstr("DIFFERS 9e-16"));
  EXPECT_THAT(other, ::testing::Not(::testing::HasSubstr("same bits")));
}

TEST(BenchTable, TheSpeedUpIsOverSerial) {
  auto table = table_with(0);
  auto& step = table.steps.front();
  EXPECT_EQ(speed_up(step, step.rows[0].timing), 1);
  EXPECT_EQ(speed_up(step, step.rows[1].timing), 4);
  EXPECT_EQ(speed_up(step, step.rows[2].timing), 0.25);
  step.rows.erase(step.rows.begin());
  EXPECT_EQ(speed_up(step, step.rows[0].timing), std::nullopt);
}

TEST(BenchTable, MarksTheRowsThatStoppedEarly) {
  auto table = table_with(0);
  EXPECT_THAT(table_text(table), ::testing::Not(::testing::HasSubstr("*")));
  table.steps.front().rows[1].timing.stopped_early = true;
  EXPECT_THAT(table_text(table), ::testing::HasSubstr("openmp *"));
  EXPECT_THAT(table_text(table), ::testing::HasSubstr("*: fewer repeats"));
}

}  // namespace
