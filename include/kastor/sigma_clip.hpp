// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_HPP
#define KASTOR_SIGMA_CLIP_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/statistics.hpp>
#include <memory>

namespace kastor {

/// Parameters of a clip.
struct SigmaClipParams {
  /// Pixels within kappa standard deviations of the median are kept [> 0, finite]
  double kappa = 3.0;
  int max_passes = 0;  ///< stop after this many passes; 0: stop when a pass removes nothing [>= 0]
};

/// How the statistics were obtained.
enum class ClipRoute {
  bracketed,  ///< one read of the image, then passes over the gathered pixels, a few per cent
  multi_pass  ///< several reads of the image per pass: small images, or if the sample was of no use
};

/// The result of a clip.
struct SigmaClipResult {
  Statistics all;      ///< statistics of all finite pixels
  Statistics clipped;  ///< statistics of the survivors
  double kappa = 0;
  std::int64_t pixels = 0;  ///< pixels of the image, blank ones included
  std::int64_t blank = 0;   ///< NaN and infinite pixels
  int passes = 0;  ///< how often the statistics were computed, including the last, unchanged time
  bool converged = false;  ///< the last pass would remove nothing
  /// The next clip would remove every pixel (std is 0); stopped with the survivors.
  bool degenerate = false;
  ClipRoute route = ClipRoute::multi_pass;
};

/// Iterated kappa-sigma clipping: keeps the pixels strictly within kappa * std of the median of the
/// survivors, until a pass removes none. The result is that of the plain iteration: counts and
/// medians are exact for the given limits, and the limits follow from a std with a relative error
/// below 1e-12. The route depends only on the image and the parameters. The last digits of std may
/// differ between the routes, so a pixel that lies this close to a limit may be kept on one route
/// and not on the other.
///
/// A sample at a fixed stride predicts where the medians and limits can fall. One read of the image
/// sums the pixels that no limit can reach and gathers the others. Every pass is then replayed on
/// the gathered pixels (docs/pipeline.md). If a prediction turns out to be wrong, the brackets are
/// widened; as a last resort every pass reads the image itself.
///
/// Owns its work space: repeated calls on images of one size and kind allocate nothing. Use one
/// object per execution space instance; do not share it between threads. Sums are integers on a
/// fixed grid, so the bits are the same on every backend, for any number of threads and any split
/// into bands.
template <class Exec, Real T>
class SigmaClipper {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit SigmaClipper(const Exec& space, const SigmaClipParams& params = {});
  ~SigmaClipper();
  SigmaClipper(SigmaClipper&&) noexcept;
  SigmaClipper& operator=(SigmaClipper&&) noexcept;

  /// Fences the instance given at construction. \throws Error if no pixel is finite.
  [[nodiscard]] SigmaClipResult operator()(const ConstImage<T, Exec>& image);
  /// The same for an image in bands of whole rows.
  [[nodiscard]] SigmaClipResult operator()(Bands<T, Exec> bands);
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] SigmaClipResult operator()(const V& image) {
    return (*this)(detail::as_const_image_of<T, Exec>(image));
  }

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

/// One-shot form for any View that keeps the layout contract.
template <class Exec, class V>
[[nodiscard]] SigmaClipResult sigma_clip(const Exec& space, const V& image,
                                         const SigmaClipParams& params = {}) {
  return SigmaClipper<Exec, PixelOf<Exec, V>>(space, params)(as_const_image<Exec>(image));
}

}  // namespace kastor

#endif
