// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_ADDER_HPP
#define KASTOR_DETAIL_ADDER_HPP

#include <Kokkos_Core.hpp>
#include <kastor/image.hpp>

namespace kastor::detail {

/// Adds to memory that others add to as well, unless the worker is alone.
template <class Exec>
struct Adder {
  bool alone;
  /// Devices: before it lowers or raises what very many would queue up for, and what others have
  /// made so low or high already, as a rule.
  bool looks_first = false;

  template <class V>
  KOKKOS_FUNCTION void add(V* at, V value) const {
    if (is_host_space_v<Exec> && alone) {
      *at += value;
    } else {
      Kokkos::atomic_add(at, value);
    }
  }
  /// Sets bits.
  template <class V>
  KOKKOS_FUNCTION void mark(V* at, V bits) const {
    if (is_host_space_v<Exec> && alone) {
      *at |= bits;
    } else {
      Kokkos::atomic_or(at, bits);
    }
  }
  template <class V>
  KOKKOS_FUNCTION void lower(V* at, V value) const {
    KOKKOS_IF_ON_DEVICE((if (looks_first && *at <= value) return;))
    if (is_host_space_v<Exec> && alone) {
      *at = value < *at ? value : *at;
    } else {
      Kokkos::atomic_min(at, value);
    }
  }
  template <class V>
  KOKKOS_FUNCTION void raise(V* at, V value) const {
    KOKKOS_IF_ON_DEVICE((if (looks_first && *at >= value) return;))
    if (is_host_space_v<Exec> && alone) {
      *at = value > *at ? value : *at;
    } else {
      Kokkos::atomic_max(at, value);
    }
  }
};

}  // namespace kastor::detail

#endif
