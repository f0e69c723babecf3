// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FORCED_HPP
#define KASTOR_FORCED_HPP

#include <cstdint>
#include <kastor/component.hpp>
#include <kastor/fit.hpp>
#include <kastor/gaussian.hpp>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>
#include <memory>
#include <optional>
#include <span>

namespace kastor {

/// A place where an image is to be measured.
struct ForcedPosition {
  double x, y;                        ///< [pixel]; NaN: not on the image
  std::optional<PixelEllipse> shape;  ///< none: the beam's
};

/// Parameters of `ForcedPhotometer`.
struct ForcedParams {
  PixelEllipse beam;      ///< shape of a point source [pixel, > 0]
  double noise_area = 1;  ///< as of `FitParams`
  FreeParameters free = FreeParameters::flux;
};

/// Photometry at given positions: the peak of a Gaussian at each, by least squares in its ellipse
/// of 0.6 FWHM (radius). Positions whose ellipses of 1 FWHM touch are fitted together, 32 at most
/// (fewer of a large beam, 8 with more than peaks free): a larger group is split, each part fitted
/// with its neighbours and those beyond subtracted, three times in turn (`component_group_split`).
/// With `FreeParameters::position` or `shape` the given values are where the fit begins; positions
/// move by the width of the beam or half of the size at most, sizes by a factor of 3. If such a fit
/// fails, the given values stay (`component_not_converged`). Peaks may have any sign. Errors as of
/// `ComponentFitter`, whose kernels it uses.
///
/// One row for each position, in their order, `island_id` its number from 1; rms and background are
/// those at its pixel, or of the nearest that can be used. A position outside of the image, or
/// without a pixel that can be used, has NaN in all figures of flux, n_pix 0 and group_id 0, and a
/// flag. A position that repeats an earlier one has the figures of that one, and is not counted in
/// its group: their light cannot be told apart. The bits are the same on every backend and for any
/// number of threads. Owns its work space. Use one object per execution space instance; do not
/// share it between threads.
template <class Exec, Real T>
class ForcedPhotometer {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit ForcedPhotometer(const Exec& space, const ForcedParams& params);
  ~ForcedPhotometer();
  ForcedPhotometer(ForcedPhotometer&&) noexcept;
  ForcedPhotometer& operator=(ForcedPhotometer&&) noexcept;

  /// Fences the instance given at construction. \throws Error if a map or the region does not have
  /// the shape of the image, or a shape is out of its range.
  [[nodiscard]] FittedComponents operator()(Bands<T, Exec> bands,
                                            const Background<Exec, T>& background,
                                            std::span<const ForcedPosition> positions,
                                            const BitMask<Exec>& region = {});

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

}  // namespace kastor

#endif
