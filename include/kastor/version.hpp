// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_VERSION_HPP
#define KASTOR_VERSION_HPP

/// The version is defined here and nowhere else: CMake reads these three lines.
#define KASTOR_VERSION_MAJOR 0
#define KASTOR_VERSION_MINOR 1
#define KASTOR_VERSION_PATCH 0

/// major * 10000 + minor * 100 + patch
#define KASTOR_VERSION \
  (KASTOR_VERSION_MAJOR * 10000 + KASTOR_VERSION_MINOR * 100 + KASTOR_VERSION_PATCH)

/// "major.minor.patch"
#define KASTOR_VERSION_STRING              \
  KASTOR_DETAIL_TEXT(KASTOR_VERSION_MAJOR) \
  "." KASTOR_DETAIL_TEXT(KASTOR_VERSION_MINOR) "." KASTOR_DETAIL_TEXT(KASTOR_VERSION_PATCH)
#define KASTOR_DETAIL_TEXT(macro) KASTOR_DETAIL_QUOTED(macro)
#define KASTOR_DETAIL_QUOTED(text) #text

namespace kastor {
/// The version "major.minor.patch" of the library that was linked.
[[nodiscard]] const char* version() noexcept;
}  // namespace kastor

#endif
