// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_ESTIMATE_CELLS_HPP
#define KASTOR_BACKGROUND_ESTIMATE_CELLS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/background.hpp>

#include "background/cell_clip.hpp"
#include "background/cell_image.hpp"
#include "background/cell_passes.hpp"
#include "background/cell_pixels.hpp"
#include "background/mesh.hpp"
#include "core/atomics.hpp"
#include "core/group.hpp"
#include "core/ordered_key.hpp"

/// Level and noise of every cell: each group clips one cell at a time.
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

  /// To be called by one thread.
  KOKKOS_FUNCTION void write(const CellRules& rules, std::int64_t i, std::int64_t pixels,
                             const CellStatistics& s) const {
    const bool enough = s.good > 0 && static_cast<double>(s.good) >=
                                          rules.min_good_fraction * static_cast<double>(pixels);
    valid[i] = enough ? 1 : 0;
    core::atomic_add(&counts->good, s.good);
    if (!enough) return;
    core::atomic_add(&counts->valid, std::int64_t{1});
    // 2.5 median - 1.5 mean, computed so that it does not overflow.
    const double skew = s.median - s.mean;
    const bool shift =
        rules.estimate == BackgroundEstimate::mode && Kokkos::fabs(skew) < 0.3 * s.std;
    const CellValue value{shift ? s.median + 1.5 * skew : s.median, s.std};
    values[i] = value;
    core::atomic_lower(&counts->lowest_level, core::key_of(value.level));
    core::atomic_lower(&counts->lowest_rms, core::key_of(value.rms));
  }
};

/// Cells of up to this many pixels fit into a group's scratch memory.
template <class T>
inline constexpr int max_staged_pixels = 36 * 1024 / static_cast<int>(sizeof(T));

/// `staged`: the pixels of a cell are first copied to scratch memory. Otherwise every pass reads
/// them from the image.
template <class Exec, class T, bool staged>
struct EstimateCells {
  using Streamed = StreamedPixels<Exec, T, std::conditional_t<staged, int, std::int64_t>>;
  using Pixels = std::conditional_t<staged, ScratchPixels<Exec, T>, Streamed>;
  using Scratch = CellScratch<Exec, Pixels>;
  CellImage<T> image;
  CellRules rules;
  CellOutput output;

  [[nodiscard]] core::GroupShape shape() const {
    // One group per cell, but not more than an int can count.
    const std::int64_t groups = std::min(image.cells(), std::int64_t{1} << 30);
    const auto pixels = staged ? static_cast<int>(image.cell.ny * image.cell.nx) : 0;
    const auto room = ScratchPixels<Exec, T>::room_for(pixels) * static_cast<int>(sizeof(T));
    return {groups, static_cast<int>(sizeof(Scratch)) + room};
  }

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    Scratch& scratch = *group.template scratch<Scratch>();
    T* room = nullptr;
    if constexpr (staged)
      room = group.template scratch<T>(
          ScratchPixels<Exec, T>::room_for(static_cast<int>(image.cell.ny * image.cell.nx)));
    for (std::int64_t i = group.index(); i < image.cells(); i += group.count()) {
      const Cell cell = image[i];
      const CellStatistics s = clip(group, cell, room, scratch);
      if (group.rank() == 0) output.write(rules, i, cell.pixels(), s);
      group.barrier();
    }
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION CellStatistics clip(const core::Group<Exec>& group,
                                                    const Cell& cell, T* room,
                                                    Scratch& scratch) const {
    const Streamed streamed(group, image, cell);
    if constexpr (staged) {
      const core::MinMaxCount<T> all = stage(group, streamed, room);
      const ScratchPixels<Exec, T> pixels(group, room, static_cast<int>(cell.pixels()));
      group.barrier();
      return clip_cell(group, pixels, all, rules.kappa, rules.max_passes, scratch);
    } else {
      const core::MinMaxCount<T> all = extent_of(group, streamed, core::Interval<T>{});
      return clip_cell(group, streamed, all, rules.kappa, rules.max_passes, scratch);
    }
  }
};

/// Enqueues the estimate of all cells.
template <class Exec, class T>
void estimate_cells(const Exec& space, const CellImage<T>& image, const CellRules& rules,
                    const CellOutput& output) {
  const char* const label = "kastor::background::estimate_cells";
  if (image.cell.ny * image.cell.nx <= max_staged_pixels<T>) {
    const EstimateCells<Exec, T, true> kernel{image, rules, output};
    core::for_each_group<64, 10>(label, space, kernel.shape(), kernel);
  } else {
    const EstimateCells<Exec, T, false> kernel{image, rules, output};
    core::for_each_group<256>(label, space, kernel.shape(), kernel);
  }
}

}  // namespace kastor::detail

#endif
