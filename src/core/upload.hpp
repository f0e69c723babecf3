// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_UPLOAD_HPP
#define KASTOR_CORE_UPLOAD_HPP

#include <Kokkos_Core.hpp>
#include <string>
#include <vector>

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

}  // namespace kastor::core

#endif
