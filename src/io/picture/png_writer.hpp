// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_PNG_WRITER_HPP
#define KASTOR_SRC_IO_PICTURE_PNG_WRITER_HPP

#include <string>
#include <vector>

#include "io/picture/canvas.hpp"

namespace kastor::io::picture {

/// A tEXt chunk: a keyword of 1 to 79 characters, and a text of printable ASCII.
struct PngText {
  std::string keyword;
  std::string text;
};

/// The canvas as a PNG file in memory: 8-bit RGB (sRGB), no time stamp. \throws kastor::Error
[[nodiscard]] std::vector<unsigned char> png_of(const Canvas& canvas,
                                                const std::vector<PngText>& texts);

}  // namespace kastor::io::picture

#endif
