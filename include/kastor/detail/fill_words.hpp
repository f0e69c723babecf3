// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_FILL_WORDS_HPP
#define KASTOR_DETAIL_FILL_WORDS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/run_table.hpp>

namespace kastor::detail {

/// Devices: writes the runs of words, of which each thread has one or none. Where a word has many,
/// the lanes of a warp write them together: one thread alone would write places that are far from
/// those of its neighbours.
class FillWords {
 public:
  KOKKOS_FUNCTION explicit FillWords(const RunTable& table) : m_table(table) {}

  /// Word `i` of the mask, 0 if the thread has none; `before` runs begin before it. All threads of
  /// a warp must call it.
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::uint64_t word, std::uint64_t starts,
                                  std::uint64_t before) const {
    const std::int64_t y = word == 0 ? 0 : i / m_table.words.per_row;
    const std::int64_t w = i - y * m_table.words.per_row;
#ifdef __CUDA_ARCH__
    const std::uint64_t runs = ones_in(starts);
    const bool has_many =
        runs > many && before + runs <= static_cast<std::uint64_t>(m_table.capacity);
    if (word != 0 && !has_many) m_table.fill_word(y, w, word, starts, before);
    join_lanes();
    std::uint32_t rest = lanes_where(has_many);
    if (rest == 0) return;
    const Word mine{starts,
                    has_many ? m_table.words.ends(i, w, word) : 0,
                    static_cast<std::uint32_t>(before),
                    static_cast<std::uint32_t>(word & ~starts & 1),
                    static_cast<std::int32_t>(y),
                    static_cast<std::int32_t>(64 * w)};
    KASTOR_KEEP_LOOP
    for (; rest != 0; rest &= rest - 1) fill(value_of_lane(mine, first_lane_of(rest)));
#else
    if (word != 0) m_table.fill_word(y, w, word, starts, before);
#endif
  }

 private:
#ifdef __CUDA_ARCH__
  static constexpr int many = 4;

  struct Word {
    std::uint64_t starts, ends;
    std::uint32_t before;
    std::uint32_t coming_in;  ///< 1: a run that begins in the word before is the first to end
    std::int32_t y, x;        ///< of the first bit
  };

  __device__ void fill(const Word& word) const {
    const int lane = this_lane();
    const std::uint32_t below = (std::uint32_t{1} << lane) - 1;
    std::uint32_t begun = word.before;
    std::uint32_t ended = word.before - word.coming_in;
    KASTOR_UNROLL
    for (int half = 0; half < 64; half += lanes) {
      const auto starts = static_cast<std::uint32_t>(word.starts >> half);
      const auto ends = static_cast<std::uint32_t>(word.ends >> half);
      const std::int32_t x = word.x + half + lane;
      if ((starts >> lane & 1) != 0)
        m_table.begin_run(begun + static_cast<std::uint32_t>(__popc(starts & below)), x, word.y);
      if ((ends >> lane & 1) != 0)
        m_table.end[ended + static_cast<std::uint32_t>(__popc(ends & below))] = x + 1;
      begun += static_cast<std::uint32_t>(__popc(starts));
      ended += static_cast<std::uint32_t>(__popc(ends));
    }
  }
#endif

  const RunTable& m_table;
};

}  // namespace kastor::detail

#endif
