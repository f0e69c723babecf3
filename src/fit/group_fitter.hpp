// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_GROUP_FITTER_HPP
#define KASTOR_FIT_GROUP_FITTER_HPP

#include <cstdint>
#include <kastor/gaussian.hpp>
#include <kastor/image.hpp>
#include <kastor/island.hpp>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>
#include <memory>
#include <span>
#include <vector>

#include "islands/nearby_background.hpp"

namespace kastor::detail {

/// A component as a fit begins with it. Deviations are > 0 on the side of its island.
struct FitComponent {
  Gaussian start;
  std::int32_t free;  ///< parameters that are free, of (peak, x, y, u, w, t): 6, 3 or 1
  double max_shift;   ///< |x - start.x| and |y - start.y| at most [pixel]
  double min_fwhm;    ///< least minor axis [pixel]; of use if the shape is free
  double max_fwhm;    ///< greatest major axis [pixel]
  double min_peak;    ///< range of the peak [image unit]; may be infinite
  double max_peak;
};

/// Components that are fitted together, and where. All have the same number of free parameters.
struct FitGroup {
  std::int32_t first;        ///< in the list of components
  std::int32_t count;        ///< [>= 1]
  std::int32_t first_fixed;  ///< neighbours in the list of Gaussians, which are subtracted
  std::int32_t fixed;        ///< how many
  std::uint32_t label;       ///< of its island; 0: pixels of all islands may take part
  double radius;  ///< region: pixels within this radius of a start or of the beam there [FWHM]
  double island_radius;  ///< pixels of the island within this radius, too [FWHM]; 0: none
  /// Box of the island's pixels, both ends included; of use with island_radius > 0.
  std::int32_t x_min, x_max, y_min, y_max;
  double rms;  ///< noise at its brightest component [image unit]
};

enum class FitStatus : std::int32_t {
  converged,
  not_converged,  ///< the greatest number of iterations; the result is the best one
  failed          ///< no legal step was left, or the equations are singular: no result
};

/// What became of a group.
struct FitOutcome {
  FitStatus status;
  std::int32_t iterations;
  std::int64_t n_pix;     ///< pixels that were fitted
  std::int32_t stride;    ///< every `stride`-th row and column of the region was used
  std::uint32_t flags;    ///< component_at_edge, component_near_blank: of the region
  double sum_of_squares;  ///< of data - model [image unit^2]
};

/// What the kernels need of the image.
template <class Exec, Real T>
struct FitImage {
  Bands<T, Exec> bands;
  Background<Exec, T> background;
  RunLabels<Exec> labels;       ///< without components if no pixel is of an island
  const std::uint64_t* region;  ///< words of a mask; null: all pixels
  Side side;
};

/// The noise, and the shape of a point source.
struct FitNoise {
  bool has_beam;
  Gaussian beam;         ///< shape only
  Gaussian correlation;  ///< shape of the noise's autocorrelation, unless it is white
  bool is_white;
};

/// The result of a call: one entry for each component or group, in their order.
struct GroupFits {
  std::vector<Gaussian> fitted;
  std::vector<FitOutcome> outcomes;
  /// The sandwich covariance of each group: 6 count x 6 count, row after row, one after another;
  /// empty if not asked for; NaN of a group that failed. Rows of fixed parameters are 0.
  std::vector<double> covariance;
};

/// Fits groups of Gaussians, each on its own. The bits do not depend on the other groups, on the
/// backend, on threads or bands.
template <class Exec, Real T>
class GroupFitter {
 public:
  GroupFitter(const Exec& space, const FitNoise& noise);
  ~GroupFitter();
  GroupFitter(GroupFitter&&) noexcept;
  GroupFitter& operator=(GroupFitter&&) noexcept;

  /// Fences the instance given at construction. The result is valid until the next call. Without
  /// the covariance, a fit is rough: it ends when a step gains less than 0.01 in (r / rms)^2, after
  /// 20 iterations at most; with it, at 1e-6 and after 50.
  [[nodiscard]] const GroupFits& operator()(const FitImage<Exec, T>& image,
                                            std::span<const FitComponent> components,
                                            std::span<const FitGroup> groups,
                                            std::span<const Gaussian> fixed, bool with_covariance);

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

}  // namespace kastor::detail

#endif
