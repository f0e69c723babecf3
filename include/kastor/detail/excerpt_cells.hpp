// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_EXCERPT_CELLS_HPP
#define KASTOR_DETAIL_EXCERPT_CELLS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_clip.hpp>
#include <kastor/detail/cell_excerpt.hpp>
#include <kastor/detail/estimate_cells.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/warp_crew.hpp>

/// Devices, many cells: crews take an excerpt of each, then a thread clips each excerpt. Cells that
/// do not fit are listed.
namespace kastor::detail {

/// Of the cells from `first` on. Leaves their ceilings, if there is room for those.
template <class T, class Exec>
struct TakeExcerpts {
  using Team = CellTeam<T, Exec, 32>;
  static constexpr int cells = Team::cells;
  static constexpr int threads = Team::threads;
  static constexpr int teams_at_once = Team::teams_at_once;
  static constexpr int scratch_bytes = Team::scratch_bytes;
  CellImage<T> image;
  double kappa;
  int first, count;
  ExcerptPool<T> pool;
  CellExcerpt<T>* excerpts;
  CellList unfinished;
  CeilingRoom<T> ceilings{};  ///< of the image

  [[nodiscard]] static int teams(int count) { return (count + cells - 1) / cells; }

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const typename Team::Member& team) const {
    Team::for_each(team, [&](const auto& crew, auto& space, int i, int) {
      if (i >= count) return;
      const Cell cell = image[first + i];
      DeviceCell<typename Team::Crew, T> pixels(crew, image, cell, kappa, space.list, space.columns,
                                                Team::rows, space.way(),
                                                ceilings.of_cell(cell.y, cell.x));
      if (!take_excerpt(crew, pixels, kappa, pool, excerpts[i]) && crew.rank() == 0) {
        // Listed before all others: these cells take longest.
        excerpts[i].good = CellExcerpt<T>::failed;
        unfinished.add(first + i);
      }
    });
  }
};

template <class T, class Exec>
struct ClipExcerpts {
  using Member = TeamMember<Exec>;
  using Crew = WarpCrew<Member, 32>;
  static constexpr int threads = 32;
  static constexpr int teams_at_once = 16;
  static constexpr int scratch_bytes = sizeof(typename Crew::Space) + 16;
  EstimateCell<T> estimate;
  int first, count;
  const CellExcerpt<T>* excerpts;
  CellList unfinished;

  [[nodiscard]] static int teams(int count) { return (count + threads - 1) / threads; }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Crew crew(team, *scratch_of<typename Crew::Space>(team));
    const int i = team.league_rank() * threads + team.team_rank();
    CellCounts counts{0, 0};
    if (i < count && excerpts[i].good != CellExcerpt<T>::failed &&
        !clip(first + i, excerpts[i], counts))
      unfinished.add(first + i);
    counts = crew.sum(counts);
    if (crew.rank() == 0) estimate.output.count(counts);
  }

 private:
  /// False: the excerpt does not say all.
  [[nodiscard]] KOKKOS_FUNCTION bool clip(int i, const CellExcerpt<T>& excerpt,
                                          CellCounts& counts) const {
    ExcerptedCell<T> pixels(excerpt);
    const CellStatistics s = clip_cell<T>(pixels, estimate.rules.kappa, estimate.rules.max_passes);
    if (!pixels.knew_all()) return false;
    counts = estimate.output.write(estimate.rules, i, estimate.image[i].pixels(), s);
    return true;
  }
};

}  // namespace kastor::detail

template <>
struct Kokkos::reduction_identity<kastor::detail::CellCounts> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::CellCounts sum() { return {0, 0}; }
};

#endif
