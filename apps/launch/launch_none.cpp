// SPDX-License-Identifier: Apache-2.0
#include "cli/run/ranks.hpp"

namespace kastor::cli {

int run_launched(const std::function<int()>& run) { return run(); }

}  // namespace kastor::cli
