// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_EMULATED_CLIP_HPP
#define KASTOR_TESTS_EMULATED_CLIP_HPP

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <kastor/detail/device_clip.hpp>
#include <kastor/sigma_clip.hpp>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "emulated_team.hpp"
#include "generators.hpp"

/// The kernels of a device's clip, run by teams of a host's threads.
namespace testing_support {

namespace kd = kastor::detail;

inline constexpr std::uint64_t garbage = 0xa5a5a5a5a5a5a5a5;

/// Small arrays full of garbage, with some more between them that nobody may touch.
class GarbageMemory {
 public:
  void begin(bool measuring) {
    if (!measuring) m_words.assign(m_at, garbage);
    m_at = 0;
  }
  template <class V>
  void add(V*& part, std::int64_t count) {
    static_assert(alignof(V) <= alignof(std::uint64_t));
    part = m_words.empty() ? nullptr : reinterpret_cast<V*>(m_words.data() + m_at);
    m_at += (static_cast<std::size_t>(count) * sizeof(V) + 7) / 8;
    if (!m_words.empty()) m_guards.push_back(m_at);
    m_at += 1;
  }
  [[nodiscard]] bool is_whole() const {
    return std::all_of(m_guards.begin(), m_guards.end(),
                       [this](std::size_t i) { return m_words[i] == garbage; });
  }

 private:
  std::vector<std::uint64_t> m_words;
  std::vector<std::size_t> m_guards;
  std::size_t m_at = 0;
};

/// A list of so many, with some more behind it that nobody may touch.
template <class V>
class GuardedList {
 public:
  explicit GuardedList(std::size_t size) : m_values(size + more), m_size(size) {
    std::fill(bytes(0), bytes(m_values.size()), std::byte{0xa5});
  }
  [[nodiscard]] V* data() { return m_values.data(); }
  [[nodiscard]] const V& operator[](std::size_t i) const { return m_values[i]; }
  [[nodiscard]] bool is_whole() {
    return std::all_of(bytes(m_size), bytes(m_values.size()),
                       [](std::byte b) { return b == std::byte{0xa5}; });
  }

 private:
  static constexpr std::size_t more = 64;
  [[nodiscard]] std::byte* bytes(std::size_t i) {
    return reinterpret_cast<std::byte*>(m_values.data() + i);
  }
  std::vector<V> m_values;
  std::size_t m_size;
};

inline constexpr std::uint32_t all_alone = std::numeric_limits<std::uint32_t>::max();

/// How the clip divides its work, which must not matter.
struct Division {
  int teams;
  std::int32_t page_size;
  std::uint32_t most_alone = all_alone;  ///< pixels of a group of bins that one team joins
  std::int64_t bands = 1;
  bool large_teams = false;                                 ///< of the join
  std::int64_t capacity = 0;                                ///< of a team's lists; 0: all pixels
  std::int64_t most_copied = kd::PagedWindow<float>::room;  ///< pixels of a bin
  std::int64_t least_in_refined = 0;                        ///< the same; 0: none are refined
};

template <class T>
class EmulatedClip {
 public:
  EmulatedClip(std::int64_t ny, std::int64_t nx, const Division& division)
      : m_ny(ny),
        m_nx(nx),
        m_division(division),
        m_capacity(division.capacity == 0 ? ny * nx : division.capacity),
        m_gathered(static_cast<std::size_t>(m_capacity * division.teams)),
        m_sorted(static_cast<std::size_t>(ny * nx)),
        m_page_begins(
            static_cast<std::size_t>((ny * nx / division.page_size + 1) * kd::SortedPages<T>::row)),
        m_candidates(static_cast<std::size_t>(m_capacity * division.teams)),
        m_mask(static_cast<std::size_t>(lines(ny, nx) * kd::MaskLines::words)),
        m_touched(static_cast<std::size_t>(lines(ny, nx))) {
    kd::ClipParts<T> parts{};
    parts.lay_out(m_small, division.teams, true);
    std::fill_n(parts.prediction.histogram, kd::SampleBins::count, 0U);
    m_clip = kd::DeviceClip<T>{
        parts,
        division.teams,
        {m_gathered.data(), m_capacity, m_candidates.data(), m_capacity, parts.segments},
        {m_sorted.data(), m_page_begins.data(), parts.pages, division.page_size},
        ny * nx,
        {m_mask.data(), ny * words_per_row(nx), {m_touched.data()}},
        {static_cast<std::uint64_t>(nx),
         static_cast<std::uint64_t>(words_per_row(nx)),
         m_mask.data(),
         {m_touched.data()}},
        &m_outcome};
    m_clip.most_alone = division.most_alone;
    m_clip.least_share = std::max<std::uint32_t>(1, division.most_alone / 2);
    if (division.large_teams) m_clip.many = 0;
    m_clip.most_copied = division.most_copied;
    m_clip.least_refined = division.least_in_refined > 0 ? 0 : ny * nx + 1;
    m_clip.least_in_refined = division.least_in_refined;
  }

  /// `before_replay` may change what is expected.
  const kd::ClipOutcome<T>& run(
      const HostImage<T>& image, const kd::ClipRequest& request,
      const std::function<void(kd::ExpectedClip<T>&)>& before_replay = [](auto&) {}) {
    m_is_read = false;
    m_mask_was_cleared = true;
    m_clip.template enqueue<EmulatedTeams>(
        [&](const std::string& label, int league, const auto& kernel) {
          if (label == "kastor::sigma_clip::read" && !m_is_read) end_of_clearing();
          if (label == "kastor::sigma_clip::replay") before_replay(*m_clip.parts.expected);
          EmulatedLauncher{}(label.c_str(), league, kernel);
        },
        [&](const auto& visit) {
          std::int64_t row = 0;
          for (std::int64_t b = 1; b <= m_division.bands; ++b) {
            const std::int64_t past = m_ny * b / m_division.bands;
            const T* const pixels = image.values.data() + row * m_nx;
            visit(kd::SampledRows<T>{{pixels, past - row, m_nx, m_nx}, row * m_nx});
            row = past;
          }
        },
        request);
    return m_outcome;
  }

  /// What the last run left.
  [[nodiscard]] const kd::ClipParts<T>& parts() const { return m_clip.parts; }
  [[nodiscard]] bool memory_is_whole() {
    return m_small.is_whole() && m_gathered.is_whole() && m_sorted.is_whole() &&
           m_page_begins.is_whole() && m_candidates.is_whole() && m_mask.is_whole() &&
           m_touched.is_whole();
  }
  /// As a call before leaves it: of every third line only. The next run finds out whether the
  /// touched lines are cleared, and the others are left alone.
  void touch_mask() {
    m_was_touched = true;
    for (std::int64_t i = 0; i < lines(m_ny, m_nx); ++i) {
      m_touched.data()[i] = i % 3 == 1 ? 1 : 0;
      std::fill_n(m_mask.data() + 8 * i, 8, i % 3 == 1 ? ~std::uint64_t{0} : untouched);
    }
  }
  [[nodiscard]] bool mask_was_cleared() const { return m_mask_was_cleared; }
  /// Pixels of the group of a tail's bins that has most.
  [[nodiscard]] std::uint32_t heaviest_group() const {
    const std::uint32_t* const of_bin = m_clip.parts.counts.of_bin;
    return *std::max_element(of_bin + kd::SortedPages<T>::first_group,
                             of_bin + kd::SortedPages<T>::bins);
  }
  /// What a helping team takes of a group that is too large for one team: pixels, about.
  [[nodiscard]] std::uint32_t share() const {
    const std::uint32_t* const of_bin = m_clip.parts.counts.of_bin;
    std::uint32_t in_heavy = 0;
    for (int b = kd::SortedPages<T>::first_group; b < kd::SortedPages<T>::bins; ++b)
      in_heavy += of_bin[b] > m_clip.most_alone ? of_bin[b] : 0;
    const auto helpers = static_cast<std::uint32_t>(std::max(1, m_clip.teams / 2));
    return std::max(m_clip.least_share, in_heavy / (2 * helpers) + 1);
  }
  /// Pixels of the bin of the window that has most.
  [[nodiscard]] std::uint64_t fullest_bin() const {
    std::uint64_t most = 0;
    for (int b = 0; b < kd::GatheredBins<T>::window; ++b)
      most = std::max(most, m_clip.parts.begin[b + 1] - m_clip.parts.begin[b]);
    return most;
  }
  /// The pixels above the level: those that the read marked, and those that it listed.
  [[nodiscard]] std::set<std::uint64_t> foreground() const {
    std::set<std::uint64_t> found = marked();
    for (int team = 0; team < m_clip.teams; ++team) {
      for (std::int64_t i = 0; i < m_clip.lists.candidates_by(team); ++i) {
        const auto& candidate = m_candidates[static_cast<std::size_t>(team * m_capacity + i)];
        if (!(static_cast<double>(candidate.value) > m_outcome.level)) continue;
        EXPECT_TRUE(found.insert(candidate.pixel).second) << "listed twice, or marked too";
      }
    }
    return found;
  }
  /// Those that are certainly above it.
  [[nodiscard]] std::set<std::uint64_t> marked() const {
    std::set<std::uint64_t> found;
    const auto nx = static_cast<std::size_t>(m_nx);
    const auto per_row = static_cast<std::size_t>(words_per_row(m_nx));
    for (std::size_t w = 0; w < static_cast<std::size_t>(m_ny) * per_row; ++w) {
      if (m_mask[w] == 0) continue;
      EXPECT_EQ(m_touched[w / kd::MaskLines::words], 1);
      for (std::size_t bit = 0; bit < 64; ++bit) {
        if ((m_mask[w] >> bit & 1) != 0) found.insert(w / per_row * nx + w % per_row * 64 + bit);
      }
    }
    return found;
  }

 private:
  [[nodiscard]] static std::int64_t words_per_row(std::int64_t nx) { return (nx + 63) / 64; }
  [[nodiscard]] static std::int64_t lines(std::int64_t ny, std::int64_t nx) {
    return kd::MaskLines::count(ny * words_per_row(nx));
  }
  /// Before the read sets bits.
  void end_of_clearing() {
    m_is_read = true;
    const auto there = static_cast<std::size_t>(lines(m_ny, m_nx));
    for (std::size_t i = 0; i < 8 * there; ++i) {
      const std::uint64_t before = m_was_touched && i / 8 % 3 != 1 ? untouched : 0;
      if (m_touched[i / 8] != 0 || m_mask[i] != before) m_mask_was_cleared = false;
      m_mask.data()[i] = 0;
    }
    m_was_touched = false;
  }

  std::int64_t m_ny, m_nx;
  Division m_division;
  std::int64_t m_capacity;
  GarbageMemory m_small;
  GuardedList<T> m_gathered, m_sorted;
  GuardedList<std::uint16_t> m_page_begins;
  GuardedList<kd::Candidate<T>> m_candidates;
  static constexpr std::uint64_t untouched = 5;  ///< would be 0, but then a write would go unseen
  GuardedList<std::uint64_t> m_mask;
  GuardedList<std::uint8_t> m_touched;
  bool m_was_touched = false, m_is_read = false, m_mask_was_cleared = false;
  kd::ClipOutcome<T> m_outcome{};
  kd::DeviceClip<T> m_clip{};
};

[[nodiscard]] inline kd::ClipRequest request_of(const kastor::SigmaClipParams& params) {
  kd::ClipLevel level;
  level.sigmas = 4;
  level.about_median = true;
  return {params.kappa, params.max_passes, 1.0, level};
}

}  // namespace testing_support

#endif
