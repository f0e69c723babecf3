// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdio>

#include "device/probe.hpp"

namespace {

/// What ctest takes for "skipped".
constexpr int skipped = 77;

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  // A build machine lists the tests without having the device they need.
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  if (const auto& device = kastor::device::probe(); !device.trouble.empty()) {
    std::printf("skipped: this build has a device backend, and there is no usable device: %s\n",
                device.trouble.c_str());
    return skipped;
  }
  const Kokkos::ScopeGuard kokkos(argc, argv);
  return RUN_ALL_TESTS();
}
