// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_PIXEL_BEAM_HPP
#define KASTOR_IO_PIXEL_BEAM_HPP

#include <kastor/gaussian.hpp>
#include <kastor/io/beam.hpp>
#include <kastor/io/wcs.hpp>

namespace kastor::io {

/// A beam as an ellipse on the pixels around a position of an image, by the local derivatives of
/// its coordinates; all NaN where these are not defined. In orthographic (SIN, NCP) images the
/// restoring beam is the same everywhere in pixels, that of the reference pixel, so there the
/// position has no effect. A position angle that is not known counts as 0.
[[nodiscard]] PixelEllipse pixel_beam(const Beam& beam, const Wcs& wcs, const PixelPosition& at);

}  // namespace kastor::io

#endif
