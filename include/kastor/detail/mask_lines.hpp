// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MASK_LINES_HPP
#define KASTOR_DETAIL_MASK_LINES_HPP

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <kastor/detail/relaxed.hpp>

/// The foreground of an image is nearly empty, as a rule. Whoever knows which lines of memory of
/// its mask have a bit at all need not write, clear or read the others. Knows nothing of Kokkos.
namespace kastor::detail {

/// A byte for every line of a mask, that is eight words of its memory from the first on, whatever
/// its rows: 0 only if the words are 0, else 1.
struct MaskLines {
  static constexpr std::int64_t words = 8;    ///< of a line
  static constexpr std::int64_t padding = 8;  ///< bytes behind the last, for whole reads

  /// Null: nothing is known, so all lines are looked at.
  std::uint8_t* touched = nullptr;

  [[nodiscard]] static constexpr std::int64_t count(std::int64_t mask_words) {
    return (mask_words + words - 1) / words;
  }
  [[nodiscard]] static constexpr std::int64_t size(std::int64_t mask_words) {
    return count(mask_words) + padding;
  }
};

/// Whether any of up to 8 words from the `first`-th of a mask on may have a bit.
[[nodiscard, gnu::always_inline]] inline bool may_have_bits(const MaskLines& lines,
                                                            std::int64_t first, std::int64_t n) {
  if (lines.touched == nullptr) return true;
  return (lines.touched[first / MaskLines::words] |
          lines.touched[(first + n - 1) / MaskLines::words]) != 0;
}
/// Which of 64 words from the `first`-th on may have a bit; all of them, if it begins no line.
[[nodiscard, gnu::always_inline]] inline std::uint64_t words_with_bits(const MaskLines& lines,
                                                                       std::int64_t first) {
  if (lines.touched == nullptr || first % MaskLines::words != 0) return ~std::uint64_t{0};
  std::uint64_t eight;
  std::memcpy(&eight, lines.touched + first / MaskLines::words, sizeof(eight));
  return eight * 0xff;  // a byte is 0 or 1, and has the bits of eight words
}

/// Writes n words into a mask from its `first` on: of the lines that have a bit, or had one.
/// Threads may write words of the same line at the same time; such a line stays touched.
inline void write_words(std::uint64_t* mask, const MaskLines& lines, std::int64_t first,
                        const std::uint64_t* words, std::int64_t n) {
  using Pair [[gnu::vector_size(16)]] = std::uint64_t;
  constexpr std::int64_t line = MaskLines::words;
  const auto pair = [words](std::int64_t w) {
    Pair two;
    std::memcpy(&two, words + w, sizeof(two));
    return two;
  };
  const auto write_some = [&](std::int64_t begin, std::int64_t end) {
    std::uint8_t* const touched = lines.touched + (first + begin) / line;
    std::uint64_t any = 0;
    for (std::int64_t w = begin; w < end; ++w) any |= words[w];
    if (any == 0 && relaxed_load(touched) == 0) return;
    std::copy(words + begin, words + end, mask + first + begin);
    // Others may have bits in the line.
    if (any != 0) relaxed_store(touched, std::uint8_t{1});
  };
  std::int64_t w = std::min(n, (line - first % line) % line);
  if (w > 0) write_some(0, w);
  std::uint8_t* touched = lines.touched + (first + w) / line;
  for (; w + line <= n; w += line, ++touched) {
    const Pair any = (pair(w) | pair(w + 2)) | (pair(w + 4) | pair(w + 6));
    const bool touches = (any[0] | any[1]) != 0;
    if (!touches && relaxed_load(touched) == 0) continue;
    std::memcpy(mask + first + w, words + w, line * sizeof(*words));
    relaxed_store(touched, static_cast<std::uint8_t>(touches));
  }
  if (w < n) write_some(w, n);
}

}  // namespace kastor::detail

#endif
