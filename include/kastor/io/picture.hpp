// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_PICTURE_HPP
#define KASTOR_IO_PICTURE_HPP

#include <kastor/catalogue.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/picture_params.hpp>
#include <kastor/io/provenance.hpp>
#include <string>

namespace kastor::io {

/// Draws an image as a PNG file (8 bit RGB), replacing what is there (give it the temporary name of
/// an `OutputSet`).
///
/// The first row is at the bottom. An image longer than `params.size` is averaged over square
/// blocks of pixels (their finite ones; the last block of a row or column may be cut), a shorter
/// one is enlarged by a whole factor; an axis that would then be thinner than 24 pixels is
/// stretched. Limits are taken from the image's own pixels, before that. Percentiles interpolate
/// between order statistics, which are exact up to 2^24 finite pixels; beyond, those of every k-th
/// finite pixel, k the smallest stride that leaves no more. One value everywhere is drawn in the
/// middle colour. On the logarithmic scale, a lower percentile that is not positive gives way
/// to 1/1000 of the upper limit. The softening s of the asinh scale is 0.1, or less where a limit
/// is a percentile: at most 2.5 times the linear position of the median.
///
/// The provenance goes into tEXt chunks: Software, Source, DATASUM, Options. The same input and the
/// same versions of FreeType, libpng and the maths library give the same file. Runs on one thread
/// of the host.
///
/// \param sources  drawn over the image
///
/// \throws kastor::Error `FILE[HDU]: what was found; what was expected`: no finite pixel, no limits
/// for the scale, no celestial coordinates for `PictureAxes::sky`, no font, a file that cannot be
/// written
void write_picture(const std::string& path, const FitsImage& image, const Catalogue& sources,
                   const PictureParams& params, const Provenance& provenance);

}  // namespace kastor::io

#endif
