// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_TAILS_HPP
#define KASTOR_SIGMA_CLIP_TAILS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/group.hpp"
#include "core/interval.hpp"
#include "core/ordered_key.hpp"
#include "sigma_clip/gathered_bins.hpp"
#include "sigma_clip/sort.hpp"

namespace kastor::detail {

/// The part of a tail that is within a limit: sums of the distances from the centre and of their
/// squares, in units of the grid of the sums between the edges.
struct TailPart {
  std::int64_t count = 0;
  double sum = 0, squares = 0;

  KOKKOS_FUNCTION TailPart& operator+=(const TailPart& other) {
    count += other.count;
    sum += other.sum;
    squares += other.squares;
    return *this;
  }
};

/// What lies within an octave, besides what lies within the octaves before it.
template <class T>
[[nodiscard]] KOKKOS_FUNCTION TailPart with_octave(const GatheredBins<T>& bins,
                                                   const TailPart& before, int octave,
                                                   const TailSums& sums) {
  return {before.count + sums.word[TailSums::count],
          before.sum + bins.in_grid_units(sums.sum(), octave, false),
          before.squares + bins.in_grid_units(sums.squares(), octave, true)};
}

/// Replaces the parts of `octaves` octaves by what lies before each, and puts the whole behind
/// them: sums from the centre outwards, whose order is part of the result.
KOKKOS_INLINE_FUNCTION void add_up_outwards(TailPart* parts, int octaves) {
  TailPart before;
  for (int octave = 0; octave < octaves; ++octave) {
    const TailPart here = parts[octave];
    parts[octave] = before;
    if (here.count == 0) continue;
    before += here;
  }
  parts[octaves] = before;
}

/// Whether a pixel of the lower (0) or the upper (1) tail is within a limit.
template <class T>
[[nodiscard]] KOKKOS_FUNCTION bool is_within_limit(int side, T x, T limit) {
  return side == 0 ? x > limit : x < limit;
}

/// A key of a pixel that increases outwards; 0 is that of no finite pixel.
template <class T>
[[nodiscard]] KOKKOS_FUNCTION core::Key<T> outward_key(int side, T x) {
  return side == 0 ? static_cast<core::Key<T>>(~core::key_of(x)) : core::key_of(x);
}
template <class T>
[[nodiscard]] KOKKOS_FUNCTION T value_of_outward_key(int side, core::Key<T> key) {
  return core::value_of<T>(side == 0 ? static_cast<core::Key<T>>(~key) : key);
}

/// Scratch memory of Tails.
struct TailsSpace {
  TailPart before_octave[2][TailOctaves::count + 1];
};

/// Queries on the pixels beyond the edges: the lower (0) and the upper (1) tail. All threads of the
/// group must call each function with the same arguments; all get the same answer.
template <class Exec, class T>
class Tails {
 public:
  static constexpr int sides = 2;

  KOKKOS_FUNCTION Tails(const core::Group<Exec>& group, const GatheredBins<T>& bins,
                        const SortedBins<T>& sorted, TailsSpace& space)
      : m_group(group), m_bins(bins), m_sorted(sorted), m_space(space) {
    add_up_octaves();
  }

  /// Whether every pixel of the tails is in a bin of its own octave, not beyond the last one.
  [[nodiscard]] KOKKOS_FUNCTION bool hold_all() const {
    return m_octaves[0] < TailOctaves::count && m_octaves[1] < TailOctaves::count;
  }

  /// Count and sums of each tail within an interval. Half of the group handles each tail.
  KOKKOS_FUNCTION void within(const core::Interval<T>& interval, TailPart (&parts)[sides]) const {
    const T limit[sides] = {interval.low, interval.high};
    const int bin[sides] = {bin_of_limit(limit[0]), bin_of_limit(limit[1])};
    std::int64_t words[sides][TailSums::words];
    m_group.sum_words_of_parts(words, [&](int side, const core::SubGroup& half, auto& mine) {
      if (TailOctaves::octave_of(bin[side]) < m_octaves[side])
        add_within(half, side, bin[side], limit[side], mine);
    });
    for (int side = 0; side < sides; ++side) {
      const int octave = TailOctaves::octave_of(bin[side]);
      TailSums sums;
      KASTOR_UNROLL
      for (int k = 0; k < TailSums::words; ++k) sums.word[k] = words[side][k];
      parts[side] = octave < m_octaves[side]
                        ? with_octave(m_bins, m_space.before_octave[side][octave], octave, sums)
                        : m_space.before_octave[side][m_octaves[side]];
    }
  }

  /// The outermost pixel of a tail within an interval, which must contain at least one.
  [[nodiscard]] KOKKOS_FUNCTION T outermost(int side, const core::Interval<T>& interval) const {
    const T limit = side == 0 ? interval.low : interval.high;
    // Search from the bin that the limit cuts towards the centre.
    const int used = TailOctaves::first_bin_of(m_octaves[side]);
    const int cut = bin_of_limit(limit);
    int past = cut < used ? cut + 1 : used;
    for (;;) {
      const int bin = last_used_before(side, past);
      if (bin < 0) return T{0};
      past = bin;
      // Keys that increase outwards; 0 means no pixel.
      core::Key<T> key = 0;
      m_sorted.for_each_in(m_group, bin_in_all(side, bin), [&](T x) {
        const core::Key<T> outwards = outward_key(side, x);
        if (is_within_limit(side, x, limit) && outwards > key) key = outwards;
      });
      key = m_group.max(key);
      if (key != 0) return value_of_outward_key<T>(side, key);
    }
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION static int bin_in_all(int side, int bin) {
    return GatheredBins<T>::window + side * TailOctaves::bins + bin;
  }
  /// The bin that a limit cuts: all pixels of earlier bins are within the limit. Without a limit it
  /// is the last bin, which is empty if `hold_all`.
  [[nodiscard]] KOKKOS_FUNCTION int bin_of_limit(T limit) const {
    return core::is_finite(limit) ? m_bins.in_tail(limit) : TailOctaves::bins - 1;
  }

  /// Adds up the octaves from the centre outwards, in double: the order of these sums is part of
  /// the result.
  KOKKOS_FUNCTION void add_up_octaves() {
    int last[sides] = {-1, -1};
    m_group.for_each(sides * TailOctaves::count, [&](int i) {
      const int side = i / TailOctaves::count, octave = i % TailOctaves::count;
      const TailSums& sums = m_sorted.octave[i];
      const bool any = sums.word[TailSums::count] != 0;
      if (any && octave > last[side]) last[side] = octave;
      m_space.before_octave[side][octave] =
          any ? with_octave(m_bins, TailPart{}, octave, sums) : TailPart{};
    });
    for (int side = 0; side < sides; ++side) m_octaves[side] = m_group.max(last[side]) + 1;
    m_group.barrier();
    for (int side = m_group.rank(); side < sides; side += m_group.size())
      add_up_outwards(m_space.before_octave[side], m_octaves[side]);
    m_group.barrier();
  }

  /// Adds this thread's share of the pixels within a limit, for the octave of bin `bin`: whole
  /// blocks of bins, then bins, then the pixels of the bin itself.
  KOKKOS_FUNCTION void add_within(const core::SubGroup& half, int side, int bin, T limit,
                                  std::int64_t (&words)[TailSums::words]) const {
    constexpr int in_block = TailOctaves::bins_of_block;
    const int octave = TailOctaves::octave_of(bin);
    const int first = TailOctaves::first_bin_of(octave);
    // All loads that do not depend on each other are issued first.
    const std::uint32_t begin = m_sorted.begin[bin_in_all(side, bin)];
    const std::uint32_t past = m_sorted.begin[bin_in_all(side, bin) + 1];
    TailSums sums;
    if (octave < TailOctaves::parted) {
      const TailSums* const blocks = m_sorted.block + side * TailOctaves::blocks + first / in_block;
      const TailSums* const bins = m_sorted.tail + side * TailOctaves::bins + bin - bin % in_block;
      const int whole = (bin - first) / in_block;
      half.for_each(whole + bin % in_block,
                    [&](int i) { sums += i < whole ? blocks[i] : bins[i - whole]; });
    }
    const TailTerm<T> term(m_bins.centre, m_bins.exponent_of(octave));
    half.for_each_of(m_sorted.pixels + begin, past - begin, [&](T x) {
      if (is_within_limit(side, x, limit)) term.add(x, sums);
    });
    KASTOR_UNROLL
    for (int k = 0; k < TailSums::words; ++k) words[k] += sums.word[k];
  }
  /// The last bin before `bin` that has pixels; -1 if there is none.
  [[nodiscard]] KOKKOS_FUNCTION int last_used_before(int side, int bin) const {
    for (int octave = bin > 0 ? TailOctaves::octave_of(bin - 1) : -1; octave >= 0; --octave) {
      const TailPart* const before = m_space.before_octave[side] + octave;
      if (before[1].count == before[0].count) continue;
      const int first = TailOctaves::first_bin_of(octave);
      const int past = TailOctaves::first_bin_of(octave + 1);
      int last = -1;
      m_group.for_each((bin < past ? bin : past) - first, [&](int i) {
        if (m_sorted.size_of(bin_in_all(side, first + i)) > 0) last = first + i;
      });
      last = m_group.max(last);
      if (last >= 0) return last;
    }
    return -1;
  }

  const core::Group<Exec>& m_group;
  GatheredBins<T> m_bins;
  SortedBins<T> m_sorted;
  TailsSpace& m_space;
  int m_octaves[sides];  ///< octaves up to the outermost one that has pixels
};

}  // namespace kastor::detail

#endif
