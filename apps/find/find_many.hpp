// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_FIND_MANY_HPP
#define KASTOR_APPS_FIND_FIND_MANY_HPP

#include "find/find_options.hpp"

namespace kastor::cli {

/// Whether `kastor find` works on many images: several images, a list, or a folder as output.
[[nodiscard]] bool is_of_many(const FindOptions& options);

/// `kastor find` on many images. While one image is searched, the next ones are read and the
/// catalogues of the previous ones are written. If an image fails, it is reported and the others
/// are processed.
void find_many(FindOptions options);

}  // namespace kastor::cli

#endif
