// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_TEAM_SCRATCH_HPP
#define KASTOR_DETAIL_TEAM_SCRATCH_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

/// The scratch memory of a team.
namespace kastor::detail {

/// Room for `count` objects, not initialised, at a multiple of 16 bytes.
template <class V, class Member>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION V* scratch_of(const Member& team, int count = 1) {
  static_assert(alignof(V) <= 16);
  const int bytes = count * static_cast<int>(sizeof(V));  // is taken by reference
  return static_cast<V*>(team.team_scratch(0).get_shmem_aligned(bytes, 16));
}

/// What lies in scratch memory, for objects that a device's compiler cannot keep in registers: of
/// the pointers in those it does not know what they point to, and reads and writes by instructions
/// for any kind of memory, which take longer. So this keeps the place in scratch memory.
template <class V>
class InScratch {
 public:
#ifdef __CUDA_ARCH__
  __device__ explicit InScratch(V& object) : m_at(__cvta_generic_to_shared(&object)) {}
  __device__ V* operator->() const { return static_cast<V*>(__cvta_shared_to_generic(m_at)); }
#else
  KOKKOS_FUNCTION explicit InScratch(V& object) : m_at(reinterpret_cast<std::uintptr_t>(&object)) {}
  KOKKOS_FUNCTION V* operator->() const { return reinterpret_cast<V*>(m_at); }
#endif
  [[nodiscard]] KOKKOS_FUNCTION V& operator*() const { return *operator->(); }

 private:
  std::uintptr_t m_at;
};

/// Kokkos::atomic_fetch_add of a number in scratch memory. On CUDA that one is an instruction for
/// any kind of memory, even where the compiler knows which.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V scratch_fetch_add(V* at, V value) {
#ifdef __CUDA_ARCH__
  static_assert(sizeof(V) == 4);
  return atomicAdd(at, value);
#else
  return Kokkos::atomic_fetch_add(at, value);
#endif
}

}  // namespace kastor::detail

#endif
