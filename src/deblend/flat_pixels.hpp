// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DEBLEND_FLAT_PIXELS_HPP
#define KASTOR_DEBLEND_FLAT_PIXELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/label.hpp>

#include "core/bits.hpp"
#include "core/pack.hpp"
#include "core/word_rows.hpp"

/// The pixels of islands as one list in raster order, without those of dropped ones.
namespace kastor::detail {

struct FlatPixels {
  const std::uint64_t* words;   ///< a mask of the pixels
  const std::uint32_t* before;  ///< pixels before each word; last, the number of all
  std::int64_t ny, nx, words_per_row;

  [[nodiscard]] std::int64_t word_count() const { return ny * words_per_row; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const { return before[ny * words_per_row]; }

  /// `visit(i, y, x)` for the pixels of word w that are in `within`, which has no gaps.
  template <class Visit>
  KOKKOS_FUNCTION void visit_word(std::int64_t w, std::uint64_t within, const Visit& visit) const {
    const std::uint64_t bits = words[w] & within;
    if (bits == 0) return;
    const std::int64_t y = core::row_of_word(w, words_per_row);
    const std::int64_t x = 64 * (w - y * words_per_row);
    const std::uint64_t lower = words[w] & ((within & (~within + 1)) - 1);
    auto i = before[w] + static_cast<std::uint32_t>(core::popcount(lower));
    for (std::uint64_t rest = bits; rest != 0; rest &= rest - 1)
      visit(i++, y, x + core::countr_zero(rest));
  }

  /// `visit(i, y, x, by_corner)` for the neighbours of pixel i. `by_corner`: the two share a corner
  /// and no pixel of the list has an edge with both, so they may belong to different islands.
  template <class Visit>
  KOKKOS_FUNCTION void visit_neighbours(std::uint32_t i, std::int64_t y, std::int64_t x,
                                        bool at_corners, const Visit& visit) const {
    const bool left = has(y, x - 1), right = has(y, x + 1);
    if (left) visit(i - 1, y, x - 1, false);
    if (right) visit(i + 1, y, x + 1, false);
    for (std::int64_t row = y - 1; row <= y + 1; row += 2) {
      if (row < 0 || row >= ny) continue;
      const std::int64_t w = row * words_per_row + x / 64;
      const std::uint64_t word = words[w];
      const std::uint32_t at =
          before[w] + static_cast<std::uint32_t>(core::popcount(word & core::low_bits(x % 64)));
      const auto middle = static_cast<std::uint32_t>(word >> (x % 64) & 1);
      if (at_corners && has(row, x - 1)) visit(at - 1, row, x - 1, middle == 0 && !left);
      if (middle != 0) visit(at, row, x, false);
      if (at_corners && has(row, x + 1)) visit(at + middle, row, x + 1, middle == 0 && !right);
    }
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION bool has(std::int64_t y, std::int64_t x) const {
    return x >= 0 && x < nx && (words[y * words_per_row + x / 64] >> (x % 64) & 1) != 0;
  }
};

/// How the words of a mask are divided among indices: pieces of a word, whole ones on a CPU.
template <class Exec>
struct WordPieces {
  static constexpr std::int64_t width = core::write_width_v<Exec>;
  static constexpr std::int64_t of_word = 64 / width;

  template <class Visit>
  KOKKOS_FUNCTION static void visit(const FlatPixels& pixels, std::int64_t piece,
                                    const Visit& visit) {
    const std::uint64_t within = core::low_bits(width) << (piece % of_word * width);
    pixels.visit_word(piece / of_word, within, visit);
  }
};

/// Fills the mask of the pixels, by words.
template <class Exec>
struct KeepIslands {
  RunLabels<Exec> labels;
  std::uint64_t* words;

  KOKKOS_FUNCTION void operator()(std::int64_t w) const {
    const std::uint64_t bits = labels.mask.words.data()[w];
    std::uint64_t kept = 0;
    if (bits != 0) {
      const std::int64_t words_per_row = (labels.nx + 63) / 64;
      const std::int64_t y = core::row_of_word(w, words_per_row);
      const std::uint64_t starts = labels.starts_of(y, w - y * words_per_row);
      std::uint32_t run = labels.first_in_word(w) - static_cast<std::uint32_t>(bits & ~starts & 1);
      for (std::uint64_t rest = bits; rest != 0; ++run) {
        const std::uint64_t of_run = rest & ~(rest + (rest & (~rest + 1)));
        if (labels.label(run) != 0) kept |= of_run;
        rest &= ~of_run;
      }
    }
    words[w] = kept;
  }
};

/// A scan over words: counts the pixels before each.
struct CountBefore {
  using value_type = std::uint64_t;
  const std::uint64_t* words;
  std::uint32_t* before;
  std::int64_t count;
  static constexpr std::int64_t words_at_once = 16;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t blocks() const {
    return (count - 1) / words_at_once + 1;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t block, value_type& sum, bool is_final) const {
    const std::int64_t end = (block + 1) * words_at_once;
    const std::int64_t past = end < count ? end : count;
    for (std::int64_t w = block * words_at_once; w < past; ++w) {
      if (is_final) before[w] = static_cast<std::uint32_t>(sum);
      sum += static_cast<std::uint64_t>(core::popcount(words[w]));
    }
    if (is_final && past == count) before[count] = static_cast<std::uint32_t>(sum);
  }
};

}  // namespace kastor::detail

#endif
