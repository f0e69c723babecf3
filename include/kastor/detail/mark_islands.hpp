// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MARK_ISLANDS_HPP
#define KASTOR_DETAIL_MARK_ISLANDS_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/enqueue.hpp>
#include <kastor/detail/index_range.hpp>
#include <kastor/detail/mark_by_ceilings.hpp>
#include <kastor/detail/mark_device.hpp>
#include <kastor/detail/mark_host.hpp>
#include <kastor/detail/mark_words.hpp>
#include <kastor/detail/measured_runs.hpp>
#include <kastor/detail/reduce_pixels.hpp>
#include <kastor/detail/team_launcher.hpp>
#include <kastor/detail/work_shares.hpp>
#include <kastor/pixel_ceilings.hpp>

/// From the image to bit masks of foreground and seeds.
namespace kastor::detail {

/// Hosts: a worker fills the words of stretches of rows, one after the other.
template <class Exec, Real T>
struct MarkStretches {
  static constexpr std::int64_t length = host_segment;
  MarkWords<Exec, T> mark;
  std::int64_t workers;
  std::int64_t per_row = (mark.rows.nx + length - 1) / length;

  void operator()(std::int64_t worker) const {
    const RunLoop<Exec> share(worker, workers, 0, mark.rows.ny * per_row);
    const std::int64_t word = first_word(share.first);
    KeptPixels::Places places = mark.kept.of_words(word, first_word(share.past) - word);
    for (std::int64_t i = share.first; i < share.past; ++i) fill(i, places);
  }

 private:
  [[nodiscard]] std::int64_t first_word(std::int64_t i) const {
    return (mark.first_row + i / per_row) * mark.masks.words_per_row + i % per_row * (length / 64);
  }
  void fill(std::int64_t i, KeptPixels::Places& places) const {
    const std::int64_t y = i / per_row;
    const std::int64_t x = i % per_row * length;
    const std::int64_t n = mark.rows.nx - x < length ? mark.rows.nx - x : length;
    const std::int64_t first = x / 64, words = (n + 63) / 64;
    const PatchLimits<T>* limits = mark.limits_at(y, first);
    const std::int64_t word = first_word(i);
    std::uint64_t* const usable = mark.masks.usable + word;
    std::uint64_t* const above = mark.masks.foreground + word;
    std::uint64_t* const seeds = mark.masks.seeds + word;
    // First the pixels to judge are where the foreground will be.
    std::uint64_t *below = nullptr, *negative_seeds = nullptr;
    if (mark.masks.negative_foreground != nullptr) {
      below = mark.masks.negative_foreground + word;
      negative_seeds = mark.masks.negative_seeds + word;
    }
    mark_on_host(best_host_level(), limits, mark.rows.data + y * mark.rows.pitch + x, n, usable,
                 above, below);
    typename MarkWords<Exec, T>::Along background(mark.thresholds.background, mark.first_row + y);
    const bool images = mark.reads_images();
    const std::uint64_t* const region = mark.region == nullptr ? nullptr : mark.region + word;
    for (std::int64_t w = 0; w < words; ++w) {
      std::uint64_t rest = above[w] | (below != nullptr ? below[w] : 0);
      const bool holds_no_blank = images || limits[w].holds_no_blank;
      if (!images && region == nullptr && rest == 0 && holds_no_blank) {
        seeds[w] = 0;
        if (below != nullptr) negative_seeds[w] = 0;
        continue;
      }
      std::uint64_t none = 0;
      if (images)
        mark.preselect(y, first + w, usable[w], above[w], below != nullptr ? below[w] : none);
      rest = above[w] | (below != nullptr ? below[w] : 0);
      const std::uint64_t good = region == nullptr ? usable[w] : usable[w] & region[w];
      mark.judge(y, first + w, good, holds_no_blank ? good & rest : good, background, places);
    }
  }
};

/// Whether ceilings say which pixels need not be read: maps that are images have no limits, and
/// rows are read in packs.
template <class Exec, Real T>
[[nodiscard]] bool can_mark_by_ceilings(Bands<T, Exec> bands, const Background<Exec, T>& background,
                                        const PixelCeilings<Exec, T>& ceilings) {
  using Kind = typename PixelMap<Exec, T>::Kind;
  if (is_host_space_v<Exec> || ceilings.empty() || bands.size() != 1) return false;
  const Rows<T> rows = rows_of<T, Exec>(bands.front());
  return rows.ny > 0 && rows.nx > 0 && rows.ny * ((rows.nx + 63) / 64) <= ListedWord::most &&
         rows.pitch % PixelPack<T>::size == 0 &&
         reinterpret_cast<std::uintptr_t>(rows.data) % sizeof(PixelPack<T>) == 0 &&
         background.level.kind() != Kind::image && background.rms.kind() != Kind::image;
}

template <class Exec, Real T>
void bound_patches(const Exec& space, const Shape& shape, const Thresholds<Exec, T>& thresholds,
                   PatchLimits<T>* limits, std::int64_t words_per_row, const KeptPixels& kept,
                   std::uint64_t* listed_words = nullptr) {
  enqueue_range<IndexRange<Exec>>(
      space, "kastor::islands::bound_patches", patches_of<Exec>(shape.ny, words_per_row),
      BoundPatches<Exec, T>{thresholds, shape.ny, shape.nx, words_per_row, limits, kept.taken,
                            listed_words});
}

/// Of an image in one band, with its ceilings. Pixels without a place, if there are more bright
/// ones than places, are left out: the caller will see that from the number asked for.
template <class Exec, Real T>
void mark_by_ceilings(const Exec& space, const ConstImage<T, Exec>& image,
                      const Thresholds<Exec, T>& thresholds, const std::uint64_t* region,
                      PatchLimits<T>* limits, const IslandMasks& masks, const KeptPixels& kept,
                      const BrightPixels& bright, const PixelCeilings<Exec, T>& ceilings) {
  const Kokkos::Profiling::ScopedRegion profile("kastor::islands::mark");
  const TeamLauncher<Exec> launch{space};
  const Rows<T> rows = rows_of<T, Exec>(image);
  bound_patches(space, {rows.ny, rows.nx}, thresholds, limits, masks.words_per_row, kept,
                bright.count);
  const MarkWords<Exec, T> mark{thresholds, rows, 0, limits, region, masks, kept};
  const ListBrightWords<Exec, T> words{mark, CeilingsOfCells<T>(ceilings), bright};
  launch("kastor::islands::list_bright_words", words.teams(), words);
  // As many as a device holds at once: one more would begin when the others are done.
  using Pixels = ListBrightPixels<Exec, T>;
  using Judge = JudgeListedPixels<Exec, T>;
  const std::int64_t at_once = space.concurrency() / 2;
  const std::int64_t most_words = rows.ny * masks.words_per_row;
  const std::int64_t listing = std::min(at_once, most_words);
  launch("kastor::islands::list_bright_pixels",
         static_cast<int>((listing + Pixels::threads - 1) / Pixels::threads), Pixels{mark, bright});
  const std::int64_t judging = std::min(at_once, kept.capacity);
  enqueue_range<Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>,
                                    Kokkos::LaunchBounds<Judge::threads, Judge::teams_at_once>>>(
      space, "kastor::islands::judge_listed_pixels", judging, Judge{mark, judging});
}

/// `limits`: room for `patches_of` the masks; `kept`: places to be filled. Enqueues only.
template <class Exec, Real T>
void mark_islands(const Exec& space, Bands<T, Exec> bands, const Shape& shape,
                  const Thresholds<Exec, T>& thresholds, const std::uint64_t* region,
                  PatchLimits<T>* limits, const IslandMasks& masks, const KeptPixels& kept) {
  const Kokkos::Profiling::ScopedRegion profile("kastor::islands::mark");
  bound_patches(space, shape, thresholds, limits, masks.words_per_row, kept);
  std::int64_t first_row = 0;
  for (const auto& band : bands) {
    const Rows<T> rows = rows_of<T, Exec>(band);
    if (rows.ny == 0) continue;
    const MarkWords<Exec, T> mark{thresholds, rows, first_row, limits, region, masks, kept};
    if constexpr (is_host_space_v<Exec>) {
      const std::int64_t workers = measuring_workers(space, rows.ny);
      for_each_index("kastor::islands::mark_words", space, workers,
                     MarkStretches<Exec, T>{mark, workers});
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
