// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_SAME_SKY_HPP
#define KASTOR_APPS_FIND_SAME_SKY_HPP

#include <kastor/io/fits_image.hpp>
#include <string>

namespace kastor::cli {

/// Whether the pixels of a detection image show the same sky as those of the image: a sentence if
/// they are a little apart, empty if not, or if one of the two has no celestial coordinates.
/// \throws Error if they are more than half a pixel apart at the centre or at a corner, one has no
/// pixel for what the image shows there, or the systems cannot be compared
[[nodiscard]] std::string check_same_sky(const io::FitsImage& detection,
                                         const io::FitsImage& image);

}  // namespace kastor::cli

#endif
