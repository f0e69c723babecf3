// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_REGION_HPP
#define KASTOR_CORE_REGION_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace kastor::core {

/// The pixels of an image that may be used.
struct Region {
  const std::uint64_t* words;  ///< of a mask; null: all pixels
  std::int64_t words_per_row;

  Region() = default;
  KOKKOS_FUNCTION Region(const std::uint64_t* mask, std::int64_t nx)
      : words(mask), words_per_row((nx + 63) / 64) {}

  [[nodiscard]] KOKKOS_FUNCTION bool has(std::int64_t y, std::int64_t x) const {
    return words == nullptr || ((words[y * words_per_row + x / 64] >> (x % 64)) & 1) != 0;
  }
};

}  // namespace kastor::core

#endif
