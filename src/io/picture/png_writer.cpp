// SPDX-License-Identifier: Apache-2.0
#include "io/picture/png_writer.hpp"

#include <png.h>

#include <array>
#include <csetjmp>
#include <kastor/error.hpp>

namespace kastor::io::picture {
namespace {

/// The state that libpng's callbacks access.
struct Sink {
  std::vector<unsigned char> bytes;
  std::array<char, 200> message{};
};

extern "C" void keep_bytes(png_structp png, png_bytep data, png_size_t size) {
  auto& bytes = static_cast<Sink*>(png_get_io_ptr(png))->bytes;
  // An exception must not pass through libpng.
  try {
    bytes.insert(bytes.end(), data, data + size);
  } catch (...) {
    png_error(png, "not enough memory");
  }
}

extern "C" void flush_nothing(png_structp) {}

extern "C" void keep_error(png_structp png, png_const_charp message) {
  auto& kept = static_cast<Sink*>(png_get_error_ptr(png))->message;
  for (std::size_t i = 0; i + 1 < kept.size() && message[i] != '\0'; ++i) kept[i] = message[i];
  png_longjmp(png, 1);
}

extern "C" void ignore_warning(png_structp, png_const_charp) {}

/// False if libpng failed; `sink.message` says why. No object here may have a destructor, since
/// libpng leaves by longjmp.
bool write(png_structp png, png_infop info, Sink& sink, const Canvas& canvas, png_textp texts,
           int count) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_write_fn(png, &sink, keep_bytes, flush_nothing);
  png_set_IHDR(png, info, static_cast<png_uint_32>(canvas.width()),
               static_cast<png_uint_32>(canvas.height()), 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  // Rows of a figure often repeat. Level 2 takes a sixth of the time of zlib's default, level 6,
  // for 10 % more bytes of a noisy image.
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
  png_set_compression_level(png, 2);
  png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  png_set_text(png, info, texts, count);
  png_write_info(png, info);
  for (int y = 0; y < canvas.height(); ++y) png_write_row(png, canvas.row(y));
  png_write_end(png, info);
  return true;
}

}  // namespace

std::vector<unsigned char> png_of(const Canvas& canvas, const std::vector<PngText>& texts) {
  std::vector<png_text> chunks;
  for (const auto& [keyword, text] : texts) {
    png_text chunk{};
    chunk.compression = PNG_TEXT_COMPRESSION_NONE;
    chunk.key = const_cast<char*>(keyword.c_str());
    chunk.text = const_cast<char*>(text.c_str());
    chunk.text_length = text.size();
    chunks.push_back(chunk);
  }
  Sink sink;
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink, keep_error, ignore_warning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  const bool done = info != nullptr &&
                    write(png, info, sink, canvas, chunks.data(), static_cast<int>(chunks.size()));
  if (png != nullptr) png_destroy_write_struct(&png, &info);
  if (!done) {
    throw Error(std::string("libpng: ") +
                (sink.message[0] != '\0' ? sink.message.data() : "cannot be set up") +
                "; expected a picture to write");
  }
  return std::move(sink.bytes);
}

}  // namespace kastor::io::picture
