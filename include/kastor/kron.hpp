// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_KRON_HPP
#define KASTOR_KRON_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/island.hpp>
#include <kastor/kron_flux.hpp>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>
#include <memory>
#include <span>
#include <vector>

namespace kastor {

/// How the apertures of `KronPhotometer` are made. The defaults are SExtractor's (PHOT_AUTOPARAMS
/// 2.5, 3.5; MASK_TYPE CORRECT). Radii are in units of the ellipse of the island's second moments.
struct KronParams {
  double factor = 2.5;         ///< radius of the aperture / first moment of the light [> 0]
  double min_radius = 3.5;     ///< smallest radius of the aperture [> 0]
  double search_radius = 6;    ///< radius of the ellipse in which the moment is taken [> 0]
  bool mirror_missing = true;  ///< replace pixels that cannot be used by their mirror images
  /// Whether the pixels of dropped islands, too, belong to others, as in SExtractor. Most of them
  /// are noise, so fluxes become lower: by little if islands were found in a filtered image.
  bool mask_dropped = true;
};

/// Photometry in elliptical apertures that adapt to each island: Kron (1980, ApJS 43, 305), as the
/// AUTO fluxes of SExtractor (Bertin and Arnouts 1996, A&AS 117, 393, section 6).
///
/// The ellipse has the island's second moments: with r^2 = (yy dx^2 - 2 xy dx dy + xx dy^2) /
/// (xx yy - xy^2) about its centre, r = 1 is one standard deviation. If the moments define no
/// ellipse (xx yy - xy^2 < 1/144), 1/12, the moment of a pixel, is added to xx and yy. The first
/// moment is r1 = sum(r d) / sum(d) over the pixels with r <= search_radius, d = value - level.
/// The radius of the aperture is factor r1, but at least min_radius, which is also taken if a sum
/// is not > 0, and at most factor x search_radius, which the moment of light above the level cannot
/// exceed. The flux is the sum of d over the pixels with r <= radius: pixels whose centres lie
/// inside, whole, as in SExtractor.
///
/// A pixel that is blank, outside of the region or in the foreground of another island takes no
/// part in r1. In the flux, the pixel opposite to it about the centre stands for it, or nothing if
/// that cannot be used either. `variance` is the sum of rms^2; a pixel that stands for another,
/// too, counts four times instead of twice, since it is the same noise.
///
/// The bits are the same on every backend, for any number of threads: the rows of an ellipse are
/// summed from left to right, then every 32nd row from the first on, then these 32 sums, in double.
/// Costs time in proportion to the area of the ellipses within the image. Owns its work space. Use
/// one object per execution space instance; do not share it between threads.
template <class Exec, Real T>
class KronPhotometer {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit KronPhotometer(const Exec& space, const KronParams& params = {});
  ~KronPhotometer();
  KronPhotometer(KronPhotometer&&) noexcept;
  KronPhotometer& operator=(KronPhotometer&&) noexcept;

  /// One row for each island, in their order. `above` and `below` are the labels of the
  /// `IslandFinder` that found the islands; `below` may be empty if none is negative. The image and
  /// its background may be others than those in which they were found. Fences the instance given at
  /// construction. \throws Error if a map, the labels or the region do not have the shape of the
  /// image, or an island has no label.
  [[nodiscard]] std::vector<KronFlux> operator()(const ConstImage<T, Exec>& image,
                                                 const Background<Exec, T>& background,
                                                 std::span<const Island> islands,
                                                 const RunLabels<Exec>& above,
                                                 const RunLabels<Exec>& below = {},
                                                 const BitMask<Exec>& region = {});
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] std::vector<KronFlux> operator()(const V& image,
                                                 const Background<Exec, T>& background,
                                                 std::span<const Island> islands,
                                                 const RunLabels<Exec>& above,
                                                 const RunLabels<Exec>& below = {},
                                                 const BitMask<Exec>& region = {}) {
    return (*this)(detail::as_const_image_of<T, Exec>(image), background, islands, above, below,
                   region);
  }

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

/// One-shot form for any View that keeps the layout contract.
template <class Exec, class V>
[[nodiscard]] std::vector<KronFlux> kron_fluxes(
    const Exec& space, const V& image, const Background<Exec, PixelOf<Exec, V>>& background,
    std::span<const Island> islands, const RunLabels<Exec>& above, const KronParams& params = {},
    const RunLabels<Exec>& below = {}, const BitMask<Exec>& region = {}) {
  return KronPhotometer<Exec, PixelOf<Exec, V>>(space, params)(
      as_const_image<Exec>(image), background, islands, above, below, region);
}

}  // namespace kastor

#endif
