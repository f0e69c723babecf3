// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_MAP_ON_HPP
#define KASTOR_TESTS_MAP_ON_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/group.hpp"

/// Small kernels for tests of primitives: lists in the memory of a backend, and what a function
/// says there.
namespace testing_support {

template <class Exec, class V>
using DeviceList = Kokkos::View<V*, typename Exec::memory_space>;

template <class Exec, class V>
[[nodiscard]] DeviceList<Exec, V> to_device_list(const std::vector<V>& values) {
  const DeviceList<Exec, V> list(Kokkos::view_alloc(Kokkos::WithoutInitializing, "test::list"),
                                 values.size());
  Kokkos::deep_copy(
      list, Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                values.data(), values.size()));
  return list;
}

template <class V, class... Properties>
[[nodiscard]] std::vector<V> to_vector(const Kokkos::View<V*, Properties...>& list) {
  std::vector<V> values(list.extent(0));
  Kokkos::deep_copy(Kokkos::View<V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        values.data(), values.size()),
                    list);
  return values;
}

template <class Map, class Result>
struct WriteMap {
  Map map;
  Result* results;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { results[i] = map(i); }
};

/// `map(i)` for 0 <= i < n, in a kernel of one backend. `Map` has a `KOKKOS_FUNCTION` operator().
template <class Exec, class Map>
[[nodiscard]] auto map_on(std::int64_t n, const Map& map) {
  using Result = std::invoke_result_t<Map, std::int64_t>;
  const DeviceList<Exec, Result> results("test::results", static_cast<std::size_t>(n));
  Kokkos::parallel_for("test::map",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, n),
                       WriteMap<Map, Result>{map, results.data()});
  return to_vector(results);
}

/// Launches `kernel` for groups of `threads` threads and waits.
template <int threads, class Exec, class Kernel>
void run_groups(std::int64_t groups, int scratch_bytes, const Kernel& kernel) {
  const Exec space;
  kastor::core::for_each_group<threads>("test::groups", space, {groups, scratch_bytes}, kernel);
  space.fence("test::groups");
}

}  // namespace testing_support

#endif
