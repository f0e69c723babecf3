// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_REPLAY_BY_TEAM_HPP
#define KASTOR_DETAIL_REPLAY_BY_TEAM_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/by_side.hpp>
#include <kastor/detail/expected_clip.hpp>
#include <kastor/detail/gather_device.hpp>
#include <kastor/detail/joined_tails.hpp>
#include <kastor/detail/predict_clip.hpp>
#include <kastor/detail/refined_bins.hpp>
#include <kastor/detail/replay.hpp>
#include <kastor/detail/sort_into_pages.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/window_pixels.hpp>
#include <kastor/detail/window_selector.hpp>

namespace kastor::detail {

/// Work space shared by the team.
template <class T>
struct ReplaySpace {
  static constexpr int threads = BySideSpace::threads;
  static_assert(threads == WindowSelectorSpace<T>::threads);

  struct Bins {
    JoinedTailsSpace<T> tails;
    WindowSelectorSpace<T> window;
    union {  // one at a time
      typename WindowSelectorSpace<T>::Sharing sharing;
      BySideSpace by_side;
    };
  };
  union {  // one at a time
    ExpectedClip<T> expected;
    Bins bins;
  };
};

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
  const ExpectedClip<T>* expected;
  const RefinedBins<T>*refined_tails, *refined_window;
  std::int64_t pixels;
  ClipOutcome<T>* outcome;   ///< for the next kernels
  ClipOutcome<T>* reported;  ///< for the host

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const TeamCrew<Member> crew(team);
    ClipOutcome<T> made{};
    made.result.pixels = pixels;
    made.result.kappa = request.kappa;
    auto* const space = scratch_of<ReplaySpace<T>>(team);
    // Of what was not read there is nothing yet, and nobody looks at it.
    const Gathered<T> gathered{*brackets, read->totals.sums()};
    bring_expected(crew, space->expected);
    made.usable = gathered.brackets.usable;
    if (made.usable != 0) {
      made.longest_list = read->longest_list;
      made.most_candidates = read->most_candidates;
      if (made.longest_list <= capacity) clip(crew, gathered, *space, made);
      if (made.most_candidates > candidate_capacity) made.candidates_hold = 0;
    }
    if (crew.rank() == 0) *outcome = *reported = made;
  }

 private:
  KOKKOS_FUNCTION void clip(const TeamCrew<Member>& crew, const Gathered<T>& gathered,
                            ReplaySpace<T>& space, ClipOutcome<T>& made) const {
    using Crew = TeamCrew<Member>;
    const bool is_expected = space.expected.usable != 0;
    ClipProgress<T> at;
    if (is_expected) {
      replay(gathered, ExpectedTails<T>(space.expected), ExpectedWindow<T>(space.expected),
             request.kappa, request.max_passes, request.level, at, made);
      if (made.decided != 0) return;
    }
    crew.barrier();  // what was expected has been read
    auto& in = space.bins;
    const GatheredBins<T> bins(gathered.brackets);
    const WindowSelector<T, Crew> selector(crew, bins, window, refined_window, in.window,
                                           in.sharing);
    const JoinedTails<T, Crew> joined(crew, bins, tails, summaries, refined_tails, in.tails,
                                      in.by_side);
    replay(gathered, joined, selector, request.kappa, request.max_passes, request.level, at, made);
  }

  KOKKOS_FUNCTION void bring_expected(const TeamCrew<Member>& crew, ExpectedClip<T>& to) const {
    using Word = std::uint64_t;
    constexpr int words = sizeof(ExpectedClip<T>) / sizeof(Word);
    constexpr int mine = (words + threads - 1) / threads;
    static_assert(sizeof(ExpectedClip<T>) % sizeof(Word) == 0);
    const auto* const from = reinterpret_cast<const Word*>(expected);
    auto* const into = reinterpret_cast<Word*>(&to);
    Word word[mine];
    KASTOR_UNROLL
    for (int k = 0; k < mine; ++k) {
      const int i = crew.rank() + k * threads;
      word[k] = i < words ? from[i] : 0;
    }
    KASTOR_UNROLL
    for (int k = 0; k < mine; ++k) {
      const int i = crew.rank() + k * threads;
      if (i < words) into[i] = word[k];
    }
    crew.barrier();
  }
};

}  // namespace kastor::detail

#endif
