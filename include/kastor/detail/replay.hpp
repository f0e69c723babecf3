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
  std::int64_t longest_list;  ///< pixels gathered; on a device by the team that gathered most
  int usable;                 ///< the sample was of use
  int decided;                ///< 0: a bracket failed, or pixels were lost
  int candidates_hold;        ///< the foreground is the candidates above `level`
  double level;
  T foreground_above;  ///< the same, as a bound of pixels
};

/// What the read left, but for the pixels.
template <class T>
struct Gathered {
  Brackets<T> brackets;
  InsideSums inside;
};

/// `Tails` answers for the pixels beyond the edges, `Window` for those around the medians: a
/// device's are JoinedTails and WindowSelector, a host's ListedTails and ListedWindow.
template <class T, class Tails, class Window>
class Replay {
 public:
  /// All of a crew must call it, and what follows.
  KASTOR_NO_CHECK_OF_CALLS
  KOKKOS_FUNCTION Replay(const Gathered<T>& g, const Tails& tails, const Window& window)
      : m_g(g), m_bins(g.brackets), m_tails(tails), m_stored(window) {
    m_inside_sum = scale_by_power_of_two(m_g.inside.sum.to_double(), -grid_bits);
    m_inside_squares = scale_by_power_of_two(m_g.inside.squares.to_double(), -grid_bits);
    m_window = m_stored.pixels();
    for (int s = 0; s < m_g.brackets.spikes; ++s) {
      m_below_spike[s] = m_stored.below(m_g.brackets.spike[s]);
      m_window += m_g.inside.spike[s];
    }
  }

  /// The clip's plain iteration; false: a bracket failed and nothing is decided.
  KASTOR_NO_CHECK_OF_CALLS
  [[nodiscard]] KOKKOS_FUNCTION bool operator()(double kappa, int max_passes,
                                                SigmaClipResult& result) {
    if (!m_tails.hold_all()) return false;
    result.passes = 0;
    result.converged = result.degenerate = false;
    Interval<T> interval;
    Population now;
    Statistics s;
    bool last = false;
    for (Interval<T> next;;) {
      Population left;
      if (next.low < next.high && !count(next, left)) return false;
      if (result.passes == 0) {
        result.blank = result.pixels - left.n;
        if (left.n == 0) return true;
      } else {
        result.degenerate = left.n == 0;
        result.converged = left.n == now.n;
        last = result.degenerate || result.converged || result.passes == max_passes;
      }
      if (!last) {
        interval = next;
        now = left;
        if (!describe(now, s)) return false;
        ++result.passes;
      }
      if (last || result.passes == 1) {
        if (!find_extremes(interval, now, s)) return false;
        (last ? result.clipped : result.all) = s;
        if (last) return true;
      }
      const Interval<T> limits =
          interval_between<T>(s.median - kappa * s.std, s.median + kappa * s.std);
      next.low = limits.low > interval.low ? limits.low : interval.low;
      next.high = limits.high < interval.high ? limits.high : interval.high;
    }
  }

 private:
  /// The pixels of an interval.
  struct Population {
    std::int64_t n = 0;
    std::int64_t tail[2] = {};    ///< of the lower and the upper tail
    double sum = 0, squares = 0;  ///< of the distances from the centre, in units of the grid
  };

  /// False: a limit may be inside the edges.
  KASTOR_NO_CHECK_OF_CALLS
  [[nodiscard]] KOKKOS_FUNCTION bool count(const Interval<T>& interval, Population& p) const {
    if (interval.low > m_g.brackets.low_edge || interval.high < m_g.brackets.high_edge)
      return false;
    TailPart parts[2];
    m_tails.within(interval, parts);
    p = Population{};
    KASTOR_UNROLL
    for (int side = 0; side < 2; ++side) {
      p.tail[side] = parts[side].count;
      p.n += p.tail[side];
      p.sum += (side == 0 ? -1 : 1) * parts[side].sum;
      p.squares += parts[side].squares;
    }
    p.n += m_g.inside.inside;
    p.sum += m_inside_sum;
    p.squares += m_inside_squares;
    return true;
  }

  /// Everything but the extremes. False: the median is not in the window.
  [[nodiscard]] KOKKOS_FUNCTION bool describe(const Population& p, Statistics& s) {
    const Divisor n(p.n);
    const int exponent = m_g.brackets.grid.exponent;
    const double mean = n.quotient(p.sum);
    const double variance = n.quotient(p.squares - p.sum * mean);
    s.count = p.n;
    s.mean = without_sign_of_zero(m_bins.centre + scale_by_power_of_two(mean, exponent));
    s.std = variance > 0 ? scale_by_power_of_two(Kokkos::sqrt(variance), exponent) : 0.0;
    const std::int64_t below = m_g.inside.below + p.tail[0];
    const std::int64_t rank = (p.n - 1) / 2 - below;
    const std::int64_t next = p.n / 2 - below;
    if (rank < 0 || next >= m_window) return false;
    T a{}, b{};
    KASTOR_KEEP_LOOP
    for (std::int64_t r = rank; r <= next; ++r) {
      b = in_window(r);
      if (r == rank) a = b;
    }
    s.median = without_sign_of_zero(midpoint(static_cast<double>(a), static_cast<double>(b)));
    return true;
  }

  /// The smallest and the largest pixel of an interval. False: they are neither in the tails nor in
  /// the window.
  KASTOR_NO_CHECK_OF_CALLS
  [[nodiscard]] KOKKOS_FUNCTION bool find_extremes(const Interval<T>& interval, const Population& p,
                                                   Statistics& s) {
    const InsideSums& inside = m_g.inside;
    T extreme[2] = {};
    if (p.tail[0] > 0 || p.tail[1] > 0) m_tails.find_outermost(interval, extreme);
    if ((p.tail[0] == 0 && inside.below > 0) ||
        (p.tail[1] == 0 && inside.inside > inside.below + m_window))
      return false;
    KASTOR_KEEP_LOOP
    for (int side = 0; side < 2; ++side) {
      if ((side == 0 ? p.tail[0] : p.tail[1]) > 0) continue;
      if (m_window == 0) return false;
      const T x = in_window(side == 0 ? 0 : m_window - 1);
      (side == 0 ? extreme[0] : extreme[1]) = x;
    }
    s.min = without_sign_of_zero(static_cast<double>(extreme[0]));
    s.max = without_sign_of_zero(static_cast<double>(extreme[1]));
    return true;
  }

  /// The pixel of a rank in the window, spikes included.
  KASTOR_NO_CHECK_OF_CALLS
  [[nodiscard]] KOKKOS_FUNCTION T in_window(std::int64_t rank) {
    std::int64_t before = 0;  // pixels of the spikes below
    for (int s = 0; s < m_g.brackets.spikes; ++s) {
      const std::int64_t first = before + m_below_spike[s];
      if (rank < first) break;
      if (rank < first + m_g.inside.spike[s]) return m_g.brackets.spike[s];
      before += m_g.inside.spike[s];
    }
    return m_stored(rank - before);
  }

  const Gathered<T>& m_g;
  GatheredBins<T> m_bins;
  Tails m_tails;
  Window m_stored;            ///< pixels of the window, all but the spikes
  std::int64_t m_window = 0;  ///< pixels in the window, spikes included
  std::int64_t m_below_spike[Brackets<T>::max_spikes] = {};
  double m_inside_sum, m_inside_squares;  ///< in units of the grid
};

/// The whole replay, and the level that follows from it.
template <class T, class Tails, class Window>
KOKKOS_FUNCTION void replay(const Gathered<T>& gathered, const Tails& tails, const Window& window,
                            double kappa, int max_passes, const ClipLevel& level,
                            ClipOutcome<T>& outcome) {
  Replay<T, Tails, Window> clip(gathered, tails, window);
  outcome.decided = clip(kappa, max_passes, outcome.result) ? 1 : 0;
  outcome.level = level.of(outcome.result.clipped.median, outcome.result.clipped.std);
  outcome.foreground_above =
      interval_between<T>(outcome.level, Kokkos::Experimental::infinity_v<double>).low;
  outcome.candidates_hold = outcome.decided != 0 && gathered.brackets.has_candidate != 0 &&
                                    outcome.foreground_above >= gathered.brackets.candidate
                                ? 1
                                : 0;
}

}  // namespace kastor::detail

#endif
