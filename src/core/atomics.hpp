// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_ATOMICS_HPP
#define KASTOR_CORE_ATOMICS_HPP

#include <Kokkos_Core.hpp>

#include "core/intrinsics.hpp"
#include "core/portable.hpp"

/// Updates of memory that other threads update too. They are relaxed; for integers, the order of
/// the updates does not change the result.
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
  /// Adds to a counter and returns its previous value. With a single CPU thread no locked
  /// instruction is needed.
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

/// Lowers (raises) a number to `value` if it is larger (smaller). Reads it first: where many
/// threads would queue up, another thread has usually stored a value as low (high) already.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void atomic_lower(V* at, V value) {
  if (value < relaxed_load(at)) Kokkos::atomic_min(at, value);
}
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void atomic_raise(V* at, V value) {
  if (value > relaxed_load(at)) Kokkos::atomic_max(at, value);
}
/// Sets bits, unless they are all set already.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void atomic_set_bits(V* at, V bits) {
  if ((relaxed_load(at) & bits) != bits) Kokkos::atomic_or(at, bits);
}

}  // namespace kastor::core

#endif
