// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_STORED_IMAGE_HPP
#define KASTOR_SRC_IO_FITS_STORED_IMAGE_HPP

#include <cstddef>
#include <cstdint>
#include <kastor/io/fits_image.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/fits/fits_file.hpp"
#include "io/fits/pixel_decoder.hpp"

namespace kastor::io::detail {

/// The part of a data unit to read.
struct Section {
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  std::int64_t first = 0;          // number of pixels before it
  std::array<int, 2> fits_axes{};  // from 1
  std::optional<std::int64_t> plane;
  std::size_t plane_axis = 0;  // from 0; only with `plane`
};

/// An image of an open file: its header has been read, its data not.
struct StoredImage {
  /// \throws kastor::Error
  StoredImage(const std::string& path, const ReadOptions& options,
              Access access = Access::as_whole);

  FitsFile file;
  FitsImage about;  ///< everything except the pixels and their DATASUM
  Section section;

  [[nodiscard]] bool is_compressed() const { return about.hdu.kind == "compressed image"; }
  [[nodiscard]] bool is_float() const { return about.hdu.pixel_type == "float32"; }
};

/// The position of an uncompressed image in its (unpacked) file, and the meaning of its values.
struct PlainLayout {
  FitsFile::DataUnit unit;
  std::int64_t begin = 0;   // offset of the section
  std::int64_t pixels = 0;  // number of pixels in the section
  std::int64_t pixel_size = 0;
  Scaling scaling;

  [[nodiscard]] std::int64_t bytes() const { return pixels * pixel_size; }
  [[nodiscard]] std::int64_t end() const { return begin + bytes(); }
  /// Neighbouring pixels of the section. \param first  from 0
  [[nodiscard]] PlainLayout part(std::int64_t first, std::int64_t count) const {
    return {unit, begin + first * pixel_size, count, pixel_size, scaling};
  }
};

/// \throws kastor::Error if the file does not contain the whole image, or its header contradicts
/// itself.
[[nodiscard]] PlainLayout plain_layout(const StoredImage& stored);

/// Without BLANK where the image is tile-compressed.
/// \throws kastor::Error if BSCALE or BZERO is not a number, or BLANK of integers no integer.
[[nodiscard]] Scaling scaling_of(const FitsFile& file, const HduInfo& hdu);

/// Product of `axes` and `size`; none if it overflows, or a factor is negative.
[[nodiscard]] std::optional<std::int64_t> bytes_of(const std::vector<std::int64_t>& axes,
                                                   std::int64_t size);

/// Throws the error of all readers that lack `bytes` of memory for the section.
[[noreturn]] void fail_without_memory(const StoredImage& stored, std::int64_t bytes);

/// \throws kastor::Error if the section's pixels need more memory than this machine has.
template <class T>
std::int64_t require_room(const StoredImage& stored);

}  // namespace kastor::io::detail

#endif
