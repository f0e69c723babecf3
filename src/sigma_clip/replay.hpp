// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_REPLAY_HPP
#define KASTOR_SIGMA_CLIP_REPLAY_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/sigma_clip.hpp>

#include "core/group.hpp"
#include "core/intrinsics.hpp"
#include "sigma_clip/brackets.hpp"
#include "sigma_clip/read.hpp"
#include "sigma_clip/segments.hpp"
#include "sigma_clip/sort.hpp"
#include "sigma_clip/tails.hpp"
#include "sigma_clip/window.hpp"

/// Replays every pass of a clip, exactly, on the gathered pixels.
namespace kastor::detail {

/// The outcome of a clip, in memory that the host reads after its fence.
template <class T>
struct ClipOutcome {
  SigmaClipResult result;
  std::int64_t longest_segment;  ///< number of pixels gathered by the group that gathered most
  int usable;                    ///< the sample was good enough for brackets
  int decided;                   ///< 0: a bracket failed, or pixels were lost
  int candidates_hold;           ///< the candidates include all of the foreground
  T foreground_above;            ///< foreground is above it: the threshold, rounded down to T
};

/// Adds what follows for the foreground.
template <class T>
KOKKOS_FUNCTION void conclude(const ClipRequest& request, const Brackets<T>& brackets,
                              ClipOutcome<T>& out) {
  const double level = request.level.of(out.result.clipped.median, out.result.clipped.std);
  out.foreground_above = core::bound_below<T>(level);
  // Candidates between the edges were not marked.
  out.candidates_hold = out.decided != 0 && brackets.candidate >= brackets.high_edge &&
                                out.foreground_above >= brackets.candidate
                            ? 1
                            : 0;
}

/// The pixels that remain after a pass.
struct ClipPopulation {
  std::int64_t n = 0;
  std::int64_t tail[2] = {};    ///< number of pixels in the lower and the upper tail
  double sum = 0, squares = 0;  ///< sums over the distances from the centre, in units of the grid
};

/// The plain iteration of the clip, on the answers of tails and window. All threads of a group
/// execute it together, with the same numbers; so do all ranks that share an image.
template <class T, class TailAnswers, class WindowAnswers>
class Replay {
 public:
  KASTOR_MAY_CALL_HOST
  KOKKOS_FUNCTION Replay(const Brackets<T>& brackets, const InsideSums& inside, TailAnswers& tails,
                         WindowAnswers& window)
      : m_brackets(brackets),
        m_inside(inside),
        m_tails(tails),
        m_window(window),
        m_inside_sum(core::scale_by_power_of_two(inside.sum.to_double(), -core::grid_bits)),
        m_inside_squares(core::scale_by_power_of_two(inside.squares.to_double(), -core::grid_bits)),
        m_in_window(window.pixels()) {
    for (int i = 0; i < brackets.repeated; ++i) {
      m_below_repeated[i] = window.below(brackets.value_of[i]);
      m_in_window += inside.repeated[i];
    }
  }

  /// Runs the clip. False if a bracket failed.
  KASTOR_MAY_CALL_HOST
  [[nodiscard]] KOKKOS_FUNCTION bool operator()(double kappa, int max_passes,
                                                SigmaClipResult& result) {
    if (!m_tails.hold_all()) return false;
    core::Interval<T> interval, next;
    ClipPopulation now, left;
    Statistics s;
    // Each step is written only once: a device spends most of the time fetching this code.
    for (bool is_first = true;; is_first = false) {
      left = {};
      if (next.low < next.high && !count(next, left)) return false;
      if (is_first) {
        result.blank = result.pixels - left.n;
        if (left.n == 0) return true;
      } else {
        result.degenerate = left.n == 0;
        result.converged = left.n == now.n;
      }
      const bool is_last =
          result.degenerate || result.converged || (!is_first && result.passes == max_passes);
      if (!is_last) {
        if (!describe(left, s)) return false;
        interval = next;
        now = left;
        ++result.passes;
      }
      if ((is_first || is_last) && !find_extremes(interval, now, s)) return false;
      if (is_first) result.all = s;
      if (is_last) break;
      const core::Interval<T> limits =
          core::interval_between<T>(s.median - kappa * s.std, s.median + kappa * s.std);
      next.low = limits.low > interval.low ? limits.low : interval.low;
      next.high = limits.high < interval.high ? limits.high : interval.high;
    }
    result.clipped = s;
    return true;
  }

 private:
  /// Counts and sums the pixels of an interval. False if a limit lies between the edges.
  KASTOR_MAY_CALL_HOST
  [[nodiscard]] KOKKOS_FUNCTION bool count(const core::Interval<T>& interval,
                                           ClipPopulation& p) const {
    if (interval.low > m_brackets.low_edge || interval.high < m_brackets.high_edge) return false;
    TailPart parts[2];
    m_tails.within(interval, parts);
    p.tail[0] = parts[0].count;
    p.tail[1] = parts[1].count;
    p.n = p.tail[0] + p.tail[1] + m_inside.inside;
    // The order of these sums is part of the result.
    p.sum = 0.0 - parts[0].sum + parts[1].sum + m_inside_sum;
    p.squares = 0.0 + parts[0].squares + parts[1].squares + m_inside_squares;
    return true;
  }

  /// Computes mean, std and median. False if the median is not in the window.
  [[nodiscard]] KOKKOS_FUNCTION bool describe(const ClipPopulation& p, Statistics& s) {
    const auto n = static_cast<double>(p.n);
    const int exponent = m_brackets.grid.exponent;
    const double mean = p.sum / n;
    const double variance = (p.squares - p.sum * mean) / n;
    s.count = p.n;
    s.mean = core::without_sign_of_zero(static_cast<double>(m_brackets.centre) +
                                        core::scale_by_power_of_two(mean, exponent));
    s.std = variance > 0 ? core::scale_by_power_of_two(Kokkos::sqrt(variance), exponent) : 0.0;
    const std::int64_t below = m_inside.below + p.tail[0];
    const std::int64_t lower = (p.n - 1) / 2 - below;
    const std::int64_t upper = p.n / 2 - below;
    if (lower < 0 || upper >= m_in_window) return false;
    double middle[2] = {};
    KASTOR_KEEP_LOOP
    for (std::int64_t rank = lower; rank <= upper; ++rank) {
      middle[0] = middle[1];
      middle[1] = static_cast<double>(in_window(rank));
    }
    s.median = core::without_sign_of_zero(
        core::midpoint(lower == upper ? middle[1] : middle[0], middle[1]));
    return true;
  }

  /// Finds the smallest and the largest pixel of an interval. False if they are neither in the
  /// tails nor in the window.
  KASTOR_MAY_CALL_HOST
  [[nodiscard]] KOKKOS_FUNCTION bool find_extremes(const core::Interval<T>& interval,
                                                   const ClipPopulation& p, Statistics& s) {
    const bool above_window = m_inside.inside > m_inside.below + m_in_window;
    if ((p.tail[0] == 0 && m_inside.below > 0) || (p.tail[1] == 0 && above_window)) return false;
    if ((p.tail[0] == 0 || p.tail[1] == 0) && m_in_window == 0) return false;
    KASTOR_KEEP_LOOP
    for (int side = 0; side < 2; ++side) {
      const T x = p.tail[side] > 0 ? m_tails.outermost(side, interval)
                                   : in_window(side == 0 ? 0 : m_in_window - 1);
      (side == 0 ? s.min : s.max) = core::without_sign_of_zero(static_cast<double>(x));
    }
    return true;
  }

  /// The pixel of a given rank in the window, repeated values included.
  KASTOR_MAY_CALL_HOST
  [[nodiscard]] KOKKOS_FUNCTION T in_window(std::int64_t rank) {
    std::int64_t before = 0;  // number of pixels of the repeated values below
    for (int i = 0; i < m_brackets.repeated; ++i) {
      const std::int64_t first = before + m_below_repeated[i];
      if (rank < first) break;
      if (rank < first + m_inside.repeated[i]) return m_brackets.value_of[i];
      before += m_inside.repeated[i];
    }
    return m_window(rank - before);
  }

  const Brackets<T>& m_brackets;
  const InsideSums& m_inside;
  TailAnswers& m_tails;
  WindowAnswers& m_window;
  double m_inside_sum, m_inside_squares;  ///< in units of the grid
  std::int64_t m_in_window;               ///< pixels in the window, repeated values included
  std::int64_t m_below_repeated[Brackets<T>::max_repeated] = {};
};

/// One group replays the clip and computes the threshold that follows from it.
template <class Exec, class T>
struct ReplayClip {
  static constexpr int threads = 128;
  struct Space {
    TailsSpace tails;
    WindowSpace<T> window;
  };
  static constexpr int scratch_bytes = sizeof(Space);

  ClipRequest request;
  std::int64_t pixels;
  const Brackets<T>* brackets;
  const InsideTotals* totals;
  Segments<T> segments;
  SortedBins<T> sorted;
  ClipOutcome<T>* outcome;          ///< in the memory of Exec
  ClipOutcome<T>* outcome_on_host;  ///< in memory that the host reads

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto& space = *group.template scratch<Space>();
    ClipOutcome<T> out{};
    out.usable = brackets->usable;
    std::int64_t longest = 0;
    group.for_each(segments.segments, [&](std::int64_t s) {
      const std::int64_t wanted = segments[s].wanted();
      longest = wanted > longest ? wanted : longest;
    });
    out.longest_segment = group.max(longest);
    out.result.pixels = pixels;
    out.result.kappa = request.kappa;
    if (out.usable != 0 && out.longest_segment <= segments.capacity) replay(group, space, out);
    if (group.rank() == 0) *outcome = *outcome_on_host = out;
  }

 private:
  KOKKOS_FUNCTION void replay(const core::Group<Exec>& group, Space& space,
                              ClipOutcome<T>& out) const {
    const Brackets<T> b = *brackets;
    const InsideSums inside = totals->sums();
    const GatheredBins<T> bins(b);
    Tails<Exec, T> tails(group, bins, sorted, space.tails);
    Window<Exec, T> window(group, bins, sorted, space.window);
    Replay<T, Tails<Exec, T>, Window<Exec, T>> clip(b, inside, tails, window);
    out.decided = clip(request.kappa, request.max_passes, out.result) ? 1 : 0;
    conclude(request, b, out);
  }
};

}  // namespace kastor::detail

#endif
