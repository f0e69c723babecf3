// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DEBLEND_CHILD_RUNS_HPP
#define KASTOR_DEBLEND_CHILD_RUNS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/label.hpp>

#include "core/atomics.hpp"
#include "core/bits.hpp"
#include "core/word_rows.hpp"
#include "deblend/flat_pixels.hpp"

/// Splits the runs of islands where one child ends and another begins.
namespace kastor::detail {

/// The child of a pixel.
struct ChildOfPixel {
  const std::uint32_t* basin_of;
  const std::uint32_t* child_of;
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t i) const {
    return child_of[basin_of[i]];
  }
};

/// Marks where runs begin, by words.
template <class Exec>
struct MarkStarts {
  FlatPixels pixels;
  RunLabels<Exec> labels;
  ChildOfPixel child;
  std::uint64_t* starts;

  KOKKOS_FUNCTION void operator()(std::int64_t w) const {
    if (labels.mask.words.data()[w] == 0) {
      starts[w] = 0;
      return;
    }
    const std::int64_t y = core::row_of_word(w, pixels.words_per_row);
    std::uint64_t marks = labels.starts_of(y, w - y * pixels.words_per_row);
    pixels.visit_word(w, ~std::uint64_t{0}, [&](std::uint32_t i, std::int64_t, std::int64_t x) {
      const std::uint64_t bit = std::uint64_t{1} << (x % 64);
      if ((marks & bit) == 0 && child(i) != child(i - 1)) marks |= bit;
    });
    starts[w] = marks;
  }
};

/// What the kernels of the children's labels fill.
struct ChildRuns {
  const std::uint64_t *mask, *starts;
  std::uint32_t* first_in_word;
  std::int32_t *begin, *end, *row;
  std::uint32_t *label, *first_run;
  std::int64_t room;  ///< of the lists of runs
  LabelCounts* counts;
  LabelCounts* counts_on_host;  ///< in memory that the host reads
};

/// A scan over words: numbers the runs and fills their lists.
struct ListRuns {
  using value_type = std::uint64_t;
  FlatPixels pixels;
  ChildOfPixel child;
  ChildRuns runs;
  std::uint32_t children;

  KOKKOS_FUNCTION void operator()(std::int64_t w, value_type& sum, bool is_final) const {
    const std::uint64_t starts = runs.starts[w];
    if (is_final) {
      runs.first_in_word[w] = static_cast<std::uint32_t>(sum);
      if (runs.mask[w] != 0) fill(w, starts, sum);
    }
    sum += static_cast<std::uint64_t>(core::popcount(starts));
    if (is_final && w == pixels.ny * pixels.words_per_row - 1) {
      runs.first_in_word[w + 1] = static_cast<std::uint32_t>(sum);
      *runs.counts = {sum, static_cast<std::uint64_t>(pixels.count()), children, 0};
      *runs.counts_on_host = *runs.counts;
    }
  }

 private:
  KOKKOS_FUNCTION void fill(std::int64_t w, std::uint64_t starts, std::uint64_t before) const {
    const std::uint64_t mask = runs.mask[w];
    if (before + static_cast<std::uint64_t>(core::popcount(starts)) >
        static_cast<std::uint64_t>(runs.room))
      return;
    const std::int64_t y = core::row_of_word(w, pixels.words_per_row);
    const std::int64_t in_row = w - y * pixels.words_per_row;
    const auto x = static_cast<std::int32_t>(64 * in_row);
    auto run = static_cast<std::uint32_t>(before);
    std::uint32_t ending = run - static_cast<std::uint32_t>(mask & ~starts & 1);
    for (std::uint64_t rest = starts; rest != 0; rest &= rest - 1, ++run) {
      runs.begin[run] = x + core::countr_zero(rest);
      runs.row[run] = static_cast<std::int32_t>(y);
      runs.label[run] = 0;
    }
    const bool has_next = in_row + 1 < pixels.words_per_row;
    const std::uint64_t goes_on = has_next ? runs.mask[w + 1] & ~runs.starts[w + 1] : 0;
    const std::uint64_t inside = (mask & ~starts) >> 1 | goes_on << 63;
    for (std::uint64_t rest = mask & ~inside; rest != 0; rest &= rest - 1)
      runs.end[ending++] = x + core::countr_zero(rest) + 1;
    name(w, starts, static_cast<std::uint32_t>(before));
  }
  /// The labels of the runs that begin in a word.
  KOKKOS_FUNCTION void name(std::int64_t w, std::uint64_t starts, std::uint32_t before) const {
    pixels.visit_word(w, ~std::uint64_t{0}, [&](std::uint32_t i, std::int64_t, std::int64_t at) {
      const std::uint64_t bit = std::uint64_t{1} << (at % 64);
      if ((starts & bit) == 0) return;
      const auto earlier = static_cast<std::uint32_t>(core::popcount(starts & (bit - 1)));
      const std::uint32_t label = child(i);
      runs.label[before + earlier] = label;
      core::atomic_lower(runs.first_run + label - 1, before + earlier);
    });
  }
};

/// No child has a run yet.
struct ForgetRuns {
  std::uint32_t* first_run;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { first_run[i] = ~std::uint32_t{0}; }
};

}  // namespace kastor::detail

#endif
