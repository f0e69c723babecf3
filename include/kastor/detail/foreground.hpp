// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_FOREGROUND_HPP
#define KASTOR_DETAIL_FOREGROUND_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/clip_plan.hpp>
#include <kastor/detail/threshold_impl.hpp>
#include <kastor/threshold.hpp>

/// From the candidates that the clip's read marked to the foreground, without reading the image
/// again.
namespace kastor::detail {

/// Host: clears the bits of candidates that are not above the level; other words are zero.
template <class T>
struct RefineWords {
  Rows<T> rows;
  T above;
  std::uint64_t* words;
  std::int64_t words_per_row;

  KOKKOS_FUNCTION void operator()(std::int64_t y) const {
    const T* pixels = rows.data + y * rows.pitch;
    std::uint64_t* row = words + y * words_per_row;
    for (std::int64_t w = 0; w < words_per_row; ++w) {
      if (row[w] == 0) continue;
      std::uint64_t kept = row[w];
      for (std::uint64_t rest = kept; rest != 0; rest &= rest - 1) {
        const int bit = lowest_one(rest);
        if (!(pixels[64 * w + bit] > above)) kept &= ~(std::uint64_t{1} << bit);
      }
      row[w] = kept;
    }
  }
};

/// Device: sets the bits of a team's candidates above the level, in a mask that is clear.
template <class T, class Exec>
struct MarkCandidates {
  static constexpr int threads = 256;
  Segmented<T> lists;
  const ClipOutcome<T>* outcome;
  std::uint64_t nx;
  std::uint64_t words_per_row;
  std::uint64_t* words;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<Exec>::member_type& team) const {
    if (outcome->candidates_hold == 0) return;
    const T above = outcome->foreground_above;
    const Candidate<T>* mine = lists.candidates + team.league_rank() * lists.candidate_capacity;
    const std::int64_t n = lists.candidates_by(team.league_rank());
    for (std::int64_t i = team.team_rank(); i < n; i += team.team_size()) {
      if (!(mine[i].value > above)) continue;
      const std::uint64_t y = mine[i].pixel / nx;
      const std::uint64_t x = mine[i].pixel % nx;
      Kokkos::atomic_or(&words[y * words_per_row + x / 64], std::uint64_t{1} << (x % 64));
    }
  }
};

/// Device: reads the image once more if the candidates do not hold.
template <class T, class Exec>
struct ThresholdWithoutCandidates {
  static constexpr int threads = 256;
  FillWord<T> fill;
  std::int64_t words;
  const ClipOutcome<T>* outcome;

  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<Exec>::member_type& team) const {
    if (outcome->candidates_hold != 0 || outcome->decided == 0) return;
    FillWord<T> mine = fill;
    mine.foreground.low = outcome->foreground_above;
    const std::int64_t step = std::int64_t{team.league_size()} * team.team_size();
    for (std::int64_t w = team.league_rank() * team.team_size() + team.team_rank(); w < words;
         w += step) {
      mine(w);
    }
  }
};

/// Enqueues, behind a clip that was started on a device with this mask, the mask of what is above
/// its level. Holds if the clip comes out as decided.
template <class Exec, class T>
void enqueue_foreground(const Exec& space, const ClipPlan<Exec, T>& clip, Bands<T, Exec> bands,
                        const BitMask<Exec>& mask) {
  const Kokkos::Profiling::ScopedRegion region("kastor::threshold");
  using Team = Kokkos::TeamPolicy<Exec>;
  const std::int64_t per_row = mask.words_per_row();
  const ClipOutcome<T>* outcome = clip.outcome_on_device();
  using Mark = MarkCandidates<T, Exec>;
  Kokkos::parallel_for("kastor::threshold::mark_candidates",
                       Team(space, clip.teams(), Mark::threads),
                       Mark{clip.lists(), outcome, static_cast<std::uint64_t>(mask.nx),
                            static_cast<std::uint64_t>(per_row), mask.words.data()});
  std::int64_t first_row = 0;
  for (const auto& band : bands) {
    const Rows<T> rows = rows_of<T, Exec>(band);
    using Threshold = ThresholdWithoutCandidates<T, Exec>;
    const std::int64_t words = rows.ny * per_row;
    if (words > 0) {
      const Threshold kernel{
          {rows, Interval<T>{}, mask.words.data() + first_row * per_row, per_row}, words, outcome};
      const int teams = static_cast<int>(std::clamp<std::int64_t>(
          words / Threshold::threads, 1, space.concurrency() / Threshold::threads));
      Kokkos::parallel_for("kastor::threshold::fill_words", Team(space, teams, Threshold::threads),
                           kernel);
    }
    first_row += rows.ny;
  }
}

/// The same on a host, or after a clip that took more than one attempt.
template <class Exec, class T>
void make_foreground(const Exec& space, const ClipPlan<Exec, T>& clip, Bands<T, Exec> bands,
                     double level, const BitMask<Exec>& mask) {
  const Kokkos::Profiling::ScopedRegion region("kastor::threshold");
  std::int64_t first_row = 0;
  for (const auto& band : bands) {
    const Rows<T> rows = rows_of<T, Exec>(band);
    if (is_host_space_v<Exec> && clip.candidates_hold()) {
      Kokkos::parallel_for(
          "kastor::threshold::refine_words",
          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(space, 0, rows.ny),
          RefineWords<T>{rows, clip.outcome().foreground_above,
                         mask.words.data() + first_row * mask.words_per_row(),
                         mask.words_per_row()});
    } else {
      threshold_into<Exec, T>(space, band, level, mask, first_row);
    }
    first_row += rows.ny;
  }
}

}  // namespace kastor::detail

#endif
