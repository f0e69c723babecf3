// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SHARE_ADDER_HPP
#define KASTOR_DETAIL_SHARE_ADDER_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/adder.hpp>
#include <kastor/detail/measured_runs.hpp>

namespace kastor::detail {

/// How a worker adds to the sums of components. On a host those of its own, which have all their
/// runs in its share, without a lock: a locked addition lets no read overtake it, so that pixels
/// asked for ahead would be waited for one by one.
template <class Sums, class Exec, bool OnHost = is_host_space_v<Exec>>
struct ShareAdder {
  Adder<Exec> adder;
  [[nodiscard]] KOKKOS_FUNCTION const Adder<Exec>& of(std::uint32_t) const { return adder; }
};

template <class Sums, class Exec>
class ShareAdder<Sums, Exec, true> {
 public:
  /// For a worker's share of the runs of bands that are measured at once.
  template <class T>
  KOKKOS_FUNCTION ShareAdder(const RunsOfBands<T, Exec>& band, std::int64_t worker, Sums* sums)
      : m_runs(band.runs),
        m_share(band.loop(worker)),
        m_past_all(band.loop(band.workers - 1).past),
        m_sums(sums),
        m_alone(band.adder.alone) {}

  /// Once, before anything is added: notes which of the components that begin in the share go on
  /// behind it. Those have a run there that touches one of the share: in the row of its last run,
  /// or in the next one, where none touches that begins behind that run. Runs of the last row that
  /// is measured at once may also be joined by the next one alone.
  KOKKOS_FUNCTION void find_shared() const {
    if (m_alone || m_share.first >= m_share.past) return;
    const std::int64_t last = m_share.past - 1;
    const std::int32_t y = m_runs.row[last];
    const std::int64_t of_next_row = m_runs.first_in_word[(y + 1) * ((m_runs.nx + 63) / 64)];
    if (m_runs.row[m_share.first] < y || of_next_row >= m_past_all) {
      for (std::int64_t i = m_share.past; i < of_next_row && i < m_past_all; ++i) note(i);
    }
    for (std::int64_t i = of_next_row; i < m_past_all && m_runs.row[i] == y + 1; ++i) {
      if (m_runs.begin[i] > m_runs.end[last]) break;
      note(i);
    }
  }

  [[nodiscard]] KOKKOS_FUNCTION Adder<Exec> of(std::uint32_t label) const {
    return {m_alone || (begins_here(label) && m_sums[label - 1].is_shared == 0)};
  }

 private:
  /// A run of another share.
  KOKKOS_FUNCTION void note(std::int64_t run) const {
    const std::uint32_t label = m_runs.label[run];
    if (label != 0 && begins_here(label)) m_sums[label - 1].is_shared = 1;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool begins_here(std::uint32_t label) const {
    const std::int64_t run = m_runs.first_run[label - 1];
    return run >= m_share.first && run < m_share.past;
  }

  MeasuredRuns m_runs;
  RunLoop<Exec> m_share;
  std::int64_t m_past_all;  ///< the runs of all shares
  Sums* m_sums;
  bool m_alone;
};

}  // namespace kastor::detail

#endif
