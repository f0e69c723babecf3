// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_RELAXED_HPP
#define KASTOR_DETAIL_RELAXED_HPP

#include <atomic>

/// Memory that several threads of a host read and write, where any order will do: plain moves.
/// Kokkos::atomic_load and atomic_store are exchanges on x86, which wait for the line of memory.
namespace kastor::detail {

template <class V>
[[nodiscard]] V relaxed_load(V* at) {
  return std::atomic_ref<V>(*at).load(std::memory_order_relaxed);
}

template <class V>
void relaxed_store(V* at, V value) {
  std::atomic_ref<V>(*at).store(value, std::memory_order_relaxed);
}

}  // namespace kastor::detail

#endif
