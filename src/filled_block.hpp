// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_FILLED_BLOCK_HPP
#define KASTOR_SRC_FILLED_BLOCK_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace kastor::detail {

/// The last pixels of a row, fewer than 64, filled up with NaN for loops over whole blocks.
template <class T>
[[nodiscard]] std::array<T, 64> filled_block(const T* pixels, std::int64_t n) {
  std::array<T, 64> block;
  std::fill(std::copy_n(pixels, n, block.begin()), block.end(),
            std::numeric_limits<T>::quiet_NaN());
  return block;
}

}  // namespace kastor::detail

#endif
