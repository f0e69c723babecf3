// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MARK_ISLANDS_HPP
#define KASTOR_DETAIL_MARK_ISLANDS_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/map_along_row.hpp>
#include <kastor/detail/map_bounds.hpp>
#include <kastor/detail/mark_host.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/reduce_pixels.hpp>

/// From the image to bit masks of foreground and seeds. Surfaces cost much more than the read of a
/// pixel, so they are evaluated only for pixels above what the threshold is at least within a patch
/// of the image: some per cent.
namespace kastor::detail {

inline constexpr std::int64_t patch_rows = 16;  ///< and a word of a mask across

/// The maps, and the thresholds in units of the rms.
template <class Exec, Real T>
struct Thresholds {
  Background<Exec, T> background;
  double seed;
  double flood;
};

/// A pixel passes above if fl(v - L) > fl(flood R) with R > 0. For L >= l and R >= r >= 0 it then
/// has fl(v - L) > g = fl(flood r), since rounding is monotone; hence v - L > g exactly (or the
/// rounded difference were g or less), and v > l + g. A slack takes care of the rounding of that
/// sum. Below likewise: v < L - g.
template <class Exec, Real T>
[[nodiscard]] KOKKOS_FUNCTION PatchLimits<T> limits_of(const Thresholds<Exec, T>& thresholds,
                                                       const Patch& patch) {
  constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
  const Bounds level = bounds_of(thresholds.background.level, patch);
  const Bounds rms = bounds_of(thresholds.background.rms, patch);
  double above = -infinity;
  double below = infinity;
  if (level.finite()) {
    const double at_least = rms.finite() && rms.low > 0 ? thresholds.flood * rms.low : 0;
    const double slack = 0x1p-50 * (level.size + at_least);
    above = level.low + at_least - slack;
    below = level.high - at_least + slack;
  }
  const Interval<T> outwards = interval_between<T>(above, below);
  return {outwards.low, outwards.high, level.finite() && rms.finite() && rms.low > 0};
}

template <class Exec, Real T>
struct BoundPatches {
  Thresholds<Exec, T> thresholds;
  std::int64_t ny;
  std::int64_t nx;
  std::int64_t words_per_row;
  PatchLimits<T>* limits;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / words_per_row * patch_rows;
    const std::int64_t x = i % words_per_row * 64;
    limits[i] = limits_of(thresholds, Patch{y, (y + patch_rows < ny ? y + patch_rows : ny) - 1, x,
                                            (x + 64 < nx ? x + 64 : nx) - 1});
  }
};

/// Words of the masks to fill; of the whole image.
struct IslandMasks {
  std::uint64_t* usable;  ///< pixels that are not blank
  std::uint64_t* foreground;
  std::uint64_t* seeds;
  std::uint64_t* negative_foreground;  ///< null unless asked for
  std::uint64_t* negative_seeds;
  std::int64_t words_per_row;
};

template <class Exec, Real T>
struct MarkWords {
  Thresholds<Exec, T> thresholds;
  Rows<T> rows;  ///< of a band
  std::int64_t first_row;
  const PatchLimits<T>* limits;  ///< of the whole image
  const std::uint64_t* region;   ///< null: all pixels
  IslandMasks masks;

  using Along = MapAlongRow<Exec, T>;

  [[nodiscard]] KOKKOS_FUNCTION const PatchLimits<T>* limits_at(std::int64_t y,
                                                                std::int64_t w) const {
    return limits + (first_row + y) / patch_rows * masks.words_per_row + w;
  }

  /// An image, and no surface.
  [[nodiscard]] bool reads_images() const {
    using Kind = typename PixelMap<Exec, T>::Kind;
    const Kind level = thresholds.background.level.kind();
    const Kind rms = thresholds.background.rms.kind();
    return level != Kind::surface && rms != Kind::surface &&
           (level == Kind::image || rms == Kind::image);
  }
  /// Host: images and constants are cheap, so all pixels of a word, without a branch, to what
  /// `judge` is to look at.
  void preselect(std::int64_t y, std::int64_t w, std::uint64_t& finite, std::uint64_t& above,
                 std::uint64_t& below) const {
    const PixelMap<Exec, T>& level = thresholds.background.level;
    const PixelMap<Exec, T>& rms = thresholds.background.rms;
    using Kind = typename PixelMap<Exec, T>::Kind;
    const double constant_level = level.constant();
    const double constant_rms = rms.constant();
    const T* levels = level.kind() == Kind::image ? &level.image()(first_row + y, 64 * w) : nullptr;
    const T* noises = rms.kind() == Kind::image ? &rms.image()(first_row + y, 64 * w) : nullptr;
    const T* pixels = rows.data + y * rows.pitch + 64 * w;
    const int n = rows.nx - 64 * w < 64 ? static_cast<int>(rows.nx - 64 * w) : 64;
    std::uint64_t usable = 0, up = 0, down = 0;
    for (int k = 0; k < n; ++k) {
      const double sky = levels != nullptr ? static_cast<double>(levels[k]) : constant_level;
      const double noise = noises != nullptr ? static_cast<double>(noises[k]) : constant_rms;
      const double d = static_cast<double>(pixels[k]) - sky;
      const double flood = thresholds.flood * noise;
      usable |= static_cast<std::uint64_t>((sky - sky == 0) & (noise - noise == 0) & (noise > 0))
                << k;
      up |= static_cast<std::uint64_t>(d > flood) << k;
      down |= static_cast<std::uint64_t>(-d > flood) << k;
    }
    finite &= usable;
    above &= up;
    below &= down;
  }

  /// Judges the pixels of word w in row y of the band that are above or below the limits.
  KOKKOS_FUNCTION void judge(std::int64_t y, std::int64_t w, bool holds_no_blank,
                             std::uint64_t finite, std::uint64_t above, std::uint64_t below,
                             Along& level, Along& rms) const {
    const std::int64_t word = (first_row + y) * masks.words_per_row + w;
    const bool negative = masks.negative_foreground != nullptr;
    std::uint64_t usable = region == nullptr ? finite : finite & region[word];
    std::uint64_t foreground = 0, seeds = 0, negative_foreground = 0, negative_seeds = 0;
    std::uint64_t rest = usable;
    if (holds_no_blank) rest &= negative ? above | below : above;
    for (; rest != 0; rest &= rest - 1) {
      const int k = lowest_one(rest);
      const std::uint64_t bit = std::uint64_t{1} << k;
      const std::int64_t x = 64 * w + k;
      const double sky = level(x);
      const double noise = rms(x);
      if (!Kokkos::isfinite(sky) || !Kokkos::isfinite(noise) || !(noise > 0)) {
        usable &= ~bit;
        continue;
      }
      const auto value = static_cast<double>(rows.data[y * rows.pitch + x]);
      const double flood = thresholds.flood * noise;
      const double seed = thresholds.seed * noise;
      const double up = deviation(Side::above, value, sky);
      const double down = deviation(Side::below, value, sky);
      if (up > flood) foreground |= bit;
      if (up > seed) seeds |= bit;
      if (down > flood) negative_foreground |= bit;
      if (down > seed) negative_seeds |= bit;
    }
    masks.usable[word] = usable;
    masks.foreground[word] = foreground;
    masks.seeds[word] = seeds;
    if (negative) {
      masks.negative_foreground[word] = negative_foreground;
      masks.negative_seeds[word] = negative_seeds;
    }
  }
};

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
    std::uint64_t finite[length / 64], above[length / 64], below[length / 64];
    const PatchLimits<T>* limits = mark.limits_at(y, first);
    mark_on_host(best_host_level(), limits, mark.rows.data + y * mark.rows.pitch + x, n, finite,
                 above, below);
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

/// Devices: one thread fills one word.
template <class Exec, Real T>
struct MarkWord {
  MarkWords<Exec, T> mark;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t per_row = mark.masks.words_per_row;
    const std::int64_t y = i / per_row;
    const std::int64_t w = i % per_row;
    const T* pixels = mark.rows.data + y * mark.rows.pitch + 64 * w;
    const std::int64_t n = mark.rows.nx - 64 * w;
    const PatchLimits<T> limits = *mark.limits_at(y, w);
    const Interval<T> all;
    std::uint64_t finite = 0, above = 0, below = 0;
    visit_word(pixels, n, [&](T x, int k) {
      finite |= static_cast<std::uint64_t>(all.contains(x)) << k;
      above |= static_cast<std::uint64_t>(x > limits.above) << k;
      below |= static_cast<std::uint64_t>(x < limits.below) << k;
    });
    typename MarkWords<Exec, T>::Along level(mark.thresholds.background.level, mark.first_row + y);
    typename MarkWords<Exec, T>::Along rms(mark.thresholds.background.rms, mark.first_row + y);
    mark.judge(y, w, limits.holds_no_blank, finite, above & finite, below & finite, level, rms);
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
      Kokkos::parallel_for("kastor::islands::mark_words",
                           Range(space, 0, rows.ny * masks.words_per_row), MarkWord<Exec, T>{mark});
    }
    first_row += rows.ny;
  }
}

}  // namespace kastor::detail

#endif
