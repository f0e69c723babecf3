// SPDX-License-Identifier: Apache-2.0

// How devices go through the pixels of runs: all of them, once, from left to right, whatever lies
// at a multiple of 16 bytes, and none beside them.

#include <gtest/gtest.h>

#include <cstdint>
#include <kastor/detail/measured_runs.hpp>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

namespace {

namespace kd = kastor::detail;

struct Seen {
  std::int32_t x;
  double pixel;
  bool operator==(const Seen&) const = default;
};

/// A row of exactly so many pixels, so that sanitizers see what is read beside it.
template <class T>
struct Row {
  std::unique_ptr<T[]> pixels;
  explicit Row(std::int32_t n) : pixels(std::make_unique<T[]>(static_cast<std::size_t>(n))) {
    std::iota(pixels.get(), pixels.get() + n, T{1});
  }
};

template <class T, class VisitPixels>
void visits_all_in_order(const VisitPixels& visit_pixels, const char* name) {
  for (std::int32_t begin = 0; begin < 9; ++begin) {
    for (std::int32_t n = 1; n < 75; ++n) {
      const Row<T> row(begin + n);
      std::vector<Seen> seen, want;
      for (std::int32_t x = begin; x < begin + n; ++x) want.push_back({x, x + 1.0});
      visit_pixels(row.pixels.get(), begin, begin + n, [&](std::int32_t x, T pixel) {
        seen.push_back({x, static_cast<double>(pixel)});
      });
      ASSERT_EQ(seen, want) << name << ", " << n << " pixels from " << begin;
    }
  }
}

template <class T>
void all_ways_visit_all_in_order() {
  visits_all_in_order<T>([](const auto&... a) { kd::visit_run(a...); }, "visit_run");
  visits_all_in_order<T>([](const auto&... a) { kd::visit_short_run(a...); }, "visit_short_run");
  visits_all_in_order<T>([](const auto&... a) { kd::visit_long_run(a...); }, "visit_long_run");
  visits_all_in_order<T>([](const auto&... a) { kd::visit_run_thoroughly(a...); },
                         "visit_run_thoroughly");
}
TEST(MeasuredRuns, VisitsPixelsInOrder) {
  all_ways_visit_all_in_order<float>();
  all_ways_visit_all_in_order<double>();
}

TEST(MeasuredRuns, PiecesOfARunAreTheRun) {
  constexpr std::int32_t longest = std::numeric_limits<std::int32_t>::max() - 8;
  for (const std::int32_t n : {1, 2, 31, 32, 33, 8192, 1234567, longest}) {
    const kd::Run run{5, 5 + n, 3, 1};
    for (int shift = 0; shift <= 5; ++shift) {
      std::int32_t at = run.begin;
      for (std::int32_t which = 0; which < 1 << shift; ++which) {
        const kd::RunPiece piece{which, shift};
        EXPECT_EQ(piece.begin(run), at);
        EXPECT_GE(piece.end(run), at);
        at = piece.end(run);
      }
      EXPECT_EQ(at, run.end);
    }
  }
}

TEST(MeasuredRuns, AreLongInTheMean) {
  kd::MeasuredRuns runs{};
  EXPECT_FALSE(runs.are_long()) << "where only the host knows how many there are";
  kastor::LabelCounts counts{};
  runs.counts = &counts;
  counts.runs = 10;
  counts.pixels = 319;
  EXPECT_FALSE(runs.are_long());
  counts.pixels = 320;
  EXPECT_TRUE(runs.are_long());
}

}  // namespace
