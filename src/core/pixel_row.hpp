// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_PIXEL_ROW_HPP
#define KASTOR_CORE_PIXEL_ROW_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/intrinsics.hpp"
#include "core/pack.hpp"

namespace kastor::core {

/// `visit(pixel)` for n neighbouring pixels from left to right. On a device a thread loads 16 at a
/// time; otherwise it would wait for each load in turn.
template <class T, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void for_each_in_order(const T* pixels, std::int64_t n,
                                                   const Visit& visit) {
#if KASTOR_CORE_CUDA_FORMS
  constexpr int at_once = 16;
  KASTOR_KEEP_LOOP
  for (std::int64_t i = 0; i < n; i += at_once) {
    const auto pack = Pack<T, at_once>::load(pixels + i, n - i, T{0});
    KASTOR_UNROLL
    for (int k = 0; k < at_once; ++k)
      if (k < n - i) visit(pack.pixel[k]);
  }
#else
  for (std::int64_t i = 0; i < n; ++i) visit(pixels[i]);
#endif
}

}  // namespace kastor::core

#endif
