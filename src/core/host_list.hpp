// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_HOST_LIST_HPP
#define KASTOR_CORE_HOST_LIST_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/portable.hpp"

namespace kastor::core {

/// Copies `count` values from the memory of `Exec`. Fences `space`.
template <class Exec, class V>
[[nodiscard]] std::vector<V> host_copy(const Exec& space, const V* from, std::int64_t count) {
  using Host = Kokkos::View<V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Device =
      Kokkos::View<const V*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto size = static_cast<std::size_t>(count);
  std::vector<V> copy(size);
  if (size == 0) return copy;
  Kokkos::deep_copy(space, Host(copy.data(), size), Device(from, size));
  space.fence("kastor::core: a copy is on the host");
  return copy;
}

/// A list that kernels write and the host then reads. Where kernels reach the memory of the host it
/// is a vector from the beginning: the release of a View would wait for the kernels of all other
/// instances.
template <class Exec, class V>
class HostList {
 public:
  HostList(const Exec& space, const char* label, std::int64_t count)
      : m_values(static_cast<std::size_t>(count)) {
    if constexpr (!runs_on_host_v<Exec>) {
      m_on_device = decltype(m_on_device)(
          Kokkos::view_alloc(space, Kokkos::WithoutInitializing, std::string(label)),
          m_values.size());
    }
  }

  /// Where kernels write.
  [[nodiscard]] V* data() {
    if constexpr (runs_on_host_v<Exec>) {
      return m_values.data();
    } else {
      return m_on_device.data();
    }
  }
  /// What they wrote. Fences `space`.
  [[nodiscard]] std::vector<V> take(const Exec& space) {
    if constexpr (!runs_on_host_v<Exec>) {
      Kokkos::deep_copy(
          space,
          Kokkos::View<V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
              m_values.data(), m_values.size()),
          m_on_device);
    }
    space.fence("kastor::core: the list is on the host");
    return std::move(m_values);
  }

 private:
  std::vector<V> m_values;
  Kokkos::View<V*, typename Exec::memory_space> m_on_device;
};

}  // namespace kastor::core

#endif
