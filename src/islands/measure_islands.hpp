// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLANDS_MEASURE_ISLANDS_HPP
#define KASTOR_ISLANDS_MEASURE_ISLANDS_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/island_finder.hpp>
#include <span>

#include "core/group.hpp"
#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "islands/make_islands.hpp"
#include "islands/sum_islands.hpp"

namespace kastor::detail {

/// Turns labels into rows in host memory, without a fence: call `enqueue` and, after a fence,
/// `finish`.
template <class Exec, Real T>
class IslandMeasurer {
 public:
  IslandMeasurer(const Exec& space, Side side) : m_space(space), m_side(side) {}

  /// The labels of a whole image. `blank`: words of a mask of the image. `detection`: null if the
  /// islands were found in the image itself.
  void enqueue(Bands<T, Exec> bands, const Background<Exec, T>& background,
               const Detection<Exec, T>* detection, const std::uint64_t* blank,
               const RunLabels<Exec>& labels, const LabelCounts* counts) {
    enqueue(bands, background, detection, blank, labels, counts, StripRows{0, labels.ny});
  }
  /// The same for a strip of an image, whose rows the islands get.
  void enqueue(Bands<T, Exec> bands, const Background<Exec, T>& background,
               const Detection<Exec, T>* detection, const std::uint64_t* blank,
               const RunLabels<Exec>& labels, const LabelCounts* counts, const StripRows& strip) {
    const Kokkos::Profiling::ScopedRegion region("kastor::islands::measure");
    m_room = std::max({m_room, std::int64_t{4096}, labels.ny * labels.nx / 8192});
    IslandSums* const sums = m_sums.begin_call(m_space, "kastor::islands::sums", m_room);
    core::grow(m_rows, m_space, "kastor::islands::rows", m_room);
    const LabelledRuns runs(labels, counts, m_room);
    const RunsOfBand<Exec, T> some{runs,  sums,      background, m_side, detection == nullptr,
                                   blank, labels.ny, labels.nx,  strip,  {},
                                   0};
    sweep<FindExtents>("kastor::islands::find_extents", bands, some);
    if (detection != nullptr) {
      RunsOfBand<Exec, T> found = some;
      found.background = detection->background;
      sweep<FindDetectionSnr>("kastor::islands::find_detection_snr", detection->bands, found);
    }
    sweep<SumFluxes>("kastor::islands::sum_fluxes", bands, some);
    sweep<SumMoments>("kastor::islands::sum_moments", bands, some);
    using Make = MakeIslands<Exec, T>;
    const Make make{runs,       sums,   m_rows.data(),
                    background, m_side, static_cast<std::int32_t>(strip.first)};
    core::for_each_group<Make::threads>("kastor::islands::make_rows", m_space,
                                        {make.groups(), Make::scratch_bytes}, make);
    m_sums.end_call();
  }

  /// `before`: number of islands with lower ids. False if there were more islands than there was
  /// room for; the room is then larger.
  [[nodiscard]] bool finish(std::int64_t islands, std::int64_t before) {
    if (islands > m_room) {
      m_room = islands + islands / 8;
      return false;
    }
    for (std::int64_t i = 0; i < islands; ++i) m_rows(i).id += before;
    m_found = std::span<const Island>(m_rows.data(), static_cast<std::size_t>(islands));
    return true;
  }
  [[nodiscard]] std::span<const Island> rows() const { return m_found; }

 private:
  template <template <class, class> class Sweep>
  void sweep(const char* label, Bands<T, Exec> bands, RunsOfBand<Exec, T> runs) const {
    using Sums = RunsOfBand<Exec, T>;
    for (const auto& band : bands) {
      runs.band = rows_of<T, Exec>(band);
      core::for_each_group<Sums::threads, Sums::groups_at_once>(label, m_space, runs.shape(m_space),
                                                                Sweep<Exec, T>{runs});
      runs.first_row += runs.band.ny;
    }
  }

  Exec m_space;
  Side m_side;
  core::InitialValues<IslandSums, Exec> m_sums;
  Kokkos::View<Island*, core::HostReadableSpace<Exec>> m_rows;
  std::int64_t m_room = 0;  ///< number of islands that there is room for
  std::span<const Island> m_found;
};

}  // namespace kastor::detail

#endif
