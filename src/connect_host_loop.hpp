// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp.

/// See count_runs_on_host.
[[KASTOR_TARGET]] inline std::uint64_t count_runs(const std::uint64_t* words,
                                                  std::int64_t words_per_row, std::int64_t rows) {
  std::uint64_t runs = 0;
  for (std::int64_t y = 0; y < rows; ++y, words += words_per_row) {
    for (std::int64_t w = 0; w < words_per_row; ++w)
      runs += static_cast<std::uint64_t>(std::popcount(WordInRow::of(words, w).starts()));
  }
  return runs;
}

/// Writes x plus the place of each bit. If there is room, some entries behind them are overwritten:
/// how many bits there are is hard to predict.
[[KASTOR_TARGET, gnu::always_inline]] inline void write_places(std::uint64_t bits, std::int64_t x,
                                                               std::int32_t* list, int n,
                                                               bool has_room) {
  if (!has_room) {
    for (int k = 0; k < n; ++k, bits &= bits - 1)
      list[k] = static_cast<std::int32_t>(x + std::countr_zero(bits));
    return;
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
  RunJoiner joiner(lists.parent, before_word[first], WordInRow::of(row, first).carry != 0);
  for (; which != 0; which &= which - 1) {
    const std::int64_t w = first + std::countr_zero(which);
    for_each_touching(
        WordInRow::of(row_above, w), before_above[w], WordInRow::of(row, w), before_word[w],
        lists.reach,
        [&joiner](std::uint32_t above, std::uint32_t run) { joiner.join(above, run); });
  }
}

/// Counts through some words of a row; the result has a bit for each with a corner of a pixel, of
/// its own or of the word before.
[[KASTOR_TARGET, gnu::always_inline]] inline std::uint64_t number_some(const std::uint64_t* row,
                                                                       std::int64_t begin,
                                                                       std::int64_t end,
                                                                       std::uint32_t* first,
                                                                       RunCounts& counts) {
  std::uint64_t any = 0;
  for (std::int64_t w = begin; w < end; ++w) {
    const auto word = WordInRow::of(row, w);
    first[w] = static_cast<std::uint32_t>(counts.runs);
    counts.runs += static_cast<std::uint64_t>(std::popcount(word.starts()));
    counts.pixels += static_cast<std::uint64_t>(std::popcount(word.bits));
    any |= std::uint64_t{(word.bits | word.carry) != 0 ? 1U : 0U} << (w - begin);
  }
  return any;
}

/// The same for up to 64 words, most of which are 0 as a rule.
[[KASTOR_TARGET, gnu::always_inline]] inline std::uint64_t number_words(const std::uint64_t* row,
                                                                        std::int64_t begin,
                                                                        std::int64_t end,
                                                                        std::uint32_t* first,
                                                                        RunCounts& counts) {
  constexpr std::int64_t block = 8;
  std::uint64_t any = 0;
  for (std::int64_t w = begin; w < end; w += block) {
    if (w + block > end) return any | number_some(row, w, end, first, counts) << (w - begin);
    std::uint64_t any_here = WordInRow::of(row, w).carry;
    for (std::int64_t k = 0; k < block; ++k) any_here |= row[w + k];
    if (any_here == 0) {
      std::fill_n(first + w, block, static_cast<std::uint32_t>(counts.runs));
    } else {
      any |= number_some(row, w, w + block, first, counts) << (w - begin);
    }
  }
  return any;
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
    for (std::int64_t w = 0; w < per_row; w += 64) {
      const std::uint64_t any = number_words(row, w, std::min(w + 64, per_row), first, counts);
      if (any == 0 || counts.runs > limit) continue;
      list_words(lists, y, w, any, limit);
      if (y > first_row) join_words(lists, y, w, any);
    }
  }
  return counts;
}
