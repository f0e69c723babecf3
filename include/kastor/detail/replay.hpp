// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_REPLAY_HPP
#define KASTOR_DETAIL_REPLAY_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/brackets.hpp>
#include <kastor/detail/divisor.hpp>
#include <kastor/detail/gather.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/sigma_clip.hpp>

/// Replays every pass of a clip, exactly, on the gathered pixels.
namespace kastor::detail {

/// -0 and +0 are one number, and which of them comes out must not depend on an order.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double without_sign_of_zero(double x) { return x + 0.0; }

/// The mean of two middle pixels without overflow.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double midpoint(double a, double b) {
  if (a == b) return a;
  const bool safe = Kokkos::fabs(a) < 1e300 && Kokkos::fabs(b) < 1e300;
  return safe ? (a + b) * 0.5 : a * 0.5 + b * 0.5;
}

/// What a clip leaves in memory that the host reads after its fence.
template <class T>
struct ClipOutcome {
  SigmaClipResult result;
  std::int64_t longest_list;     ///< pixels gathered; on a device by the team that gathered most
  std::int64_t most_candidates;  ///< devices: likewise
  int usable;                    ///< the sample was of use
  int decided;                   ///< 0: a bracket failed, or pixels were lost
  int candidates_hold;           ///< the foreground is the candidates above `level`, all those that
                                 ///< were thought certain among them
  double level;
  T foreground_above;  ///< the same, as a bound of pixels
};

/// What the read left, but for the pixels.
template <class T>
struct Gathered {
  Brackets<T> brackets;
  InsideSums inside;
};

/// Pixels that a pass may have left.
struct ClipPopulation {
  std::int64_t n = 0;
  std::int64_t tail[2] = {};    ///< of the lower and the upper tail
  double sum = 0, squares = 0;  ///< of the distances from the centre, in units of the grid
};

/// How far the passes came; with how many there were, all that the next one needs.
template <class T>
struct ClipProgress {
  Interval<T> interval, next;  ///< of the last pass, and what it leaves
  ClipPopulation now;          ///< of the last pass
  Statistics s;                ///< of these; where a pass failed some may be the next one's
};

/// `Tails` answers for the pixels beyond the edges, `Window` for those around the medians: a
/// device's are ExpectedTails and ExpectedWindow, which may not know, or JoinedTails and
/// WindowSelector; a host's ListedTails and ListedWindow.
template <class T, class Tails, class Window>
class Replay {
 public:
  /// All of a crew must call it, and what follows.
  KASTOR_NO_CHECK_OF_CALLS
  KOKKOS_FUNCTION Replay(const Gathered<T>& g, const Tails& tails, const Window& window)
      : m_g(g),
        m_tails(tails),
        m_stored(window),
        m_low_edge(g.brackets.low_edge),
        m_high_edge(g.brackets.high_edge),
        m_centre(static_cast<double>(g.brackets.centre)),
        m_exponent(g.brackets.grid.exponent),
        m_spikes(g.brackets.spikes),
        m_inside(g.inside.inside),
        m_below(g.inside.below),
        m_inside_sum(scale_by_power_of_two(g.inside.sum.to_double(), -grid_bits)),
        m_inside_squares(scale_by_power_of_two(g.inside.squares.to_double(), -grid_bits)) {
    m_window = m_stored.pixels();
    for (int s = 0; s < m_spikes; ++s) {
      m_below_spike[s] = m_stored.below(m_g.brackets.spike[s]);
      m_window += m_g.inside.spike[s];
    }
  }

  /// The clip's plain iteration, from where `at` and `result` are; false: a bracket failed, or
  /// something is not known, and another replay may go on from there.
  KASTOR_NO_CHECK_OF_CALLS
  [[nodiscard]] KOKKOS_FUNCTION bool operator()(double kappa, int max_passes, ClipProgress<T>& at,
                                                SigmaClipResult& result) {
    if (!m_tails.hold_all()) return false;
    for (;;) {
      ClipPopulation left;
      if (at.next.low < at.next.high && !count(at.next, left)) return false;
      bool last = false;
      if (result.passes == 0) {
        result.blank = result.pixels - left.n;
        if (left.n == 0) return true;
      } else {
        result.degenerate = left.n == 0;
        result.converged = left.n == at.now.n;
        last = result.degenerate || result.converged || result.passes == max_passes;
      }
      if (!last) {
        if (!describe(left, at.s)) return false;
        at.interval = at.next;
        at.now = left;
        ++result.passes;
      }
      if (last || result.passes == 1) {
        if (!find_extremes(at.interval, at.now, at.s)) {
          if (!last) result.passes = 0;
          return false;
        }
        (last ? result.clipped : result.all) = at.s;
        if (last) return true;
      }
      const Interval<T> limits =
          interval_between<T>(at.s.median - kappa * at.s.std, at.s.median + kappa * at.s.std);
      at.next.low = limits.low > at.interval.low ? limits.low : at.interval.low;
      at.next.high = limits.high < at.interval.high ? limits.high : at.interval.high;
    }
  }

 private:
  /// Then no value is counted either, and pixels of neighbouring ranks are found together.
  static constexpr bool may_not_know = requires { Window::may_not_know; };

  /// False: a limit may be inside the edges, or what it cuts off is not known.
  KASTOR_NO_CHECK_OF_CALLS
  [[nodiscard]] KOKKOS_FUNCTION bool count(const Interval<T>& interval, ClipPopulation& p) const {
    if (interval.low > m_low_edge || interval.high < m_high_edge) return false;
    TailPart parts[2];
    if (!m_tails.within(interval, parts)) return false;
    p = ClipPopulation{};
    KASTOR_UNROLL
    for (int side = 0; side < 2; ++side) {
      p.tail[side] = parts[side].count;
      p.n += p.tail[side];
      p.sum += (side == 0 ? -1 : 1) * parts[side].sum;
      p.squares += parts[side].squares;
    }
    p.n += m_inside;
    p.sum += m_inside_sum;
    p.squares += m_inside_squares;
    return true;
  }

  /// Everything but the extremes. False: the median is not in the window, or not known.
  [[nodiscard]] KOKKOS_FUNCTION bool describe(const ClipPopulation& p, Statistics& s) {
    const Divisor n(p.n);
    const double mean = n.quotient(p.sum);
    const double variance = n.quotient(p.squares - p.sum * mean);
    s.count = p.n;
    s.mean = without_sign_of_zero(m_centre + scale_by_power_of_two(mean, m_exponent));
    s.std = variance > 0 ? scale_by_power_of_two(Kokkos::sqrt(variance), m_exponent) : 0.0;
    const std::int64_t below = m_below + p.tail[0];
    const std::int64_t rank = (p.n - 1) / 2 - below;
    const std::int64_t next = p.n / 2 - below;
    if (rank < 0 || next >= m_window) return false;
    T a{}, b{};
    if constexpr (may_not_know) {
      if (!m_stored.find(rank, next, a, b)) return false;
    } else {
      KASTOR_KEEP_LOOP
      for (std::int64_t r = rank; r <= next; ++r) {
        if (!in_window(r, b)) return false;
        if (r == rank) a = b;
      }
    }
    s.median = without_sign_of_zero(midpoint(static_cast<double>(a), static_cast<double>(b)));
    return true;
  }

  /// The smallest and the largest pixel of an interval. False: they are neither in the tails nor in
  /// the window, or not known.
  KASTOR_NO_CHECK_OF_CALLS
  [[nodiscard]] KOKKOS_FUNCTION bool find_extremes(const Interval<T>& interval,
                                                   const ClipPopulation& p, Statistics& s) {
    T extreme[2] = {};
    if ((p.tail[0] > 0 || p.tail[1] > 0) && !m_tails.find_outermost(interval, extreme))
      return false;
    if ((p.tail[0] == 0 && m_below > 0) || (p.tail[1] == 0 && m_inside > m_below + m_window))
      return false;
    KASTOR_KEEP_LOOP
    for (int side = 0; side < 2; ++side) {
      if ((side == 0 ? p.tail[0] : p.tail[1]) > 0) continue;
      if (m_window == 0) return false;
      T x{};
      if (!in_window(side == 0 ? 0 : m_window - 1, x)) return false;
      (side == 0 ? extreme[0] : extreme[1]) = x;
    }
    s.min = without_sign_of_zero(static_cast<double>(extreme[0]));
    s.max = without_sign_of_zero(static_cast<double>(extreme[1]));
    return true;
  }

  /// The pixel of a rank in the window, spikes included. False: it is not known.
  KASTOR_NO_CHECK_OF_CALLS
  [[nodiscard]] KOKKOS_FUNCTION bool in_window(std::int64_t rank, T& pixel) {
    std::int64_t before = 0;  // pixels of the spikes below
    for (int s = 0; s < m_spikes; ++s) {
      const std::int64_t first = before + m_below_spike[s];
      if (rank < first) break;
      if (rank < first + m_g.inside.spike[s]) {
        pixel = m_g.brackets.spike[s];
        return true;
      }
      before += m_g.inside.spike[s];
    }
    if constexpr (may_not_know) {
      T same;
      return m_stored.find(rank, rank, pixel, same);
    } else {
      pixel = m_stored(rank - before);
      return true;
    }
  }

  const Gathered<T>& m_g;
  Tails m_tails;
  Window m_stored;  ///< pixels of the window, all but the spikes
  // What every pass needs, in registers.
  T m_low_edge, m_high_edge;
  double m_centre;
  int m_exponent, m_spikes;
  std::int64_t m_inside, m_below;
  double m_inside_sum, m_inside_squares;  ///< in units of the grid
  std::int64_t m_window = 0;              ///< pixels in the window, spikes included
  std::int64_t m_below_spike[Brackets<T>::max_spikes] = {};
};

/// The replay, from where `at` and `outcome` are, and the level that follows from it.
template <class T, class Tails, class Window>
KOKKOS_FUNCTION void replay(const Gathered<T>& gathered, const Tails& tails, const Window& window,
                            double kappa, int max_passes, const ClipLevel& level,
                            ClipProgress<T>& at, ClipOutcome<T>& outcome) {
  Replay<T, Tails, Window> clip(gathered, tails, window);
  outcome.decided = clip(kappa, max_passes, at, outcome.result) ? 1 : 0;
  outcome.level = level.of(outcome.result.clipped.median, outcome.result.clipped.std);
  outcome.foreground_above =
      interval_between<T>(outcome.level, Kokkos::Experimental::infinity_v<double>).low;
  outcome.candidates_hold = outcome.decided != 0 && gathered.brackets.has_candidate != 0 &&
                                    outcome.foreground_above >= gathered.brackets.candidate &&
                                    outcome.foreground_above <= gathered.brackets.certain
                                ? 1
                                : 0;
}
/// The whole replay.
template <class T, class Tails, class Window>
KOKKOS_FUNCTION void replay(const Gathered<T>& gathered, const Tails& tails, const Window& window,
                            double kappa, int max_passes, const ClipLevel& level,
                            ClipOutcome<T>& outcome) {
  ClipProgress<T> at;
  replay(gathered, tails, window, kappa, max_passes, level, at, outcome);
}

}  // namespace kastor::detail

#endif
