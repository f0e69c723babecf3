// SPDX-License-Identifier: Apache-2.0

// The runs of a mask on a host, and the forest of those that touch: as a flood fill has them, with
// any vector instructions.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <kastor/detail/connect_host.hpp>
#include <string>
#include <vector>

#include "generators.hpp"
#include "host_levels.hpp"
#include "naive.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

constexpr std::int32_t garbage = -7;

/// What is known of a mask's lines.
enum class Known { nothing, all, more };  ///< more: some are said to be touched that are empty

/// Lists with room for all runs of a mask and more, full of garbage.
class Lists {
 public:
  Lists(const ts::HostMask& mask, int reach, Known known = Known::nothing)
      : m_words(ts::pack_naive(mask)), first_in_word(m_words.values.size(), 0x7fffffff) {
    if (known != Known::nothing) {
      ts::Random random(5);
      const auto words = static_cast<std::int64_t>(m_words.values.size());
      m_touched.assign(static_cast<std::size_t>(kd::MaskLines::size(words)), 0);
      for (std::size_t i = 0; i < m_words.values.size(); ++i) {
        if (m_words.values[i] != 0 || (known == Known::more && random.below(60) == 0))
          m_touched[i / kd::MaskLines::words] = 1;
      }
    }
    const auto entries = static_cast<std::size_t>(mask.ny * (mask.nx / 2 + 1) + 100);
    begin.assign(entries, garbage);
    end = row = begin;
    parent.assign(entries, static_cast<std::uint32_t>(garbage));
    pixels_of_set.assign(entries, static_cast<std::uint64_t>(garbage));
    m_reach = reach;
  }
  [[nodiscard]] kd::RunLists lists() {
    return {m_words.values.data(),
            m_words.nx,
            first_in_word.data(),
            begin.data(),
            end.data(),
            row.data(),
            parent.data(),
            pixels_of_set.data(),
            m_reach,
            {m_touched.empty() ? nullptr : m_touched.data()}};
  }
  /// Whether the runs before a word must be known.
  [[nodiscard]] bool must_be_numbered(std::size_t word) const {
    const bool begins_row = word % static_cast<std::size_t>(m_words.nx) == 0;
    return begins_row || m_words.values[word] != 0 || m_words.values[word - 1] >> 63 != 0;
  }
  [[nodiscard]] std::uint32_t root_of(std::uint32_t run) const {
    while (parent[run] != run) run = parent[run];
    return run;
  }
  /// Whether nothing was written from an entry on.
  [[nodiscard]] bool untouched_from(std::size_t entry) const {
    for (std::size_t i = entry; i < begin.size(); ++i) {
      if (begin[i] != garbage || end[i] != garbage || row[i] != garbage ||
          parent[i] != static_cast<std::uint32_t>(garbage) ||
          pixels_of_set[i] != static_cast<std::uint64_t>(garbage))
        return false;
    }
    return true;
  }

 private:
  ts::HostGrid<std::uint64_t> m_words;
  std::vector<std::uint8_t> m_touched;
  int m_reach;

 public:
  std::vector<std::uint32_t> first_in_word, parent;
  std::vector<std::int32_t> begin, end, row;
  std::vector<std::uint64_t> pixels_of_set;
};

ts::HostMask rows_of(const ts::HostMask& mask, std::int64_t first, std::int64_t past) {
  ts::HostMask part(past - first, mask.nx);
  for (std::int64_t y = first; y < past; ++y) {
    for (std::int64_t x = 0; x < mask.nx; ++x) part(y - first, x) = mask(y, x);
  }
  return part;
}

/// The runs of a part, which are numbered from `before` on and whose first row is `first_row`.
void expect_part(const Lists& lists, const ts::HostMask& mask, std::int64_t first_row,
                 std::int64_t past_row, std::uint32_t before, kastor::Connectivity connectivity,
                 const std::string& what) {
  const ts::HostMask part = rows_of(mask, first_row, past_row);
  const ts::HostRuns want = ts::runs_naive(part, ts::label_naive(part, connectivity));
  for (std::size_t i = 0; i < want.begin.size(); ++i) {
    const auto run = static_cast<std::uint32_t>(before + i);
    ASSERT_EQ(lists.begin[run], want.begin[i]) << what << ", run " << run;
    ASSERT_EQ(lists.end[run], want.end[i]) << what << ", run " << run;
    ASSERT_EQ(lists.row[run], first_row + want.row[i]) << what << ", run " << run;
    ASSERT_EQ(lists.pixels_of_set[run], 0U) << what << ", run " << run;
    ASSERT_EQ(lists.root_of(run), before + want.first_run[want.label[i] - 1])
        << what << ", run " << run;
  }
  std::size_t begun = 0;
  const std::int64_t per_row = (mask.nx + 63) / 64;
  for (std::int64_t w = 0; w < (past_row - first_row) * per_row; ++w) {
    const std::int64_t y = w / per_row;
    while (
        begun < want.begin.size() &&
        (want.row[begun] < y || (want.row[begun] == y && want.begin[begun] < 64 * (w % per_row))))
      ++begun;
    const auto word = static_cast<std::size_t>(first_row * per_row + w);
    if (lists.must_be_numbered(word)) {
      ASSERT_EQ(lists.first_in_word[word], before + begun) << what << ", word " << w;
    }
  }
}

std::vector<ts::NamedMask> masks() {
  std::vector<ts::NamedMask> all = ts::torture_masks(37, 131);
  // More than the 64 words of a row that are dealt with at a time, and runs from one lot to the
  // next that touch something only there.
  for (const double density : {0.0005, 0.02, 0.4, 0.6, 0.97})
    all.push_back({"wide", ts::random_mask(9, 64 * 64 + 71, density, 3)});
  for (const double density : {0.0002, 0.002, 0.02}) {
    all.push_back({"very wide", ts::random_mask(40, 64 * 192, density, 4)});
    all.push_back({"very wide, no whole lines", ts::random_mask(40, 64 * 139 + 5, density, 4)});
  }
  ts::HostMask bridge(3, 64 * 64 + 20);
  for (std::int64_t x = 4000; x < 4110; ++x) bridge(1, x) = 1;
  for (const std::int64_t x : {4010, 4050, 4095, 4097, 4105, 4110}) bridge(0, x) = 1;
  all.push_back({"bridge", bridge});
  // Rows of whole lines and others; runs that touch where a line begins, or only by a corner there.
  for (const std::int64_t words : {8, 16, 24, 67}) {
    ts::HostMask seams(12, 64 * words - 3);
    ts::Random random(static_cast<std::uint64_t>(words));
    for (std::int64_t y = 0; y < seams.ny; ++y) {
      for (std::int64_t x = 512; x < seams.nx; x += 512) {
        for (std::int64_t k = random.below(3); k > 0; --k) seams(y, x - k) = 1;
        if (random.below(2) == 0) seams(y, x) = 1;
      }
    }
    all.push_back({"seams of lines", seams});
  }
  return all;
}

TEST(ConnectHost, FindsTheRunsAndForestsOfAFloodFill) {
  for (const auto& [name, mask] : masks()) {
    for (const auto connectivity : {kastor::Connectivity::four, kastor::Connectivity::eight}) {
      for (const auto level : ts::host_levels()) {
        for (const Known known : {Known::nothing, Known::all, Known::more}) {
          const std::string what = name + ", level " + std::to_string(static_cast<int>(level)) +
                                   ", known " + std::to_string(static_cast<int>(known));
          Lists lists(mask, connectivity == kastor::Connectivity::eight ? 1 : 0, known);
          const std::uint64_t runs = kd::count_runs_on_host(level, lists.lists(), 0, mask.ny);
          const kd::RunCounts counts =
              kd::connect_rows_on_host(level, lists.lists(), 0, mask.ny, 0, runs);
          EXPECT_EQ(counts.runs, runs) << what;
          EXPECT_EQ(static_cast<std::int64_t>(counts.pixels), ts::count_naive(mask)) << what;
          EXPECT_TRUE(lists.untouched_from(runs)) << what;
          expect_part(lists, mask, 0, mask.ny, 0, connectivity, what);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(ConnectHost, PartsKnowNothingOfOneAnother) {
  for (const double density : {0.01, 0.3, 0.6, 0.95}) {
    const ts::HostMask mask = ts::random_mask(40, 300, density, 11);
    for (const auto level : ts::host_levels()) {
      const std::string what = "level " + std::to_string(static_cast<int>(level));
      Lists lists(mask, 1);
      // The last one first: what a part writes behind its own runs would be found by the next.
      const std::int64_t rows[] = {0, 13, 13, 14, 40};
      std::uint64_t before[5] = {};
      for (std::size_t p = 0; p < 4; ++p) {
        before[p + 1] =
            before[p] + kd::count_runs_on_host(level, lists.lists(), rows[p], rows[p + 1]);
      }
      for (const std::size_t p : {3U, 0U, 1U, 2U}) {
        const kd::RunCounts counts = kd::connect_rows_on_host(
            level, lists.lists(), rows[p], rows[p + 1], before[p], before[p + 1]);
        EXPECT_EQ(counts.runs, before[p + 1]) << what;
      }
      for (std::size_t p = 0; p < 4; ++p) {
        expect_part(lists, mask, rows[p], rows[p + 1], static_cast<std::uint32_t>(before[p]),
                    kastor::Connectivity::eight, what);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ConnectHost, WritesNothingBeyondTheLimit) {
  const ts::HostMask mask = ts::random_mask(20, 64 * 64 + 200, 0.5, 12);
  for (const auto level : ts::host_levels()) {
    for (const std::uint64_t before : {0U, 1000U}) {
      Lists full(mask, 1);
      const std::uint64_t past = before + kd::count_runs_on_host(level, full.lists(), 10, mask.ny);
      (void)kd::connect_rows_on_host(level, full.lists(), 10, mask.ny, before, past);
      for (const std::uint64_t limit :
           {before, before + 1, before + 100, before + 1500, past - 64, past - 1}) {
        Lists lists(mask, 1);
        const kd::RunCounts counts =
            kd::connect_rows_on_host(level, lists.lists(), 10, mask.ny, before, limit);
        EXPECT_EQ(counts.runs, past);
        EXPECT_TRUE(lists.untouched_from(limit)) << limit;
        EXPECT_EQ(lists.first_in_word, full.first_in_word) << limit;
      }
    }
  }
}

TEST(ConnectHost, CountsNoPixelsOfSetsIfNobodyWantsToKnow) {
  const ts::HostMask mask = ts::random_mask(20, 200, 0.5, 12);
  for (const auto level : ts::host_levels()) {
    Lists with(mask, 0), without(mask, 0);
    kd::RunLists lists = without.lists();
    lists.pixels_of_set = nullptr;
    const std::uint64_t limit = with.begin.size();
    const kd::RunCounts counts =
        kd::connect_rows_on_host(level, with.lists(), 0, mask.ny, 0, limit);
    EXPECT_EQ(kd::connect_rows_on_host(level, lists, 0, mask.ny, 0, limit).runs, counts.runs);
    for (std::uint32_t run = 0; run < counts.runs; ++run) {
      ASSERT_EQ(without.begin[run], with.begin[run]);
      ASSERT_EQ(without.root_of(run), with.root_of(run));
    }
  }
}

/// Where the places of pixels nearly fill 31 bits.
TEST(ConnectHost, GoesToTheEndOfTheWidestMask) {
  constexpr std::int64_t nx = 2147483646;
  constexpr std::int64_t words = (nx + 63) / 64;
  std::vector<std::uint64_t> mask(words);
  mask.front() = 5;
  mask.back() = std::uint64_t{0b11011} << 57;
  std::vector<std::uint32_t> first_in_word(words), parent(100);
  std::vector<std::int32_t> begin(100), end(100), row(100);
  for (const auto level : ts::host_levels()) {
    const kd::RunLists lists{mask.data(),   words,      first_in_word.data(),
                             begin.data(),  end.data(), row.data(),
                             parent.data(), nullptr,    1};
    EXPECT_EQ(kd::connect_rows_on_host(level, lists, 0, 1, 0, 100).runs, 4U);
    const auto places = [](const std::vector<std::int32_t>& list) {
      return std::vector<std::int64_t>(list.begin(), list.begin() + 4);
    };
    EXPECT_EQ(places(begin), (std::vector<std::int64_t>{0, 2, nx - 5, nx - 2}));
    EXPECT_EQ(places(end), (std::vector<std::int64_t>{1, 3, nx - 3, nx}));
  }
}

}  // namespace
