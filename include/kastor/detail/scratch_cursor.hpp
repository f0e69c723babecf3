// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SCRATCH_CURSOR_HPP
#define KASTOR_DETAIL_SCRATCH_CURSOR_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/pixel_pack.hpp>

namespace kastor::detail {

/// A place in a list in a team's scratch memory. On CUDA an address within that memory: an index
/// would have to be turned into one for every store.
template <class T>
class ScratchCursor {
 public:
  KOKKOS_FUNCTION explicit ScratchCursor(T* at) : m_at(address_of(at)) {}

  KOKKOS_FUNCTION void put(T x) const {
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(T) == 4) {
      asm volatile("st.shared.f32 [%0], %1;" ::"r"(m_at), "f"(x) : "memory");
    } else {
      asm volatile("st.shared.f64 [%0], %1;" ::"r"(m_at), "d"(x) : "memory");
    }
#else
    *m_at = x;
#endif
  }
  /// By values of the list, up or down.
  KOKKOS_FUNCTION void step_if(bool condition, int values) {
#ifdef __CUDA_ARCH__
    add_if(condition, values * static_cast<int>(sizeof(T)), m_at);
#else
    m_at += condition ? values : 0;
#endif
  }
  /// Values from another place to this one.
  [[nodiscard]] KOKKOS_FUNCTION int from(const ScratchCursor& other) const {
#ifdef __CUDA_ARCH__
    return (m_at - other.m_at) >> (sizeof(T) == 4 ? 2 : 3);
#else
    return static_cast<int>(m_at - other.m_at);
#endif
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_beyond(const ScratchCursor& other) const {
    return m_at > other.m_at;
  }

 private:
#ifdef __CUDA_ARCH__
  using Address = int;
  [[nodiscard]] __device__ static Address address_of(T* at) {
    return static_cast<Address>(__cvta_generic_to_shared(at));
  }
#else
  using Address = T*;
  [[nodiscard]] static Address address_of(T* at) { return at; }
#endif
  Address m_at;
};

}  // namespace kastor::detail

#endif
