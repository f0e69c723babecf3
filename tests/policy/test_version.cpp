// SPDX-License-Identifier: Apache-2.0

// The version is written once: macros, library and CMake's project say the same.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <kastor/version.hpp>

#if KASTOR_VERSION < 100 || KASTOR_VERSION >= 1000000
#error "KASTOR_VERSION cannot be compared in the preprocessor"
#endif

namespace {

TEST(Version, OfTheMacrosIsThatOfTheLibrary) {
  int major = -1, minor = -1, patch = -1;
  ASSERT_EQ(std::sscanf(KASTOR_VERSION_STRING, "%d.%d.%d", &major, &minor, &patch), 3);
  EXPECT_EQ(major, KASTOR_VERSION_MAJOR);
  EXPECT_EQ(minor, KASTOR_VERSION_MINOR);
  EXPECT_EQ(patch, KASTOR_VERSION_PATCH);
  EXPECT_EQ(KASTOR_VERSION, 10000 * major + 100 * minor + patch);
  EXPECT_STREQ(kastor::version(), KASTOR_VERSION_STRING);
}

TEST(Version, OfTheProjectIsThatOfTheMacros) {
  const char* project = std::getenv("KASTOR_TEST_VERSION");
  if (project == nullptr) GTEST_SKIP() << "only ctest says what CMake's project is called";
  EXPECT_STREQ(project, KASTOR_VERSION_STRING);
}

}  // namespace
