// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_FIND_MANY_HPP
#define KASTOR_APPS_FIND_FIND_MANY_HPP

#include "find/find_options.hpp"

namespace kastor::cli {

/// Whether `kastor find` is asked for more than one image into files: several, a list, or a folder.
[[nodiscard]] bool is_of_many(const FindOptions& options);

/// `kastor find` on many images: the next ones are read, and the catalogues of those before are
/// written, while one is searched. An image that fails is reported, and the others done.
void find_many(FindOptions options);

}  // namespace kastor::cli

#endif
