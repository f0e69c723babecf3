// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_ESTIMATE_CELLS_HPP
#define KASTOR_DETAIL_ESTIMATE_CELLS_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <kastor/background.hpp>
#include <kastor/detail/background_mesh.hpp>
#include <kastor/detail/cell_clip.hpp>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/host_cell.hpp>

/// The figures of every cell.
namespace kastor::detail {

struct CellRules {
  double kappa;
  int max_passes;
  BackgroundEstimate estimate;
  double min_good_fraction;
};

struct CellOutput {
  CellValue* values;
  std::uint8_t* valid;
  CellCounts* counts;

  KOKKOS_FUNCTION void write(const CellRules& rules, std::int64_t i, std::int64_t pixels,
                             const CellStatistics& s) const {
    const bool enough = s.good > 0 && static_cast<double>(s.good) >=
                                          rules.min_good_fraction * static_cast<double>(pixels);
    valid[i] = enough ? 1 : 0;
    if (enough) {
      // 2.5 median - 1.5 mean, so that it does not overflow.
      const double skew = s.median - s.mean;
      const bool shift =
          rules.estimate == BackgroundEstimate::mode && Kokkos::fabs(skew) < 0.3 * s.std;
      values[i] = {shift ? s.median + 1.5 * skew : s.median, s.std};
      Kokkos::atomic_inc(&counts->valid);
    }
    Kokkos::atomic_add(&counts->good, s.good);
  }
};

/// A crew takes a cell.
template <class T>
struct EstimateCell {
  CellImage<T> image;
  CellRules rules;
  CellOutput output;

  /// `Held`: HeldCell, for cells that fit into `room`, or StreamedCell.
  template <template <class, class> class Held, class Crew>
  KOKKOS_FUNCTION void cell(const Crew& crew, std::int64_t i, SmallList<T>& list, T* room) const {
    const Cell cell = image[i];
    Held<Crew, T> held(crew, image, cell, room);
    CellPopulation<Crew, Held<Crew, T>, T> population(crew, held, image, cell, list);
    const CellStatistics s = clip_cell<T>(population, rules.kappa, rules.max_passes);
    if (crew.rank() == 0) output.write(rules, i, cell.pixels(), s);
  }
};

/// Devices: a team a cell.
template <class T, class Exec, template <class, class> class Held>
struct EstimateByTeams {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = 64;
  EstimateCell<T> estimate;
  std::int64_t room;  ///< pixels in scratch memory

  [[nodiscard]] static std::int64_t scratch_bytes(std::int64_t room) {
    return static_cast<std::int64_t>(sizeof(SmallList<T>)) + 32 +
           room * static_cast<std::int64_t>(sizeof(T));
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto& scratch = team.team_scratch(0);
    auto* list = static_cast<SmallList<T>*>(
        scratch.get_shmem_aligned(sizeof(SmallList<T>), alignof(SmallList<T>)));
    const std::size_t bytes = static_cast<std::size_t>(room) * sizeof(T);
    auto* pixels = static_cast<T*>(scratch.get_shmem_aligned(bytes, 16));
    estimate.template cell<Held>(TeamCrew<Member>(team), team.league_rank(), *list, pixels);
  }
};

/// Hosts: a thread a cell. Each worker takes its share of the cells, one after the other.
template <class T>
struct EstimateOnHost {
  EstimateCell<T> estimate;
  std::int64_t workers;
  std::byte* memory;  ///< for each worker
  std::size_t bytes;  ///< 0: cells are so large that they are streamed

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    KOKKOS_IF_ON_HOST((work(worker);))
    KOKKOS_IF_ON_DEVICE(((void)worker;))
  }

 private:
  void work(std::int64_t worker) const {
    const CellImage<T>& image = estimate.image;
    const CellRules& rules = estimate.rules;
    SmallList<T> list;
    const std::int64_t cells = image.mesh.ny * image.mesh.nx;
    for (std::int64_t i = cells * worker / workers; i < cells * (worker + 1) / workers; ++i) {
      if (bytes == 0) {
        estimate.template cell<StreamedCell>(Alone{}, i, list, nullptr);
        continue;
      }
      const Cell cell = image[i];
      const HostCellRoom<T> room(memory + static_cast<std::size_t>(worker) * bytes, cell.pixels());
      HostCell<T> population(image, cell, room, list);
      estimate.output.write(rules, i, cell.pixels(),
                            clip_cell<T>(population, rules.kappa, rules.max_passes));
    }
  }
};

}  // namespace kastor::detail

#endif
