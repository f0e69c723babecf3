// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CLIP_REHEARSAL_HPP
#define KASTOR_DETAIL_CLIP_REHEARSAL_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/by_side.hpp>
#include <kastor/detail/clip_outline.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/expected_clip.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/rough_clip.hpp>

namespace kastor::detail {

/// What one of the teams that look up answers has to look up.
template <class T>
struct ExpectedQuestion {
  int side = 0, limit = -1;  ///< which limit; -1: none
  int rank = -1;             ///< or which ranks; -1: none
  bool is_asked = false;
  bool is_sound = false;             ///< a limit that can be answered
  T inner = 0, outer = 0;            ///< its bounds
  std::int64_t first = 0, past = 0;  ///< ranks
  int bin = 0;                       ///< of the window, about where these ranks are
};

/// What the passes of a clip will ask, as far as they were foreseen.
template <class T>
struct ExpectedQuestions {
  int limits[2] = {};  ///< of each side
  int ranks = 0;
  bool is_vague = false;  ///< it ended early, for they would hardly ask what was expected
  ExpectedQuestion<T> question;
  // The last ones.
  float last_limit[2] = {}, last_margin[2] = {};
  float last_rank = 0, last_doubt = 0;
};

/// The passes of a clip by its outline alone, to find out what the exact passes will ask. What it
/// gets wrong costs time, nothing else.
template <class T, class Crew>
class ClipRehearsal : RoughClip<T, Crew> {
  using Rough = RoughClip<T, Crew>;
  using Rough::m_bins, Rough::m_doubt_in_bin, Rough::m_edge_pixel, Rough::m_outline, Rough::m_tails;
  using Rough::octave_of, Rough::place_of, Rough::limit_of;
  using typename Rough::Pass;
  using typename Rough::Place;

 public:
  static constexpr int sides = ExpectedClip<T>::sides;

  KOKKOS_FUNCTION explicit ClipRehearsal(const RoughClip<T, Crew>& clip) : Rough(clip) {}

  /// Goes through the passes as long as there is room for what they ask. `question`: which of them
  /// is wanted. All must call it.
  [[nodiscard]] KOKKOS_FUNCTION ExpectedQuestions<T> operator()(
      double kappa, int max_passes, const ExpectedQuestion<T>& question) {
    begin(question);
    if (go_through<false>(kappa, max_passes)) return m_found;
    begin(question);
    (void)go_through<true>(kappa, max_passes);
    return m_found;
  }

 private:
  KOKKOS_FUNCTION void begin(const ExpectedQuestion<T>& question) {
    m_found = {};
    m_found.question = question;
  }
  /// False: a limit is far, and has to be looked up.
  template <bool LooksFar>
  [[nodiscard]] KOKKOS_FUNCTION bool go_through(double kappa, int max_passes) {
    const auto factor = static_cast<float>(kappa);
    float limits[sides] = {Kokkos::Experimental::infinity_v<float>,
                           Kokkos::Experimental::infinity_v<float>};
    float last_rank = -1;
    // A pass that changes little is the last one: those after it ask for what it asked for.
    bool goes_on = true;
    const int end = Rough::end_of_passes(max_passes);
    Pass now;
    KASTOR_KEEP_LOOP
    for (int pass = 0; goes_on && pass < end; ++pass) {
      if (!Rough::template look<LooksFar>(limits, factor, now)) return LooksFar || !now.is_far;
      if (!expect_ranks(now)) return true;
      goes_on = !(Kokkos::fabs(now.rank - last_rank) < 0.25F * m_found.last_doubt);
      last_rank = now.rank;
      Next next[sides];
      const float pull = 0.5F * factor * factor * now.per_pixel;
      by_lanes(next, [&](int side) { return next_limit(side, limits, now, pull); });
      KASTOR_UNROLL
      for (int side = 0; side < sides; ++side) {
        m_found.is_vague |= next[side].is_vague != 0;
        if (m_found.is_vague) return true;
        if (next[side].is_last != 0 || !expect_limit(side, next[side])) return true;
        goes_on |= next[side].is_another != 0;
        limits[side] = next[side].limit;
      }
    }
    return true;
  }

  struct Next {
    float limit;
    float margin;    ///< about it; 0: it is among what is expected already
    int is_another;  ///< than that of the pass before
    int is_last;     ///< it is no limit of the clip
    int is_vague;    ///< what the outline says of it is too far off for the margin
  };
  /// False: there is no more room.
  KOKKOS_FUNCTION bool expect_ranks(const Pass& now) {
    const float rank = now.rank;
    // Those expected last will do if this one is well among them.
    if (Kokkos::fabs(rank - m_found.last_rank) < 0.5F * m_found.last_doubt) return true;
    if (m_found.ranks == ExpectedClip<T>::ranks) return false;
    constexpr float least = 12;
    const float wanted = least + 0.6F * about_sqrt(now.in_steps) + m_doubt_in_bin;
    // With that of where these ranks lie there have to be places for them.
    const float most = 0.5F * (ExpectedClip<T>::most_pixels - 2 - m_doubt_in_bin);
    const float doubt = wanted < most ? wanted : (most > least ? most : least);
    ExpectedQuestion<T>& question = m_found.question;
    if (question.rank == m_found.ranks) {
      question.is_asked = true;
      question.first = static_cast<std::int64_t>(rank - doubt);
      question.past = static_cast<std::int64_t>(rank + doubt) + 2;
      constexpr float of_step = GatheredBins<T>::window / ClipOutline::window_steps;
      question.bin = static_cast<int>(of_step * now.place);
    }
    m_found.last_rank = rank;
    m_found.last_doubt = doubt;
    ++m_found.ranks;
    return true;
  }

  /// `pull`: how far one pixel more at a distance of 1 moves a limit.
  [[nodiscard]] KOKKOS_FUNCTION Next next_limit(int side, const float (&limits)[sides],
                                                const Pass& now, float pull) const {
    const float before = of_side(side, limits);
    Next next{Rough::limit_after(side, before, now), 0, 0, 0, 0};
    next.is_last = Rough::is_limit(side, next.limit) ? 0 : 1;
    const float margin = of_side(side, m_found.last_margin);
    next.is_another = before - next.limit > 0.25F * margin ? 1 : 0;
    if (octave_of(next.limit) >= m_tails.used(side) ||
        Kokkos::fabs(next.limit - of_side(side, m_found.last_limit)) < 0.5F * margin)
      return next;
    set_margin(side, pull, next);
    return next;
  }

  /// As above.
  KOKKOS_FUNCTION bool expect_limit(int side, const Next& next) {
    if (!(next.margin > 0)) return true;
    const int count = m_found.limits[side];
    if (count == ExpectedClip<T>::limits) return false;
    ExpectedQuestion<T>& question = m_found.question;
    if (question.side == side && question.limit == count) {
      question.is_asked = true;
      ask(side, next, question);
    }
    m_found.limits[side] = count + 1;
    m_found.last_limit[side] = next.limit;
    m_found.last_margin[side] = next.margin;
    return true;
  }
  /// The exact bounds: not inside the edges, as no limit is, and in one octave, which has pixels or
  /// lies before one that does.
  KOKKOS_FUNCTION void ask(int side, const Next& next, ExpectedQuestion<T>& question) const {
    const T edge = of_side(side, m_edge_pixel);
    const auto bound_at = [&](float distance) {
      const T bound = limit_of(side, distance);
      return is_within(side, bound, edge) ? edge : bound;
    };
    const auto octave = [&](T x) { return TailOctaves::octave_of(m_bins.in_tail(x)); };
    const T expected = bound_at(next.limit);
    question.inner = bound_at(next.limit - next.margin);
    question.outer = bound_at(next.limit + next.margin);
    question.is_sound = Interval<T>{}.contains(expected) && octave(expected) < m_tails.used(side);
    const auto belongs = [&](T bound) {
      return Interval<T>{}.contains(bound) && octave(bound) == octave(expected);
    };
    if (!belongs(question.inner)) question.inner = expected;
    if (!belongs(question.outer)) question.outer = expected;
  }
  /// So far to either side of a limit lie some pixels, as a rule. The outline is off by some half
  /// of the root of a bin's pixels, as chance has it, and the next limit by what that pulls it, in
  /// pixels there.
  KOKKOS_FUNCTION void set_margin(int side, float pull, Next& next) const {
    constexpr float pixels = 7;
    constexpr float too_far = 8;
    if (octave_of(next.limit) >= TailOctaves::fine) {
      next.margin = next.limit * 1e-6F;
      return;
    }
    const Place at = place_of(next.limit);
    constexpr int steps = ClipOutline::steps_of_group;
    const float* const before = m_outline->count + side * ClipOutline::steps + steps * at.group;
    const float in_bin = (before[steps] - before[0]) * (1.0F / TailOctaves::in_group);
    const float share = in_bin > pixels ? pixels * about_inverse(in_bin) : 1.0F;
    next.margin = at.bin_width * share;
    const float passed_on = in_bin * about_inverse(at.bin_width) * next.limit * pull;
    next.is_vague = about_sqrt(in_bin) * passed_on > too_far ? 1 : 0;
  }

  ExpectedQuestions<T> m_found;
};

}  // namespace kastor::detail

#endif
