// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_PIXEL_PLACES_HPP
#define KASTOR_SRC_IO_CATALOGUE_PIXEL_PLACES_HPP

#include <kastor/io/source_list.hpp>
#include <kastor/io/wcs.hpp>
#include <vector>

namespace kastor::io::detail {

/// Where the sources are in an image: by their positions on the sky if the image has coordinates,
/// else by those in pixels. NaN where there is no place.
/// \param wcs  null if the image has no celestial coordinates
/// \throws kastor::Error if neither can be used, or if the frames differ
[[nodiscard]] std::vector<PixelPosition> pixel_places(const SourceList& list, const Wcs* wcs);

}  // namespace kastor::io::detail

#endif
