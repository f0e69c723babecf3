// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_LABEL_UNITE_RUNS_HPP
#define KASTOR_LABEL_UNITE_RUNS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/bits.hpp"
#include "label/run_table.hpp"

namespace kastor::detail {

/// Unites runs of neighbouring rows that touch, for each word of the mask from the second row on.
/// What two runs share (edges or corners) is an interval that begins where the later of the two
/// runs begins. So every pair is found once, from the bits alone.
struct UniteRuns {
  RunTable table;
  bool at_corners;  ///< pixels touch at corners too, not only at edges

  [[nodiscard]] std::int64_t words() const {
    return table.ny > 0 ? table.words.count - table.words.per_row : 0;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t w = i + table.words.per_row;
    if ((table.words.data[w] | table.words.data[w - 1] >> 63) != 0 && table.runs() != 0)
      unite_words(i, w);
  }

 private:
  /// Unites the runs of word a with those of word b, which is below it.
  KOKKOS_FUNCTION void unite_words(std::int64_t a, std::int64_t b) const {
    const WordInRow above = table.words.word(a), below = table.words.word(b);
    const std::uint64_t shared =
        at_corners ? above.corners() & below.corners() : above.bits & below.bits;
    for (std::uint64_t rest = shared & (above.starts() | below.starts()); rest != 0;
         rest &= rest - 1) {
      const std::uint64_t up_to = rest ^ (rest - 1);
      table.forest().unite(run_at(b, below, up_to), run_at(a, above, up_to));
    }
  }
  /// The last run that begins before word w, or in the bits `up_to` of it.
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t run_at(std::int64_t w, const WordInRow& word,
                                                     std::uint64_t up_to) const {
    return table.first_in_word[w] +
           static_cast<std::uint32_t>(core::popcount(word.starts() & up_to)) - 1;
  }
};

}  // namespace kastor::detail

#endif
