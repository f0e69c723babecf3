// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_PRODUCT_SUMS_HPP
#define KASTOR_CORE_PRODUCT_SUMS_HPP

#include <Kokkos_Core.hpp>

#include "core/intrinsics.hpp"
#include "core/portable.hpp"
#include "core/tile.hpp"

namespace kastor::core {

/// Sums of products that a thread holds in registers: for `lanes` neighbours in a row and, for each
/// of them, for `run` successive pixels in the direction of the taps. On a CPU run = 1, and the
/// lanes are a few vectors; on a device lanes = 1, and eight sums share the pixels that they load.
template <class Exec, class T>
struct ProductSums {
  static constexpr int lanes = lanes_v<Exec, T>;
  static constexpr int run = lanes == 1 ? 8 : 1;
  static constexpr int size = run * lanes;

  T sum[run][lanes] = {};

  /// sum[r][k] += taps[0] * pixels[r * step + k] + taps[1] * pixels[(r + 1) * step + k] + ..., one
  /// product after the other.
  KOKKOS_FORCEINLINE_FUNCTION void add(const T* pixels, int step, const T* taps, int n_taps) {
    if constexpr (run == 1) {
      for (int j = 0; j < n_taps; ++j) {
        const T tap = taps[j];
        for (int k = 0; k < lanes; ++k) sum[0][k] += tap * pixels[j * step + k];
      }
    } else {
      // Pixel i is in window[i % run] as long as sums need it.
      T window[run];
      for (int r = 0; r < run - 1; ++r) window[r] = pixels[r * step];
      for (int first = 0; first < n_taps; first += run) {
        KASTOR_UNROLL
        for (int i = 0; i < run; ++i) {
          if (first + i == n_taps) break;
          const T tap = taps[first + i];
          window[(i + run - 1) % run] = pixels[(first + i + run - 1) * step];
          for (int r = 0; r < run; ++r) sum[r][0] += tap * window[(i + r) % run];
        }
      }
    }
  }
};

}  // namespace kastor::core

#endif
