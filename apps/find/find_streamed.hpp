// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_FIND_STREAMED_HPP
#define KASTOR_APPS_FIND_FIND_STREAMED_HPP

#include "find/find_options.hpp"

namespace kastor::cli {

/// Whether the image is read by bands: it does not fit into the memory that the options allow, the
/// bands have been chosen, or several processes share it. \throws UsageError if it can neither fit
/// nor be read by bands with these options
[[nodiscard]] bool is_streamed(const FindOptions& options);

/// Searches the image without ever holding all of it, alone or with the other processes that were
/// launched.
void find_streamed(FindOptions options);

}  // namespace kastor::cli

#endif
