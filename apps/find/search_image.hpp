// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_SEARCH_IMAGE_HPP
#define KASTOR_APPS_FIND_SEARCH_IMAGE_HPP

#include <cstdint>

#include "find/found_image.hpp"
#include "find/image_finder.hpp"

namespace kastor::cli {

/// Completes the options of `found` by the header of its image, and searches its pixels.
/// \param blanked  how many pixels --blank-value made blank
template <class Exec, class T>
void search_image(ImageFinder<Exec>& finder, const ConstImage<T, Exec>& pixels,
                  std::int64_t blanked, FoundImage& found) {
  if (found.options.unit) found.image.hdu.unit = *found.options.unit;
  if (found.options.islands.preset != Preset::lesson)
    found.sky = look_at_header(found.image, found.options);
  found.note_blanked(blanked);
  finder(pixels, found);
}

}  // namespace kastor::cli

#endif
