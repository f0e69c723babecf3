// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLAND_FINDER_HPP
#define KASTOR_ISLAND_FINDER_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/island.hpp>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>
#include <memory>
#include <span>

namespace kastor {

/// Two thresholds (hysteresis): islands are made of the pixels above the lower one, and are kept if
/// one of these is above the higher one.
struct IslandParams {
  double seed = 5;   ///< in units of the rms map, strictly above  [finite, >= flood]
  double flood = 3;  ///< in units of the rms map, strictly above  [finite, >= 0]
  Connectivity connectivity = Connectivity::eight;
  std::int64_t min_pixels = 1;  ///< smaller islands are dropped  [>= 1]
  bool negative = false;        ///< look for deviations below the background too
  bool drop_at_edge = false;    ///< islands that touch the border of the image are dropped
};

/// What is counted of the deviations to one side of the background.
struct IslandCounts {
  std::int64_t islands = 0;
  std::int64_t dropped = 0;  ///< without a seed, below min_pixels, or at the edge if so asked
  std::int64_t foreground_pixels = 0;  ///< of dropped islands too
};

/// What `IslandFinder` finds in an image.
struct IslandResult {
  Islands islands;        ///< the positive ones, then the negative ones
  IslandCounts positive;  ///< above the background
  IslandCounts negative;  ///< below it; 0 unless asked for
};

/// The same, with the islands where they were measured.
struct FoundIslands {
  /// In the host's memory; they belong to the `IslandFinder` and are valid until its next call.
  std::span<const Island> above;
  std::span<const Island> below;  ///< with ids that go on from those above
  IslandCounts positive, negative;
};

/// Finds and measures the islands of an image.
///
/// A pixel's deviation is d = value - level, both in double; it is foreground if d > flood x rms.
/// Pixels without a use are blank: those that are not finite or outside of the region, and where
/// the level is not finite or the rms is not finite and > 0. Connected foreground is an island; it
/// is kept if one of its own pixels has d > seed x rms (its bounding box is not looked at) and it
/// has min_pixels. Ids are 1..N in raster order of each island's first pixel. With `negative` the
/// same is done with d = level - value; those islands follow, with ids from N + 1.
///
/// The same bits on every backend, for any number of threads, for any split into bands. An
/// island's figures depend on its own pixels alone: sums are those of its runs, each from left to
/// right in double, added as integers of 2^-94 of the largest |term| times the length of the
/// longest run. So `flux_sum` is within (r + 4) 2^-53 n |d| of the true sum of the deviations, with
/// n the number of pixels, |d| the largest deviation and r the pixels of the longest run; `raw_sum`
/// likewise with the largest |value|, `background` with the largest |level| (over n), and `rms` to
/// (r + 4) 2^-53 of itself. Centres and second moments are summed about the peak pixel and shifted:
/// all terms of one sign, so that little cancels. Moments are those of the deviations inside the
/// island, as SExtractor's and photutils' (without their 1/12 for pixels of finite size).
///
/// Figures that are not finite (huge pixels) are NaN, with `island_overflow`. Owns its work space:
/// repeated calls on images of one size allocate nothing but the returned rows. One object per
/// instance, not shared between threads.
template <class Exec, Real T>
class IslandFinder {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit IslandFinder(const Exec& space, const IslandParams& params = {});
  ~IslandFinder();
  IslandFinder(IslandFinder&&) noexcept;
  IslandFinder& operator=(IslandFinder&&) noexcept;

  /// Maps and region are those of the whole image, whatever the bands. `region`: pixels whose bit
  /// is 0 are not used; without words, all are. Fences the instance given at construction, once
  /// unless a list must grow. \throws Error if a map or the region does not fit the image.
  [[nodiscard]] IslandResult operator()(const ConstImage<T, Exec>& image,
                                        const Background<Exec, T>& background,
                                        const BitMask<Exec>& region = {});
  /// The same of an image in bands of whole rows.
  [[nodiscard]] IslandResult operator()(Bands<T, Exec> bands, const Background<Exec, T>& background,
                                        const BitMask<Exec>& region = {});
  /// For any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] IslandResult operator()(const V& image, const Background<Exec, T>& background,
                                        const BitMask<Exec>& region = {}) {
    return (*this)(detail::as_const_image_of<T, Exec>(image), background, region);
  }

  /// The same without a copy of the rows: on images of one size nothing is allocated at all, unless
  /// a list must grow.
  [[nodiscard]] FoundIslands find(const ConstImage<T, Exec>& image,
                                  const Background<Exec, T>& background,
                                  const BitMask<Exec>& region = {});
  /// The same of an image in bands of whole rows.
  [[nodiscard]] FoundIslands find(Bands<T, Exec> bands, const Background<Exec, T>& background,
                                  const BitMask<Exec>& region = {});
  /// For any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] FoundIslands find(const V& image, const Background<Exec, T>& background,
                                  const BitMask<Exec>& region = {}) {
    return find(detail::as_const_image_of<T, Exec>(image), background, region);
  }

  /// Of the last call; overwritten by the next one. Labels are the ids of the positive islands;
  /// those of the negative ones begin with 1 again.
  [[nodiscard]] const RunLabels<Exec>& labels() const;
  /// The labels of the negative islands of the last call, from 1 on.
  [[nodiscard]] const RunLabels<Exec>& negative_labels() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

/// One-shot form for any View that keeps the layout contract.
template <class Exec, class V>
[[nodiscard]] IslandResult find_islands(const Exec& space, const V& image,
                                        const Background<Exec, PixelOf<Exec, V>>& background,
                                        const IslandParams& params = {},
                                        const BitMask<Exec>& region = {}) {
  return IslandFinder<Exec, PixelOf<Exec, V>>(space, params)(as_const_image<Exec>(image),
                                                             background, region);
}

}  // namespace kastor

#endif
