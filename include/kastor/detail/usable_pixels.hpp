// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_USABLE_PIXELS_HPP
#define KASTOR_DETAIL_USABLE_PIXELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>

namespace kastor::detail {

/// Pixels of an image that are not blank.
struct UsablePixels {
  static constexpr std::int64_t rows = 4;  ///< that share bytes
  const std::uint64_t* words;              ///< of a mask
  std::int64_t words_per_row;
  /// A byte for each word of so many rows: if it is not 0, all their pixels are usable, and the
  /// words mean nothing. Null: there are no such bytes.
  const std::uint8_t* none_blank;

  /// Of the pixels begin <= x < end of row y.
  [[nodiscard]] KOKKOS_FUNCTION bool lacks_one(std::int64_t y, std::int64_t begin,
                                               std::int64_t end) const {
    const std::uint64_t* const of_row = words + y * words_per_row;
    if (none_blank == nullptr) return any_zero_between(of_row, begin, end);
    const std::uint8_t* const of_rows = none_blank + y / rows * words_per_row;
    bool any = false;
    for (std::int64_t w = begin / 64; w <= (end - 1) / 64; ++w) {
      if (of_rows[w] != 0) continue;
      const std::int64_t first = begin > w * 64 ? begin : w * 64;
      const std::int64_t past = end < (w + 1) * 64 ? end : (w + 1) * 64;
      any |= any_zero_between(of_row, first, past);
    }
    return any;
  }
};

}  // namespace kastor::detail

#endif
