// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_HPP
#define KASTOR_FIT_HPP

#include <cstdint>
#include <kastor/component.hpp>
#include <kastor/deblend.hpp>
#include <kastor/gaussian.hpp>
#include <kastor/image.hpp>
#include <kastor/island.hpp>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace kastor {

/// What is free in the fit of a component, besides its peak.
enum class FreeParameters {
  shape,     ///< position and shape too
  position,  ///< position; the shape is the beam's, or the one given
  flux       ///< nothing else
};

/// Parameters of `ComponentFitter`.
struct FitParams {
  FreeParameters free = FreeParameters::shape;
  /// The beam, or point spread function. Without one, shapes are first guessed from the island's
  /// moments, and `FreeParameters::shape` is the only choice.
  std::optional<PixelEllipse> beam;
  /// Area of the noise's autocorrelation, its sum over all lags [pixel, >= 1]; 1: white noise. The
  /// autocorrelation is taken as a Gaussian of this area with the shape of the beam, or round
  double noise_area = 1;
  /// Level in units of the rms above which the pixels of islands are, `IslandParams::flood` [>= 0].
  /// First guesses alone use it: the moments of an island are too small by what lies below
  double flood_snr = 3;
  /// Components whose peak is below this many times its error are dropped [> 0]
  double min_significance = 3;
  /// A peak of the residuals becomes a component if it is above this many times the rms [> 0] ...
  double residual_snr = 4;
  /// ... above this fraction of the island's peak [>= 0] ...
  double residual_fraction = 0.02;
  /// ... and above this fraction of the peak of each component whose Gaussian has more than 1 % of
  /// its peak there, about 1.3 FWHM around it: no real beam is quite a Gaussian [>= 0]
  double near_residual_fraction = 0.05;
  std::int64_t max_components = 256;  ///< of one island; the brightest peaks are taken [>= 1]
};

/// Components, and the covariances between those that were fitted together.
struct FittedComponents {
  Components components;
  /// For the group g = group_id - 1 of n components: the covariance matrix of its parameters, 6 n x
  /// 6 n row after row, in the order of the list, from `covariance_begin[g]` on.
  std::vector<double> covariance;
  std::vector<std::size_t> covariance_begin;  ///< (groups + 1)
};

/// Fits elliptical Gaussians to islands: least squares by Levenberg and Marquardt.
///
/// Each peak of an island is a first guess; of more than 16, only those that are above their saddle
/// by twice the noise, or are among the 16 that are most above it. Components whose ellipses
/// overlap are fitted together, at most eight: more are split into groups, each filled with its
/// closest neighbours; all others are held fixed and the fits repeated. Two passes: the island and
/// ellipses of 0.6 FWHM (radius) around the peaks; then ellipses of 0.8 FWHM of the result and of
/// the beam (0.6 if the shape is fixed), and for more than one component the island's pixels near
/// them too. So no pixel is chosen by its value in the second pass, which would make faint sources
/// brighter. Blank pixels, pixels outside of the region and those of other islands take no part.
/// Above 4096 pixels only every k-th row and column is used.
///
/// Then the weakest component is dropped while its peak is below min_significance times its error,
/// and the highest peak of the residuals is added while it is significant (three times at most; in
/// islands whose groups are split six times, at many peaks each).
/// Where a fit fails, the shape is fixed at the beam's; where that fails, the island's moments are
/// taken: each island has at least one row.
///
/// Errors: the noise of neighbouring pixels is correlated, so the covariance is the sandwich
/// rms^2 H^-1 (J^T C J) H^-1, with J the derivatives, H = J^T J, and C the autocorrelation of the
/// noise (White 1980, Econometrica 48, 817; for images Refregier and Brown 1998, astro-ph/9803279).
///
/// The bits are the same on every backend, for any number of threads and any split into bands: each
/// sum is made of eight partial sums in a fixed order, the exponential is one of additions and
/// products, and the equations are solved by Kokkos Kernels' unblocked LU. Owns its work space. Use
/// one object per execution space instance; do not share it between threads.
template <class Exec, Real T>
class ComponentFitter {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit ComponentFitter(const Exec& space, const FitParams& params = {});
  ~ComponentFitter();
  ComponentFitter(ComponentFitter&&) noexcept;
  ComponentFitter& operator=(ComponentFitter&&) noexcept;

  /// The components of the islands. `labels` and `islands` as for `Deblender::peaks`, whose result
  /// `peaks` is. Fences the instance given at construction. \throws Error if a map, the labels or
  /// the region do not have the shape of the image, or a peak is of no island.
  [[nodiscard]] FittedComponents operator()(Bands<T, Exec> bands,
                                            const Background<Exec, T>& background,
                                            std::span<const Island> islands,
                                            const RunLabels<Exec>& labels,
                                            std::span<const IslandPeak> peaks,
                                            const BitMask<Exec>& region = {});
  /// The same for an image in one piece.
  [[nodiscard]] FittedComponents operator()(const ConstImage<T, Exec>& image,
                                            const Background<Exec, T>& background,
                                            std::span<const Island> islands,
                                            const RunLabels<Exec>& labels,
                                            std::span<const IslandPeak> peaks,
                                            const BitMask<Exec>& region = {});
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] FittedComponents operator()(const V& image, const Background<Exec, T>& background,
                                            std::span<const Island> islands,
                                            const RunLabels<Exec>& labels,
                                            std::span<const IslandPeak> peaks,
                                            const BitMask<Exec>& region = {}) {
    return (*this)(detail::as_const_image_of<T, Exec>(image), background, islands, labels, peaks,
                   region);
  }

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

}  // namespace kastor

#endif
