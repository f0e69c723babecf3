// SPDX-License-Identifier: Apache-2.0

// The kernels that label on a device, run by teams of a host's threads: the same as a flood fill.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/label_by_one_team.hpp>
#include <kastor/detail/label_lines.hpp>
#include <kastor/detail/unite_device.hpp>
#include <kastor/detail/unite_in_tiles.hpp>
#include <string>
#include <vector>

#include "emulated_team.hpp"
#include "generators.hpp"
#include "naive.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;
using Teams = ts::EmulatedTeams;

/// Whether it is known which lines of a mask have a bit.
enum class Lines { unknown, known };

/// A mask's words, row by row, and all that labelling writes, full of garbage.
class EmulatedLabels {
 public:
  EmulatedLabels(const ts::HostMask& mask, const kastor::LabelParams& params,
                 const ts::HostMask* seeds = nullptr, Lines lines = Lines::unknown)
      : m_mask(mask), m_params(params), m_words(ts::pack_naive(mask).values) {
    if (seeds != nullptr) m_seeds = ts::pack_naive(*seeds).values;
    const auto words = static_cast<std::int64_t>(m_words.size());
    const std::int64_t capacity = mask.ny * (mask.nx / 2 + 1);
    const auto runs = static_cast<std::size_t>(capacity);
    m_first_in_word.assign(m_words.size() + 1, garbage);
    m_begin.assign(runs, -7);
    m_end = m_row = m_begin;
    m_label.assign(runs, garbage);
    m_first_run = m_label;
    m_sets.assign(runs, ~std::uint64_t{0});
    m_parent = m_rank = m_labelled = m_label;
    m_in_part.assign(parts, ~std::uint64_t{0});
    m_pixels_in_part = m_in_part;
    m_roots_in_part.assign(run_teams, garbage);
    m_dropped_in_part = m_roots_in_part;
    const bool drops = params.min_pixels > 1 || params.drop_at_edge || seeds != nullptr;
    if (lines == Lines::known) {
      ts::Random random(3);
      m_touched.assign(static_cast<std::size_t>(kd::MaskLines::size(words)), 0);
      for (std::size_t i = 0; i < m_words.size(); ++i) {
        if (m_words[i] != 0 || random.below(60) == 0) m_touched[i / kd::MaskLines::words] = 1;
      }
    }
    const kd::MaskLines known{lines == Lines::known ? m_touched.data() : nullptr};
    m_table = {{m_words.data(), words, (mask.nx + 63) / 64, known},
               m_first_in_word.data(),
               m_begin.data(),
               m_end.data(),
               m_row.data(),
               m_label.data(),
               m_first_run.data(),
               m_parent.data(),
               m_rank.data(),
               drops ? m_sets.data() : nullptr,
               static_cast<std::uint64_t>(params.min_pixels),
               seeds != nullptr ? m_seeds.data() : nullptr,
               params.drop_at_edge,
               &m_counts,
               &m_reported,
               {m_in_part.data(), m_pixels_in_part.data(), m_roots_in_part.data(),
                m_dropped_in_part.data()},
               capacity,
               drops ? m_labelled.data() : nullptr,
               {}};
  }

  /// Before `run`: the runs of so many components shall be listed where they are few.
  void list_few(std::size_t components) {
    m_few_counted.assign(components, garbage);
    m_few_runs.assign(components * kd::FewRuns::most, garbage);
    m_table.few = {m_few_counted.data(), m_few_runs.data(), &m_few_others,
                   static_cast<std::uint32_t>(components)};
  }

  enum class By { one_team, many_teams, tiles };
  const kastor::LabelCounts& run(By by) {
    const ts::EmulatedLauncher launch;
    int teams = 0;
    if (m_table.words.lines.touched == nullptr) {
      const kd::TilesOfWords words = tiles_of<kd::TilesOfWords>(m_table.words.count, teams);
      launch("count_runs", teams, kd::CountRunsByTeams<Teams>{words});
      launch("number_runs", teams, kd::NumberRunsByTeams<Teams>{words});
    } else {
      const kd::TilesOfLines lines =
          tiles_of<kd::TilesOfLines>(kd::MaskLines::count(m_table.words.count), teams);
      launch("count_runs", teams, kd::CountRunsInLines<Teams>{lines});
      launch("number_runs", teams, kd::NumberRunsInLines<Teams>{lines});
    }
    const int reach = m_params.connectivity == kastor::Connectivity::eight ? 1 : 0;
    if (by == By::one_team) {
      launch("label_by_one_team", 1,
             kd::LabelByOneTeam<Teams>{m_table, m_mask.ny, m_mask.nx, reach, teams});
      return m_reported;
    }
    const kd::UniteWithRowAbove above{m_table, workers, m_mask.nx, reach};
    if (by == By::tiles) {
      unite_in_tiles(launch, above);
    } else {
      for (int worker = 0; worker < workers; ++worker) above(worker);
    }
    if (m_table.pixels_of_set != nullptr) {
      for (int worker = 0; worker < workers; ++worker)
        kd::CountPixels<Teams>{m_table, workers, m_mask.ny, m_mask.nx}(worker);
    }
    const kd::TilesOfRuns runs{m_table};
    launch("rank_roots", run_teams, kd::RankRootsByTeams<Teams>{runs});
    using Label = kd::LabelRunsByTeams<Teams>;
    launch("label_runs", run_teams, Label{runs, teams, Label::scratch_for(run_teams)});
    return m_reported;
  }

  /// Those of the pixels, row by row.
  [[nodiscard]] std::vector<std::int64_t> image() const {
    std::vector<std::int64_t> labels(m_mask.values.size());
    for (std::size_t i = 0; i < m_counts.runs; ++i)
      for (std::int64_t x = m_begin[i]; x < m_end[i]; ++x)
        labels[static_cast<std::size_t>(m_row[i] * m_mask.nx + x)] = m_label[i];
    return labels;
  }
  [[nodiscard]] bool has_no_label() const {
    return std::all_of(m_label.begin(), m_label.end(),
                       [](std::uint32_t label) { return label == garbage; });
  }
  /// Row and column of the first pixel of a component.
  [[nodiscard]] std::int64_t first_pixel(std::size_t component) const {
    const std::uint32_t run = m_first_run[component];
    return std::int64_t{m_row[run]} * m_mask.nx + m_begin[run];
  }

  /// How many runs begin before a word, of which that must be known.
  void expect_numbers(const std::string& what) const {
    std::size_t run = 0;
    const std::int64_t per_row = m_table.words.per_row;
    for (std::int64_t i = 0; i < m_table.words.count; ++i) {
      const auto begins_before = [&](std::size_t r) {
        return m_row[r] * per_row + m_begin[r] / 64 < i;
      };
      while (run < m_counts.runs && begins_before(run)) ++run;
      const auto word = static_cast<std::size_t>(i);
      if (i % per_row == 0 || m_words[word] != 0) {
        ASSERT_EQ(m_first_in_word[word], run) << what << ", word " << i;
      }
    }
    ASSERT_EQ(m_first_in_word.back(), m_counts.runs) << what;
  }

  /// The runs that have a label, each once.
  void expect_list(const std::string& what) const {
    std::vector<std::uint32_t> want;
    for (std::uint32_t run = 0; run < m_counts.runs; ++run)
      if (m_label[run] != 0) want.push_back(run);
    ASSERT_EQ(m_counts.labelled_runs, want.size()) << what;
    std::vector<std::uint32_t> listed(
        m_labelled.begin(), m_labelled.begin() + static_cast<std::ptrdiff_t>(want.size()));
    std::sort(listed.begin(), listed.end());
    EXPECT_EQ(listed, want) << what;
  }

  /// Of each component that has few runs all of them, each once.
  void expect_few(const std::string& what) const {
    std::vector<std::vector<std::uint32_t>> want(m_counts.components);
    for (std::uint32_t run = 0; run < m_counts.runs; ++run)
      if (m_label[run] != 0) want[m_label[run] - 1].push_back(run);
    const kd::FewRuns& few = m_table.few;
    std::uint32_t others = 0;
    for (std::uint32_t c = 0; c < m_counts.components; ++c) {
      const bool is_few = c < few.room && want[c].size() <= kd::FewRuns::most;
      ASSERT_EQ(few.has(c), is_few) << what << ", component " << c;
      if (!is_few) others = 1;
      if (!is_few) continue;
      ASSERT_EQ(few.counted[c], want[c].size()) << what << ", component " << c;
      const std::uint32_t* const first = few.run + std::size_t{c} * kd::FewRuns::most;
      std::vector<std::uint32_t> listed(first, first + few.counted[c]);
      std::sort(listed.begin(), listed.end());
      ASSERT_EQ(listed, want[c]) << what << ", component " << c;
    }
    if (m_counts.runs > 0) {
      EXPECT_EQ(m_few_others, others) << what;
    }
  }

 private:
  template <class Tiles>
  [[nodiscard]] Tiles tiles_of(std::int64_t count, int& teams) const {
    const std::int64_t tiles = (count + Tiles::tile - 1) / Tiles::tile;
    const std::int64_t of_team = (tiles + parts - 1) / parts;
    teams = static_cast<int>((tiles + of_team - 1) / of_team);
    return {m_table, of_team};
  }

  /// The runs' parents are garbage before that.
  void unite_in_tiles(const ts::EmulatedLauncher& launch, const kd::UniteWithRowAbove& above) {
    const std::int64_t per_row = m_table.words.per_row;
    std::fill(m_parent.begin(), m_parent.end(), garbage);
    m_guests.assign(static_cast<std::size_t>(m_mask.ny * kd::MaskTiles::columns_of(per_row)),
                    garbage);
    const kd::MaskTiles tiles{m_table, m_mask.ny, above.reach, m_guests.data()};
    using InTiles = kd::UniteInTiles<Teams>;
    launch("unite_in_tiles", InTiles::teams(m_mask.ny, per_row), InTiles{tiles});
    const kd::UniteAcrossSeams seams(above, m_mask.ny, m_guests.data());
    for (std::int64_t worker = seams.workers() - 1; worker >= 0; --worker) seams(worker);
  }

  static constexpr std::uint32_t garbage = 0xa5a5a5a5;
  static constexpr std::int64_t parts = 3;
  static constexpr int run_teams = 5;
  static constexpr int workers = 7;

  const ts::HostMask& m_mask;
  kastor::LabelParams m_params;
  std::vector<std::uint64_t> m_words, m_seeds, m_sets, m_in_part, m_pixels_in_part;
  std::vector<std::uint32_t> m_first_in_word, m_label, m_first_run, m_parent, m_rank, m_labelled,
      m_guests;
  std::vector<std::uint32_t> m_roots_in_part, m_dropped_in_part, m_few_counted, m_few_runs;
  std::uint32_t m_few_others = garbage;
  std::vector<std::int32_t> m_begin, m_end, m_row;
  std::vector<std::uint8_t> m_touched;
  kastor::LabelCounts m_counts, m_reported;
  kd::RunTable m_table{};
};

using By = EmulatedLabels::By;

void expect_labels(const EmulatedLabels& labels, const kastor::LabelCounts& counts,
                   const ts::HostLabels& want, const std::string& what) {
  ASSERT_EQ(counts.components, want.components) << what;
  const std::vector<std::int64_t> image = labels.image();
  std::vector<bool> seen(counts.components + 1);
  for (std::size_t i = 0; i < image.size(); ++i) {
    const std::int64_t label = want.image.values[i];
    ASSERT_EQ(image[i], label) << what << ", pixel " << i;
    if (label == 0 || seen[static_cast<std::size_t>(label)]) continue;
    seen[static_cast<std::size_t>(label)] = true;
    ASSERT_EQ(labels.first_pixel(static_cast<std::size_t>(label - 1)), static_cast<std::int64_t>(i))
        << what;
  }
}

TEST(DeviceLabel, MatchesAFloodFill) {
  for (const auto connectivity : {kastor::Connectivity::four, kastor::Connectivity::eight}) {
    for (const auto& [name, mask] : ts::torture_masks(61, 133)) {
      const auto want = ts::label_naive(mask, connectivity);
      for (const By by : {By::one_team, By::many_teams, By::tiles}) {
        for (const Lines lines : {Lines::unknown, Lines::known}) {
          EmulatedLabels labels(mask, kastor::LabelParams{connectivity}, nullptr, lines);
          expect_labels(labels, labels.run(by), want, name);
          labels.expect_numbers(name);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

/// Several tiles in both directions, the last ones cut off; runs that go on from tile to tile, and
/// corners at all their seams.
TEST(DeviceLabel, MatchesAFloodFillAcrossTiles) {
  constexpr std::int64_t wide = 64 * kd::MaskTiles::words;
  constexpr std::int64_t high = kd::MaskTiles::rows;
  for (const auto& [ny, nx] : {std::pair{3 * high, 2 * wide}, std::pair{2 * high + 1, wide + 1},
                               std::pair{high - 1, 3 * wide - 1}, std::pair{5 * high, wide - 70}}) {
    for (const double density : {0.02, 0.3, 0.5, 0.6, 0.97}) {
      const auto mask = ts::random_mask(ny, nx, density, 23);
      for (const auto connectivity : {kastor::Connectivity::four, kastor::Connectivity::eight}) {
        EmulatedLabels labels(mask, kastor::LabelParams{connectivity});
        const std::string what = ts::shape_name(ny, nx) + ", " + std::to_string(density);
        expect_labels(labels, labels.run(By::tiles), ts::label_naive(mask, connectivity), what);
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// Nothing but what touches across seams: runs that cross them, and pairs of pixels in each of the
/// ways in which two can lie across one.
TEST(DeviceLabel, UnitesAcrossEverySeam) {
  constexpr std::int64_t wide = 64 * kd::MaskTiles::words;
  constexpr std::int64_t high = kd::MaskTiles::rows;
  for (const std::int64_t y : {high / 2, high}) {
    for (const std::int64_t x : {wide / 2, wide - 64, wide, 2 * wide}) {
      for (int pixels = 1; pixels < 16; ++pixels) {
        ts::HostMask mask(2 * high, 2 * wide + 65, 0);
        const auto set = [&](std::int64_t row, std::int64_t column) {
          mask.values[static_cast<std::size_t>(row * mask.nx + column)] = 1;
        };
        if ((pixels & 1) != 0) set(y - 1, x - 1);
        if ((pixels & 2) != 0) set(y - 1, x);
        if ((pixels & 4) != 0) set(y, x - 1);
        if ((pixels & 8) != 0) set(y, x);
        for (const auto connectivity : {kastor::Connectivity::four, kastor::Connectivity::eight}) {
          EmulatedLabels labels(mask, kastor::LabelParams{connectivity});
          const std::string what =
              std::to_string(y) + ", " + std::to_string(x) + ", pixels " + std::to_string(pixels);
          expect_labels(labels, labels.run(By::tiles), ts::label_naive(mask, connectivity), what);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

/// More than a tile for each team; rows that are narrower than a line, as wide, and wider.
TEST(DeviceLabel, MatchesAFloodFillOfManyLines) {
  for (const auto& [ny, nx] : {std::pair{13000, 3}, std::pair{4500, 190}, std::pair{1500, 512},
                               std::pair{3, 300000}, std::pair{700, 1300}}) {
    for (const double density : {0.0, 0.0004, 0.03, 0.5}) {
      const auto mask = ts::random_mask(ny, nx, density, 17);
      const auto want = ts::label_naive(mask, kastor::Connectivity::eight);
      for (const By by : {By::many_teams, By::tiles}) {
        EmulatedLabels labels(mask, kastor::LabelParams{kastor::Connectivity::eight}, nullptr,
                              Lines::known);
        const std::string what = ts::shape_name(ny, nx) + ", " + std::to_string(density);
        expect_labels(labels, labels.run(by), want, what);
        labels.expect_numbers(what);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(DeviceLabel, DropsWhatIsSmallOrHasNoSeed) {
  const auto mask = ts::random_mask(61, 201, 0.4, 9);
  const auto seeds = ts::random_mask(61, 201, 0.02, 10);
  const kastor::LabelParams params{kastor::Connectivity::eight, 4, true};
  auto own = mask;
  for (std::size_t i = 0; i < own.values.size(); ++i) own.values[i] &= seeds.values[i];
  const auto all = ts::label_naive(mask, params.connectivity);
  const auto want = ts::keep_naive(all, own, params.min_pixels, params.drop_at_edge);
  for (const By by : {By::one_team, By::many_teams, By::tiles}) {
    EmulatedLabels labels(mask, params, &seeds);
    const kastor::LabelCounts counts = labels.run(by);
    expect_labels(labels, counts, want, "seeds");
    labels.expect_list("seeds");
    EXPECT_EQ(counts.dropped, all.components - want.components);
  }
}

/// More runs than all teams have threads; few of them, and nearly all, have a label.
TEST(DeviceLabel, ListsWhatHasALabel) {
  const auto mask = ts::random_mask(80, 201, 0.4, 5);
  for (const int pixels : {2, 12, 100000}) {
    const kastor::LabelParams params{kastor::Connectivity::four, pixels};
    for (const By by : {By::one_team, By::many_teams}) {
      EmulatedLabels labels(mask, params);
      const kastor::LabelCounts counts = labels.run(by);
      EXPECT_EQ(counts.components > 0, pixels < 100000);
      labels.expect_list(std::to_string(pixels));
    }
  }
}

TEST(DeviceLabel, ListsTheRunsOfComponentsThatHaveFew) {
  // Lines of 1 to 12 pixels one below the other, so of as many runs.
  ts::HostMask lines(200, 150, 0);
  for (std::int64_t x = 0; x < lines.nx; x += 2) {
    for (std::int64_t y = 0; y < lines.ny; ++y) {
      const std::int64_t length = 1 + (x / 2 + y / 13) % 12;
      if (y % 13 < length) lines.values[static_cast<std::size_t>(y * lines.nx + x)] = 1;
    }
  }
  for (const std::size_t room : {1U, 100U, 1000U, 5000U}) {
    for (const int pixels : {1, 3, 9}) {
      for (const auto& mask : {lines, ts::random_mask(80, 201, 0.4, 5)}) {
        EmulatedLabels labels(mask, kastor::LabelParams{kastor::Connectivity::four, pixels});
        labels.list_few(room);
        labels.run(By::many_teams);
        labels.expect_few("room " + std::to_string(room) + ", pixels " + std::to_string(pixels));
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// As many runs as the forest of one team has room for, and one more.
TEST(DeviceLabel, LabelsNoMoreRunsThanOneTeamHasRoomFor) {
  constexpr std::int64_t most = kd::LabelByOneTeam<Teams>::most_runs;
  for (const std::int64_t runs : {most, most + 1}) {
    ts::HostMask mask(runs, 3, 0);
    for (std::int64_t y = 0; y < runs; ++y)
      mask.values[static_cast<std::size_t>(y * 3 + (y % 4 == 3 ? 2 : 0))] = 1;
    EmulatedLabels labels(mask, {});
    const kastor::LabelCounts counts = labels.run(By::one_team);
    EXPECT_EQ(counts.runs, static_cast<std::uint64_t>(runs));
    EXPECT_EQ(counts.pixels, static_cast<std::uint64_t>(runs));
    if (runs == most) {
      expect_labels(labels, counts, ts::label_naive(mask, kastor::Connectivity::four), "full");
    } else {
      EXPECT_EQ(counts.components, 0U);
      EXPECT_TRUE(labels.has_no_label());
    }
  }
}

}  // namespace
