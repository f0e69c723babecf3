// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_COMPONENT_HPP
#define KASTOR_COMPONENT_HPP

#include <cstdint>
#include <kastor/gaussian.hpp>
#include <vector>

namespace kastor {

/// What is to be known of a component; bits of `Component::flags`.
enum ComponentFlag : std::uint32_t {
  component_at_edge = 1,         ///< its island touches the border of the image, or its pixels do
  component_near_blank = 2,      ///< its island touches a blank or masked pixel, or its pixels do
  component_negative = 4,        ///< lies below the background
  component_beam_shape = 8,      ///< the shape was fixed at the beam's
  component_from_moments = 16,   ///< no fit: the figures are estimates from the island's moments
  component_not_converged = 32,  ///< the fit ended at its greatest number of iterations
  component_group_split = 64,    ///< fitted with neighbours held fixed: there were too many
  component_capped = 128,    ///< its island has more peaks than are fitted, or is too large for a
                             ///< search of its residuals
  component_sampled = 2048,  ///< only every k-th row and column of its pixels was fitted
  component_forced = 4096,   ///< measured at a given position
  component_from_residual = 8192,  ///< found as a peak of the residuals, not as one of the image
  component_off_image = 16384,     ///< no figures: the given position is not on the image
  component_no_pixels = 32768,     ///< no figures: no pixel of its ellipse can be used
  component_same_place = 65536,    ///< the figures of an earlier row, of the same place and shape
};

/// The parameters of a Gaussian, in the order of the rows of a covariance matrix.
enum GaussianParameter { at_peak = 0, at_x, at_y, at_u, at_w, at_t };
inline constexpr int gaussian_parameters = 6;

/// One elliptical Gaussian fitted to an image. Everything is in pixels and in the unit of the
/// image; what lies below the background has a negative peak.
struct Component {
  std::int64_t id;         ///< 1..N in the order of the list
  std::int64_t island_id;  ///< id of its island; for forced photometry the row of the list, from 1
  Gaussian gaussian;       ///< peak [image unit above the background], centre and shape [pixel]
  /// Covariance of (peak, x, y, u, w, t), row after row; rows and columns of fixed parameters are
  /// 0. NaN with `component_from_moments`.
  double covariance[gaussian_parameters * gaussian_parameters];
  double rms;             ///< noise map at the component's pixel [image unit]
  double background;      ///< background map there [image unit]
  double chi_squared;     ///< of its group: sum of ((data - model) / rms)^2 over the fitted pixels
  double residual_rms;    ///< of its group: root mean square of data - model [image unit]
  std::int64_t n_pix;     ///< pixels that its group was fitted to
  std::int64_t group_id;  ///< components fitted together, 1.. in the order of the list
  std::int32_t group_size;  ///< how many these are
  std::int32_t iterations;  ///< of its group, in the last fit
  std::uint32_t flags;      ///< bits of `ComponentFlag`
};

/// A list of components: by island, within an island by descending peak (of the absolute value),
/// then by y and x.
using Components = std::vector<Component>;

}  // namespace kastor

#endif
