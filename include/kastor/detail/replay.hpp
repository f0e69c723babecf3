// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_REPLAY_HPP
#define KASTOR_DETAIL_REPLAY_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/brackets.hpp>
#include <kastor/detail/by_side.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/gather.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/ordered_key.hpp>
#include <kastor/detail/window_selector.hpp>
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

/// What the read and the sort left.
template <class T, class Window>
struct Gathered {
  Brackets<T> brackets;
  InsideSums inside;
  const T* tails;  ///< the pixels of a tail's bin lie at its begin
  TailSummaries<T> summaries;
  Window window;
};

/// Work space shared by the crew.
template <class T>
struct ReplaySpace {
  static constexpr int threads = BySideSpace::threads;  ///< of a team
  static_assert(threads == WindowSelectorSpace<T>::threads);
  struct Before {
    std::int64_t count;
    double sum, squares;
  };

  Before before_octave[2][TailOctaves::count + 1];  ///< sums over the octaves before, in grid units
  WindowSelectorSpace<T> window;
  union {  // one at a time
    typename WindowSelectorSpace<T>::Sharing sharing;
    BySideSpace by_side;
  };
};

/// One of two values. An array that a device indexes lies in its memory, not in registers.
template <class V>
[[nodiscard]] KOKKOS_INLINE_FUNCTION V of_side(int side, const V (&both)[2]) {
  return side == 0 ? both[0] : both[1];
}

template <class T, class Crew, class Window>
class Replay {
 public:
  using Bins = GatheredBins<T>;
  KOKKOS_FUNCTION Replay(const Crew& crew, const Gathered<T, Window>& g, ReplaySpace<T>& space)
      : m_crew(crew),
        m_g(g),
        m_space(space),
        m_bins(g.brackets),
        m_stored(crew, m_bins, g.window, space.window, space.sharing) {
    add_up_octaves();
    m_inside_sum = scale_by_power_of_two(m_g.inside.sum.to_double(), -grid_bits);
    m_inside_squares = scale_by_power_of_two(m_g.inside.squares.to_double(), -grid_bits);
    m_window = m_stored.pixels();
    for (int s = 0; s < m_g.brackets.spikes; ++s) {
      m_below_spike[s] = m_stored.below(m_g.brackets.spike[s]);
      m_window += m_g.inside.spike[s];
    }
  }

  /// The clip's plain iteration; false: a bracket failed and nothing is decided.
  [[nodiscard]] KOKKOS_FUNCTION bool operator()(double kappa, int max_passes,
                                                SigmaClipResult& result) {
    // Pixels that no bin holds.
    for (int side = 0; side < 2; ++side) {
      if (summary(side, TailOctaves::bins - 1).pixels() != 0) return false;
    }
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

  static constexpr int sides = 2;  ///< the lower and the upper tail

  [[nodiscard]] KOKKOS_FUNCTION const BinSummary<T>& summary(int side, int bin) const {
    return m_g.summaries.bins[side * TailOctaves::bins + bin];
  }
  /// An octave's integers in units of the inside grid.
  [[nodiscard]] KOKKOS_FUNCTION double in_grid_units(const Int128& sum, int octave,
                                                     bool squared) const {
    const int e = m_bins.exponent_of(octave) - m_g.brackets.grid.exponent;
    return scale_by_power_of_two(sum.to_double(), (squared ? 2 * e : e) - grid_bits);
  }

  KOKKOS_FUNCTION void add_up_octaves() {
    std::uint64_t used[2][1];
    by_side(m_crew, m_space.by_side, used, LargerWord{},
            [&](int side, const auto& half, std::uint64_t(&mine)[1]) {
              mine[0] = 0;
              KASTOR_KEEP_LOOP
              for (int octave = half.rank(); octave < TailOctaves::count; octave += half.size()) {
                const WideTailSums sums = m_g.summaries.octaves[side * TailOctaves::count + octave];
                auto& here = m_space.before_octave[side][octave];
                here = {0, 0, 0};
                if (sums.word[WideTailSums::pixels] == 0) continue;
                mine[0] = static_cast<std::uint64_t>(octave) + 1;
                const TailSums whole = sums.sums();
                here = {whole.count, in_grid_units(whole.sum, octave, false),
                        in_grid_units(whole.squares, octave, true)};
              }
            });
    for (int side = 0; side < sides; ++side) m_used[side] = static_cast<int>(used[side][0]);
    for (int side = m_crew.rank(); side < 2; side += m_crew.size()) {
      typename ReplaySpace<T>::Before before{0, 0, 0};
      for (int octave = 0; octave < of_side(side, m_used); ++octave) {
        auto& here = m_space.before_octave[side][octave];
        const auto more = here;
        here = before;
        before.count += more.count;
        before.sum += more.sum;
        before.squares += more.squares;
      }
      m_space.before_octave[side][of_side(side, m_used)] = before;
    }
    m_crew.barrier();
  }

  [[nodiscard]] KOKKOS_FUNCTION bool beyond(int side, T x, T limit) const {
    return side == 0 ? x > limit : x < limit;
  }

  /// Where a tail's limit lies; if beyond all octaves that are used, after the last of them.
  struct Cut {
    int bin;
    int octave;  ///< those before are whole within the limit
  };
  [[nodiscard]] KOKKOS_FUNCTION Cut cut_at(int side, T limit) const {
    const int used = of_side(side, m_used);
    const Cut beyond_all{TailOctaves::first_bin_of(used), used};
    if (!Interval<T>{}.contains(limit)) return beyond_all;
    const int bin = m_bins.in_tail(limit);
    const int octave = TailOctaves::octave_of(bin);
    return octave < used ? Cut{bin, octave} : beyond_all;
  }
  /// Whether there may be pixels on both sides of the limit.
  [[nodiscard]] KOKKOS_FUNCTION bool cuts_pixels(int side, const Cut& cut) const {
    return cut.octave < of_side(side, m_used);
  }

  KOKKOS_FUNCTION void cuts_at(const T (&limits)[sides], Cut (&cuts)[sides]) const {
    by_lanes(m_crew, cuts, [&](int side) { return cut_at(side, of_side(side, limits)); });
  }

  /// Adds this thread's share of what the limit's octave has within the limit.
  template <class Half>
  KOKKOS_FUNCTION void add_share(const Half& half, int side, T limit, const Cut& cut,
                                 std::uint64_t (&words)[WideTailSums::words]) const {
    const int bin = cut.bin;
    const int octave = cut.octave;
    const BinSummary<T> all = summary(side, bin);
    const std::int64_t n = all.pixels();
    const int group = bin / TailOctaves::in_group;
    if (octave < TailOctaves::fine) {
      // The bins before it in its group, and the groups before that.
      const int bins = bin % TailOctaves::in_group;
      const int first_group = TailOctaves::first_bin_of(octave) / TailOctaves::in_group;
      KASTOR_KEEP_LOOP
      for (int i = half.rank(); i < bins + group - first_group; i += half.size()) {
        const WideTailSums& more =
            i < bins ? summary(side, bin - bins + i).sums
                     : m_g.summaries.groups[side * TailOctaves::groups + first_group + i - bins];
        more.add_to(words);
      }
    }
    if (n == 0) return;
    if (beyond(side, side == 0 ? all.min() : all.max(), limit)) {
      if (half.rank() == 0) all.sums.add_to(words);
    } else if (beyond(side, side == 0 ? all.max() : all.min(), limit)) {
      const TailTerm<T> term(m_bins.centre, m_bins.exponent_of(octave));
      TailSums sums;
      add_tail(half, m_g.tails + all.begin, n, term, sums,
               [&](T x) { return beyond(side, x, limit); });
      WideTailSums::of(sums).add_to(words);
    }
  }

  /// False: a limit may be inside the edges.
  [[nodiscard]] KOKKOS_FUNCTION bool count(const Interval<T>& interval, Population& p) const {
    if (interval.low > m_g.brackets.low_edge || interval.high < m_g.brackets.high_edge)
      return false;
    const T limits[2] = {interval.low, interval.high};
    Cut cuts[2];
    cuts_at(limits, cuts);
    std::uint64_t words[2][WideTailSums::words] = {};
    if (cuts_pixels(0, cuts[0]) || cuts_pixels(1, cuts[1])) {
      by_side(m_crew, m_space.by_side, words, AddWords{},
              [&](int side, const auto& half, std::uint64_t(&mine)[WideTailSums::words]) {
                KASTOR_UNROLL
                for (int k = 0; k < WideTailSums::words; ++k) mine[k] = 0;
                const Cut cut = of_side(side, cuts);
                if (cuts_pixels(side, cut)) add_share(half, side, of_side(side, limits), cut, mine);
              });
    }
    // Sums and squares of both sides: what the octaves before have, and the share of the last one.
    double parts[2 * sides];
    by_lanes(m_crew, parts, [&](int i) {
      const bool upper = i % sides == 1;
      const bool squared = i / sides == 1;
      const int octave = upper ? cuts[1].octave : cuts[0].octave;
      const auto& before = m_space.before_octave[i % sides][octave];
      const auto word = [&](WideTailSums::Word of_sum, WideTailSums::Word of_squares) {
        return upper ? (squared ? words[1][of_squares] : words[1][of_sum])
                     : (squared ? words[0][of_squares] : words[0][of_sum]);
      };
      const Int128 within = joined(word(WideTailSums::sum_low, WideTailSums::squares_low),
                                   word(WideTailSums::sum_high, WideTailSums::squares_high));
      return (squared ? before.squares : before.sum) + in_grid_units(within, octave, squared);
    });
    p = Population{};
    for (int side = 0; side < sides; ++side) {
      p.tail[side] = m_space.before_octave[side][cuts[side].octave].count +
                     static_cast<std::int64_t>(words[side][WideTailSums::pixels]);
      p.n += p.tail[side];
      p.sum += (side == 0 ? -1 : 1) * parts[side];
      p.squares += parts[sides + side];
    }
    p.n += m_g.inside.inside;
    p.sum += m_inside_sum;
    p.squares += m_inside_squares;
    return true;
  }

  /// Everything but the extremes. False: the median is not in the window.
  [[nodiscard]] KOKKOS_FUNCTION bool describe(const Population& p, Statistics& s) {
    const auto n = static_cast<double>(p.n);
    const int exponent = m_g.brackets.grid.exponent;
    const double variance = (p.squares - p.sum * (p.sum / n)) / n;
    s.count = p.n;
    s.mean = without_sign_of_zero(m_bins.centre + scale_by_power_of_two(p.sum / n, exponent));
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
  [[nodiscard]] KOKKOS_FUNCTION bool find_extremes(const Interval<T>& interval, const Population& p,
                                                   Statistics& s) {
    const InsideSums& inside = m_g.inside;
    T extreme[2] = {};
    if (p.tail[0] > 0 || p.tail[1] > 0) find_outermost(interval, extreme);
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

  /// The outermost pixels within an interval, of each tail that has any there.
  KOKKOS_FUNCTION void find_outermost(const Interval<T>& interval, T (&extreme)[sides]) const {
    const T limits[sides] = {interval.low, interval.high};
    const auto outwards = [](int side, Key<T> key) {
      return side == 0 ? static_cast<Key<T>>(~key) : key;
    };
    Cut cuts[sides];
    cuts_at(limits, cuts);
    // Where the limit cuts a bin: of the outermost pixel in it that is within the limit, a key that
    // grows outwards; 0: there is none. Elsewhere: 1 + the last bin that is not empty.
    std::uint64_t found[sides][1];
    by_side(m_crew, m_space.by_side, found, LargerWord{},
            [&](int side, const auto& half, std::uint64_t(&mine)[1]) {
              mine[0] = 0;
              const Cut cut = of_side(side, cuts);
              if (cuts_pixels(side, cut)) {
                const BinSummary<T>& bin = summary(side, cut.bin);
                const T limit = of_side(side, limits);
                for_my_share(half, m_g.tails + bin.begin, bin.pixels(), [&](T x) {
                  const std::uint64_t key = outwards(side, key_of(x));
                  if (beyond(side, x, limit) && key > mine[0]) mine[0] = key;
                });
              } else if (cut.octave > 0) {
                mine[0] = last_used(half, side, TailOctaves::first_bin_of(cut.octave - 1), cut.bin);
              }
            });
    // Where that bin has none: 1 + the last bin before it that is not empty.
    const bool inside[sides] = {cuts_pixels(0, cuts[0]) && found[0][0] == 0,
                                cuts_pixels(1, cuts[1]) && found[1][0] == 0};
    std::uint64_t inner[sides][1] = {};
    if (inside[0] || inside[1]) {
      by_side(m_crew, m_space.by_side, inner, LargerWord{},
              [&](int side, const auto& half, std::uint64_t(&mine)[1]) {
                mine[0] =
                    of_side(side, inside) ? last_used(half, side, 0, of_side(side, cuts).bin) : 0;
              });
    }
    for (int side = 0; side < sides; ++side) {
      if (cuts_pixels(side, cuts[side]) && !inside[side]) {
        extreme[side] = value_of<T>(outwards(side, static_cast<Key<T>>(found[side][0])));
        continue;
      }
      const std::uint64_t bin = inside[side] ? inner[side][0] : found[side][0];
      if (bin == 0) continue;
      const BinSummary<T>& last = summary(side, static_cast<int>(bin) - 1);
      extreme[side] = side == 0 ? last.min() : last.max();
    }
  }

  /// 1 + the last bin of some that is not empty, among this thread's; 0: there is none.
  template <class Half>
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t last_used(const Half& half, int side, int begin,
                                                        int past) const {
    std::uint64_t found = 0;
    KASTOR_UNROLL_BY_4
    for (int bin = begin + half.rank(); bin < past; bin += half.size()) {
      if (summary(side, bin).pixels() != 0) found = static_cast<std::uint64_t>(bin) + 1;
    }
    return found;
  }

  /// The pixel of a rank in the window, spikes included.
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

  Crew m_crew;
  const Gathered<T, Window>& m_g;
  ReplaySpace<T>& m_space;
  Bins m_bins;
  WindowSelector<T, Crew, Window> m_stored;  ///< pixels of the window, all but the spikes
  std::int64_t m_window = 0;                 ///< pixels in the window, spikes included
  std::int64_t m_below_spike[Brackets<T>::max_spikes] = {};
  double m_inside_sum, m_inside_squares;  ///< in units of the grid
  int m_used[sides] = {};                 ///< octaves that hold pixels, or lie before one that does
};

/// The whole replay, and the level that follows from it.
template <class T, class Crew, class Window>
KOKKOS_FUNCTION void replay(const Crew& crew, const Gathered<T, Window>& gathered,
                            ReplaySpace<T>& space, double kappa, int max_passes,
                            const ClipLevel& level, ClipOutcome<T>& outcome) {
  Replay<T, Crew, Window> clip(crew, gathered, space);
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
