// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_OUTPUT_PLACE_FILE_HPP
#define KASTOR_SRC_IO_OUTPUT_PLACE_FILE_HPP

#include <sys/stat.h>

#include <optional>
#include <string>

namespace kastor::io::detail {

/// What `place_file()` may do to a file that has the name already, by then.
struct Placing {
  bool may_replace = false;
  std::optional<mode_t> mode;  ///< of the file that is replaced, if there was one before
};

/// What became of a file.
struct Placed {
  bool replaced = false;
  std::string trouble;  ///< "what was found; what was expected"; empty if the file has its name
};

/// Gives the complete file `temporary` its name. Another file of that name, even one that appears
/// at this moment, is replaced only if it may be and is a regular one, whose permissions are kept.
[[nodiscard]] Placed place_file(const std::string& temporary, const std::string& target,
                                const Placing& how);

}  // namespace kastor::io::detail

#endif
