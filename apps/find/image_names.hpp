// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_IMAGE_NAMES_HPP
#define KASTOR_APPS_FIND_IMAGE_NAMES_HPP

#include <string>
#include <vector>

namespace kastor::cli {

/// Whether a word names a list of images: "@FILE".
[[nodiscard]] bool is_list(const std::string& word);

/// The images that the words name, in order. In a list, each line is a name, without a carriage
/// return at its end; blank lines and lines that begin with # are skipped.
/// \throws kastor::Error if a list cannot be read, or names no image
[[nodiscard]] std::vector<std::string> image_names(const std::vector<std::string>& words);

/// The name of a file without its folder and the suffixes of FITS files: "a" for "x/a.fits.gz".
/// Other suffixes stay: "a.img" for "a.img".
[[nodiscard]] std::string stem_of(const std::string& path);

}  // namespace kastor::cli

#endif
