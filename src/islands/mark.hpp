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
#include "core/word_rows.hpp"
#include "islands/map_bounds.hpp"
#include "islands/nearby_background.hpp"

/// From the image to bit masks of foreground, seeds and blank pixels. Maps cost much more than the
/// read of a pixel, so they are evaluated only for pixels beyond the limits of their patch: a
/// few per cent.
namespace kastor::detail {

/// The maps, and the thresholds in units of the rms.
template <class Exec, Real T>
struct Thresholds {
  Background<Exec, T> background;
  double seed, flood;
};

/// Of a patch: its pixels from `low` to `high` are finite, usable and not foreground. Others may be
/// anything: they are judged by the maps. NaN is not among the first.
template <class T>
struct PatchLimits {
  T low, high;
  [[nodiscard]] KOKKOS_FUNCTION bool is_quiet(T x) const { return (x >= low) & (x <= high); }
};

/// Patches are a word of a mask wide. Surfaces are smooth, so that patches of them may be tall;
/// images are not, and every pixel of them is looked at.
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
  /// The one that a word of row y lies in.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t of_word(std::int64_t y, std::int64_t column) const {
    return (y >> row_bits) * words_per_row + column;
  }
};

template <class Exec, Real T>
struct BoundPatches {
  Thresholds<Exec, T> thresholds;
  bool negative;  ///< islands below the background too
  Patches patches;
  PatchLimits<T>* limits;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { limits[i] = limits_of(patches[i]); }

  /// A pixel v is foreground if fl(v - L) > fl(flood R). With L >= l and R >= r > 0 it then has
  /// v - L > g = fl(flood r), since rounding is monotone and g a double: v > l + g, which the
  /// number below the rounded sum does not exceed. Below likewise.
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

/// Words of masks of the whole image.
struct IslandMasks {
  std::uint64_t* blank;
  std::uint64_t* foreground;
  std::uint64_t* seeds;
  std::uint64_t* negative_foreground;  ///< null unless asked for
  std::uint64_t* negative_seeds;
};

/// Fills words of every mask. The threads of a group look at whole words first; then they share
/// the pixels that have to be judged, which are few and far from evenly spread.
template <class Exec, Real T>
struct MarkWords {
  static constexpr int words = 128;  ///< of a group
  static constexpr int threads = words;
  static constexpr int groups_at_once = 5;  ///< on a processor of a device
  struct Scratch {
    std::uint64_t blank[words];
    std::uint64_t to_judge[words];
    std::uint32_t first_listed[words];
    std::uint16_t listed[64 * words];  ///< word and bit of a pixel to judge, then its `Verdict`
    std::uint32_t count;               ///< of them
  };
  static constexpr int scratch_bytes = sizeof(Scratch);
  enum Verdict : std::uint16_t {
    is_blank = 1,
    is_foreground = 2,
    is_seed = 4,
    is_negative_foreground = 8,
    is_negative_seed = 16
  };

  Thresholds<Exec, T> thresholds;
  core::WordRows<T> rows;  ///< of a band
  std::int64_t first_row;
  Patches patches;  ///< of the whole image
  const PatchLimits<T>* limits;
  const std::uint64_t* region;  ///< of the whole image; null: all pixels
  IslandMasks masks;

  [[nodiscard]] std::int64_t groups() const { return (rows.words() + words - 1) / words; }

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    Scratch& scratch = *group.template scratch<Scratch>();
    const std::int64_t first = group.index() * words;
    const int n = rows.words() - first < words ? static_cast<int>(rows.words() - first) : words;
    if (group.rank() == 0) scratch.count = 0;
    group.barrier();
    group.for_each(n, [&](int i) { look_at(group, scratch, i, first + i); });
    group.barrier();
    NearbyBackground<Exec, T> background(thresholds.background);
    group.for_each(static_cast<int>(scratch.count), [&](int k) {
      const int pixel = scratch.listed[k];
      scratch.listed[k] = judged(background, first + pixel / 64, pixel % 64);
    });
    group.barrier();
    group.for_each(n, [&](int i) { put(scratch, i, first + i); });
  }

 private:
  template <class Condition>
  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t bits_of(
      const typename core::WordRows<T>::Word& word, const Condition& is_so) {
    std::uint64_t bits = 0;
    core::for_each_pack<core::pack_width_v<Exec>>(
        word.pixels, word.n,
        [&](const auto& pack, int j) { bits |= core::bits_where(pack, is_so) << j; });
    return bits;
  }

  /// Says which pixels of a word are blank by themselves, and lists those to be judged by the maps.
  KOKKOS_FUNCTION void look_at(const core::Group<Exec>& group, Scratch& scratch, int i,
                               std::int64_t w) const {
    const auto word = rows.word(w);
    const std::int64_t row = core::row_of_word(w, rows.words_per_row);
    const PatchLimits<T> limit =
        limits[patches.of_word(first_row + row, w - row * rows.words_per_row)];
    scratch.blank[i] = scratch.to_judge[i] = scratch.first_listed[i] = 0;
    const std::uint64_t quiet = bits_of(word, [&](T x) { return limit.is_quiet(x); });
    if (quiet == core::low_bits(word.n) && region == nullptr) return;
    std::uint64_t usable = bits_of(word, [](T x) { return core::is_finite(x); });
    if (region != nullptr) usable &= region[first_row * rows.words_per_row + w];
    scratch.blank[i] = ~usable & core::low_bits(word.n);
    std::uint64_t rest = scratch.to_judge[i] = usable & ~quiet;
    if (rest == 0) return;
    const auto count = static_cast<std::uint32_t>(core::popcount(rest));
    std::uint32_t place = scratch.first_listed[i] = group.fetch_add(&scratch.count, count);
    for (; rest != 0; rest &= rest - 1)
      scratch.listed[place++] = static_cast<std::uint16_t>(64 * i + core::countr_zero(rest));
  }

  /// A finite pixel of the region.
  [[nodiscard]] KOKKOS_FUNCTION std::uint16_t judged(NearbyBackground<Exec, T>& background,
                                                     std::int64_t w, int bit) const {
    const std::int64_t row = core::row_of_word(w, rows.words_per_row);
    const std::int64_t x = 64 * (w - row * rows.words_per_row) + bit;
    const LevelAndRms here = background(first_row + row, x);
    if (!here.is_usable()) return is_blank;
    const auto value = static_cast<double>(rows.data[row * rows.pitch + x]);
    const double flood = thresholds.flood * here.rms;
    const double seed = thresholds.seed * here.rms;
    const double up = deviation(Side::above, value, here.level);
    const double down = deviation(Side::below, value, here.level);
    return static_cast<std::uint16_t>((up > flood ? is_foreground : 0) | (up > seed ? is_seed : 0) |
                                      (down > flood ? is_negative_foreground : 0) |
                                      (down > seed ? is_negative_seed : 0));
  }

  KOKKOS_FUNCTION void put(const Scratch& scratch, int i, std::int64_t w) const {
    std::uint64_t blank = scratch.blank[i];
    std::uint64_t foreground = 0, seeds = 0, negative_foreground = 0, negative_seeds = 0;
    const std::uint16_t* verdict = scratch.listed + scratch.first_listed[i];
    for (std::uint64_t rest = scratch.to_judge[i]; rest != 0; rest &= rest - 1, ++verdict) {
      const std::uint64_t bit = rest & ~(rest - 1);
      if ((*verdict & is_blank) != 0) blank |= bit;
      if ((*verdict & is_foreground) != 0) foreground |= bit;
      if ((*verdict & is_seed) != 0) seeds |= bit;
      if ((*verdict & is_negative_foreground) != 0) negative_foreground |= bit;
      if ((*verdict & is_negative_seed) != 0) negative_seeds |= bit;
    }
    const std::int64_t at = first_row * rows.words_per_row + w;
    masks.blank[at] = blank;
    masks.foreground[at] = foreground;
    masks.seeds[at] = seeds;
    if (masks.negative_foreground == nullptr) return;
    masks.negative_foreground[at] = negative_foreground;
    masks.negative_seeds[at] = negative_seeds;
  }
};

/// `limits`: room for all patches. Enqueues only.
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
