// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MARK_ISLANDS_HPP
#define KASTOR_DETAIL_MARK_ISLANDS_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <kastor/detail/mark_device.hpp>
#include <kastor/detail/mark_host.hpp>
#include <kastor/detail/mark_words.hpp>
#include <kastor/detail/reduce_pixels.hpp>
#include <kastor/detail/team_launcher.hpp>

/// From the image to bit masks of foreground and seeds.
namespace kastor::detail {

/// Hosts: one thread fills the words of a stretch of a row.
template <class Exec, Real T>
struct MarkStretch {
  static constexpr std::int64_t length = host_segment;
  MarkWords<Exec, T> mark;
  std::int64_t per_row = (mark.rows.nx + length - 1) / length;

  void operator()(std::int64_t i) const {
    const std::int64_t y = i / per_row;
    const std::int64_t x = i % per_row * length;
    const std::int64_t n = mark.rows.nx - x < length ? mark.rows.nx - x : length;
    const std::int64_t first = x / 64;
    std::uint64_t finite[length / 64], above[length / 64], below[length / 64] = {};
    const bool negative = mark.masks.negative_foreground != nullptr;
    const PatchLimits<T>* limits = mark.limits_at(y, first);
    mark_on_host(best_host_level(), limits, mark.rows.data + y * mark.rows.pitch + x, n, finite,
                 above, negative ? below : nullptr);
    typename MarkWords<Exec, T>::Along level(mark.thresholds.background.level, mark.first_row + y);
    typename MarkWords<Exec, T>::Along rms(mark.thresholds.background.rms, mark.first_row + y);
    const bool images = mark.reads_images();
    for (std::int64_t w = 0; 64 * w < n; ++w) {
      if (images) mark.preselect(y, first + w, finite[w], above[w], below[w]);
      mark.judge(y, first + w, images || limits[w].holds_no_blank, finite[w], above[w], below[w],
                 level, rms);
    }
  }
};

/// `limits`: room for a patch every `patch_rows` rows, times the words of a row. Enqueues only.
template <class Exec, Real T>
void mark_islands(const Exec& space, Bands<T, Exec> bands, const Shape& shape,
                  const Thresholds<Exec, T>& thresholds, const std::uint64_t* region,
                  PatchLimits<T>* limits, const IslandMasks& masks) {
  const Kokkos::Profiling::ScopedRegion profile("kastor::islands::mark");
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  const std::int64_t patches = (shape.ny + patch_rows - 1) / patch_rows * masks.words_per_row;
  Kokkos::parallel_for(
      "kastor::islands::bound_patches", Range(space, 0, patches),
      BoundPatches<Exec, T>{thresholds, shape.ny, shape.nx, masks.words_per_row, limits});
  std::int64_t first_row = 0;
  for (const auto& band : bands) {
    const Rows<T> rows = rows_of<T, Exec>(band);
    if (rows.ny == 0) continue;
    const MarkWords<Exec, T> mark{thresholds, rows, first_row, limits, region, masks};
    if constexpr (is_host_space_v<Exec>) {
      const MarkStretch<Exec, T> stretch{mark};
      Kokkos::parallel_for("kastor::islands::mark_words",
                           Range(space, 0, rows.ny * stretch.per_row), stretch);
    } else {
      using Tile = MarkTile<Exec, T>;
      const Tile tile{mark};
      TeamLauncher<Exec>{space}("kastor::islands::mark_words", tile.teams(), tile);
    }
    first_row += rows.ny;
  }
}

}  // namespace kastor::detail

#endif
