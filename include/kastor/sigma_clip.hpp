// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_HPP
#define KASTOR_SIGMA_CLIP_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/statistics.hpp>
#include <memory>

namespace kastor {

/// How often and how closely to clip.
struct SigmaClipParams {
  double kappa = 3.0;  ///< half-width kept around the median, in standard deviations  [> 0, finite]
  int max_passes = 0;  ///< stop after so many passes; 0 = when a pass removes nothing  [>= 0]
};

/// How the statistics were reached.
enum class ClipRoute {
  bracketed,  ///< one read of the image, then the gathered few per cent
  multi_pass  ///< several reads of the image per pass: small images, or a sample of no use
};

/// What a clip leaves, and how it came about.
struct SigmaClipResult {
  Statistics all;      ///< every finite pixel
  Statistics clipped;  ///< the survivors
  double kappa = 0;
  std::int64_t pixels = 0;  ///< pixels of the image, blank ones included
  std::int64_t blank = 0;   ///< NaN and infinite pixels
  int passes = 0;  ///< how often the statistics were computed, the last, unchanging one included
  bool converged = false;  ///< the last pass would remove nothing
  /// The next clip would remove every pixel (std is 0): stopped with the survivors.
  bool degenerate = false;
  ClipRoute route = ClipRoute::multi_pass;
};

/// Iterated kappa-sigma clipping: keep the pixels strictly inside median -+ kappa * std of the
/// survivors, until a pass removes none. The result is that of the plain iteration: counts and
/// medians are exact for limits that follow from a std with a relative error below 1e-12. The route
/// depends on the image and the parameters alone; std may differ between routes in its last digits,
/// so that a pixel which lies as near as that to a limit may be kept on one of them and not on the
/// other.
///
/// A fixed-stride sample predicts where the medians and limits can fall; one read of the image sums
/// the pixels that are safe from them and gathers the others; every pass is then replayed on the
/// gathered ones (docs/pipeline.md). If a prediction proves wrong the brackets are widened, and at
/// last the image itself is read in every pass.
///
/// Owns its work space: repeated calls on images of one size and kind allocate nothing. One object
/// per instance, not shared between threads. Sums are integers on a fixed grid, hence the same bits
/// for every backend, thread count and split into bands.
template <class Exec, Real T>
class SigmaClipper {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit SigmaClipper(const Exec& space, const SigmaClipParams& params = {});
  ~SigmaClipper();
  SigmaClipper(SigmaClipper&&) noexcept;
  SigmaClipper& operator=(SigmaClipper&&) noexcept;

  /// Fences only the instance given at construction. \throws Error if no pixel is finite.
  [[nodiscard]] SigmaClipResult operator()(const ConstImage<T, Exec>& image);
  /// The same of an image in bands of whole rows.
  [[nodiscard]] SigmaClipResult operator()(Bands<T, Exec> bands);
  /// For any View that keeps the layout contract.
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
