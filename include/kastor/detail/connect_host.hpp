// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CONNECT_HOST_HPP
#define KASTOR_DETAIL_CONNECT_HOST_HPP

#include <bit>
#include <cstdint>
#include <kastor/detail/host_level.hpp>
#include <kastor/detail/mask_lines.hpp>

/// How a host finds the runs of a mask and those that touch: 64 pixels at a time, from the bits
/// alone. Knows nothing of Kokkos, so that it is always compiled as plain C++, for several
/// instruction sets.
namespace kastor::detail {

/// A mask by rows, and what is written of its runs.
struct RunLists {
  const std::uint64_t* words;
  std::int64_t words_per_row;
  std::uint32_t* first_in_word;
  std::int32_t *begin, *end, *row;
  std::uint32_t* parent;         ///< of a forest over the runs, see UnionFind
  std::uint64_t* pixels_of_set;  ///< set to 0; null if nobody wants to know
  int reach;                     ///< 0: pixels touch at edges only, 1: at corners too
  MaskLines lines = {};          ///< of the mask
};

/// The runs in some rows.
[[nodiscard]] std::uint64_t count_runs_on_host(HostLevel level, const RunLists& lists,
                                               std::int64_t first_row, std::int64_t past_row);

struct RunCounts {
  std::uint64_t runs;    ///< from the first row of the mask on
  std::uint64_t pixels;  ///< of some rows
};

/// Fills the lists for the runs of some rows, and unites those that touch runs of the same rows.
/// `before` runs begin before. Writes no entry from `limit` on: where there are more runs, the
/// lists are worthless but for `first_in_word`. Of that, the first word of each row is written, and
/// all words with a corner of a pixel, of their own or of the word before.
RunCounts connect_rows_on_host(HostLevel level, const RunLists& lists, std::int64_t first_row,
                               std::int64_t past_row, std::uint64_t before, std::uint64_t limit);

/// A word of a mask, and the bit before it in its row.
struct WordInRow {
  std::uint64_t bits, carry;

  [[gnu::always_inline]] static WordInRow of(const std::uint64_t* row, std::int64_t w) {
    return {row[w], w > 0 ? row[w - 1] >> 63 : 0};
  }
  /// Pixels, each with the one to its left.
  [[nodiscard, gnu::always_inline]] std::uint64_t moved() const { return bits << 1 | carry; }
  [[nodiscard, gnu::always_inline]] std::uint64_t starts() const { return bits & ~moved(); }
  /// The corners of pixels: run [begin, end) has those from begin to end, and no other run has.
  [[nodiscard, gnu::always_inline]] std::uint64_t corners() const { return bits | moved(); }
};

/// Calls `touch(above, below)` with the numbers of any two runs of neighbouring rows that touch and
/// the later of which begins in this word. What two runs share, edges or corners, is an interval,
/// and it begins where the later one begins: so every pair comes once.
/// \param above, below  a word of either row
/// \param runs_above, runs_below  how many runs begin before it
template <class Touch>
[[gnu::always_inline]] inline void for_each_touching(WordInRow above, std::uint32_t runs_above,
                                                     WordInRow below, std::uint32_t runs_below,
                                                     int reach, const Touch& touch) {
  const std::uint64_t starts_above = above.starts(), starts_below = below.starts();
  const std::uint64_t shared =
      reach > 0 ? above.corners() & below.corners() : above.bits & below.bits;
  for (std::uint64_t rest = shared & (starts_above | starts_below); rest != 0; rest &= rest - 1) {
    const std::uint64_t up_to = rest ^ (rest - 1);
    touch(runs_above + static_cast<std::uint32_t>(std::popcount(starts_above & up_to)) - 1,
          runs_below + static_cast<std::uint32_t>(std::popcount(starts_below & up_to)) - 1);
  }
}

}  // namespace kastor::detail

#endif
