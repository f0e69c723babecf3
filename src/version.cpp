// SPDX-License-Identifier: Apache-2.0
#include <kastor/version.hpp>

#define KASTOR_TEXT_OF(x) #x
#define KASTOR_TEXT(x) KASTOR_TEXT_OF(x)

const char* kastor::version() noexcept {
  return KASTOR_TEXT(KASTOR_VERSION_MAJOR) "." KASTOR_TEXT(KASTOR_VERSION_MINOR) "." KASTOR_TEXT(
      KASTOR_VERSION_PATCH);
}
