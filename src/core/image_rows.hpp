// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_IMAGE_ROWS_HPP
#define KASTOR_CORE_IMAGE_ROWS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace kastor::core {

template <class T>
struct BandRows {
  const T* data;
  std::int64_t pitch;
  std::int64_t first_row;  ///< index of its first row in the image
};

/// The rows of an image in one band or in many.
template <class T>
struct ImageRows {
  BandRows<T> one{};
  const BandRows<T>* bands = nullptr;  ///< null: `one` is the only band
  std::int64_t count = 1;

  [[nodiscard]] KOKKOS_FUNCTION const T* row(std::int64_t y) const {
    if (bands == nullptr) return one.data + y * one.pitch;
    std::int64_t in = 0, past = count;
    while (past - in > 1) {
      const std::int64_t middle = in + (past - in) / 2;
      if (bands[middle].first_row <= y) {
        in = middle;
      } else {
        past = middle;
      }
    }
    return bands[in].data + (y - bands[in].first_row) * bands[in].pitch;
  }
};

}  // namespace kastor::core

#endif
