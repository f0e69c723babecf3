// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_INPUT_FILE_HPP
#define KASTOR_SRC_IO_FITS_INPUT_FILE_HPP

#include <fstream>
#include <string>

namespace kastor::io::detail {

/// Opens the regular file with this literal name. \throws kastor::Error "FILE: ...; expected WHAT"
[[nodiscard]] std::ifstream open_regular_file(const std::string& path, const char* what);

}  // namespace kastor::io::detail

#endif
