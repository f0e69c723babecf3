// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MARK_WORDS_HPP
#define KASTOR_DETAIL_MARK_WORDS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/kept_pixels.hpp>
#include <kastor/detail/map_along_row.hpp>
#include <kastor/detail/map_bounds.hpp>
#include <kastor/detail/mark_host.hpp>
#include <kastor/detail/moments.hpp>

/// What a pixel must exceed to be marked. Surfaces cost much more than the read of a pixel, so they
/// are evaluated only for pixels above what the threshold is at least within a patch of the image:
/// some per cent.
namespace kastor::detail {

/// Of a patch, which is a word of a mask across. Its bounds are one thread's work: tall patches
/// have few, low ones keep many threads busy.
template <class Exec>
inline constexpr std::int64_t patch_rows = is_host_space_v<Exec> ? 128 : 32;

template <class Exec>
[[nodiscard]] std::int64_t patches_of(std::int64_t ny, std::int64_t words_per_row) {
  return (ny + patch_rows<Exec> - 1) / patch_rows<Exec> * words_per_row;
}

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
  const auto [level, rms] = bounds_of(thresholds.background, patch);
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
  std::uint64_t* taken;         ///< places for pixels to keep: none, until there are limits
  std::uint64_t* listed_words;  ///< likewise; may be null

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (i == 0) *taken = 0;
    if (i == 0 && listed_words != nullptr) *listed_words = 0;
    constexpr std::int64_t height = patch_rows<Exec>;
    const std::int64_t y = i / words_per_row * height;
    const std::int64_t x = i % words_per_row * 64;
    limits[i] = limits_of(thresholds, Patch{y, (y + height < ny ? y + height : ny) - 1, x,
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
  std::uint8_t* none_blank;  ///< as that of UsablePixels; null: all words of `usable` are filled
};

template <class Exec, Real T>
struct MarkWords {
  Thresholds<Exec, T> thresholds;
  Rows<T> rows;  ///< of a band
  std::int64_t first_row;
  const PatchLimits<T>* limits;  ///< of the whole image
  const std::uint64_t* region;   ///< null: all pixels
  IslandMasks masks;
  KeptPixels kept;

  using Along = BackgroundAlongRow<Exec, T>;

  [[nodiscard]] KOKKOS_FUNCTION const PatchLimits<T>* limits_at(std::int64_t y,
                                                                std::int64_t w) const {
    return limits + (first_row + y) / patch_rows<Exec> * masks.words_per_row + w;
  }

  /// Which pixels of a word have to be judged, of those that are usable.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t to_judge(std::uint64_t usable, bool holds_no_blank,
                                                       std::uint64_t above,
                                                       std::uint64_t below) const {
    if (!holds_no_blank) return usable;
    return usable & (masks.negative_foreground != nullptr ? above | below : above);
  }

  struct Judgement {
    bool usable = false, foreground = false, seed = false;
    bool negative_foreground = false, negative_seed = false;
  };
  /// A finite pixel where the maps have these values.
  [[nodiscard]] KOKKOS_FUNCTION Judgement judged(double value, double sky, double noise) const {
    if (!Kokkos::isfinite(sky) || !Kokkos::isfinite(noise) || !(noise > 0)) return {};
    const double flood = thresholds.flood * noise;
    const double seed = thresholds.seed * noise;
    const double up = deviation(Side::above, value, sky);
    const double down = deviation(Side::below, value, sky);
    const bool negative = masks.negative_foreground != nullptr;
    return {true, up > flood, up > seed, negative && down > flood, negative && down > seed};
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

  /// Host: judges those pixels of word w in row y of the band that the rest of the usable ones are.
  void judge(std::int64_t y, std::int64_t w, std::uint64_t usable, std::uint64_t rest,
             Along& background, KeptPixels::Places& places) const {
    const std::int64_t word = (first_row + y) * masks.words_per_row + w;
    if (rest == 0) return put(word, Marks{usable});
    const std::int64_t first = places.next;
    put(word, judged_pixels(y, w, usable, rest, background, places));
    const bool were_kept = places.next <= places.past;
    kept.first[word] = were_kept ? static_cast<std::uint32_t>(first) : KeptPixels::none;
    if (!were_kept) places.next = first;
  }

 private:
  /// Bits of a word of each mask.
  struct Marks {
    std::uint64_t usable = 0, foreground = 0, seeds = 0;
    std::uint64_t negative_foreground = 0, negative_seeds = 0;
  };

  void put(std::int64_t word, const Marks& marks) const {
    masks.usable[word] = marks.usable;
    masks.foreground[word] = marks.foreground;
    masks.seeds[word] = marks.seeds;
    if (masks.negative_foreground == nullptr) return;
    masks.negative_foreground[word] = marks.negative_foreground;
    masks.negative_seeds[word] = marks.negative_seeds;
  }

  /// Out of the way of the many words that have no such pixel.
  [[gnu::noinline]] Marks judged_pixels(std::int64_t y, std::int64_t w, std::uint64_t usable,
                                        std::uint64_t rest, Along& background,
                                        KeptPixels::Places& places) const {
    Marks marks{usable};
    for (; rest != 0; rest &= rest - 1) {
      const int k = lowest_one(rest);
      const std::uint64_t bit = std::uint64_t{1} << k;
      const std::int64_t x = 64 * w + k;
      const auto value = static_cast<double>(rows.data[y * rows.pitch + x]);
      const auto [sky, noise] = background(x);
      const Judgement pixel = judged(value, sky, noise);
      if (!pixel.usable) marks.usable &= ~bit;
      if (pixel.foreground) marks.foreground |= bit;
      if (pixel.seed) marks.seeds |= bit;
      if (pixel.negative_foreground) marks.negative_foreground |= bit;
      if (pixel.negative_seed) marks.negative_seeds |= bit;
      if (!pixel.foreground && !pixel.negative_foreground) continue;
      if (places.next < places.past) kept.places[places.next] = {value, sky, noise};
      ++places.next;
    }
    return marks;
  }
};

}  // namespace kastor::detail

#endif
