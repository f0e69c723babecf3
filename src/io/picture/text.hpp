// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_TEXT_HPP
#define KASTOR_SRC_IO_PICTURE_TEXT_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/picture/canvas.hpp"

namespace kastor::io::picture {

/// A line of text as coverage, 0 to 255, row by row from the top. Its height is the line height of
/// the font, whatever the letters, so that texts in a row are aligned.
struct TextImage {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> coverage;

  /// Rotated by 90 degrees, to be read from bottom to top.
  [[nodiscard]] TextImage turned() const;
};

/// A font at one size, rendered by FreeType.
class Font {
 public:
  /// \param path    name of a TrueType or OpenType file; empty: `default_font()`
  /// \param pixels  height of the em square
  /// \throws kastor::Error that names the file and what to install
  Font(const std::string& path, int pixels);
  ~Font();
  Font(const Font&) = delete;
  Font& operator=(const Font&) = delete;

  [[nodiscard]] int pixels() const { return m_pixels; }
  /// Height of digits and capitals [pixel].
  [[nodiscard]] int digit_height() const;
  /// Renders `utf8` in one line. Invalid UTF-8 and letters that the font lacks appear as its
  /// replacement glyph.
  [[nodiscard]] TextImage render(std::string_view utf8) const;

 private:
  struct Library;
  std::unique_ptr<Library> m_library;
  int m_pixels;
};

/// Draws a text with its upper left corner at (x, y).
void draw_text(Canvas& canvas, const TextImage& text, int x, int y, Colour colour);
/// The same with a rim of one pixel around each letter.
void draw_text_with_rim(Canvas& canvas, const TextImage& text, int x, int y,
                        const MarkColours& colours);

}  // namespace kastor::io::picture

#endif
