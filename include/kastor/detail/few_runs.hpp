// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_FEW_RUNS_HPP
#define KASTOR_DETAIL_FEW_RUNS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/lanes.hpp>

namespace kastor::detail {

/// Devices: the runs of components that have only a few, so that some lanes together can measure
/// one without waiting for others. Most components of a crowded sky are of that kind.
struct FewRuns {
  static constexpr std::uint32_t most = 8;

  std::uint32_t* counted = nullptr;  ///< (room) of a component; over `most` it may be too small
  std::uint32_t* run = nullptr;      ///< (room, most), in any order
  std::uint32_t* others = nullptr;   ///< whether there are components that have many runs
  std::uint32_t room = 0;            ///< components; those beyond count as having many runs

  KOKKOS_FUNCTION void clear(std::int64_t component) const {
    if (component < room) counted[component] = 0;
    if (component == 0 && others != nullptr) *others = 0;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool has(std::uint32_t component) const {
    return component < room && counted[component] <= most;
  }
  /// False: the component has too many. On CUDA the threads that call it together share the work.
  KOKKOS_FUNCTION bool list(std::uint32_t component, std::uint32_t which) const {
    if (component >= room) {
      if (others != nullptr) *others = 1;
      return false;
    }
    const std::uint32_t place =
        counted[component] > most ? most : take_place(counted + component, component);
    if (place < most) {
      run[std::uint64_t{component} * most + place] = which;
      return true;
    }
    *others = 1;
    return false;
  }

 private:
  KOKKOS_FUNCTION static std::uint32_t take_place(std::uint32_t* count,
                                                  [[maybe_unused]] std::uint32_t component) {
#ifdef __CUDA_ARCH__
    const std::uint32_t alike = __match_any_sync(__activemask(), component);
    const int first = first_lane_of(alike);
    const int lane = this_lane();
    std::uint32_t before = 0;
    if (lane == first) before = atomicAdd(count, static_cast<std::uint32_t>(__popc(alike)));
    before = __shfl_sync(alike, before, first);
    return before + static_cast<std::uint32_t>(__popc(alike & ((std::uint32_t{1} << lane) - 1)));
#else
    return Kokkos::atomic_fetch_add(count, 1U);
#endif
  }
};

/// Lists the runs that one thread has seen. It remembers a component that has many, or all threads
/// would meet there for each of its runs.
class FewRunsLister {
 public:
  KOKKOS_FUNCTION explicit FewRunsLister(const FewRuns& few) : m_few(few) {}
  /// Label 0: of no component.
  KOKKOS_FUNCTION void see(std::uint32_t label, std::int64_t run) {
    if (label == 0 || label == m_many) return;
    if (!m_few.list(label - 1, static_cast<std::uint32_t>(run))) m_many = label;
  }

 private:
  const FewRuns& m_few;
  std::uint32_t m_many = 0;
};

}  // namespace kastor::detail

#endif
