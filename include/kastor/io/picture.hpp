// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_PICTURE_HPP
#define KASTOR_IO_PICTURE_HPP

#include <kastor/catalogue.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/picture_ellipse.hpp>
#include <kastor/io/picture_params.hpp>
#include <kastor/io/provenance.hpp>
#include <span>
#include <string>

namespace kastor::io {

/// Draws an image as a PNG file (8-bit RGB) and replaces what is there (pass the temporary name of
/// an `OutputSet`).
///
/// The first row is at the bottom. An image larger than `params.size` is averaged over square
/// blocks of pixels: over the finite ones, and the last block of a row or column may be cut. A
/// smaller image is enlarged by an integer factor. An axis that would be thinner than 24 pixels is
/// stretched.
///
/// Limits are derived from the image's own pixels, before any averaging. Percentiles interpolate
/// between order statistics. These are exact up to 2^24 finite pixels; above that they are taken
/// from every k-th finite pixel, with the smallest stride k that leaves at most 2^24. An image of a
/// single value is drawn in the middle colour. On the logarithmic scale, a lower percentile that is
/// not positive is replaced by 1/1000 of the upper limit. The softening s of the asinh scale is
/// 0.1, or less if a limit is a percentile: at most 2.5 times the linear position of the median.
///
/// The provenance goes into tEXt chunks: Software, Source, DATASUM, Options. The same input and the
/// same versions of FreeType, libpng and the maths library give the same file. Runs on one host
/// thread.
///
/// \param sources  drawn over the image
///
/// \throws kastor::Error `FILE[HDU]: what was found; what was expected`: no finite pixel, no limits
/// for the scale, no celestial coordinates for `PictureAxes::sky`, no font, or a file that cannot
/// be written
void write_picture(const std::string& path, const FitsImage& image, const Catalogue& sources,
                   const PictureParams& params, const Provenance& provenance);

/// The same with ellipses over the image, none smaller than a mark.
void write_picture_with_ellipses(const std::string& path, const FitsImage& image,
                                 std::span<const PictureEllipse> ellipses,
                                 const PictureParams& params, const Provenance& provenance);

}  // namespace kastor::io

#endif
