// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_EVALUATE_USABLE_IMAGE_HPP
#define KASTOR_APPS_EVALUATE_USABLE_IMAGE_HPP

#include <kastor/io/evaluation.hpp>

#include "find/found_image.hpp"

namespace kastor::cli {

/// The pixels of an image that a search uses: without those that are blank, masked, outside of the
/// box, or a constant fill, in the image or the detection image. Adds notes on these to `image`
/// unless it was searched.
/// \param image  with pixels and settled options; it must outlive the result
[[nodiscard]] io::EvaluatedImage usable_image(FoundImage& image, bool searched);

}  // namespace kastor::cli

#endif
