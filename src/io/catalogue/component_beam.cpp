// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <kastor/io/pixel_beam.hpp>
#include <numbers>
#include <span>

#include "io/catalogue/image_scales.hpp"

namespace kastor::io {

PixelEllipse pixel_beam(const Beam& beam, const Wcs& wcs, const PixelPosition& at) {
  TableParams params;
  params.wcs = &wcs;
  params.beam.beam = beam;
  const auto local = detail::local_sky(wcs, std::span(&at, 1))[0].jacobian;
  const auto ellipse = detail::ellipse_fwhm(detail::BeamPixels(params).moments(local));
  const double angle = ellipse.angle * std::numbers::pi / 180.0;
  return {ellipse.major, ellipse.minor, std::fmod(angle, std::numbers::pi)};
}

}  // namespace kastor::io
