// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_PLANE_BEAM_HPP
#define KASTOR_SRC_IO_FITS_PLANE_BEAM_HPP

#include <kastor/io/fits_image.hpp>

namespace kastor::io::detail {

/// The beam of a plane in the table BEAMS of its file, which CASA writes beside an image with
/// CASAMBM = T: a row for each channel and polarisation (BMAJ, BMIN, BPA, CHAN, POL; counted from
/// 0). None, with a note, if the table has no such row or cannot be read.
/// \param plane_axis  axis of the planes, from 0; counts only if `about.plane` is set
[[nodiscard]] BeamReading read_plane_beam(const FitsImage& about, std::size_t plane_axis,
                                          std::int64_t max_unpacked);

}  // namespace kastor::io::detail

#endif
