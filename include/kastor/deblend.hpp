// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DEBLEND_HPP
#define KASTOR_DEBLEND_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/island.hpp>
#include <kastor/island_finder.hpp>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>
#include <memory>
#include <span>
#include <vector>

namespace kastor {

/// Which branches of an island stand for themselves. A branch is what lies around a peak, above the
/// saddle on which it meets another one.
struct DeblendParams {
  /// Least height of a branch, its peak above the saddle, in units of the rms at its peak [>= 0]
  double prominence = 0;
  /// Least light of a branch above the saddle, as a fraction of the light of its island [0 to 1]
  double contrast = 0;
  /// Least peak in units of the rms at its pixel; lower ones join their neighbours [>= 0]
  double min_peak = 0;
  std::int64_t min_pixels = 1;  ///< least pixels of a branch above the saddle [>= 1]
  std::int64_t min_size = 1;    ///< least pixels of a branch, those below the saddle too [>= 1]
  /// As for the islands. With four, parts of an island that touch only at corners never meet: each
  /// has a highest peak of its own.
  Connectivity connectivity = Connectivity::eight;
};

/// A peak of an island that stands for itself: a pixel that no neighbour is above, after branches
/// that are too small were joined with their neighbours.
struct IslandPeak {
  std::int64_t island_id;
  std::int32_t x;  ///< the pixel [pixel]
  std::int32_t y;
  std::int64_t n_pix;  ///< pixels that belong to it
  double deviation;    ///< of the pixel from the background, > 0 on either side [image unit]
  double rms;          ///< noise at the pixel [image unit]
  /// Deviation of the saddle on which its branch meets a higher one [image unit]; -infinity for the
  /// highest peak of an island
  double saddle;
  /// Whether the island has more basins than are told apart, see `Deblender`.
  bool is_capped;
};

/// The peaks of islands: by island, within an island by descending deviation, then in raster order.
using IslandPeaks = std::vector<IslandPeak>;

/// Parts of islands, measured as islands are.
struct DeblendedIslands {
  /// One for each peak, in the order of the peaks. Their ids are those of `labels`.
  Islands children;
  std::vector<std::int64_t> parents;  ///< of each child, the id of its island
};

/// Splits islands into the branches of their peaks.
///
/// Pixels are ordered by their deviation from the background; of equal ones the first in raster
/// order is higher. Each pixel belongs to the peak that is reached by going from it to its highest
/// neighbour within the island, again and again (its basin). Two basins meet at the pixel pair,
/// neighbours of each other, whose lower pixel is highest: their saddle. Basins are joined in the
/// order of descending saddles, as in a max-tree; those of one pixel in the order of the higher of
/// their two peaks, then of the lower. At each saddle, a branch stands for itself if its peak is
/// above the saddle by more than 0 and by at least prominence x rms, its light above the saddle,
/// sum (d - saddle) of its pixels above it, is more than contrast x the sum of d of the island, its
/// peak is at least min_peak x rms, at least min_pixels of its pixels are above the saddle and it
/// has at least min_size pixels. If one of the two branches does not, that of the lower peak joins
/// the branch of the basin across the saddle; two that do stay apart for good, and the higher one
/// goes on. There are no levels and no random numbers, and each pixel of an island belongs to one
/// child. (SExtractor tries 32 levels: Bertin and Arnouts 1996, A&AS 117, 393, section 6; a
/// max-tree is that with every level.)
///
/// Of an island with more than 65536 basins only as many, those of the highest peaks, are told
/// apart: before saddles are looked for, each other one joins the highest basin that it touches,
/// again and again.
///
/// The bits are the same on every backend, for any number of threads and any split into bands. The
/// time is about proportional to the pixels of the islands; with contrast > 0 or min_pixels > 1
/// the pixels of islands of several basins are sorted. Owns its work space: repeated calls for one
/// image allocate nothing but the returned rows. Use one object per execution space instance; do
/// not share it between threads.
template <class Exec, Real T>
class Deblender {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit Deblender(const Exec& space, const DeblendParams& params = {});
  ~Deblender();
  Deblender(Deblender&&) noexcept;
  Deblender& operator=(Deblender&&) noexcept;

  /// The peaks of islands that stand for themselves. `labels`: of the `IslandFinder` that found the
  /// islands, of one side; `islands`: those of that side, in the order of the labels; their flag
  /// `island_negative` says which side that is. The image and `background` are what the islands
  /// were found in, or what shows their peaks better, such as the same with a narrower filter; it
  /// is finite at the pixels of the islands. Fences the instance given at construction.
  /// \throws Error if a map or the labels do not have the shape of the image, there are not as many
  /// islands as labels, or they are of both sides.
  [[nodiscard]] IslandPeaks peaks(Bands<T, Exec> bands, const Background<Exec, T>& background,
                                  std::span<const Island> islands, const RunLabels<Exec>& labels);
  /// The same for an image that is not in bands.
  [[nodiscard]] IslandPeaks peaks(const ConstImage<T, Exec>& image,
                                  const Background<Exec, T>& background,
                                  std::span<const Island> islands, const RunLabels<Exec>& labels) {
    return peaks(Bands<T, Exec>(&image, 1), background, islands, labels);
  }
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] IslandPeaks peaks(const V& image, const Background<Exec, T>& background,
                                  std::span<const Island> islands, const RunLabels<Exec>& labels) {
    return peaks(detail::as_const_image_of<T, Exec>(image), background, islands, labels);
  }

  /// The children of the islands of the last call of `peaks`, measured in an image, which may be
  /// another one than that in which the islands were found. Their ids are 1..N. The labels given to
  /// `peaks` must still be valid: the `IslandFinder` has not been called since. `region`: as for
  /// `IslandFinder`, pixels whose bit is 0 count as blank. Fences the instance.
  /// \throws Error if a map, the region or the labels do not have the shape of the image.
  [[nodiscard]] DeblendedIslands children(Bands<T, Exec> bands,
                                          const Background<Exec, T>& background,
                                          const BitMask<Exec>& region = {});
  /// The same for an image that is not in bands.
  [[nodiscard]] DeblendedIslands children(const ConstImage<T, Exec>& image,
                                          const Background<Exec, T>& background,
                                          const BitMask<Exec>& region = {}) {
    return children(Bands<T, Exec>(&image, 1), background, region);
  }
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] DeblendedIslands children(const V& image, const Background<Exec, T>& background,
                                          const BitMask<Exec>& region = {}) {
    return children(detail::as_const_image_of<T, Exec>(image), background, region);
  }
  /// The same with the detection image of the islands: `snr_peak` is of that, and a pixel is blank
  /// if it is so in either image.
  [[nodiscard]] DeblendedIslands children(const Detection<Exec, T>& detection, Bands<T, Exec> bands,
                                          const Background<Exec, T>& background,
                                          const BitMask<Exec>& region = {});

  /// Labels of the children of the last call of `children`: 1..N in the order of the peaks, not in
  /// raster order. Pixels of dropped islands are in their mask, which is that of the labels given
  /// to `peaks`. The next call overwrites them.
  [[nodiscard]] const RunLabels<Exec>& labels() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

}  // namespace kastor

#endif
