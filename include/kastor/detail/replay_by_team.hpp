// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_REPLAY_BY_TEAM_HPP
#define KASTOR_DETAIL_REPLAY_BY_TEAM_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/gather_device.hpp>
#include <kastor/detail/predict_clip.hpp>
#include <kastor/detail/replay.hpp>
#include <kastor/detail/sort_into_pages.hpp>
#include <kastor/detail/window_pixels.hpp>

namespace kastor::detail {

/// One team, the last step of a clip.
template <class T, class Exec>
struct ReplayByTeam {
  using Member = TeamMember<Exec>;
  static constexpr int threads = ReplaySpace<T>::threads;
  static constexpr int teams_at_once = 1;
  static constexpr int scratch_bytes = sizeof(ReplaySpace<T>) + 16;

  ClipRequest request;
  const Brackets<T>* brackets;
  const GatherResult* read;
  std::int64_t capacity, candidate_capacity;
  const T* tails;
  TailSummaries<T> summaries;
  PagedWindow<T> window;
  std::int64_t pixels;
  ClipOutcome<T>* outcome;   ///< for the next kernels
  ClipOutcome<T>* reported;  ///< for the host

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const TeamCrew<Member> crew(team);
    ClipOutcome<T> made{};
    made.result.pixels = pixels;
    made.result.kappa = request.kappa;
    const int bytes = scratch_bytes - 16;
    auto* space = static_cast<ReplaySpace<T>*>(team.team_scratch(0).get_shmem_aligned(bytes, 16));
    // Of what was not read there is nothing yet, and nobody looks at it.
    const Gathered<T, PagedWindow<T>> gathered{*brackets, read->totals.sums(), tails, summaries,
                                               window};
    made.usable = gathered.brackets.usable;
    if (made.usable != 0) {
      made.longest_list = read->longest_list;
      if (made.longest_list <= capacity)
        replay(crew, gathered, *space, request.kappa, request.max_passes, request.level, made);
      if (read->most_candidates > candidate_capacity) made.candidates_hold = 0;
    }
    if (crew.rank() == 0) *outcome = *reported = made;
  }
};

}  // namespace kastor::detail

#endif
