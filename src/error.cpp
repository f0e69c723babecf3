// SPDX-License-Identifier: Apache-2.0
#include <kastor/error.hpp>

void kastor::detail::throw_expectation(const char* function, const std::string& message) {
  throw Error(std::string(function) + ": " + message);
}
