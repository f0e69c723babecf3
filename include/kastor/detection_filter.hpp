// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETECTION_FILTER_HPP
#define KASTOR_DETECTION_FILTER_HPP

#include <kastor/convolution_kernel.hpp>
#include <kastor/image.hpp>
#include <kastor/island_finder.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/sigma_clip.hpp>
#include <kastor/threshold.hpp>
#include <memory>

namespace kastor {

/// SExtractor's default filter, default.conv: 3 x 3 taps in the proportions 1 2 1, 2 4 2, 1 2 1,
/// normalised to a sum of 1. White noise after it is 0.375 of what it was.
[[nodiscard]] ConvolutionKernel sextractor_kernel();

/// A filtered image. Shallow: the pixels belong to the filter, whose next call overwrites them.
template <class Exec, Real T>
struct FilteredImage {
  ConstImage<T, Exec> snr;  ///< the filtered signal to noise; NaN where a pixel is not used
  /// Standard deviation of its noise, that of the image being 1; 0 if no pixel is used. The taps
  /// are normalised to a sum of 1 for it (of magnitudes, if they cancel).
  double noise = 0;
  /// Whether the taps were normalised to a sum of 1: not if they cancel to 1e-6 of their magnitudes
  bool sums_to_one = true;

  /// As what `IslandFinder` looks at: thresholds are in units of the filtered noise. Refers to
  /// this object.
  [[nodiscard]] Detection<Exec, T> detection() const {
    return {Bands<T, Exec>(&snr, 1), {PixelMap<Exec, T>(0.0), PixelMap<Exec, T>(noise)}};
  }
};

/// The filter that SExtractor detects with (Bertin and Arnouts 1996, A&AS 117, 393, section 4):
/// faint sources of the shape of the kernel stand out best after a correlation with it. A pixel
/// becomes the sum of the taps times the pixels that they lie on, with the middle tap on it: a
/// kernel that is not symmetric has the shape of the source, it is not mirrored.
///
/// What is correlated is (value - level) / rms, the signal to noise of each pixel, so that white
/// noise is uniform after the filter, however the rms varies from pixel to pixel. Pixels that are
/// not used count as sky without noise, as do those beyond the edge: a pixel next to them is never
/// noisier than others. A pixel is used as by `IslandFinder`: it is finite, in the region, its
/// level is finite, and its rms finite and > 0.
///
/// The noise of the filtered image is measured in it: the standard deviation that is left by a
/// clip, as `SigmaClipper` does, or with `correct_clip` what it was before, as
/// `BackgroundParams::correct_clip` says. So it is right for noise that is correlated, too; it is
/// one number for the image, so the correlation should be the same everywhere. If no deviation is
/// left (a model without noise), it is that of filtered white noise, the root of the sum of the
/// squared taps. The bits are the same on every backend and for any number of threads.
///
/// Owns its work space of three images, and repeated calls on images of one size allocate nothing.
/// Use one object per execution space instance; do not share it between threads.
template <class Exec, Real T>
class DetectionFilter {
 public:
  /// \param kernel  of odd extents; its scale has no effect
  /// \param clip  for the noise  \param correct_clip  as of `BackgroundParams`
  /// \throws Error if the kernel is out of range or 0 everywhere, its sum is below 0, or an extent
  /// is even
  DetectionFilter(const Exec& space, const ConvolutionKernel& kernel,
                  const SigmaClipParams& clip = {}, bool correct_clip = false);
  ~DetectionFilter();
  DetectionFilter(DetectionFilter&&) noexcept;
  DetectionFilter& operator=(DetectionFilter&&) noexcept;

  /// Fences the instance given at construction.
  /// \throws Error if a map of the background or the region has another shape than the image
  [[nodiscard]] FilteredImage<Exec, T> operator()(const ConstImage<T, Exec>& image,
                                                  const Background<Exec, T>& background,
                                                  const BitMask<Exec>& region = {});
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] FilteredImage<Exec, T> operator()(const V& image,
                                                  const Background<Exec, T>& background,
                                                  const BitMask<Exec>& region = {}) {
    return (*this)(detail::as_const_image_of<T, Exec>(image), background, region);
  }

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

}  // namespace kastor

#endif
