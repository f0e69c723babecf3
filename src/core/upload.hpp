// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_UPLOAD_HPP
#define KASTOR_CORE_UPLOAD_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/plan_memory.hpp"

namespace kastor::core {

/// Copies a list to the memory of `Exec`. Enqueues only: the list must live until `space` is
/// fenced.
template <class Exec, class V>
[[nodiscard]] Kokkos::View<V*, typename Exec::memory_space> upload(const Exec& space,
                                                                   const std::string& label,
                                                                   const std::vector<V>& list) {
  using HostList =
      Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::View<V*, typename Exec::memory_space> copy(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), list.size());
  Kokkos::deep_copy(space, copy, HostList(list.data(), list.size()));
  return copy;
}

/// The same to the memory of a plan, which grows to the longest list.
template <class Exec, class V>
void upload_to(Kokkos::View<V*, typename Exec::memory_space>& memory, const Exec& space,
               const char* label, std::span<const V> list) {
  using HostList =
      Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  grow(memory, space, label, static_cast<std::int64_t>(list.size()));
  const Kokkos::View<V*, typename Exec::memory_space> used(
      memory, std::pair<std::size_t, std::size_t>(0, list.size()));
  Kokkos::deep_copy(space, used, HostList(list.data(), list.size()));
}

}  // namespace kastor::core

#endif
