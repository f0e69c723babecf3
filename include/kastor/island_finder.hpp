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

/// Two thresholds (hysteresis): an island consists of the pixels above the lower one (`flood`), and
/// is kept if at least one of them is above the higher one (`seed`).
struct IslandParams {
  double seed = 5;  ///< higher threshold in units of the rms map, strictly above [finite, >= flood]
  double flood = 3;  ///< lower threshold in units of the rms map, strictly above [finite, >= 0]
  Connectivity connectivity = Connectivity::eight;
  std::int64_t min_pixels = 1;  ///< smaller islands are dropped [>= 1]
  bool negative = false;        ///< also look for islands below the background
  bool drop_at_edge = false;    ///< drop islands that touch the border of the image
};

/// Counts of the islands on one side of the background.
struct IslandCounts {
  std::int64_t islands = 0;  ///< islands that are kept
  /// Islands without a seed, below min_pixels, or at the edge if those are dropped.
  std::int64_t dropped = 0;
  std::int64_t foreground_pixels = 0;  ///< pixels of all islands, including dropped ones
};

/// The result of `IslandFinder`.
struct IslandResult {
  Islands islands;        ///< the positive islands, then the negative ones
  IslandCounts positive;  ///< counts above the background
  IslandCounts negative;  ///< counts below the background; 0 unless asked for
};

/// The same without a copy: the islands remain where they were measured.
struct FoundIslands {
  /// In host memory. They belong to the `IslandFinder` and are valid until its next call.
  std::span<const Island> above;
  std::span<const Island> below;  ///< their ids follow those of `above`
  IslandCounts positive, negative;
};

/// An image that decides which pixels belong to islands, in place of the one that is measured: one
/// of the same sky with uniform noise, or the image itself after a filter. Shallow, as its parts.
template <class Exec, Real T>
struct Detection {
  Bands<T, Exec> bands;            ///< of whole rows; its shape is that of the measured image
  Background<Exec, T> background;  ///< of this image; the thresholds are in units of its rms
};

/// Finds and measures the islands of an image.
///
/// The deviation of a pixel is d = value - level, both in double; the pixel is foreground if d >
/// flood x rms. A pixel is blank if it is not finite, if it lies outside the region, or if the
/// level there is not finite or the rms is not finite and > 0. Connected foreground is an island.
/// It is kept if at least one of its own pixels has d > seed x rms (other pixels of its bounding
/// box do not count) and it has at least min_pixels pixels. Ids are 1..N in raster order of each
/// island's first pixel. With `negative` the same is done for d = level - value; those islands
/// follow, with ids from N + 1.
///
/// The bits are the same on every backend, for any number of threads and any split into bands. The
/// measurements of an island depend only on its own pixels. A run is summed from left to right in
/// double. The sums of the runs are added as integers, in units of 2^-94 of the largest |term|
/// times the length of the longest run. Let n be the number of pixels, r the length of the longest
/// run and |d| the largest deviation. Then `flux_sum` is within (r + 4) 2^-53 n |d| of the true sum
/// of the deviations. The same holds for `raw_sum` with the largest |value|, and for `background`
/// with the largest |level| (divided by n); the relative error of `rms` is at most (r + 4) 2^-53.
/// Centres and second moments are summed about the peak pixel and then shifted, so that little
/// cancels. Moments are those of the deviations within the island, as in SExtractor and photutils,
/// but without the 1/12 that these add for the finite size of pixels.
///
/// With a `Detection`, its image and background stand in for the image and its background above: d,
/// the thresholds, the connected foreground and `snr_peak` are those of the detection image. A
/// pixel is blank if it is so in either image. All other figures are of the measured image and its
/// own background, whose deviations may then have either sign: `flux_peak` is the highest of them,
/// and an island whose deviations do not add up to more than 0, or balance outside of its bounding
/// box, has no centre. The detection of an image by itself gives the same bits as no detection.
///
/// Figures that are not finite (because of huge pixels) are NaN, with `island_overflow`. Owns its
/// work space: repeated calls on images of one size allocate nothing but the returned rows. Use one
/// object per execution space instance; do not share it between threads.
template <class Exec, Real T>
class IslandFinder {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit IslandFinder(const Exec& space, const IslandParams& params = {});
  ~IslandFinder();
  IslandFinder(IslandFinder&&) noexcept;
  IslandFinder& operator=(IslandFinder&&) noexcept;

  /// `background` and `region` cover the whole image, however it is split into bands. `region`:
  /// pixels whose bit is 0 are not used; an empty mask selects all pixels. Fences the instance
  /// given at construction, once unless a list has to grow.
  /// \throws Error if a map or the region does not have the shape of the image.
  [[nodiscard]] IslandResult operator()(const ConstImage<T, Exec>& image,
                                        const Background<Exec, T>& background,
                                        const BitMask<Exec>& region = {});
  /// The same for an image in bands of whole rows.
  [[nodiscard]] IslandResult operator()(Bands<T, Exec> bands, const Background<Exec, T>& background,
                                        const BitMask<Exec>& region = {});
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] IslandResult operator()(const V& image, const Background<Exec, T>& background,
                                        const BitMask<Exec>& region = {}) {
    return (*this)(detail::as_const_image_of<T, Exec>(image), background, region);
  }

  /// The same without a copy of the rows: for images of one size nothing is allocated at all,
  /// unless a list has to grow.
  [[nodiscard]] FoundIslands find(const ConstImage<T, Exec>& image,
                                  const Background<Exec, T>& background,
                                  const BitMask<Exec>& region = {});
  /// The same for an image in bands of whole rows.
  [[nodiscard]] FoundIslands find(Bands<T, Exec> bands, const Background<Exec, T>& background,
                                  const BitMask<Exec>& region = {});
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] FoundIslands find(const V& image, const Background<Exec, T>& background,
                                  const BitMask<Exec>& region = {}) {
    return find(detail::as_const_image_of<T, Exec>(image), background, region);
  }

  /// The islands of a detection image, measured in another one. \throws Error also if the detection
  /// image or its background has another shape.
  [[nodiscard]] IslandResult operator()(const Detection<Exec, T>& detection, Bands<T, Exec> bands,
                                        const Background<Exec, T>& background,
                                        const BitMask<Exec>& region = {});
  /// The same without a copy of the rows.
  [[nodiscard]] FoundIslands find(const Detection<Exec, T>& detection, Bands<T, Exec> bands,
                                  const Background<Exec, T>& background,
                                  const BitMask<Exec>& region = {});

  /// Labels of the positive islands of the last call, which are their ids. The next call overwrites
  /// them.
  [[nodiscard]] const RunLabels<Exec>& labels() const;
  /// Labels of the negative islands of the last call, numbered from 1.
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
