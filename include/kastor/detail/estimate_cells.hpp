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
#include <kastor/detail/device_cell.hpp>
#include <kastor/detail/host_cell.hpp>
#include <kastor/detail/sorted_cell.hpp>
#include <kastor/detail/streamed_cell.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/warp_crew.hpp>

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

  KOKKOS_FUNCTION void count(const CellCounts& more) const {
    if (more.valid != 0) Kokkos::atomic_add(&counts->valid, more.valid);
    Kokkos::atomic_add(&counts->good, more.good);
  }
  /// What is to be counted.
  [[nodiscard]] KOKKOS_FUNCTION CellCounts write(const CellRules& rules, std::int64_t i,
                                                 std::int64_t pixels,
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
    }
    return {enough ? 1 : 0, s.good};
  }
};

template <class T>
struct EstimateCell {
  CellImage<T> image;
  CellRules rules;
  CellOutput output;

  /// A crew takes a cell that fits a DeviceCell. Inlined, so that its state stays in registers.
  template <class Crew>
  KOKKOS_FORCEINLINE_FUNCTION void cell(const Crew& crew, std::int64_t i,
                                        typename DeviceCell<Crew, T>::List& list, T* columns,
                                        int rows, T* ring) const {
    const Cell cell = image[i];
    DeviceCell<Crew, T> population(crew, image, cell, rules.kappa, list, columns, rows, ring);
    clip(crew, i, cell, population);
  }
  /// A device's team puts a cell in order that fits a SortedCell.
  template <class Member, int Threads>
  KOKKOS_FUNCTION void sorted(const WarpCrew<Member, Threads>& crew, std::int64_t i,
                              typename SortedCell<Member, Threads, T>::Space& space) const {
    const Cell cell = image[i];
    SortedCell<Member, Threads, T> population(crew, image, cell, space);
    if (!population.asks()) return population.help();
    clip(crew, i, cell, population);
    population.dismiss();
  }
  /// A crew takes a cell of any size.
  template <class Crew>
  KOKKOS_FUNCTION void streamed(const Crew& crew, std::int64_t i, SmallList<T>& list) const {
    const Cell cell = image[i];
    StreamedCell<Crew, T> population(crew, image, cell, list);
    clip(crew, i, cell, population);
  }

 private:
  template <class Crew, class Population>
  KOKKOS_FORCEINLINE_FUNCTION void clip(const Crew& crew, std::int64_t i, const Cell& cell,
                                        Population& population) const {
    const CellStatistics s = clip_cell<T>(population, rules.kappa, rules.max_passes);
    if (crew.rank() == 0) output.count(output.write(rules, i, cell.pixels(), s));
  }
};

/// Bytes that the teams of a processor of a device have together.
#if defined(KOKKOS_ARCH_HOPPER) || defined(KOKKOS_ARCH_BLACKWELL100)
inline constexpr int scratch_of_processor = 224 * 1024;
#elif defined(KOKKOS_ARCH_AMPERE80)
inline constexpr int scratch_of_processor = 160 * 1024;
#else
inline constexpr int scratch_of_processor = 96 * 1024;
#endif

/// Devices: `Threads` threads a cell. On CUDA warps with a cell each make a team of several: they
/// start together, and so find the same instructions at hand.
template <class T, class Exec, int Threads>
struct CellTeam {
  using Member = TeamMember<Exec>;
  using Crew = WarpCrew<Member, Threads>;
  /// So that a processor of a device has enough room for 16 warps.
  static constexpr int most_rows = sizeof(T) == 4 ? 64 : 40;
  static constexpr int scratch_rows = 37000 / (Threads * static_cast<int>(sizeof(T)));
  static constexpr int rows = scratch_rows < most_rows ? scratch_rows : most_rows;
  static_assert(rows >= DeviceCell<Crew, T>::least_rows);
  static constexpr int cells = lone_warps<Member> && Threads == Crew::warp ? 16 / sizeof(T) : 1;
  static constexpr int threads = Threads * cells;
  /// For doubles there is no room.
  static constexpr bool has_ring = sizeof(T) == 4;
  struct Space {
    typename Crew::Space crew;
    typename DeviceCell<Crew, T>::List list;
    T columns[rows * Threads];
    alignas(16) T ring[has_ring ? DeviceCell<Crew, T>::Ring::pixels * Threads : 1];
    [[nodiscard]] KOKKOS_FUNCTION T* way() { return has_ring ? ring : nullptr; }
  };
  static constexpr int scratch_bytes = sizeof(Space) * cells + 16;
  /// A processor of a device has registers for 512 threads of these. Kokkos refuses to launch what
  /// its scratch memory does not hold, with some for each team.
  static constexpr int by_threads = 512 / threads;
  static constexpr int by_scratch = scratch_of_processor / (scratch_bytes + 2048);
  static constexpr int teams_at_once = by_threads < by_scratch ? by_threads : by_scratch;

  /// Calls visit(crew, space, first, step) where a crew begins and how far it is to its next cell.
  /// Inlined, so that the compiler sees which memory is scratch memory.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each(const Member& team, const Visit& visit) {
    auto* const spaces = scratch_of<Space>(team, cells);
    const int which = cells > 1 ? team.team_rank() / Threads : 0;
    Space& space = spaces[which];
#ifdef __CUDA_ARCH__
    __builtin_assume(__isShared(&space));
#endif
    visit(Crew(team, space.crew), space, team.league_rank() * cells + which,
          team.league_size() * cells);
  }
};

/// Cells that something else could not finish.
struct CellList {
  std::int32_t* cells;
  std::uint32_t* count;

  KOKKOS_FUNCTION void add(int cell) const { cells[Kokkos::atomic_fetch_add(count, 1U)] = cell; }
};

/// All cells; or those of a list, if it has more than `above` and at most `most` of them.
struct CellsToEstimate {
  int all = 0;
  CellList listed{nullptr, nullptr};
  std::uint32_t above = 0;
  std::uint32_t most = 0xffffffff;

  [[nodiscard]] KOKKOS_FUNCTION int count() const {
    if (listed.count == nullptr) return all;
    const std::uint32_t n = *listed.count;
    return n > above && n <= most ? static_cast<int>(n) : 0;
  }
  [[nodiscard]] KOKKOS_FUNCTION int operator[](int i) const {
    return listed.count == nullptr ? i : listed.cells[i];
  }
};

template <class T, class Exec, int Threads>
struct EstimateByTeams {
  using Team = CellTeam<T, Exec, Threads>;
  static constexpr int cells = Team::cells;
  static constexpr int threads = Team::threads;
  static constexpr int teams_at_once = Team::teams_at_once;
  static constexpr int scratch_bytes = Team::scratch_bytes;
  EstimateCell<T> estimate;
  CellsToEstimate which;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const typename Team::Member& team) const {
    const int end = which.count();
    Team::for_each(team, [&](const auto& crew, auto& space, int first, int step) {
      KASTOR_KEEP_LOOP
      for (int i = first; i < end; i += step) {
        estimate.cell(crew, which[i], space.list, space.columns, Team::rows, space.way());
        crew.barrier();
      }
    });
  }
};

/// Cells that fit a SortedCell.
template <class T, class Exec, int Threads>
struct SortByTeams {
  using Member = TeamMember<Exec>;
  using Sorted = SortedCell<Member, Threads, T>;
  struct Space {
    typename Sorted::Crew::Space crew;
    typename Sorted::Space cell;
  };
  static constexpr int cells = 1;
  static constexpr int threads = Threads;
  static constexpr int teams_at_once = 768 / Threads;
  static constexpr int scratch_bytes = sizeof(Space) + 16;
  EstimateCell<T> estimate;
  CellsToEstimate which;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Space& space = *scratch_of<Space>(team);
    const typename Sorted::Crew crew(team, space.crew);
    const int end = which.count();
    KASTOR_KEEP_LOOP
    for (int i = team.league_rank(); i < end; i += team.league_size())
      estimate.sorted(crew, which[i], space.cell);
  }
};

/// Cells of any size.
template <class T, class Exec>
struct StreamByTeams {
  using Member = TeamMember<Exec>;
  using Crew = TeamCrew<Member>;
  static constexpr int threads = 256;
  static constexpr int cells = 1;
  static constexpr int teams_at_once = 1;
  static constexpr int scratch_bytes = sizeof(SmallList<T>) + 16;
  EstimateCell<T> estimate;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    SmallList<T>& list = *scratch_of<SmallList<T>>(team);
    estimate.streamed(Crew(team), team.league_rank(), list);
  }
};

/// Hosts: a thread a cell, one after the other.
template <class T>
struct EstimateOnHost {
  EstimateCell<T> estimate;
  std::byte* memory;  ///< for each worker
  std::size_t bytes;  ///< 0: cells are so large that they are streamed

  /// What the cell before was like says where to look in the next one.
  struct Worker {
    const EstimateCell<T>& estimate;
    std::byte* memory;
    bool is_streamed;
    SmallList<T> list;
    CellOutlook before;

    void operator()(std::int64_t i) {
      if (is_streamed) return estimate.streamed(Alone{}, i, list);
      const CellRules& rules = estimate.rules;
      const Cell cell = estimate.image[i];
      const HostCellRoom<T> room(memory, cell.pixels());
      HostCell<T> population(estimate.image, cell, room, list, rules.kappa, before);
      const CellStatistics now = clip_cell<T>(population, rules.kappa, rules.max_passes);
      estimate.output.count(estimate.output.write(rules, i, cell.pixels(), now));
      before = population.outlook(now);
    }
  };
  [[nodiscard]] Worker worker(std::int64_t k) const {
    return {estimate, memory + static_cast<std::size_t>(k) * bytes, bytes == 0, {}, {}};
  }
};

}  // namespace kastor::detail

#endif
