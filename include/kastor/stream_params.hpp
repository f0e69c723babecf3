// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_STREAM_PARAMS_HPP
#define KASTOR_STREAM_PARAMS_HPP

#include <cstdint>

namespace kastor {

/// How an image is read that need not fit into memory. The answers do not depend on it.
struct StreamParams {
  /// Memory for bands and lists of pixels, on the host and again on a device [byte, > 0]. What
  /// grows with the number of sources comes in addition.
  std::int64_t memory = std::int64_t{1} << 30;
  std::int64_t band_rows = 0;  ///< rows read at once; 0: what suits the memory [>= 0]
};

}  // namespace kastor

#endif
