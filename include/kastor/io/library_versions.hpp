// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_LIBRARY_VERSIONS_HPP
#define KASTOR_IO_LIBRARY_VERSIONS_HPP

#include <string>
#include <vector>

namespace kastor::io {

/// A library and its version.
struct LibraryVersion {
  std::string name;     ///< in its authors' spelling
  std::string version;  ///< as in "4.2.0"
};

/// The libraries that kastor::io uses, with their versions at run time.
[[nodiscard]] std::vector<LibraryVersion> library_versions();

}  // namespace kastor::io

#endif
