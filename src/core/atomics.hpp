// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_ATOMICS_HPP
#define KASTOR_CORE_ATOMICS_HPP

#include <Kokkos_Core.hpp>

#include "core/intrinsics.hpp"
#include "core/portable.hpp"

/// Changes of memory that other threads change too; no order is implied, and for integers none
/// matters.
namespace kastor::core {

template <class V>
KOKKOS_FORCEINLINE_FUNCTION void atomic_add(V* at, V value) {
  Kokkos::atomic_add(at, value);
}
/// Counters that all threads of a kernel add to.
template <class Exec>
class SharedCounters {
 public:
  explicit SharedCounters(const Exec& space) : m_is_alone(space.concurrency() == 1) {}
  /// What the counter was before. On a CPU, a kernel of one thread needs no lock for it.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V fetch_add(V* at, V value) const {
    if constexpr (runs_on_host_v<Exec> && !portable) {
      if (m_is_alone) {
        const V before = *at;
        *at = before + value;
        return before;
      }
    }
    return Kokkos::atomic_fetch_add(at, value);
  }

 private:
  bool m_is_alone;
};

/// At most, or at least, the value. Looks first: where very many threads would queue up, others
/// have done so already, as a rule.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void atomic_lower(V* at, V value) {
  if (value < relaxed_load(at)) Kokkos::atomic_min(at, value);
}
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void atomic_raise(V* at, V value) {
  if (value > relaxed_load(at)) Kokkos::atomic_max(at, value);
}
/// Sets bits.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void atomic_set_bits(V* at, V bits) {
  if ((relaxed_load(at) & bits) != bits) Kokkos::atomic_or(at, bits);
}

}  // namespace kastor::core

#endif
