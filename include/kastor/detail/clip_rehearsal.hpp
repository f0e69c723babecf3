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
#include <kastor/detail/joined_tails.hpp>
#include <kastor/detail/last_not_above.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/replay.hpp>
#include <kastor/detail/team_scratch.hpp>

namespace kastor::detail {

/// 1 / x and the square root of x > 0, nearly: on CUDA one instruction each.
[[nodiscard]] KOKKOS_INLINE_FUNCTION float about_inverse(float x) {
#ifdef __CUDA_ARCH__
  float inverse = 0;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return inverse;
#else
  return 1.0F / x;
#endif
}
[[nodiscard]] KOKKOS_INLINE_FUNCTION float about_sqrt(float x) {
#ifdef __CUDA_ARCH__
  float root = 0;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
#else
  return Kokkos::sqrt(x);
#endif
}

/// What one of the teams that look up answers has to look up.
template <class T>
struct ExpectedQuestion {
  int side = 0, limit = -1;  ///< which limit; -1: none
  int rank = -1;             ///< or which ranks; -1: none
  bool is_asked = false;
  bool is_sound = false;             ///< a limit that can be answered
  T inner = 0, outer = 0;            ///< its bounds
  std::int64_t first = 0, past = 0;  ///< ranks
};

/// The passes of a clip by its outline alone, to find out what the exact passes will ask. In
/// floats, for it only has to be right within a few pixels: what it gets wrong costs time, nothing
/// else. Distances from the centre are in units of the first octave's.
template <class T, class Crew>
class ClipRehearsal {
 public:
  using Tails = JoinedTails<T, Crew>;
  static constexpr int sides = ExpectedClip<T>::sides;
  static constexpr int most_passes = 40;

  KOKKOS_FUNCTION ClipRehearsal(const Gathered<T>& gathered, const Tails& tails,
                                ClipOutline& outline)
      : m_bins(gathered.brackets), m_tails(tails), m_outline(outline) {
    const int exponent = m_bins.exponent_of(0);
    m_unit = power_of_two(exponent);
    const int grid = m_bins.grid_exponent - exponent;
    const double to_unit = power_of_two(-exponent);
    const auto relative = [&](double x) {
      return static_cast<float>((x - m_bins.centre) * to_unit);
    };
    const auto all_of = [&](const TailPart& part) {
      return Part{static_cast<float>(part.count),
                  static_cast<float>(scale_by_power_of_two(part.sum, grid)),
                  static_cast<float>(scale_by_power_of_two(part.squares, 2 * grid)), 0, 0};
    };
    m_all[0] = all_of(m_tails.all(0));
    m_all[1] = all_of(m_tails.all(1));
    m_before[0] = {0, 0, 0, 0, 0};
    m_before[1] = {m_outline->count[ClipOutline::steps], m_outline->sum[ClipOutline::groups],
                   m_outline->squares[ClipOutline::groups], 0, 0};
    const InsideSums& inside = gathered.inside;
    m_n = static_cast<float>(inside.inside);
    m_sum = static_cast<float>(scale_by_power_of_two(inside.sum.to_double(), grid - grid_bits));
    m_squares =
        static_cast<float>(scale_by_power_of_two(inside.squares.to_double(), 2 * grid - grid_bits));
    m_rank = static_cast<float>(static_cast<double>(inside.inside - 1) * 0.5 -
                                static_cast<double>(inside.below));
    m_window_low = relative(m_bins.low);
    m_window_step = (relative(static_cast<double>(m_bins.window_high)) - m_window_low) /
                    static_cast<float>(ClipOutline::window_steps);
    // A bin's pixels do not lie evenly.
    m_doubt_in_bin = 1.5F * about_sqrt(m_outline->window_begin[ClipOutline::window_steps] *
                                       (1.0F / GatheredBins<T>::window));
    m_edge_pixel[0] = gathered.brackets.low_edge;
    m_edge_pixel[1] = gathered.brackets.high_edge;
    m_edge[0] = -relative(static_cast<double>(m_edge_pixel[0]));
    m_edge[1] = relative(static_cast<double>(m_edge_pixel[1]));
  }

  /// Goes through the passes as long as there is room for what they ask. All must call it.
  KOKKOS_FUNCTION void operator()(double kappa, int max_passes, ExpectedQuestion<T>& question) {
    const auto factor = static_cast<float>(kappa);
    const float in_window = m_outline->window_begin[ClipOutline::window_steps];
    float limits[sides] = {Kokkos::Experimental::infinity_v<float>,
                           Kokkos::Experimental::infinity_v<float>};
    float last_rank = -1;
    // A pass that changes little is the last one: those after it ask for what it asked for.
    bool goes_on = true;
    const int most = max_passes > 0 && max_passes < most_passes ? max_passes : most_passes;
    KASTOR_KEEP_LOOP
    for (int pass = 0; goes_on && pass <= most; ++pass) {
      Part parts[sides];
      within(limits, parts);
      const float rank = m_rank + 0.5F * (parts[1].count - parts[0].count);
      if (!(rank >= 0 && rank < in_window - 1)) return;
      if (!expect_ranks(rank, parts[0].in_step + parts[1].in_step, question)) return;
      goes_on = !(Kokkos::fabs(rank - last_rank) < 0.25F * m_last_doubt);
      last_rank = rank;
      const float per_pixel = about_inverse(m_n + (parts[0].count + parts[1].count));
      const float mean = (m_sum + (parts[1].sum - parts[0].sum)) * per_pixel;
      const float variance =
          (m_squares + (parts[0].squares + parts[1].squares)) * per_pixel - mean * mean;
      const float median = value_of_rank(rank);
      const float reach = factor * about_sqrt(variance);
      Next next[sides];
      const float pull = 0.5F * factor * factor * per_pixel;
      by_lanes(next, [&](int side) { return next_limit(side, limits, median, reach, pull); });
      KASTOR_UNROLL
      for (int side = 0; side < sides; ++side) {
        m_is_vague |= next[side].is_vague != 0;
        if (m_is_vague) return;
        if (next[side].is_last != 0 || !expect_limit(side, next[side], question)) return;
        goes_on |= next[side].is_another != 0;
        limits[side] = next[side].limit;
      }
    }
  }

  [[nodiscard]] KOKKOS_FUNCTION int limits(int side) const { return of_side(side, m_limits); }
  [[nodiscard]] KOKKOS_FUNCTION int ranks() const { return m_ranks; }
  /// It ended early, for what the passes ask would hardly be what was expected.
  [[nodiscard]] KOKKOS_FUNCTION bool is_vague() const { return m_is_vague; }

 private:
  /// What a tail has within a limit, as far as that is known.
  struct Part {
    float count, sum, squares;
    float in_step;  ///< pixels of a step that the limit cuts
    int is_coarse;  ///< nothing is known
  };
  struct Next {
    float limit;
    float margin;    ///< about it; 0: it is among what is expected already
    int is_another;  ///< than that of the pass before
    int is_last;     ///< it is no limit of the clip
    int is_vague;    ///< what the outline says of it is too far off for the margin
  };
  /// Where a limit lies in the fine octaves.
  struct Place {
    int octave, step, group;
    float share;        ///< of the step
    float group_begin;  ///< as a distance
    float bin_width;
  };

  [[nodiscard]] KOKKOS_FUNCTION static int octave_of(float limit) {
    return static_cast<int>(Kokkos::bit_cast<std::uint32_t>(limit) >> 23) - 127;
  }
  [[nodiscard]] KOKKOS_FUNCTION static Place place_of(float limit) {
    static_assert(ClipOutline::step == 2 && ClipOutline::steps_of_group == 4);
    const float distance = limit > 1 ? limit : 1.0F;
    const auto bits = Kokkos::bit_cast<std::uint32_t>(distance);
    Place at;
    at.octave = octave_of(distance);
    // Of the bits behind the point, those within a step.
    const int within = 23 + 1 - TailOctaves::bits_of(at.octave);
    const std::uint32_t rest = bits & ((1U << within) - 1);
    at.step = TailOctaves::first_bin_of(at.octave) / ClipOutline::step +
              static_cast<int>((bits & 0x7fffff) >> within);
    at.group = at.step / ClipOutline::steps_of_group;
    const auto power = [](int e) {
      return Kokkos::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23);
    };
    at.share = static_cast<float>(rest) * power(-within);
    at.group_begin = Kokkos::bit_cast<float>(bits >> (within + 2) << (within + 2));
    at.bin_width = power(at.octave - TailOctaves::bits_of(at.octave));
    return at;
  }

  KOKKOS_FUNCTION void within(const float (&limits)[sides], Part (&parts)[sides]) const {
    by_lanes(parts, [&](int side) {
      const float limit = of_side(side, limits);
      const int octave = octave_of(limit);
      if (octave >= m_tails.used(side)) return of_side(side, m_all);
      if (octave >= TailOctaves::fine) return Part{0, 0, 0, 0, 1};
      return within_fine(side, limit);
    });
    if (parts[0].is_coarse != 0 || parts[1].is_coarse != 0) within_coarse(limits, parts);
  }
  /// As if the pixels between two numbers of the outline lay evenly.
  [[nodiscard]] KOKKOS_FUNCTION Part within_fine(int side, float limit) const {
    const Place at = place_of(limit);
    const float* const begin = m_outline->count + side * ClipOutline::steps;
    const float in_step = begin[at.step + 1] - begin[at.step];
    const float in_group =
        begin[at.step] - begin[ClipOutline::steps_of_group * at.group] + at.share * in_step;
    const float d0 = at.group_begin;
    const int group = side * ClipOutline::groups + at.group;
    const Part before = of_side(side, m_before);
    return {begin[at.step] - before.count + at.share * in_step,
            m_outline->sum[group] - before.sum + in_group * 0.5F * (d0 + limit),
            m_outline->squares[group] - before.squares +
                in_group * (1.0F / 3) * (d0 * d0 + (d0 + limit) * limit),
            in_step, 0};
  }
  /// The few wide bins far out are no good for a guess.
  KOKKOS_FUNCTION void within_coarse(const float (&limits)[sides], Part (&parts)[sides]) const {
    TailPart exact[sides];
    (void)m_tails.within({limit_of(0, limits[0]), limit_of(1, limits[1])}, exact);
    const int grid = m_bins.grid_exponent - m_bins.exponent_of(0);
    KASTOR_UNROLL
    for (int side = 0; side < sides; ++side)
      parts[side] = {static_cast<float>(exact[side].count),
                     static_cast<float>(scale_by_power_of_two(exact[side].sum, grid)),
                     static_cast<float>(scale_by_power_of_two(exact[side].squares, 2 * grid)), 0,
                     0};
  }

  [[nodiscard]] KOKKOS_FUNCTION T limit_of(int side, float limit) const {
    return static_cast<T>(m_bins.centre + (side == 0 ? -m_unit : m_unit) * limit);
  }

  [[nodiscard]] KOKKOS_FUNCTION float value_of_rank(float rank) const {
    const float* const begin = m_outline->window_begin;
    const int step = last_not_above_by_lanes(begin, ClipOutline::window_steps, rank);
    const float share = (rank + 0.5F - begin[step]) * about_inverse(begin[step + 1] - begin[step]);
    return m_window_low + (static_cast<float>(step) + share) * m_window_step;
  }

  /// False: there is no more room.
  KOKKOS_FUNCTION bool expect_ranks(float rank, float in_steps, ExpectedQuestion<T>& question) {
    // Those expected last will do if this one is well among them.
    if (Kokkos::fabs(rank - m_last_rank) < 0.5F * m_last_doubt) return true;
    if (m_ranks == ExpectedClip<T>::ranks) return false;
    const float doubt = 12 + 0.6F * about_sqrt(in_steps) + m_doubt_in_bin;
    if (question.rank == m_ranks) {
      question.is_asked = true;
      question.first = static_cast<std::int64_t>(rank - doubt);
      question.past = static_cast<std::int64_t>(rank + doubt) + 2;
    }
    m_last_rank = rank;
    m_last_doubt = doubt;
    ++m_ranks;
    return true;
  }

  /// `pull`: how far one pixel more at a distance of 1 moves a limit.
  [[nodiscard]] KOKKOS_FUNCTION Next next_limit(int side, const float (&limits)[sides],
                                                float median, float reach, float pull) const {
    const float before = of_side(side, limits);
    const float limit = (side == 0 ? -median : median) + reach;
    Next next{limit < before ? limit : before, 0, 0, 0, 0};
    constexpr float infinity = Kokkos::Experimental::infinity_v<float>;
    const bool is_limit = (next.limit >= of_side(side, m_edge)) & (next.limit < infinity);
    next.is_last = is_limit ? 0 : 1;
    const float margin = of_side(side, m_last_margin);
    next.is_another = before - next.limit > 0.25F * margin ? 1 : 0;
    if (octave_of(next.limit) >= m_tails.used(side) ||
        Kokkos::fabs(next.limit - of_side(side, m_last_limit)) < 0.5F * margin)
      return next;
    set_margin(side, pull, next);
    return next;
  }

  /// As above.
  KOKKOS_FUNCTION bool expect_limit(int side, const Next& next, ExpectedQuestion<T>& question) {
    if (!(next.margin > 0)) return true;
    const int count = m_limits[side];
    if (count == ExpectedClip<T>::limits) return false;
    if (question.side == side && question.limit == count) {
      question.is_asked = true;
      ask(side, next, question);
    }
    m_limits[side] = count + 1;
    m_last_limit[side] = next.limit;
    m_last_margin[side] = next.margin;
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
    const float share = in_bin > pixels ? pixels / in_bin : 1.0F;
    next.margin = at.bin_width * share;
    const float passed_on = in_bin / at.bin_width * next.limit * pull;
    next.is_vague = about_sqrt(in_bin) * passed_on > too_far ? 1 : 0;
  }

  GatheredBins<T> m_bins;
  const Tails& m_tails;
  InScratch<ClipOutline> m_outline;
  double m_unit;
  Part m_all[sides];
  Part m_before[sides];         ///< of the outline, before the side
  float m_n, m_sum, m_squares;  ///< between the edges
  float m_rank;                 ///< in the window, of the median of these pixels
  float m_window_low, m_window_step, m_doubt_in_bin;
  float m_edge[sides];
  T m_edge_pixel[sides];
  int m_limits[sides] = {};
  int m_ranks = 0;
  bool m_is_vague = false;
  float m_last_limit[sides] = {}, m_last_margin[sides] = {};
  float m_last_rank = 0, m_last_doubt = 0;
};

}  // namespace kastor::detail

#endif
