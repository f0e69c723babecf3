// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_LIBRARY_VERSIONS_HPP
#define KASTOR_IO_LIBRARY_VERSIONS_HPP

#include <string>
#include <vector>

namespace kastor::io {

/// A library and its version.
struct LibraryVersion {
  std::string name;     ///< as its authors spell it
  std::string version;  ///< "4.2.0"
};

/// The libraries behind kastor::io, as they run now.
[[nodiscard]] std::vector<LibraryVersion> library_versions();

}  // namespace kastor::io

#endif
