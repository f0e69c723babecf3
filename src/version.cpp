// SPDX-License-Identifier: Apache-2.0
#include <kastor/version.hpp>

const char* kastor::version() noexcept { return KASTOR_VERSION_STRING; }
