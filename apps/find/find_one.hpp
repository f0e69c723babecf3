// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_FIND_ONE_HPP
#define KASTOR_APPS_FIND_FIND_ONE_HPP

#include "find/find_options.hpp"

namespace kastor::cli {

/// `kastor find` on one image, with all its outputs.
void find_one(FindOptions options);

}  // namespace kastor::cli

#endif
