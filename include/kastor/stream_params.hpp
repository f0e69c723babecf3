// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_STREAM_PARAMS_HPP
#define KASTOR_STREAM_PARAMS_HPP

#include <cstdint>
#include <limits>

namespace kastor {

/// How much of an image that is read by rows is in memory at once. It changes no bit of a result.
struct StreamParams {
  /// Memory for the rows that are held and for what is kept of each of their pixels [byte, > 0]
  std::int64_t memory = std::int64_t{1} << 30;
  /// Rows that are read at once, if there is memory for them; 0: as many as it holds [>= 0]
  std::int64_t band_rows = 0;
};

/// Rows `first` to `past - 1` of an image. By default all of them.
struct RowRange {
  std::int64_t first = 0;                                        ///< [0 to past]
  std::int64_t past = std::numeric_limits<std::int64_t>::max();  ///< [at most ny, or the default]
};

/// The rows that one of several ranks reads of an image of `ny` rows: about as many as the others.
[[nodiscard]] inline RowRange rows_of_rank(std::int64_t ny, int rank, int size) {
  return {ny * rank / size, ny * (std::int64_t{rank} + 1) / size};
}

}  // namespace kastor

#endif
