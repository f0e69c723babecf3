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
  static constexpr int max_cached = 4096 / sizeof(T);
  static constexpr int shares = 512;
  static constexpr int threads = BySideSpace::threads;  ///< of a team
  struct Before {
    std::int64_t count;
    double sum, squares;
  };
  struct Sorting {
    T unsorted[max_cached];
    int next_in_share[shares];
    int begin_of_share[shares + 1];
    SumsBeforeSpace<int, 1, threads> before;
  };
  struct WindowBin {
    int bin;
    std::int64_t first, past;  ///< ranks of its pixels
  };

  Before before_octave[2][TailOctaves::count + 1];  ///< sums over the octaves before, in grid units
  std::uint32_t window_begin[GatheredBins<T>::window + 1];  ///< of a device's bins
  T cached[max_cached];  ///< the pixels of a window's bin in order
  int copied;
  int near, found;  ///< bins of a rank
  union {           // one at a time
    Sorting sorting;
    BySideSpace by_side;
  };
};

/// Octaves that hold pixels, or lie before one that does.
struct UsedOctaves {
  int side[2] = {0, 0};
};

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

  [[nodiscard]] KOKKOS_FUNCTION const BinSummary<T>& summary(int side, int bin) const {
    return m_g.summaries.bins[side * TailOctaves::bins + bin];
  }
  /// An octave's integers in units of the inside grid.
  [[nodiscard]] KOKKOS_FUNCTION typename ReplaySpace<T>::Before in_grid_units(const TailSums& sums,
                                                                              int octave) const {
    const int e = m_bins.exponent_of(octave) - m_g.brackets.grid.exponent;
    return {sums.count, scale_by_power_of_two(sums.sum.to_double(), e - grid_bits),
            scale_by_power_of_two(sums.squares.to_double(), 2 * e - grid_bits)};
  }

  KOKKOS_FUNCTION void add_up_octaves() {
    std::uint64_t used[2][1];
    by_side(m_crew, m_space.by_side, used, LargerWord{},
            [&](int side, const auto& half, std::uint64_t(&mine)[1]) {
              mine[0] = 0;
              KASTOR_KEEP_LOOP
              for (int octave = half.rank(); octave < TailOctaves::count; octave += half.size()) {
                const WideTailSums sums = m_g.summaries.octaves[side * TailOctaves::count + octave];
                if (sums.word[WideTailSums::pixels] != 0)
                  mine[0] = static_cast<std::uint64_t>(octave) + 1;
                m_space.before_octave[side][octave] = in_grid_units(sums.sums(), octave);
              }
            });
    m_used = {{static_cast<int>(used[0][0]), static_cast<int>(used[1][0])}};
    for (int side = m_crew.rank(); side < 2; side += m_crew.size()) {
      typename ReplaySpace<T>::Before before{0, 0, 0};
      for (int octave = 0; octave < m_used.side[side]; ++octave) {
        auto& here = m_space.before_octave[side][octave];
        const auto more = here;
        here = before;
        before.count += more.count;
        before.sum += more.sum;
        before.squares += more.squares;
      }
      m_space.before_octave[side][m_used.side[side]] = before;
    }
    m_crew.barrier();
  }

  [[nodiscard]] KOKKOS_FUNCTION bool beyond(int side, T x, T limit) const {
    return side == 0 ? x > limit : x < limit;
  }

  /// Where a tail's limit lies.
  struct Cut {
    int bin;
    int octave;  ///< those before are whole within the limit; all that are used are those before
  };
  [[nodiscard]] KOKKOS_FUNCTION Cut cut_at(int side, T limit) const {
    const int used = m_used.side[side];
    if (!Interval<T>{}.contains(limit)) return {0, used};
    const int bin = m_bins.in_tail(limit);
    const int octave = TailOctaves::octave_of(bin);
    return {bin, octave < used ? octave : used};
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
    const Cut cuts[2] = {cut_at(0, limits[0]), cut_at(1, limits[1])};
    std::uint64_t words[2][WideTailSums::words] = {};
    if (cuts[0].octave < m_used.side[0] || cuts[1].octave < m_used.side[1]) {
      by_side(m_crew, m_space.by_side, words, AddWords{},
              [&](int side, const auto& half, std::uint64_t(&mine)[WideTailSums::words]) {
                KASTOR_UNROLL
                for (int k = 0; k < WideTailSums::words; ++k) mine[k] = 0;
                if (cuts[side].octave < m_used.side[side])
                  add_share(half, side, limits[side], cuts[side], mine);
              });
    }
    p = Population{};
    for (int side = 0; side < 2; ++side) {
      const auto& before = m_space.before_octave[side][cuts[side].octave];
      const TailSums within = WideTailSums::joined_from(words[side]);
      const auto last = in_grid_units(within, cuts[side].octave);
      p.tail[side] = before.count + within.count;
      p.n += p.tail[side];
      p.sum += (side == 0 ? -1 : 1) * (before.sum + last.sum);
      p.squares += before.squares + last.squares;
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
  KOKKOS_FUNCTION void find_outermost(const Interval<T>& interval, T (&extreme)[2]) const {
    const T limits[2] = {interval.low, interval.high};
    const auto outwards = [](int side, Key<T> key) {
      return side == 0 ? static_cast<Key<T>>(~key) : key;
    };
    int past[2], octave[2];  // the bin that the limit cuts, and its octave
    bool cut[2];
    for (int side = 0; side < 2; ++side) {
      const Cut limit = cut_at(side, limits[side]);
      octave[side] = limit.octave;
      cut[side] = octave[side] < m_used.side[side];
      past[side] = cut[side] ? limit.bin : TailOctaves::first_bin_of(m_used.side[side]);
      if (!cut[side] && octave[side] > 0) --octave[side];
    }
    // Keys that grow outwards, of pixels in that bin; and 1 + the last bin before it that is not
    // empty, if that is of the octave.
    std::uint64_t found[2][2];
    by_side(m_crew, m_space.by_side, found, LargerWord{},
            [&](int side, const auto& half, std::uint64_t(&mine)[2]) {
              mine[0] = mine[1] = 0;
              if (cut[side]) {
                const BinSummary<T>& bin = summary(side, past[side]);
                for_my_share(half, m_g.tails + bin.begin, bin.pixels(), [&](T x) {
                  const std::uint64_t key = outwards(side, key_of(x));
                  if (beyond(side, x, limits[side]) && key > mine[0]) mine[0] = key;
                });
              }
              mine[1] = last_used(half, side, TailOctaves::first_bin_of(octave[side]), past[side]);
            });
    const bool more = (found[0][0] | found[0][1]) == 0 || (found[1][0] | found[1][1]) == 0;
    std::uint64_t inner[2][2] = {};
    if (more) {
      by_side(m_crew, m_space.by_side, inner, LargerWord{},
              [&](int side, const auto& half, std::uint64_t(&mine)[2]) {
                mine[0] = last_used(half, side, 0, TailOctaves::first_bin_of(octave[side]));
                mine[1] = 0;
              });
    }
    for (int side = 0; side < 2; ++side) {
      const std::uint64_t bin = LargerWord{}(found[side][1], inner[side][0]);
      if (found[side][0] != 0) {
        extreme[side] = value_of<T>(outwards(side, static_cast<Key<T>>(found[side][0])));
      } else if (bin != 0) {
        const BinSummary<T>& last = summary(side, static_cast<int>(bin) - 1);
        extreme[side] = side == 0 ? last.min() : last.max();
      }
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
    if (rank < m_cached.first || rank >= m_cached.past) {
      m_cached = window_bin_of(m_crew, rank);
      const std::int64_t n = m_cached.past - m_cached.first;
      // Nobody reads the bin before any more.
      if (n <= ReplaySpace<T>::max_cached) copy_bin(m_cached.bin, static_cast<int>(n));
    }
    const std::int64_t n = m_cached.past - m_cached.first;
    if (n > ReplaySpace<T>::max_cached) return bisect(m_cached.bin, rank - m_cached.first);
    return m_space.cached[rank - m_cached.first];
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
    if (mine == 0) m_space.copied = 0;
    crew.barrier();
    const int bin = m_space.near + mine;
    if (mine < share && holds(bin, bin + 1)) m_space.found = bin;
    crew.barrier();
    const int found = m_space.found;
    return {found, m_space.window_begin[found], m_space.window_begin[found + 1]};
  }

  static constexpr int small = 96;

  /// A bin of the window, in order.
  KOKKOS_FUNCTION void copy_bin(int bin, int n) const {
    m_g.window.copy(m_crew, bin, n <= small ? m_space.sorting.unsorted : m_space.cached,
                    &m_space.copied);
    if (n <= small) {
      sort_small_bin(n);
    } else {
      sort_bin(n, bin);
    }
  }

  /// By counting the smaller pixels of each.
  KOKKOS_FUNCTION void sort_small_bin(int n) const {
    m_crew.barrier();
    for (int i = m_crew.rank(); i < n; i += m_crew.size()) {
      m_space.cached[count_before(m_space.sorting.unsorted, i, 0, n)] = m_space.sorting.unsorted[i];
    }
    m_crew.barrier();
  }

  /// Into shares of the bin first, then within each.
  KOKKOS_FUNCTION void sort_bin(int n, int bin) const {
    const auto share_of = [&](T x) {
      const double in_bin = (static_cast<double>(x) - m_bins.low) * m_bins.per_unit - bin;
      const double share = in_bin * ReplaySpace<T>::shares;
      constexpr int last = ReplaySpace<T>::shares - 1;
      // Clamped and monotone, as the bins themselves.
      return share < last ? (share > 0 ? static_cast<int>(share) : 0) : last;
    };
    constexpr int shares = ReplaySpace<T>::shares;
    const int rank = m_crew.rank();
    const int size = m_crew.size();
    auto& space = m_space.sorting;
    int* next = space.next_in_share;
    int* begin = space.begin_of_share;
    for (int s = rank; s < shares; s += size) next[s] = 0;
    m_crew.barrier();
    for_my_places<4>(m_crew, m_space.cached, n,
                     [&](int, T x) { Kokkos::atomic_inc(&next[share_of(x)]); });
    m_crew.barrier();
    const int mine = (shares + size - 1) / size;
    const int first = rank * mine < shares ? rank * mine : shares;
    const int past = first + mine < shares ? first + mine : shares;
    int before[1] = {0};
    for (int s = first; s < past; ++s) before[0] += next[s];
    sums_before(m_crew, space.before, before);
    for (int s = first; s < past; ++s) {
      const int count = next[s];
      begin[s] = next[s] = before[0];
      before[0] += count;
    }
    if (rank == 0) begin[shares] = n;
    m_crew.barrier();
    for_my_places<4>(m_crew, m_space.cached, n, [&](int, T x) {
      space.unsorted[Kokkos::atomic_fetch_add(&next[share_of(x)], 1)] = x;
    });
    m_crew.barrier();
    for_my_places<4>(m_crew, space.unsorted, n, [&](int i, T x) {
      const int share = share_of(x);
      const int to = begin[share] + count_before(space.unsorted, i, begin[share], begin[share + 1]);
      m_space.cached[to] = x;
    });
    m_crew.barrier();
  }

  /// By halving the range of the ordered bit patterns.
  [[nodiscard]] KOKKOS_FUNCTION T bisect(int bin, std::int64_t rank) const {
    Key<T> low = key_of(m_g.brackets.window_low);
    Key<T> high = key_of(m_g.brackets.window_high);
    while (low < high) {
      const Key<T> middle = low + (high - low) / 2;
      std::int64_t up_to = 0;
      m_g.window.for_each(m_crew, bin, [&](T x) { up_to += key_of(x) <= middle ? 1 : 0; });
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
  typename ReplaySpace<T>::WindowBin m_cached{0, 0, 0};  ///< whose pixels are in the work space
  double m_inside_sum, m_inside_squares;                 ///< in units of the grid
  UsedOctaves m_used;
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
