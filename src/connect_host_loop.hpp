// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

/// Asks for those of 64 words that may have a bit, and if wanted for how many runs begin before
/// them: hardware foresees only what is read in one go. Without a branch for each line; `here` is
/// what is being looked at.
template <bool Numbers>
[[KASTOR_TARGET, gnu::always_inline]] inline void fetch_words(const RunLists& lists,
                                                              std::int64_t here, std::int64_t first,
                                                              std::int64_t past) {
  if (lists.lines.touched == nullptr || first + 64 > past) return;
  std::uint64_t eight;
  std::memcpy(&eight, lists.lines.touched + first / MaskLines::words, sizeof(eight));
  if (eight == 0) return;
#pragma GCC unroll 8
  for (int k = 0; k < 8; ++k) {
    const std::int64_t word = (eight >> (8 * k) & 1) != 0 ? first + MaskLines::words * k : here;
    __builtin_prefetch(lists.words + word);
    if constexpr (Numbers) __builtin_prefetch(lists.first_in_word + word, 1);
  }
}

/// Up to 64 words of a row, a bit for each.
struct SomeWords {
  std::uint64_t set;   ///< those that are not 0
  std::uint64_t last;  ///< those with their last bit set

  /// Those with a corner of a pixel, of their own or of the word before the first, the second, ...
  [[nodiscard, gnu::always_inline]] std::uint64_t with_corners(std::uint64_t carry,
                                                               std::int64_t n) const {
    return (set | last << 1 | carry) & ~std::uint64_t{0} >> (64 - n);
  }
};

/// From the `begin`-th word of a row on, whose first is the `row_first`-th of the mask. Most words
/// are 0, as a rule, and in lines that are known to be empty.
[[KASTOR_TARGET, gnu::always_inline]] inline SomeWords look_at_words(const std::uint64_t* row,
                                                                     const MaskLines& lines,
                                                                     std::int64_t row_first,
                                                                     std::int64_t begin,
                                                                     std::int64_t n) {
  constexpr std::int64_t line = MaskLines::words;
  SomeWords words{0, 0};
  const auto look = [&](std::int64_t first, std::int64_t past) {
    for (std::int64_t w = first; w < past; ++w) {
      words.set |= std::uint64_t{row[begin + w] != 0 ? 1U : 0U} << w;
      words.last |= row[begin + w] >> 63 << w;
    }
  };
  if (n % line == 0 && (row_first + begin) % line == 0) {
    const std::uint64_t here = ~std::uint64_t{0} >> (64 - n);
    for (std::uint64_t rest = words_with_bits(lines, row_first + begin) & here; rest != 0;) {
      const int first = std::countr_zero(rest);
#pragma GCC unroll 8
      for (int w = 0; w < line; ++w) look(first + w, first + w + 1);
      rest &= ~(std::uint64_t{0xff} << first);
    }
  } else {
    for (std::int64_t w = 0; w < n; w += line) {
      const std::int64_t some = std::min(line, n - w);
      if (may_have_bits(lines, row_first + begin + w, some)) look(w, w + some);
    }
  }
  return words;
}

/// See count_runs_on_host.
[[KASTOR_TARGET]] inline std::uint64_t count_runs(const RunLists& lists, std::int64_t first_row,
                                                  std::int64_t past_row) {
  const std::int64_t per_row = lists.words_per_row;
  std::uint64_t runs = 0;
  for (std::int64_t y = first_row; y < past_row; ++y) {
    const std::uint64_t* row = lists.words + y * per_row;
    for (std::int64_t begin = 0; begin < per_row; begin += 64) {
      const std::int64_t n = std::min<std::int64_t>(64, per_row - begin);
      const std::int64_t here = y * per_row + begin;
      fetch_words<false>(lists, here, here + 512, past_row * per_row);
      const SomeWords words = look_at_words(row, lists.lines, y * per_row, begin, n);
      for (std::uint64_t rest = words.set; rest != 0; rest &= rest - 1) {
        const auto word = WordInRow::of(row, begin + std::countr_zero(rest));
        runs += static_cast<std::uint64_t>(std::popcount(word.starts()));
      }
    }
  }
  return runs;
}

/// Writes x plus the place of each bit. If there is room, some entries behind them are overwritten:
/// how many bits there are is hard to predict.
template <class V = Vectors<float>>
[[KASTOR_TARGET, gnu::always_inline]] inline void write_places(std::uint64_t bits, std::int64_t x,
                                                               std::int32_t* list, int n,
                                                               bool has_room) {
  if (!has_room) {
    for (int k = 0; k < n; ++k, bits &= bits - 1)
      list[k] = static_cast<std::int32_t>(x + std::countr_zero(bits));
    return;
  }
  if constexpr (requires { V::has_masks; }) {
    if (n > 4) return V::write_places(list, static_cast<std::int32_t>(x), bits);
  }
  for (int k = 0; k < n; k += 4) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j, bits &= bits - 1) {
      list[k + j] = static_cast<std::int32_t>(x + std::countr_zero(bits));
      // GCC would put four of them into a vector first, which takes longer.
      asm volatile("" ::: "memory");
    }
  }
}

/// The same for what is known of n runs before they are looked at.
[[KASTOR_TARGET, gnu::always_inline]] inline void list_new(const RunLists& lists, std::int64_t y,
                                                           std::uint64_t before, int n,
                                                           bool has_room) {
  using Eight [[gnu::vector_size(32)]] = std::uint32_t;
  const auto row = static_cast<std::uint32_t>(y);
  const auto first = static_cast<std::uint32_t>(before);
  std::int32_t* rows = lists.row + before;
  std::uint32_t* parents = lists.parent + before;
  if (has_room) {
    const Eight same = Eight{} + row;
    for (int k = 0; k < n; k += 8) {
      const Eight ascending = Eight{0, 1, 2, 3, 4, 5, 6, 7} + (first + static_cast<unsigned>(k));
      std::memcpy(rows + k, &same, sizeof(same));
      std::memcpy(parents + k, &ascending, sizeof(ascending));
    }
  } else {
    std::fill_n(rows, n, static_cast<std::int32_t>(row));
    std::iota(parents, parents + n, first);
  }
  if (lists.pixels_of_set != nullptr) std::fill_n(lists.pixels_of_set + before, n, 0);
}

/// Fills the lists for the runs that begin or end in some words of row y, those from the `first`-th
/// on whose bits in `which` are set. Apart from what else is done with words, for the sake of
/// registers.
[[KASTOR_TARGET, gnu::noinline]] inline void list_words(const RunLists& lists, std::int64_t y,
                                                        std::int64_t first, std::uint64_t which,
                                                        std::uint64_t limit) {
  const std::uint64_t* row = lists.words + y * lists.words_per_row;
  const std::uint32_t* before_word = lists.first_in_word + y * lists.words_per_row;
  for (; which != 0; which &= which - 1) {
    const std::int64_t w = first + std::countr_zero(which);
    const auto word = WordInRow::of(row, w);
    const std::uint64_t next = w + 1 < lists.words_per_row ? row[w + 1] << 63 : 0;
    const std::uint64_t starts = word.starts();
    const std::uint64_t ends = word.bits & ~(word.bits >> 1 | next);
    const std::uint64_t before = before_word[w];
    const bool has_room = before + 64 <= limit;
    const int n = std::popcount(starts);
    const std::int64_t x = 64 * w;
    write_places(starts, x, lists.begin + before, n, has_room);
    // The run that comes in from the word before, if any, is the first to end.
    const std::uint64_t comes_in = word.bits & ~starts & 1;
    write_places(ends, x + 1, lists.end + before - comes_in, std::popcount(ends), has_room);
    list_new(lists, y, before, n, has_room);
  }
}

/// Unites the runs of the same words with those of the row above.
[[KASTOR_TARGET, gnu::noinline]] inline void join_words(const RunLists& lists, std::int64_t y,
                                                        std::int64_t first, std::uint64_t which) {
  const std::uint64_t* row = lists.words + y * lists.words_per_row;
  const std::uint64_t* row_above = row - lists.words_per_row;
  const std::uint32_t* before_word = lists.first_in_word + y * lists.words_per_row;
  const std::uint32_t* before_above = before_word - lists.words_per_row;
  const std::uint64_t above = words_with_bits(lists.lines, (y - 1) * lists.words_per_row + first);
  which &= above | above << 1 | 1;  // a corner may be that of the word before
  if (which == 0) return;
  RunJoiner joiner(lists.parent, before_word[first], WordInRow::of(row, first).carry != 0);
  for (; which != 0; which &= which - 1) {
    const std::int64_t w = first + std::countr_zero(which);
    for_each_touching(
        WordInRow::of(row_above, w), before_above[w], WordInRow::of(row, w), before_word[w],
        lists.reach,
        [&joiner](std::uint32_t above_it, std::uint32_t run) { joiner.join(above_it, run); });
  }
}

/// Counts through the words of a row from the `begin`-th on whose bits in `which` are set.
[[KASTOR_TARGET, gnu::always_inline]] inline void number_words(const std::uint64_t* row,
                                                               std::int64_t begin,
                                                               std::uint64_t which,
                                                               std::uint32_t* first,
                                                               RunCounts& counts) {
  for (; which != 0; which &= which - 1) {
    const std::int64_t w = begin + std::countr_zero(which);
    const auto word = WordInRow::of(row, w);
    first[w] = static_cast<std::uint32_t>(counts.runs);
    counts.runs += static_cast<std::uint64_t>(std::popcount(word.starts()));
    counts.pixels += static_cast<std::uint64_t>(std::popcount(word.bits));
  }
}

/// See connect_rows_on_host.
[[KASTOR_TARGET]] inline RunCounts connect_rows(const RunLists& lists, std::int64_t first_row,
                                                std::int64_t past_row, std::uint64_t before,
                                                std::uint64_t limit) {
  const std::int64_t per_row = lists.words_per_row;
  RunCounts counts{before, 0};
  for (std::int64_t y = first_row; y < past_row; ++y) {
    const std::uint64_t* row = lists.words + y * per_row;
    std::uint32_t* first = lists.first_in_word + y * per_row;
    std::uint64_t carry = 0;
    for (std::int64_t w = 0; w < per_row; w += 64) {
      const std::int64_t n = std::min<std::int64_t>(64, per_row - w);
      const std::int64_t here = y * per_row + w;
      fetch_words<true>(lists, here, here + 512, past_row * per_row);
      const SomeWords words = look_at_words(row, lists.lines, y * per_row, w, n);
      const std::uint64_t any = words.with_corners(carry, n);
      carry = words.last >> (n - 1) & 1;
      if (w == 0 || any != 0) first[w] = static_cast<std::uint32_t>(counts.runs);
      if (any == 0) continue;
      number_words(row, w, any, first, counts);
      if (counts.runs > limit) continue;
      list_words(lists, y, w, any, limit);
      if (y > first_row) join_words(lists, y, w, any);
    }
  }
  return counts;
}
