// SPDX-License-Identifier: Apache-2.0
#include <kastor/version.hpp>

/// What the shared library of this test offers.
extern "C" __attribute__((visibility("default"))) const char* kastor_whole_version() {
  return kastor::version();
}
