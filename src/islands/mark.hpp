// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLANDS_MARK_HPP
#define KASTOR_ISLANDS_MARK_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/pixel_map.hpp>

#include "core/bits.hpp"
#include "core/group.hpp"
#include "core/interval.hpp"
#include "core/launch.hpp"
#include "core/pack.hpp"
#include "core/tile_list.hpp"
#include "core/tile_packs.hpp"
#include "core/word_rows.hpp"
#include "islands/map_bounds.hpp"
#include "islands/nearby_background.hpp"

/// Turns the image into bit masks of foreground, seeds and blank pixels. To evaluate the maps costs
/// much more than to read a pixel. So they are evaluated only for pixels outside the limits of
/// their patch, a few per cent.
namespace kastor::detail {

/// The maps, and the thresholds in units of the rms.
template <class Exec, Real T>
struct Thresholds {
  Background<Exec, T> background;
  double seed, flood;
};

/// The limits of a patch: its pixels from `low` to `high` are finite, usable and not foreground.
/// All other pixels are classified with the maps. NaN is never within the limits.
template <class T>
struct PatchLimits {
  T low, high;
  [[nodiscard]] KOKKOS_FUNCTION bool is_quiet(T x) const { return (x >= low) & (x <= high); }
};

/// Patches are as wide as a word of a mask. Surfaces are smooth, so their patches may be tall.
/// Images are not: then a patch is one row, and the limits come from every pixel of the map.
struct Patches {
  std::int64_t ny, nx, words_per_row;
  int row_bits = 6;  ///< a patch has 2^row_bits rows

  template <class Exec, Real T>
  Patches(const Shape& shape, const Background<Exec, T>& background)
      : ny(shape.ny), nx(shape.nx), words_per_row((shape.nx + 63) / 64) {
    using Kind = typename PixelMap<Exec, T>::Kind;
    if (background.level.kind() == Kind::image || background.rms.kind() == Kind::image)
      row_bits = 0;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t rows() const { return std::int64_t{1} << row_bits; }
  [[nodiscard]] std::int64_t count() const { return (ny + rows() - 1) / rows() * words_per_row; }
  [[nodiscard]] KOKKOS_FUNCTION Patch operator[](std::int64_t i) const {
    const std::int64_t row = core::row_of_word(i, words_per_row);
    const std::int64_t y = rows() * row;
    const std::int64_t x = 64 * (i - row * words_per_row);
    return {y, (y + rows() < ny ? y + rows() : ny) - 1, x, (x + 64 < nx ? x + 64 : nx) - 1};
  }
  /// Index of the patch that contains a word of row y.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t of_word(std::int64_t y, std::int64_t column) const {
    return (y >> row_bits) * words_per_row + column;
  }
};

template <class Exec, Real T>
struct BoundPatches {
  Thresholds<Exec, T> thresholds;
  bool negative;  ///< also islands below the background
  Patches patches;
  PatchLimits<T>* limits;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { limits[i] = limits_of(patches[i]); }

  /// A pixel v is foreground if fl(v - L) > fl(flood R), where fl() rounds to double. Let L >= l
  /// and R >= r > 0. Rounding is monotone, and g = fl(flood r) is a double. So foreground has
  /// v - L > g, and therefore v > l + g. The double next below fl(l + g) is not above l + g.
  /// Likewise for islands below the background.
  [[nodiscard]] KOKKOS_FUNCTION PatchLimits<T> limits_of(const Patch& patch) const {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    const Bounds level = bounds_of(thresholds.background.level, patch);
    const Bounds rms = bounds_of(thresholds.background.rms, patch);
    if (!level.known || !rms.known || !(rms.low > 0)) return {infinity, -infinity};
    const double least = thresholds.flood * rms.low;
    const auto beyond = core::interval_between<T>(core::next_below(level.low + least),
                                                  core::next_above(level.high - least));
    return {negative ? beyond.high : Kokkos::Experimental::finite_min_v<T>, beyond.low};
  }
};

/// Mask words, for the whole image.
struct IslandMasks {
  std::uint64_t* blank;
  std::uint64_t* foreground;
  std::uint64_t* seeds;
  std::uint64_t* negative_foreground;  ///< null unless asked for
  std::uint64_t* negative_seeds;
};

/// Fills words of every mask. First the threads of a group read all pixels of a tile. Then they
/// share the pixels that have to be classified with the maps; these are few and unevenly
/// distributed.
template <class Exec, Real T>
struct MarkWords {
  static constexpr int words = 256;  ///< words of a tile; each group has one tile
  static constexpr int threads = 128;
  static constexpr int groups_at_once = 5;  ///< groups per multiprocessor of a device
  using ToJudge = core::TileList<Exec, 1024>;
  static_assert(64 * words <= ToJudge::max_places);
  /// The mask words for one word of the tile.
  struct Masks {
    std::uint64_t blank, foreground, seeds, negative_foreground, negative_seeds;
  };
  struct Scratch {
    Masks masks[words];
    PatchLimits<T> limits[words];
    typename ToJudge::Space to_judge;
  };
  static constexpr int scratch_bytes = sizeof(Scratch);

  Thresholds<Exec, T> thresholds;
  core::WordRows<T> rows;  ///< rows of a band
  std::int64_t first_row;
  Patches patches;  ///< patches of the whole image
  const PatchLimits<T>* limits;
  const std::uint64_t* region;  ///< mask of the whole image; null: all pixels are used
  IslandMasks masks;

  [[nodiscard]] std::int64_t groups() const { return (rows.words() + words - 1) / words; }

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    Scratch& scratch = *group.template scratch<Scratch>();
    const std::int64_t first = group.index() * words;
    const int n = rows.words() - first < words ? static_cast<int>(rows.words() - first) : words;
    group.for_each(n, [&](int i) {
      scratch.masks[i] = {};
      scratch.limits[i] = limits_of(first + i);
    });
    ToJudge to_judge(group, scratch.to_judge);  // contains a barrier
    NearbyBackground<Exec, T> background(thresholds.background);
    const core::TilePacks<Exec, T> packs(rows, first, n);
    const auto judge = [&](int place, T x) {
      judge_pixel(group, background, first, place, x, scratch.masks[place / 64]);
    };
    packs.for_each(
        group,
        [&](const auto& pack, int place) {
          const PatchLimits<T> limit = scratch.limits[place / 64];
          const std::uint64_t loud =
              core::bits_where(pack, [&](T x) { return !limit.is_quiet(x); });
          if (loud == 0) return loud;
          const std::uint64_t blank =
              loud & core::bits_where(pack, [](T x) { return !core::is_finite(x); });
          if (blank != 0) group.set_bits(&scratch.masks[place / 64].blank, blank << (place % 64));
          return loud & ~blank;
        },
        [&](std::uint64_t bits, const auto& place_of, const auto& pixel_of) {
          to_judge.add(bits, place_of, pixel_of, judge);
        });
    to_judge.share([&](int place) { judge(place, packs.at(place)); });
    group.barrier();
    group.for_each(n, [&](int i) { put(scratch.masks[i], first + i); });
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION PatchLimits<T> limits_of(std::int64_t w) const {
    const std::int64_t row = core::row_of_word(w, rows.words_per_row);
    return limits[patches.of_word(first_row + row, w - row * rows.words_per_row)];
  }
  /// The index of word w of the band in the image.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t in_image(std::int64_t w) const {
    return first_row * rows.words_per_row + w;
  }

  /// Classifies a finite pixel at a place of the tile.
  KOKKOS_FUNCTION void judge_pixel(const core::Group<Exec>& group,
                                   NearbyBackground<Exec, T>& background, std::int64_t first,
                                   int place, T x, Masks& found) const {
    const std::int64_t w = first + place / 64;
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    if (region != nullptr && (region[in_image(w)] & bit) == 0) return;
    const std::int64_t row = core::row_of_word(w, rows.words_per_row);
    const LevelAndRms here =
        background(first_row + row, 64 * (w - row * rows.words_per_row) + place % 64);
    if (!here.is_usable()) return group.set_bits(&found.blank, bit);
    const auto value = static_cast<double>(x);
    const double flood = thresholds.flood * here.rms;
    const double seed = thresholds.seed * here.rms;
    const double up = deviation(Side::above, value, here.level);
    const double down = deviation(Side::below, value, here.level);
    if (up > flood) group.set_bits(&found.foreground, bit);
    if (up > seed) group.set_bits(&found.seeds, bit);
    if (down > flood) group.set_bits(&found.negative_foreground, bit);
    if (down > seed) group.set_bits(&found.negative_seeds, bit);
  }

  KOKKOS_FUNCTION void put(const Masks& found, std::int64_t w) const {
    const std::int64_t at = in_image(w);
    const std::uint64_t outside = region != nullptr ? ~region[at] : 0;
    masks.blank[at] = (found.blank | outside) & core::low_bits(rows.word(w).n);
    masks.foreground[at] = found.foreground;
    masks.seeds[at] = found.seeds;
    if (masks.negative_foreground == nullptr) return;
    masks.negative_foreground[at] = found.negative_foreground;
    masks.negative_seeds[at] = found.negative_seeds;
  }
};

/// The pixels that are not blank.
struct NotBlank {
  const std::uint64_t* blank;
  std::uint64_t* usable;

  KOKKOS_FUNCTION void operator()(std::int64_t w) const { usable[w] = ~blank[w]; }
};

/// Enqueues the marking of all bands. `limits` must have room for all patches.
template <class Exec, Real T>
void mark_islands(const Exec& space, Bands<T, Exec> bands, const Patches& patches,
                  const Thresholds<Exec, T>& thresholds, const std::uint64_t* region,
                  PatchLimits<T>* limits, const IslandMasks& masks) {
  using Mark = MarkWords<Exec, T>;
  const bool negative = masks.negative_foreground != nullptr;
  core::for_each("kastor::islands::bound_patches", space, patches.count(),
                 BoundPatches<Exec, T>{thresholds, negative, patches, limits});
  std::int64_t first_row = 0;
  for (const auto& band : bands) {
    const core::WordRows<T> rows(rows_of<T, Exec>(band));
    const Mark mark{thresholds, rows, first_row, patches, limits, region, masks};
    core::for_each_group<Mark::threads, Mark::groups_at_once>(
        "kastor::islands::mark_words", space, {mark.groups(), Mark::scratch_bytes}, mark);
    first_row += rows.ny;
  }
}

}  // namespace kastor::detail

#endif
