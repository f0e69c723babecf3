// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_IMAGE_NAMES_HPP
#define KASTOR_APPS_FIND_IMAGE_NAMES_HPP

#include <string>
#include <vector>

namespace kastor::cli {

/// Whether a word stands for the lines of a file: "@FILE".
[[nodiscard]] bool is_list(const std::string& word);

/// The images that the words name, in their order. Of a list each line is a name as it is; blank
/// lines and lines that begin with # are not, and a carriage return at the end is none of it.
/// \throws kastor::Error if a list cannot be read, or names nothing
[[nodiscard]] std::vector<std::string> image_names(const std::vector<std::string>& words);

/// A file's name without its folder and the endings that FITS files have: "a" of "x/a.fits.gz".
/// Another ending stays: "a.img" of "a.img".
[[nodiscard]] std::string stem_of(const std::string& path);

}  // namespace kastor::cli

#endif
