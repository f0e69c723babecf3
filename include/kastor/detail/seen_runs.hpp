// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SEEN_RUNS_HPP
#define KASTOR_DETAIL_SEEN_RUNS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/lanes.hpp>

namespace kastor::detail {

/// Devices: runs of one component that a thread has seen, for itself and for threads beside it. A
/// component with very many runs would be the meeting point of all threads if they told of each run
/// at once.
class SeenRuns {
 public:
  /// `tell(label, runs)` is called for those seen before, if they were of another component. Label
  /// 0: of none. On CUDA the threads that call it together share the work.
  template <class Tell>
  KOKKOS_FUNCTION void see(std::uint32_t label, const Tell& tell) {
    std::uint32_t together = 1;
#ifdef __CUDA_ARCH__
    const std::uint32_t alike = __match_any_sync(__activemask(), label);
    if (this_lane() != first_lane_of(alike)) return;
    together = static_cast<std::uint32_t>(__popc(alike));
#endif
    if (label == 0) return;
    if (label != m_label) {
      flush(tell);
      m_label = label;
    }
    m_runs += together;
  }
  template <class Tell>
  KOKKOS_FUNCTION void flush(const Tell& tell) {
    if (m_runs > 0) tell(m_label, m_runs);
    m_runs = 0;
  }

 private:
  std::uint32_t m_label = 0;
  std::uint32_t m_runs = 0;
};

}  // namespace kastor::detail

#endif
