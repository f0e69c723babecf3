// SPDX-License-Identifier: Apache-2.0
#include "io/picture/text.hpp"

#include <fmt/format.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include <sys/stat.h>

#include <algorithm>
#include <kastor/error.hpp>

#include "io/table/unicode.hpp"
#include "io/text.hpp"

namespace kastor::io::picture {
namespace {

constexpr char32_t k_no_letter = 0xfffd;

/// Removes one character from the front and returns its code.
char32_t take_letter(std::string_view& utf8) {
  const auto character = detail::first_character(utf8);
  utf8.remove_prefix(std::max<std::size_t>(character.length, 1));
  return character.length == 0 ? k_no_letter : char32_t{character.code};
}

constexpr int rounded(FT_Pos fixed) { return static_cast<int>((fixed + 32) >> 6); }

}  // namespace

struct Font::Library {
  FT_Library library = nullptr;
  FT_Face face = nullptr;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (face != nullptr) FT_Done_Face(face);
    if (library != nullptr) FT_Done_FreeType(library);
  }
};

Font::Font(const std::string& path, int pixels)
    : m_library(std::make_unique<Library>()), m_pixels(pixels) {
  const std::string name = path.empty() ? default_font() : path;
  struct stat info {};
  if (::stat(name.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    throw Error(fmt::format(
        "{}: no such font; expected a TrueType file, such as Debian's package fonts-dejavu-core "
        "installs, or another one set by --font or KASTOR_FONT",
        detail::one_line(name)));
  }
  auto& [library, face] = *m_library;
  const bool good = FT_Init_FreeType(&library) == 0 &&
                    FT_New_Face(library, name.c_str(), 0, &face) == 0 &&
                    FT_Set_Pixel_Sizes(face, 0, static_cast<FT_UInt>(pixels)) == 0;
  if (!good) {
    throw Error(fmt::format("{}: cannot be used as a font; expected a scalable TrueType file",
                            detail::one_line(name)));
  }
}

Font::~Font() = default;

int Font::digit_height() const {
  FT_Face face = m_library->face;
  if (FT_Load_Char(face, '0', FT_LOAD_TARGET_LIGHT) != 0) return m_pixels;
  return rounded(face->glyph->metrics.horiBearingY);
}

TextImage Font::render(std::string_view utf8) const {
  struct Glyph {
    int x, y, width, height;
    std::vector<std::uint8_t> coverage;
  };
  FT_Face face = m_library->face;
  const int ascent = rounded(face->size->metrics.ascender);
  const int descent = rounded(-face->size->metrics.descender);
  std::vector<Glyph> glyphs;
  FT_Pos pen = 0;
  FT_UInt before = 0;
  int right = 0;
  while (!utf8.empty()) {
    const FT_UInt index = FT_Get_Char_Index(face, take_letter(utf8));
    FT_Vector kerning{};
    if (before != 0 && index != 0)
      FT_Get_Kerning(face, before, index, FT_KERNING_DEFAULT, &kerning);
    pen += kerning.x;
    before = index;
    // Light hinting: stems on whole pixels vertically, distances as designed.
    if (FT_Load_Glyph(face, index, FT_LOAD_RENDER | FT_LOAD_TARGET_LIGHT) != 0) continue;
    const FT_GlyphSlot slot = face->glyph;
    Glyph glyph{rounded(pen) + slot->bitmap_left,
                ascent - slot->bitmap_top,
                static_cast<int>(slot->bitmap.width),
                static_cast<int>(slot->bitmap.rows),
                {}};
    for (int y = 0; y < glyph.height; ++y) {
      const auto* row = slot->bitmap.buffer + y * slot->bitmap.pitch;
      glyph.coverage.insert(glyph.coverage.end(), row, row + glyph.width);
    }
    pen += slot->advance.x;
    right = std::max({right, rounded(pen), glyph.x + glyph.width});
    glyphs.push_back(std::move(glyph));
  }
  TextImage text{right, ascent + descent, {}};
  text.coverage.resize(static_cast<std::size_t>(text.width) *
                       static_cast<std::size_t>(text.height));
  for (const Glyph& glyph : glyphs) {
    for (int y = 0; y < glyph.height; ++y) {
      for (int x = 0; x < glyph.width; ++x) {
        const int to_x = glyph.x + x;
        const int to_y = glyph.y + y;
        if (to_x < 0 || to_y < 0 || to_x >= text.width || to_y >= text.height) continue;
        auto& to = text.coverage[static_cast<std::size_t>(to_y * text.width + to_x)];
        to = std::max(to, glyph.coverage[static_cast<std::size_t>(y * glyph.width + x)]);
      }
    }
  }
  return text;
}

TextImage TextImage::turned() const {
  TextImage result{height, width, std::vector<std::uint8_t>(coverage.size())};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      result.coverage[static_cast<std::size_t>((width - 1 - x) * height + y)] =
          coverage[static_cast<std::size_t>(y * width + x)];
    }
  }
  return result;
}

void draw_text(Canvas& canvas, const TextImage& text, int x, int y, Colour colour) {
  for (int row = 0; row < text.height; ++row) {
    for (int column = 0; column < text.width; ++column) {
      const auto covered = text.coverage[static_cast<std::size_t>(row * text.width + column)];
      canvas.blend(x + column, y + row, colour, covered / 255.0);
    }
  }
}

void draw_text_with_rim(Canvas& canvas, const TextImage& text, int x, int y,
                        const MarkColours& colours) {
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx != 0 || dy != 0) draw_text(canvas, text, x + dx, y + dy, colours.rim);
    }
  }
  draw_text(canvas, text, x, y, colours.line);
}

}  // namespace kastor::io::picture
