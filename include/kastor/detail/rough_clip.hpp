// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_ROUGH_CLIP_HPP
#define KASTOR_DETAIL_ROUGH_CLIP_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/by_side.hpp>
#include <kastor/detail/clip_outline.hpp>
#include <kastor/detail/crew.hpp>
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

/// What a pass of a clip finds, by its outline alone: in floats, for it only has to be right within
/// a few pixels. Distances from the centre are in units of the first octave's.
template <class T, class Crew>
class RoughClip {
 public:
  using Tails = JoinedTails<T, Crew>;
  static constexpr int sides = Tails::sides;
  static constexpr int most_passes = 40;  ///< that are foreseen

  /// The first pass that is not gone through, of a clip of so many at most; 0: of any number.
  [[nodiscard]] KOKKOS_FUNCTION static int end_of_passes(int max_passes) {
    return (max_passes > 0 && max_passes < most_passes ? max_passes : most_passes) + 1;
  }

  KOKKOS_FUNCTION RoughClip(const Gathered<T>& gathered, const Tails& tails, ClipOutline& outline)
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

 protected:
  /// What a tail has within a limit, as far as that is known.
  struct Part {
    float count, sum, squares;
    float in_step;  ///< pixels of a step that the limit cuts
    int is_wide;    ///< nothing is known
  };
  /// Where a limit lies in the fine octaves.
  struct Place {
    int octave, step, group;
    float share;        ///< of the step
    float group_begin;  ///< as a distance
    float bin_width;
  };

  /// Of the pixels within limits.
  struct Pass {
    float rank;      ///< of the median, in the window
    float in_steps;  ///< pixels of the steps that the limits cut
    /// Of the median, in steps of the window; before the first pass about where it is.
    float place = 0.5F * ClipOutline::window_steps;
    float median;
    float reach;      ///< so far from it the next limits are
    float per_pixel;  ///< 1 / their number
    bool is_far;      ///< a limit lies beyond the fine octaves
  };

  /// `pass`: the one before, then this one. False: the median is not in the window, or a limit is
  /// far, unless that is looked up. Where it is, the code for it makes every pass longer.
  template <bool LooksFar>
  KOKKOS_FUNCTION bool look(const float (&limits)[sides], float factor, Pass& pass) const {
    Part parts[sides];
    within_fine_octaves(limits, parts);
    pass.is_far = (parts[0].is_wide | parts[1].is_wide) != 0;
    if constexpr (LooksFar) {
      look_far(limits, parts);
    } else {
      if (pass.is_far) return false;
    }
    pass.rank = m_rank + 0.5F * (parts[1].count - parts[0].count);
    if (!(pass.rank >= 0 && pass.rank < m_outline->window_begin[ClipOutline::window_steps] - 1))
      return false;
    pass.in_steps = parts[0].in_step + parts[1].in_step;
    pass.per_pixel = about_inverse(m_n + (parts[0].count + parts[1].count));
    const float mean = (m_sum + (parts[1].sum - parts[0].sum)) * pass.per_pixel;
    const float variance =
        (m_squares + (parts[0].squares + parts[1].squares)) * pass.per_pixel - mean * mean;
    pass.place = place_of_rank(pass.rank, static_cast<int>(pass.place));
    pass.median = m_window_low + pass.place * m_window_step;
    pass.reach = factor * about_sqrt(variance);
    return true;
  }
  /// The limit that follows; the one before, where it would lie farther out.
  [[nodiscard]] KOKKOS_FUNCTION static float limit_after(int side, float before, const Pass& pass) {
    const float limit = (side == 0 ? -pass.median : pass.median) + pass.reach;
    return limit < before ? limit : before;
  }
  /// Whether it is a limit of the clip.
  [[nodiscard]] KOKKOS_FUNCTION bool is_limit(int side, float limit) const {
    constexpr float infinity = Kokkos::Experimental::infinity_v<float>;
    return (limit >= of_side(side, m_edge)) & (limit < infinity);
  }

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

  [[nodiscard]] KOKKOS_FUNCTION T limit_of(int side, float limit) const {
    return static_cast<T>(m_bins.centre + (side == 0 ? -m_unit : m_unit) * limit);
  }

  GatheredBins<T> m_bins;
  const Tails& m_tails;
  InScratch<ClipOutline> m_outline;
  float m_doubt_in_bin;
  T m_edge_pixel[sides];

 private:
  KOKKOS_FUNCTION void within_fine_octaves(const float (&limits)[sides],
                                           Part (&parts)[sides]) const {
    by_lanes(parts, [&](int side) {
      const float limit = of_side(side, limits);
      const int octave = octave_of(limit);
      if (octave >= m_tails.used(side)) return of_side(side, m_all);
      if (octave >= TailOctaves::fine) return Part{0, 0, 0, 0, 1};
      return within_fine(side, limit);
    });
  }
  KOKKOS_FUNCTION void look_far(const float (&limits)[sides], Part (&parts)[sides]) const {
    // In a loop, which is half of the code.
    KASTOR_KEEP_LOOP
    for (int side = 0; side < sides; ++side) {
      if (of_side(side, parts).is_wide == 0) continue;
      const Part part = within_wide(side, of_side(side, limits));
      (side == 0 ? parts[0] : parts[1]) = part;
    }
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
  /// The wide bins far out are no good for a guess.
  [[nodiscard]] KOKKOS_FUNCTION Part within_wide(int side, float limit) const {
    const TailPart exact = m_tails.within(side, limit_of(side, limit));
    const int grid = m_bins.grid_exponent - m_bins.exponent_of(0);
    return {static_cast<float>(exact.count),
            static_cast<float>(scale_by_power_of_two(exact.sum, grid)),
            static_cast<float>(scale_by_power_of_two(exact.squares, 2 * grid)), 0, 0};
  }

  /// `near`: a step where it probably is.
  [[nodiscard]] KOKKOS_FUNCTION float place_of_rank(float rank, int near) const {
    const float* const begin = m_outline->window_begin;
    const int step = last_not_above_near(begin, ClipOutline::window_steps, rank, near);
    const float share = (rank + 0.5F - begin[step]) * about_inverse(begin[step + 1] - begin[step]);
    return static_cast<float>(step) + share;
  }

  double m_unit;
  Part m_all[sides];
  Part m_before[sides];         ///< of the outline, before the side
  float m_n, m_sum, m_squares;  ///< between the edges
  float m_rank;                 ///< in the window, of the median of these pixels
  float m_window_low, m_window_step;
  float m_edge[sides];
};

}  // namespace kastor::detail

#endif
