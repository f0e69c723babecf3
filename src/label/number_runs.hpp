// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_LABEL_NUMBER_RUNS_HPP
#define KASTOR_LABEL_NUMBER_RUNS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/bits.hpp"
#include "core/intrinsics.hpp"
#include "core/pack.hpp"
#include "core/word_rows.hpp"
#include "label/run_table.hpp"

namespace kastor::detail {

/// A scan over blocks of words: numbers the runs in raster order and fills the lists of runs. Each
/// run begins as a set of its own.
struct NumberRuns {
  static constexpr int words_at_once = 8;
  struct WordCounts {
    std::uint64_t runs = 0;
    std::uint64_t pixels = 0;
    KOKKOS_FUNCTION WordCounts& operator+=(const WordCounts& other) {
      runs += other.runs;
      pixels += other.pixels;
      return *this;
    }
  };
  using value_type = WordCounts;
  RunTable table;
  std::uint64_t* pixels_of_set;  ///< null if all sets are kept

  [[nodiscard]] std::int64_t blocks() const {
    // At least one block, which stores the counts.
    return table.words.count < words_at_once ? 1 : (table.words.count - 1) / words_at_once + 1;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t block, value_type& before, bool is_final) const {
    const std::int64_t first = block * words_at_once;
    const std::int64_t n =
        table.words.count - first < words_at_once ? table.words.count - first : words_at_once;
    const Counts found = count_runs(first, n, before.runs);
    if (is_final) {
      write_first_in_word(first, n, found);
      if (found.all.pixels != 0) fill_block(first, n, before.runs);
    }
    before += found.all;
    if (is_final && first + n == table.words.count) {
      table.first_in_word[first + n] = static_cast<std::uint32_t>(before.runs);
      *table.counts = {before.runs, before.pixels, 0, 0};
    }
  }

 private:
  struct Counts {
    value_type all;
    core::Pack<std::uint32_t, words_at_once> before_word;
  };

  /// Counts the runs and pixels of n words; `before` runs begin before the first word.
  [[nodiscard]] KOKKOS_FUNCTION Counts count_runs(std::int64_t first, std::int64_t n,
                                                  std::uint64_t before) const {
    using Words = core::Pack<std::uint64_t, words_at_once>;
    Counts found;
    if (n <= 0) return found;
    const std::uint64_t* const from = table.words.data + first;
    const Words words = n == words_at_once && core::is_aligned(from)
                            ? Words::load(from)
                            : Words::load(from, n, std::uint64_t{0});
    std::int64_t in_row =
        first - core::row_of_word(first, table.words.per_row) * table.words.per_row;
    std::uint64_t carry = in_row > 0 ? from[-1] >> 63 : 0;
    KASTOR_UNROLL
    for (int k = 0; k < words_at_once; ++k) {
      const WordInRow word{words.pixel[k], in_row > 0 ? carry : 0};
      found.before_word.pixel[k] = static_cast<std::uint32_t>(before + found.all.runs);
      found.all.runs += static_cast<std::uint64_t>(core::popcount(word.starts()));
      found.all.pixels += static_cast<std::uint64_t>(core::popcount(word.bits));
      carry = word.bits >> 63;
      in_row = in_row + 1 < table.words.per_row ? in_row + 1 : 0;
    }
    return found;
  }
  KOKKOS_FUNCTION void write_first_in_word(std::int64_t first, std::int64_t n,
                                           const Counts& found) const {
    if (n == words_at_once) {
      found.before_word.store(table.first_in_word + first);
    } else {
      KASTOR_UNROLL
      for (int k = 0; k < words_at_once; ++k)
        if (k < n) table.first_in_word[first + k] = found.before_word.pixel[k];
    }
  }
  KOKKOS_FUNCTION void fill_block(std::int64_t first, std::int64_t n, std::uint64_t before) const {
    KASTOR_KEEP_LOOP
    for (std::int64_t w = first; w < first + n; ++w) {
      if (table.words.data[w] == 0) continue;
      const std::uint64_t starts = table.words.word(w).starts();
      fill_lists(w, starts, before);
      before += static_cast<std::uint64_t>(core::popcount(starts));
    }
  }
  /// Fills the lists for the runs that begin or end in a word that is not 0.
  KOKKOS_FUNCTION void fill_lists(std::int64_t w, std::uint64_t starts,
                                  std::uint64_t before) const {
    const int begun = core::popcount(starts);
    if (before + static_cast<std::uint64_t>(begun) > static_cast<std::uint64_t>(table.capacity))
      return;
    const std::int64_t y = core::row_of_word(w, table.words.per_row);
    const std::int64_t in_row = w - y * table.words.per_row;
    const auto x = static_cast<std::int32_t>(64 * in_row);
    auto run = static_cast<std::uint32_t>(before);
    // A run that continues from the previous word is the first to end.
    std::uint32_t ending = run - static_cast<std::uint32_t>(table.words.data[w] & ~starts & 1);
    for (std::uint64_t rest = starts; rest != 0; rest &= rest - 1, ++run) {
      table.begin[run] = x + core::countr_zero(rest);
      table.row[run] = static_cast<std::int32_t>(y);
      table.parent[run] = run;
      if (pixels_of_set != nullptr) pixels_of_set[run] = 0;
    }
    for (std::uint64_t rest = table.words.ends(w, in_row); rest != 0; rest &= rest - 1)
      table.end[ending++] = x + core::countr_zero(rest) + 1;
  }
};

}  // namespace kastor::detail

#endif
