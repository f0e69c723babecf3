// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CLIP_OUTLINE_HPP
#define KASTOR_DETAIL_CLIP_OUTLINE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/sort_into_pages.hpp>
#include <kastor/detail/sums_before.hpp>

namespace kastor::detail {

/// How many pixels a clip has up to some of its bins, about, and their sums; near at hand.
struct ClipOutline {
  static constexpr int threads = 256;
  static constexpr int step = 2;  ///< bins of a tail
  static constexpr int groups = TailOctaves::bins_in_fine / TailOctaves::in_group;
  static constexpr int steps_of_group = TailOctaves::in_group / step;
  static constexpr int steps = groups * steps_of_group;
  static constexpr int window_steps = 512;

  /// Of the lower tail and then of the upper one: before each step of the fine octaves.
  float count[2 * steps + 1];
  /// Of the distances from the centre, in units of the first octave's: before each group.
  float sum[2 * groups + 1], squares[2 * groups + 1];
  float window_begin[window_steps + 1];
  SumsBeforeSpace<float, 3, threads> before;
};

/// What a thread reads for it: early, so that something else can be done meanwhile.
template <class T>
class OutlineShare {
 public:
  KOKKOS_FUNCTION OutlineShare(int rank, const TailSummaries<T>& summaries,
                               const PageCounts& counts, const std::uint64_t* window_begin)
      : m_rank(rank) {
    KASTOR_UNROLL
    for (int k = 0; k < mine; ++k) {
      const int i = rank * mine + k < all ? rank * mine + k : all - 1;
      const int side = i / ClipOutline::groups;
      const int group = i % ClipOutline::groups;
      const auto* const of_bins = reinterpret_cast<const std::uint64_t*>(
          counts.of_tail + side * TailOctaves::bins + group * TailOctaves::in_group);
      KASTOR_UNROLL
      for (int s = 0; s < ClipOutline::steps_of_group; ++s) m_counts[k][s] = of_bins[s];
      m_sums[k] = summaries.groups[side * TailOctaves::groups + group];
    }
    KASTOR_UNROLL
    for (int k = 0; k < window_mine; ++k) m_window[k] = window_begin[window_place(k) * window_step];
    m_window_end = window_begin[GatheredBins<T>::window];
  }

  /// All of the crew must call it.
  template <class Crew>
  KOKKOS_FUNCTION void put_into(const Crew& crew, ClipOutline& outline) const {
    KASTOR_UNROLL
    for (int k = 0; k < window_mine; ++k)
      outline.window_begin[window_place(k)] = static_cast<float>(m_window[k]);
    if (m_rank == 0)
      outline.window_begin[ClipOutline::window_steps] = static_cast<float>(m_window_end);
    Sums sums[mine];
    float before[3] = {};
    KASTOR_UNROLL
    for (int k = 0; k < mine; ++k) {
      sums[k] = m_rank * mine + k < all ? sums_of(k) : Sums{};
      before[0] += sums[k].of_step[ClipOutline::steps_of_group - 1];
      before[1] += sums[k].sum;
      before[2] += sums[k].squares;
    }
    sums_before(crew, outline.before, before);
    KASTOR_UNROLL
    for (int k = 0; k < mine; ++k) {
      const int i = m_rank * mine + k;
      if (i > all) break;
      outline.sum[i] = before[1];
      outline.squares[i] = before[2];
      float* const count = outline.count + i * ClipOutline::steps_of_group;
      count[0] = before[0];
      if (i == all) break;
      KASTOR_UNROLL
      for (int s = 1; s < ClipOutline::steps_of_group; ++s)
        count[s] = before[0] + sums[k].of_step[s - 1];
      before[0] += sums[k].of_step[ClipOutline::steps_of_group - 1];
      before[1] += sums[k].sum;
      before[2] += sums[k].squares;
    }
    crew.barrier();
  }

 private:
  static constexpr int all = 2 * ClipOutline::groups;
  static constexpr int mine = all / ClipOutline::threads + 1;
  static constexpr int window_mine = ClipOutline::window_steps / ClipOutline::threads;
  static_assert(ClipOutline::step == 2);
  static constexpr int window_step = GatheredBins<T>::window / ClipOutline::window_steps;

  /// Of a group.
  struct Sums {
    float of_step[ClipOutline::steps_of_group] = {};  ///< counts up to its end
    float sum = 0, squares = 0;
  };
  [[nodiscard]] KOKKOS_FUNCTION Sums sums_of(int k) const {
    Sums sums;
    std::uint32_t n = 0;
    KASTOR_UNROLL
    for (int s = 0; s < ClipOutline::steps_of_group; ++s) {
      n += static_cast<std::uint32_t>(m_counts[k][s]) +
           static_cast<std::uint32_t>(m_counts[k][s] >> 32);
      sums.of_step[s] = static_cast<float>(n);
    }
    const int group = (m_rank * mine + k) % ClipOutline::groups;
    const int octave = TailOctaves::octave_of(group * TailOctaves::in_group);
    const auto in_units = [&](WideTailSums::Word low, WideTailSums::Word high, int exponent) {
      return (static_cast<float>(m_sums[k].word[high]) * 4294967296.0F +
              static_cast<float>(m_sums[k].word[low])) *
             static_cast<float>(power_of_two(exponent - grid_bits));
    };
    sums.sum = in_units(WideTailSums::sum_low, WideTailSums::sum_high, octave);
    sums.squares = in_units(WideTailSums::squares_low, WideTailSums::squares_high, 2 * octave);
    return sums;
  }
  [[nodiscard]] KOKKOS_FUNCTION int window_place(int k) const {
    return m_rank + k * ClipOutline::threads;
  }

  int m_rank;
  std::uint64_t m_counts[mine][ClipOutline::steps_of_group];  ///< of two bins each
  WideTailSums m_sums[mine];
  std::uint64_t m_window[window_mine], m_window_end;
};

}  // namespace kastor::detail

#endif
