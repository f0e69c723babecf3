// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_LABEL_RUN_TABLE_HPP
#define KASTOR_LABEL_RUN_TABLE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/label.hpp>

#include "core/word_rows.hpp"
#include "label/union_find.hpp"

namespace kastor::detail {

/// A word of a mask, and the bit before it in the same row.
struct WordInRow {
  std::uint64_t bits, carry;

  /// The bits, each moved to the next larger x.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t moved() const { return bits << 1 | carry; }
  /// The first pixels of runs, as bits.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t starts() const { return bits & ~moved(); }
  /// The corners of pixels, as bits: run [begin, end) has the corners begin to end. No two runs of
  /// a row share a corner.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t corners() const { return bits | moved(); }
};

/// The words of a mask, row after row.
struct MaskWords {
  const std::uint64_t* data;
  std::int64_t count;
  std::int64_t per_row;

  [[nodiscard]] KOKKOS_FUNCTION WordInRow word(std::int64_t w) const {
    // The division comes last: few words need it.
    const bool is_carried = w > 0 && data[w - 1] >> 63 != 0 && !is_first_of_row(w);
    return {data[w], is_carried ? std::uint64_t{1} : std::uint64_t{0}};
  }
  /// The last pixels of runs, as bits, in word w, the k-th of its row.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t ends(std::int64_t w, std::int64_t k) const {
    const std::uint64_t next = k + 1 < per_row ? data[w + 1] << 63 : 0;
    return data[w] & ~(data[w] >> 1 | next);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION bool is_first_of_row(std::int64_t w) const {
    return core::row_of_word(w, per_row) * per_row == w;
  }
};

/// What the kernels of one labelling share. The host cannot tell them the number of runs, since it
/// enqueues all of them before the first one counts.
struct RunTable {
  MaskWords words;
  std::int64_t ny, nx;
  std::int64_t capacity;  ///< capacity of the lists of runs
  std::uint32_t* first_in_word;
  std::int32_t *begin, *end, *row;
  std::uint32_t* label;
  std::uint32_t* first_run;
  std::uint32_t* parent;
  LabelCounts* counts;

  /// The number of runs; 0 if the lists are too short, since the caller then labels again.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t runs() const {
    const std::uint64_t n = counts->runs;
    return n <= static_cast<std::uint64_t>(capacity) ? static_cast<std::int64_t>(n) : 0;
  }
  [[nodiscard]] KOKKOS_FUNCTION UnionFind forest() const { return {parent}; }
};

}  // namespace kastor::detail

#endif
