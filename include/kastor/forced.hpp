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
/// of 0.6 FWHM (radius), overlapping ones together. With `FreeParameters::position` or `shape` the
/// given values are where the fit begins; the peak may then have any sign, too. Errors as of
/// `ComponentFitter`, whose kernels it uses.
///
/// One row for each position, in their order, `island_id` its number from 1. A position outside of
/// the image, or without a pixel that can be used, has NaN in all figures of flux, and n_pix 0. The
/// bits are the same on every backend and for any number of threads. Owns its work space. Use one
/// object per execution space instance; do not share it between threads.
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
