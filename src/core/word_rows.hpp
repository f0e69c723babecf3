// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_WORD_ROWS_HPP
#define KASTOR_CORE_WORD_ROWS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>

#include "core/raster_walk.hpp"

namespace kastor::core {

/// The row that contains word `w` of a bit mask.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t row_of_word(std::int64_t w,
                                                              std::int64_t words_per_row) {
  return quotient(w, words_per_row);
}

/// The rows of a band, divided like the words of a bit mask: 64 pixels of one row, fewer at its
/// end.
template <class T>
struct WordRows {
  const T* data;
  std::int64_t ny, nx, pitch, words_per_row;

  WordRows(const detail::Rows<T>& rows)  // NOLINT(google-explicit-constructor)
      : data(rows.data),
        ny(rows.ny),
        nx(rows.nx),
        pitch(rows.pitch),
        words_per_row((rows.nx + 63) / 64) {}

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t words() const { return ny * words_per_row; }
  /// Whether every word has 64 pixels and all pixels are contiguous.
  [[nodiscard]] KOKKOS_FUNCTION bool are_contiguous() const { return pitch == nx && nx % 64 == 0; }

  /// The pixels of one word.
  struct Word {
    const T* pixels;
    std::int64_t n;  ///< 1 to 64
  };
  [[nodiscard]] KOKKOS_FUNCTION Word word(std::int64_t w) const {
    const std::int64_t y = row_of_word(w, words_per_row);
    const std::int64_t x = 64 * (w - y * words_per_row);
    return {data + y * pitch + x, nx - x < 64 ? nx - x : 64};
  }
};

}  // namespace kastor::core

#endif
