// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_PLAN_MEMORY_HPP
#define KASTOR_CORE_PLAN_MEMORY_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <kastor/image.hpp>
#include <string>
#include <type_traits>

/// Memory of plan objects: it grows to the largest need and is then kept.
namespace kastor::core {

/// Makes a rank-1 View at least `wanted` elements long; its values are lost if it grows. (The label
/// is not a std::string, which would allocate memory in every call.)
template <class View, class Exec>
void grow(View& list, const Exec& space, const char* label, std::int64_t wanted) {
  if (static_cast<std::int64_t>(list.extent(0)) >= wanted) return;
  list = {};
  list = View(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, std::string(label)),
              static_cast<std::size_t>(wanted));
}

/// Values that are value-initialised before each call. The kernels of a call reset them at its end,
/// so no kernel has to clear them first.
template <class V, class Exec>
class InitialValues {
 public:
  /// Returns at least `count` values. After a call that failed, they are allocated anew.
  [[nodiscard]] V* begin_call(const Exec& space, const char* label, std::int64_t count) {
    const std::int64_t held = m_is_in_use ? 0 : static_cast<std::int64_t>(m_values.extent(0));
    if (held < count) {
      m_values = {};
      m_values = decltype(m_values)(Kokkos::view_alloc(space, std::string(label)),
                                    static_cast<std::size_t>(count));
    }
    m_is_in_use = true;
    return m_values.data();
  }
  /// To be called when all kernels of the call are enqueued.
  void end_call() { m_is_in_use = false; }

 private:
  Kokkos::View<V*, typename Exec::memory_space> m_values;
  bool m_is_in_use = false;
};

/// Many small arrays in one allocation, each aligned to 64 bytes. The caller adds all parts twice:
/// first to measure them (`begin(true)`), then to get their addresses (`begin(false)`).
template <class Exec>
class PartitionedMemory {
 public:
  PartitionedMemory(const std::string& label, const Exec& space) : m_label(label), m_space(space) {}

  void begin(bool measuring) {
    if (!measuring)
      m_bytes = decltype(m_bytes)(Kokkos::view_alloc(m_space, Kokkos::WithoutInitializing, m_label),
                                  m_at);
    m_at = 0;
  }
  template <class V>
  void add(V*& part, std::int64_t count) {
    static_assert(std::is_trivially_copyable_v<V> && alignof(V) <= 64);
    part = m_bytes.data() == nullptr ? nullptr : reinterpret_cast<V*>(m_bytes.data() + m_at);
    m_at += (static_cast<std::size_t>(count) * sizeof(V) + 63) / 64 * 64;
  }

 private:
  std::string m_label;
  Exec m_space;
  Kokkos::View<std::byte*, typename Exec::memory_space> m_bytes;
  std::size_t m_at = 0;
};

}  // namespace kastor::core

#endif
