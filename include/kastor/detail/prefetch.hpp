// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_PREFETCH_HPP
#define KASTOR_DETAIL_PREFETCH_HPP

#include <Kokkos_Macros.hpp>

namespace kastor::detail {

/// Asks for what lies at an address before it is needed. On a device it comes no nearer than the L2
/// cache.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void prefetch(const T* address) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#else
  __builtin_prefetch(address);
#endif
}

}  // namespace kastor::detail

#endif
