// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_FOREGROUND_HPP
#define KASTOR_DETAIL_FOREGROUND_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/candidate_mask.hpp>
#include <kastor/detail/clip_plan.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/sparse_mask.hpp>
#include <kastor/detail/team_launcher.hpp>
#include <kastor/detail/threshold_impl.hpp>
#include <kastor/threshold.hpp>

/// From the candidates that the clip's read marked to the foreground, without reading the image
/// again.
namespace kastor::detail {

/// Device: sets the bits of the listed candidates above the level, in a mask where the read set
/// those of pixels that certainly are; or, if the candidates do not hold, reads a band of the image
/// once more, and writes all its words. Says which lines it touches.
template <class T, class Exec>
struct MarkForeground {
  static constexpr int threads = 256;
  static constexpr int teams_at_once = 6;
  static constexpr int scratch_bytes = 0;
  using Member = TeamMember<Exec>;

  Segmented<T> lists;
  int segments;  ///< 0: another band's kernel marks the candidates
  const ClipOutcome<T>* outcome;
  CandidateMask mask;
  ThresholdWords<T> of_band;
  std::int64_t first_word;  ///< of the band

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (outcome->candidates_hold != 0) {
      for (int s = team.league_rank(); s < segments; s += team.league_size()) mark(team, s);
    } else if (outcome->decided != 0) {
      threshold(team);
    }
  }

 private:
  KOKKOS_FUNCTION void mark(const Member& team, int segment) const {
    mask.set_above(TeamCrew<Member>(team), outcome->foreground_above,
                   lists.candidates + segment * lists.candidate_capacity,
                   lists.candidates_by(segment));
  }
  KOKKOS_FUNCTION void threshold(const Member& team) const {
    ThresholdWords<T> mine = of_band;
    mine.foreground.low = outcome->foreground_above;
    mine.fill(std::int64_t{team.league_rank()} * team.team_size() + team.team_rank(),
              std::int64_t{team.league_size()} * team.team_size(),
              [&](std::int64_t w) { mask.lines.touched[(first_word + w) / MaskLines::words] = 1; });
  }
};

/// Enqueues, behind a clip that was started on a device with this mask, the mask of what is above
/// its level. Holds if the clip comes out as decided.
template <class Exec, class T>
void enqueue_foreground(const Exec& space, const ClipPlan<Exec, T>& clip, Bands<T, Exec> bands,
                        const SparseMask<Exec>& sparse) {
  const Kokkos::Profiling::ScopedRegion region("kastor::threshold");
  const BitMask<Exec>& mask = sparse.mask();
  const std::int64_t per_row = mask.words_per_row();
  const ClipOutcome<T>* outcome = clip.outcome_on_device();
  using Mark = MarkForeground<T, Exec>;
  int segments = clip.teams();
  std::int64_t first_row = 0;
  for (const auto& band : bands) {
    const Rows<T> rows = rows_of<T, Exec>(band);
    const std::int64_t words = rows.ny * per_row;
    if (words > 0) {
      const Mark kernel{clip.lists(),
                        segments,
                        outcome,
                        {static_cast<std::uint64_t>(mask.nx), static_cast<std::uint64_t>(per_row),
                         mask.words.data(), sparse.lines()},
                        {rows, Interval<T>{}, mask.words.data() + first_row * per_row, per_row},
                        first_row * per_row};
      const int teams = static_cast<int>(std::clamp<std::int64_t>(
          words / Mark::threads, clip.teams(), space.concurrency() / Mark::threads));
      TeamLauncher<Exec>{space}("kastor::threshold::mark", teams, kernel);
      segments = 0;
    }
    first_row += rows.ny;
  }
}

/// The same on a host, or after a clip that took more than one attempt.
template <class Exec, class T>
void make_foreground(const Exec& space, const ClipPlan<Exec, T>& clip, Bands<T, Exec> bands,
                     double level, const SparseMask<Exec>& mask) {
  const Kokkos::Profiling::ScopedRegion region("kastor::threshold");
  if constexpr (is_host_space_v<Exec>) {
    if (clip.candidates_hold()) return clip.clear_borderline();
  }
  mask.touch_all();
  std::int64_t first_row = 0;
  for (const auto& band : bands) {
    threshold_into<Exec, T>(space, band, level, mask.mask(), first_row);
    first_row += static_cast<std::int64_t>(band.extent(0));
  }
}

}  // namespace kastor::detail

#endif
