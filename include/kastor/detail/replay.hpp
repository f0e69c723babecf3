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
#include <kastor/detail/sums_before.hpp>
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
template <class T>
struct Gathered {
  using Bins = GatheredBins<T>;
  Brackets<T> brackets;
  InsideSums inside;
  const T* sorted;
  const std::uint64_t* begin;
  const BinSummary<T>* summaries;  ///< (2, TailOctaves::bins)
  const WideTailSums* octaves;     ///< (2, TailOctaves::count)
};

/// Work space shared by the crew.
template <class T>
struct ReplaySpace {
  static constexpr int max_cached = 1024;
  static constexpr int shares = 512;
  static constexpr int threads = BySideSpace::threads;  ///< of a team
  static constexpr int stride = 8;  ///< window bins from one known begin to the next
  struct Before {
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
  std::uint64_t window_begin[GatheredBins<T>::window / stride + 1];  ///< of every eighth bin
  T cached[max_cached];  ///< the pixels of a window's bin in order
  WindowBin found;
  union {  // one at a time
    Sorting sorting;
    BySideSpace by_side;
  };
};

/// Octaves that hold pixels, or lie before one that does.
struct UsedOctaves {
  int side[2] = {0, 0};
};

template <class T, class Crew>
class Replay {
 public:
  using Bins = GatheredBins<T>;
  KOKKOS_FUNCTION Replay(const Crew& crew, const Gathered<T>& g, ReplaySpace<T>& space)
      : m_crew(crew), m_g(g), m_space(space), m_bins(g.brackets) {
    for (int i = crew.rank(); i <= Bins::window / ReplaySpace<T>::stride; i += crew.size())
      space.window_begin[i] = g.begin[i * ReplaySpace<T>::stride];
    add_up_octaves();
    m_inside_sum = scale_by_power_of_two(m_g.inside.sum.to_double(), -grid_bits);
    m_inside_squares = scale_by_power_of_two(m_g.inside.squares.to_double(), -grid_bits);
    m_window = static_cast<std::int64_t>(m_g.begin[Bins::window]);
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
      if (tail_begin(side, TailOctaves::bins - 1) != tail_begin(side, TailOctaves::bins))
        return false;
    }
    result.passes = 0;
    result.converged = result.degenerate = false;
    Interval<T> interval;
    Population now;
    Statistics s;
    for (Interval<T> next;;) {
      Population left;
      if (next.low < next.high && !count(next, left)) return false;
      if (result.passes == 0) {
        result.blank = result.pixels - left.n;
        if (left.n == 0) return true;
      } else {
        result.degenerate = left.n == 0;
        result.converged = left.n == now.n;
        if (result.degenerate || result.converged || result.passes == max_passes) {
          if (!find_extremes(interval, now, s)) return false;
          result.clipped = s;
          return true;
        }
      }
      interval = next;
      now = left;
      if (!describe(now, s)) return false;
      ++result.passes;
      if (result.passes == 1) {
        if (!find_extremes(interval, now, s)) return false;
        result.all = s;
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

  [[nodiscard]] KOKKOS_FUNCTION static int first_bin(int side) {
    return side == 0 ? Bins::low_tail : Bins::high_tail;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t tail_begin(int side, int bin) const {
    return static_cast<std::int64_t>(m_g.begin[first_bin(side) + bin]);
  }
  [[nodiscard]] KOKKOS_FUNCTION const BinSummary<T>& summary(int side, int bin) const {
    return m_g.summaries[side * TailOctaves::bins + bin];
  }
  /// An octave's integers in units of the inside grid.
  [[nodiscard]] KOKKOS_FUNCTION typename ReplaySpace<T>::Before in_grid_units(const TailSums& sums,
                                                                              int octave) const {
    const int e = m_bins.exponent_of(octave) - m_g.brackets.grid.exponent;
    return {scale_by_power_of_two(sums.sum.to_double(), e - grid_bits),
            scale_by_power_of_two(sums.squares.to_double(), 2 * e - grid_bits)};
  }

  KOKKOS_FUNCTION void add_up_octaves() {
    std::uint64_t used[2][2];
    by_side(m_crew, m_space.by_side, used, LargerWord{},
            [&](int side, const auto& half, std::uint64_t(&mine)[2]) {
              mine[0] = mine[1] = 0;
              KASTOR_KEEP_LOOP
              for (int octave = half.rank(); octave < TailOctaves::count; octave += half.size()) {
                const int first = TailOctaves::first_bin_of(octave);
                if (tail_begin(side, first) == tail_begin(side, TailOctaves::bins)) break;
                mine[0] = static_cast<std::uint64_t>(octave) + 1;
                m_space.before_octave[side][octave] =
                    in_grid_units(m_g.octaves[side * TailOctaves::count + octave].sums(0), octave);
              }
            });
    m_used = {{static_cast<int>(used[0][0]), static_cast<int>(used[1][0])}};
    for (int side = m_crew.rank(); side < 2; side += m_crew.size()) {
      typename ReplaySpace<T>::Before before{0, 0};
      for (int octave = 0; octave < m_used.side[side]; ++octave) {
        auto& here = m_space.before_octave[side][octave];
        const auto more = here;
        here = before;
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

  /// The octave in which a tail's limit lies; those before are whole within it.
  [[nodiscard]] KOKKOS_FUNCTION int octave_of_limit(int side, T limit) const {
    const int used = m_used.side[side];
    if (!Interval<T>{}.contains(limit)) return used;
    const int octave = TailOctaves::octave_of(m_bins.in_tail(limit));
    return octave < used ? octave : used;
  }

  /// Adds this thread's share of what the limit's octave has within the limit.
  template <class Half>
  KOKKOS_FUNCTION void add_share(const Half& half, int side, T limit, TailSums& sums) const {
    const int bin = m_bins.in_tail(limit);
    // All that is needed from far away at once.
    const std::int64_t first = tail_begin(side, bin);
    const std::int64_t n = tail_begin(side, bin + 1) - first;
    const BinSummary<T> all = summary(side, bin);
    const int first_bin = TailOctaves::first_bin_of(TailOctaves::octave_of(bin));
    KASTOR_UNROLL_BY_4
    for (int b = first_bin + half.rank(); b < bin; b += half.size()) sums += summary(side, b).sums;
    if (n == 0) return;
    if (beyond(side, side == 0 ? all.min : all.max, limit)) {
      if (half.rank() == 0) sums += all.sums;
    } else if (beyond(side, side == 0 ? all.max : all.min, limit)) {
      const TailTerm<T> term(m_bins.centre, m_bins.exponent_of(TailOctaves::octave_of(bin)));
      add_tail(half, m_g.sorted + first, n, term, sums,
               [&](T x) { return beyond(side, x, limit); });
    }
  }

  /// False: a limit may be inside the edges.
  [[nodiscard]] KOKKOS_FUNCTION bool count(const Interval<T>& interval, Population& p) const {
    if (interval.low > m_g.brackets.low_edge || interval.high < m_g.brackets.high_edge)
      return false;
    const T limits[2] = {interval.low, interval.high};
    int octave[2];
    std::int64_t before_octave[2];
    for (int side = 0; side < 2; ++side) {
      octave[side] = octave_of_limit(side, limits[side]);
      before_octave[side] =
          tail_begin(side, TailOctaves::first_bin_of(octave[side])) - tail_begin(side, 0);
    }
    std::uint64_t words[2][TailWords::count] = {};
    if (octave[0] < m_used.side[0] || octave[1] < m_used.side[1]) {
      by_side(m_crew, m_space.by_side, words, AddWords{},
              [&](int side, const auto& half, std::uint64_t(&mine)[TailWords::count]) {
                TailSums share;
                if (octave[side] < m_used.side[side]) add_share(half, side, limits[side], share);
                TailWords::put(share, mine);
              });
    }
    p = Population{};
    for (int side = 0; side < 2; ++side) {
      const auto& before = m_space.before_octave[side][octave[side]];
      const TailSums cut = TailWords::taken(words[side]);
      const auto last = in_grid_units(cut, octave[side]);
      p.tail[side] = before_octave[side] + cut.count;
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
    const T a = in_window(rank);
    const T b = next == rank ? a : in_window(next);
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
    if (p.tail[0] == 0) {
      if (inside.below > 0 || m_window == 0) return false;
      extreme[0] = in_window(0);
    }
    if (p.tail[1] == 0) {
      if (inside.inside > inside.below + m_window || m_window == 0) return false;
      extreme[1] = in_window(m_window - 1);
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
      octave[side] = octave_of_limit(side, limits[side]);
      cut[side] = octave[side] < m_used.side[side];
      past[side] =
          cut[side] ? m_bins.in_tail(limits[side]) : TailOctaves::first_bin_of(m_used.side[side]);
      if (!cut[side] && octave[side] > 0) --octave[side];
    }
    // Keys that grow outwards, of pixels in that bin; and 1 + the last bin before it that is not
    // empty, if that is of the octave.
    std::uint64_t found[2][2];
    by_side(m_crew, m_space.by_side, found, LargerWord{},
            [&](int side, const auto& half, std::uint64_t(&mine)[2]) {
              mine[0] = mine[1] = 0;
              if (cut[side]) {
                const std::int64_t first = tail_begin(side, past[side]);
                for_my_share(half, m_g.sorted + first, tail_begin(side, past[side] + 1) - first,
                             [&](T x) {
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
        extreme[side] = side == 0 ? last.min : last.max;
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
      if (tail_begin(side, bin) != tail_begin(side, bin + 1))
        found = static_cast<std::uint64_t>(bin) + 1;
    }
    return found;
  }

  // --------------------------------------------------------------------------------- the window

  /// Stored pixels of the window that are smaller than x.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t stored_below(T x) const {
    const int bin = m_bins.in_window(x);
    const auto first = static_cast<std::int64_t>(m_g.begin[bin]);
    const auto last = static_cast<std::int64_t>(m_g.begin[bin + 1]);
    std::int64_t n = 0;
    for (std::int64_t i = first + m_crew.rank(); i < last; i += m_crew.size())
      n += m_g.sorted[i] < x ? 1 : 0;
    return first + m_crew.sum(n);
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
      m_cached = window_bin_of(rank);
      const std::int64_t n = m_cached.past - m_cached.first;
      // Nobody reads the bin before any more.
      if (n <= small) {
        sort_small_bin(m_g.sorted + m_cached.first, static_cast<int>(n));
      } else if (n <= ReplaySpace<T>::max_cached) {
        sort_bin(m_g.sorted + m_cached.first, static_cast<int>(n), m_cached.bin);
      }
    }
    const std::int64_t n = m_cached.past - m_cached.first;
    if (n > ReplaySpace<T>::max_cached)
      return bisect(m_g.sorted + m_cached.first, n, rank - m_cached.first);
    return m_space.cached[rank - m_cached.first];
  }

  /// The bin of a rank. All threads have read what lies in the work space.
  [[nodiscard]] KOKKOS_FUNCTION typename ReplaySpace<T>::WindowBin window_bin_of(
      std::int64_t rank) const {
    constexpr int stride = ReplaySpace<T>::stride;
    const auto r = static_cast<std::uint64_t>(rank);
    m_crew.barrier();
    for (int i = m_crew.rank(); i < Bins::window / stride; i += m_crew.size()) {
      if (m_space.window_begin[i] > r || m_space.window_begin[i + 1] <= r) continue;
      std::uint64_t begin[stride + 1];
      KASTOR_UNROLL
      for (int k = 0; k <= stride; ++k) begin[k] = m_g.begin[i * stride + k];
      KASTOR_UNROLL
      for (int k = 0; k < stride; ++k) {
        if (begin[k] <= r && r < begin[k + 1])
          m_space.found = {i * stride + k, static_cast<std::int64_t>(begin[k]),
                           static_cast<std::int64_t>(begin[k + 1])};
      }
    }
    m_crew.barrier();
    return m_space.found;
  }

  static constexpr int small = 96;

  /// By counting the smaller pixels of each.
  KOKKOS_FUNCTION void sort_small_bin(const T* pixels, int n) const {
    for (int i = m_crew.rank(); i < n; i += m_crew.size()) m_space.sorting.unsorted[i] = pixels[i];
    m_crew.barrier();
    for (int i = m_crew.rank(); i < n; i += m_crew.size()) {
      m_space.cached[count_before(m_space.sorting.unsorted, i, 0, n)] = m_space.sorting.unsorted[i];
    }
    m_crew.barrier();
  }

  /// A bin of the window, in order: into shares of the bin first, then within each.
  KOKKOS_FUNCTION void sort_bin(const T* pixels, int n, int bin) const {
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
    for_batches(n, pixels, [&](int i, T x) {
      m_space.cached[i] = x;
      Kokkos::atomic_inc(&next[share_of(x)]);
    });
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
    for_batches(n, m_space.cached, [&](int, T x) {
      space.unsorted[Kokkos::atomic_fetch_add(&next[share_of(x)], 1)] = x;
    });
    m_crew.barrier();
    for_batches(n, space.unsorted, [&](int i, T x) {
      const int share = share_of(x);
      const int to = begin[share] + count_before(space.unsorted, i, begin[share], begin[share + 1]);
      m_space.cached[to] = x;
    });
    m_crew.barrier();
  }

  /// Calls `visit(i, value)` for this thread's share; four values are loaded at once.
  template <class Visit>
  KOKKOS_FUNCTION void for_batches(int n, const T* values, const Visit& visit) const {
    constexpr int batch = 4;
    const int size = m_crew.size();
    for (int first = m_crew.rank(); first < n; first += batch * size) {
      T loaded[batch]{};
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) {
        if (first + k * size < n) loaded[k] = values[first + k * size];
      }
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) {
        if (first + k * size < n) visit(first + k * size, loaded[k]);
      }
    }
  }

  /// By halving the range of the ordered bit patterns.
  [[nodiscard]] KOKKOS_FUNCTION T bisect(const T* pixels, std::int64_t n, std::int64_t rank) const {
    Key<T> low = key_of(m_g.brackets.window_low);
    Key<T> high = key_of(m_g.brackets.window_high);
    while (low < high) {
      const Key<T> middle = low + (high - low) / 2;
      std::int64_t up_to = 0;
      for_my_share(m_crew, pixels, n, [&](T x) { up_to += key_of(x) <= middle ? 1 : 0; });
      if (m_crew.sum(up_to) > rank) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return value_of<T>(low);
  }

  Crew m_crew;
  const Gathered<T>& m_g;
  ReplaySpace<T>& m_space;
  Bins m_bins;
  std::int64_t m_window = 0;  ///< pixels in the window, spikes included
  std::int64_t m_below_spike[Brackets<T>::max_spikes] = {};
  typename ReplaySpace<T>::WindowBin m_cached{0, 0, 0};  ///< whose pixels are in the work space
  double m_inside_sum, m_inside_squares;                 ///< in units of the grid
  UsedOctaves m_used;
};

/// The whole replay, and the level that follows from it.
template <class T, class Crew>
KOKKOS_FUNCTION void replay(const Crew& crew, const Gathered<T>& gathered, ReplaySpace<T>& space,
                            double kappa, int max_passes, const ClipLevel& level,
                            ClipOutcome<T>& outcome) {
  Replay<T, Crew> clip(crew, gathered, space);
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
