// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_RUNS_LEFT_HPP
#define KASTOR_DETAIL_RUNS_LEFT_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/lanes.hpp>

/// How a device knows that all runs of some components were added up.
namespace kastor::detail {

/// Devices: how many runs of groups of neighbouring components are still to be added up.
struct RunsLeft {
  static constexpr std::uint32_t in_group = lanes;  ///< who make the rows together
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::uint32_t* of_group;  ///< zero before the first sweep and after the second

  [[nodiscard]] static std::int64_t groups(std::int64_t components) {
    return (components + in_group - 1) / in_group;
  }
  [[nodiscard]] KOKKOS_FUNCTION static std::uint32_t group_of(std::uint32_t label) {
    return label == 0 ? none : (label - 1) / in_group;
  }
  KOKKOS_FUNCTION void add(std::uint32_t group, std::uint32_t runs) const {
    Kokkos::atomic_add(of_group + group, runs);
  }
  /// Whether these runs were the last ones.
  [[nodiscard]] KOKKOS_FUNCTION bool take(std::uint32_t group, std::uint32_t runs) const {
    return Kokkos::atomic_fetch_sub(of_group + group, runs) == runs;
  }
};

/// Runs of one group that a thread has seen, for itself and for threads beside it. A component with
/// very many runs would be the meeting point of all threads if they told of each run at once.
class SeenRuns {
 public:
  /// `tell(group, runs)` is called for those seen before, if they were of another group. On CUDA
  /// the threads that call it together share the work.
  template <class Tell>
  KOKKOS_FUNCTION void see(std::uint32_t group, const Tell& tell) {
    std::uint32_t together = 1;
#ifdef __CUDA_ARCH__
    const std::uint32_t alike = __match_any_sync(__activemask(), group);
    if (this_lane() != first_lane_of(alike)) return;
    together = static_cast<std::uint32_t>(__popc(alike));
#endif
    if (group == RunsLeft::none) return;
    if (group != m_group) {
      flush(tell);
      m_group = group;
    }
    m_runs += together;
  }
  template <class Tell>
  KOKKOS_FUNCTION void flush(const Tell& tell) {
    if (m_runs > 0) tell(m_group, m_runs);
    m_runs = 0;
  }

 private:
  std::uint32_t m_group = RunsLeft::none;
  std::uint32_t m_runs = 0;
};

}  // namespace kastor::detail

#endif
