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
#include <kastor/detail/last_not_above.hpp>
#include <kastor/detail/ordered_key.hpp>
#include <kastor/detail/sums_before.hpp>
#include <kastor/detail/window_pixels.hpp>
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
  const std::uint64_t* window_begin;  ///< (GatheredBins<T>::window + 1) ranks
  const T* tails;                     ///< the pixels of a tail's bin lie at its begin
  TailSummaries<T> summaries;
  Window window;
};

/// Work space shared by the crew.
template <class T>
struct ReplaySpace {
  static constexpr int max_sorted = 128;
  static constexpr int shares = 256;                    ///< of a window's bin
  static constexpr int threads = BySideSpace::threads;  ///< of a team
  struct Before {
    std::int64_t count;
    double sum, squares;
  };
  struct Sharing {
    T unsorted[max_sorted];
    std::uint32_t in_share[shares];
    SumsBeforeSpace<std::uint32_t, 1, threads> before;
  };
  struct WindowBin {
    int bin;
    std::int64_t first, past;  ///< ranks of its pixels
  };

  Before before_octave[2][TailOctaves::count + 1];  ///< sums over the octaves before, in grid units
  std::uint32_t window_begin[GatheredBins<T>::window + 1];  ///< of a device's bins
  std::uint32_t begin_of_share[shares + 1];                 ///< ranks in a window's bin
  T sorted[max_sorted];  ///< pixels of the bin, of consecutive ranks, in order
  int next;              ///< place in a list that all write to
  int near, found;       ///< bins of a rank
  union {                // one at a time
    Sharing sharing;
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
      : m_crew(crew), m_g(g), m_space(space), m_bins(g.brackets) {
    keep_begins(crew);
    add_up_octaves();
    m_inside_sum = scale_by_power_of_two(m_g.inside.sum.to_double(), -grid_bits);
    m_inside_squares = scale_by_power_of_two(m_g.inside.squares.to_double(), -grid_bits);
    m_window = static_cast<std::int64_t>(m_g.window_begin[Bins::window]);
    for (int s = 0; s < m_g.brackets.spikes; ++s) {
      m_below_spike[s] = stored_below(m_g.brackets.spike[s]);
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
  struct Ranks {
    std::int64_t first, past;
  };

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

  // --------------------------------------------------------------------------------- the window

  /// Stored pixels of the window that are smaller than x.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t stored_below(T x) const {
    const int bin = m_bins.in_window(x);
    std::int64_t n = 0;
    m_g.window.for_each(m_crew, bin, [&](T y) { n += y < x ? 1 : 0; });
    return static_cast<std::int64_t>(m_g.window_begin[bin]) + m_crew.sum(n);
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
    return stored(rank - before);
  }

  [[nodiscard]] KOKKOS_FUNCTION T stored(std::int64_t rank) {
    if (rank < m_bin.first || rank >= m_bin.past) {
      m_bin = window_bin_of(m_crew, rank);
      bring_bin();
    }
    if (rank < m_sorted.first || rank >= m_sorted.past) {
      const std::uint32_t* const begin = m_space.begin_of_share;
      const std::int64_t in_bin = rank - m_bin.first;
      const int share =
          last_not_above(begin, ReplaySpace<T>::shares, static_cast<std::uint32_t>(in_bin));
      if (begin[share + 1] - begin[share] > ReplaySpace<T>::max_sorted)
        return bisect(share, in_bin);
      sort_share(share);
    }
    return m_space.sorted[rank - m_sorted.first];
  }

  /// Where the window's bins begin, near at hand.
  KOKKOS_FUNCTION void keep_begins(const Alone&) const {}
  template <class Member>
  KOKKOS_FUNCTION void keep_begins(const TeamCrew<Member>& crew) const {
    constexpr int share = Bins::window / ReplaySpace<T>::threads;
    const auto bin = [&crew](int k) { return k * ReplaySpace<T>::threads + crew.rank(); };
    // All of them before the first is stored, which for all the compiler knows might change them.
    std::uint32_t begin[share];
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) begin[k] = static_cast<std::uint32_t>(m_g.window_begin[bin(k)]);
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) m_space.window_begin[bin(k)] = begin[k];
    if (crew.rank() == 0)
      m_space.window_begin[Bins::window] =
          static_cast<std::uint32_t>(m_g.window_begin[Bins::window]);
  }

  /// The bin of a rank. All threads have read what lies in the work space.
  [[nodiscard]] KOKKOS_FUNCTION typename ReplaySpace<T>::WindowBin window_bin_of(
      const Alone&, std::int64_t rank) const {
    const int bin =
        last_not_above(m_g.window_begin, Bins::window, static_cast<std::uint64_t>(rank));
    return {bin, static_cast<std::int64_t>(m_g.window_begin[bin]),
            static_cast<std::int64_t>(m_g.window_begin[bin + 1])};
  }
  template <class Member>
  [[nodiscard]] KOKKOS_FUNCTION typename ReplaySpace<T>::WindowBin window_bin_of(
      const TeamCrew<Member>& crew, std::int64_t rank) const {
    constexpr int share = Bins::window / ReplaySpace<T>::threads;
    static_assert(Bins::window % ReplaySpace<T>::threads == 0 && share <= ReplaySpace<T>::threads);
    const auto r = static_cast<std::uint32_t>(rank);
    const auto holds = [this, r](int first, int past) {
      return m_space.window_begin[first] <= r && r < m_space.window_begin[past];
    };
    const int mine = crew.rank();
    crew.barrier();
    if (holds(mine * share, (mine + 1) * share)) m_space.near = mine * share;
    if (mine == 0) m_space.next = 0;
    crew.barrier();
    const int bin = m_space.near + mine;
    if (mine < share && holds(bin, bin + 1)) m_space.found = bin;
    crew.barrier();
    const int found = m_space.found;
    return {found, m_space.window_begin[found], m_space.window_begin[found + 1]};
  }

  /// The pixels of a bin come near at hand: a few in order, more of them counted by shares.
  KOKKOS_FUNCTION void bring_bin() {
    constexpr int few = 96;
    const std::int64_t n = m_bin.past - m_bin.first;
    m_list = nullptr;
    if (n <= few) {
      T* const unsorted = m_space.sharing.unsorted;
      m_g.window.copy(m_crew, m_bin.bin, unsorted, &m_space.next);
      m_crew.barrier();
      sort_few(unsorted, static_cast<int>(n));
      m_sorted = {m_bin.first, m_bin.past};
    } else {
      m_list = m_g.window.list(m_crew, m_bin.bin, n, &m_space.next);
      m_crew.barrier();
      count_shares();
      m_sorted = {0, 0};
    }
  }
  template <class Visit>
  KOKKOS_FUNCTION void for_each_in_bin(const Visit& visit) const {
    if (m_list != nullptr) {
      for_my_places<4>(m_crew, m_list, m_bin.past - m_bin.first,
                       [&](std::int64_t, T x) { visit(x); });
    } else {
      m_g.window.for_each(m_crew, m_bin.bin, visit);
    }
  }

  /// By counting the smaller pixels of each.
  KOKKOS_FUNCTION void sort_few(const T* unsorted, int n) const {
    for (int i = m_crew.rank(); i < n; i += m_crew.size())
      m_space.sorted[count_before(unsorted, i, 0, n)] = unsorted[i];
    m_crew.barrier();
  }

  /// Of the equal shares of the bin's width; clamped and monotone, as the bins themselves.
  [[nodiscard]] KOKKOS_FUNCTION int share_of(T x) const {
    constexpr int last = ReplaySpace<T>::shares - 1;
    const double in_bin = (static_cast<double>(x) - m_bins.low) * m_bins.per_unit - m_bin.bin;
    const double share = in_bin * ReplaySpace<T>::shares;
    return share < last ? (share > 0 ? static_cast<int>(share) : 0) : last;
  }

  KOKKOS_FUNCTION void count_shares() const {
    constexpr int shares = ReplaySpace<T>::shares;
    std::uint32_t* const in_share = m_space.sharing.in_share;
    const int rank = m_crew.rank();
    const int size = m_crew.size();
    for (int s = rank; s < shares; s += size) in_share[s] = 0;
    if (rank == 0) m_space.next = 0;
    m_crew.barrier();
    for_each_in_bin([&](T x) { Kokkos::atomic_inc(&in_share[share_of(x)]); });
    m_crew.barrier();
    const int mine = (shares + size - 1) / size;
    const int first = rank * mine < shares ? rank * mine : shares;
    const int past = first + mine < shares ? first + mine : shares;
    std::uint32_t before[1] = {0};
    for (int s = first; s < past; ++s) before[0] += in_share[s];
    std::uint32_t all[1];
    sums_before(m_crew, m_space.sharing.before, before, all);
    for (int s = first; s < past; ++s) {
      m_space.begin_of_share[s] = before[0];
      before[0] += in_share[s];
    }
    if (rank == 0) m_space.begin_of_share[shares] = all[0];
    m_crew.barrier();
  }

  KOKKOS_FUNCTION void sort_share(int share) {
    T* const unsorted = m_space.sharing.unsorted;
    const std::uint32_t first = m_space.begin_of_share[share];
    const std::uint32_t past = m_space.begin_of_share[share + 1];
    m_crew.barrier();
    for_each_in_bin([&](T x) {
      if (share_of(x) == share) unsorted[Kokkos::atomic_fetch_add(&m_space.next, 1)] = x;
    });
    m_crew.barrier();
    if (m_crew.rank() == 0) m_space.next = 0;
    sort_few(unsorted, static_cast<int>(past - first));
    m_sorted = {m_bin.first + first, m_bin.first + past};
  }

  /// Among many pixels of one share, as a rule equal ones: by halving the range of their bit
  /// patterns. `rank` is that in the bin.
  [[nodiscard]] KOKKOS_FUNCTION T bisect(int share, std::int64_t rank) const {
    auto low = static_cast<Key<T>>(~Key<T>{0});
    auto above_high = low;  // the complement of the largest
    for_each_in_bin([&](T x) {
      if (share_of(x) != share) return;
      const Key<T> key = key_of(x);
      low = key < low ? key : low;
      above_high = static_cast<Key<T>>(~key) < above_high ? static_cast<Key<T>>(~key) : above_high;
    });
    low = m_crew.smallest(low);
    auto high = static_cast<Key<T>>(~m_crew.smallest(above_high));
    while (low < high) {
      const Key<T> middle = low + (high - low) / 2;
      std::int64_t up_to = 0;
      for_each_in_bin([&](T x) { up_to += key_of(x) <= middle ? 1 : 0; });
      if (m_crew.sum(up_to) > rank) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return value_of<T>(low);
  }

  Crew m_crew;
  const Gathered<T, Window>& m_g;
  ReplaySpace<T>& m_space;
  Bins m_bins;
  std::int64_t m_window = 0;  ///< pixels in the window, spikes included
  std::int64_t m_below_spike[Brackets<T>::max_spikes] = {};
  typename ReplaySpace<T>::WindowBin m_bin{0, 0, 0};  ///< of the window, at hand
  const T* m_list = nullptr;                          ///< its pixels, if they are in one list
  Ranks m_sorted{0, 0};                               ///< those in order
  double m_inside_sum, m_inside_squares;              ///< in units of the grid
  int m_used[sides] = {};  ///< octaves that hold pixels, or lie before one that does
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
