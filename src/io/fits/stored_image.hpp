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

/// The part of the data unit to read, in pixels.
struct Section {
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  std::int64_t first = 0;          // pixels before it
  std::array<int, 2> fits_axes{};  // 1-based
  std::optional<std::int64_t> plane;
  std::size_t plane_axis = 0;  // 0-based; only with `plane`
};

/// An image of an open file, its header read, nothing of its data.
struct StoredImage {
  /// \throws kastor::Error
  StoredImage(const std::string& path, const ReadOptions& options);

  FitsFile file;
  FitsImage about;  ///< all but the pixels and their DATASUM
  Section section;

  [[nodiscard]] bool is_compressed() const { return about.hdu.kind == "compressed image"; }
  [[nodiscard]] bool is_float() const { return about.hdu.pixel_type == "float32"; }
};

/// Where the bytes of an uncompressed image lie in its (unpacked) file, and what they mean.
struct PlainLayout {
  FitsFile::DataUnit unit;
  std::int64_t begin = 0;   // of the section
  std::int64_t pixels = 0;  // of the section
  std::int64_t pixel_size = 0;
  Scaling scaling;

  [[nodiscard]] std::int64_t bytes() const { return pixels * pixel_size; }
  [[nodiscard]] std::int64_t end() const { return begin + bytes(); }
};

/// \throws kastor::Error if the file does not hold the whole image, or its header contradicts
/// itself.
[[nodiscard]] PlainLayout plain_layout(const StoredImage& stored);

/// \throws kastor::Error if BSCALE or BZERO is no number.
[[nodiscard]] Scaling scaling_of(const FitsFile& file, const HduInfo& hdu);

/// Product of the factors and `size`; none if it does not fit, or one is negative.
[[nodiscard]] std::optional<std::int64_t> bytes_of(const std::vector<std::int64_t>& axes,
                                                   std::int64_t size);

/// Fails as every reader does that lacks `bytes` of memory for the section.
[[noreturn]] void fail_without_memory(const StoredImage& stored, std::int64_t bytes);

/// \throws kastor::Error if the section's pixels need more than this machine has.
template <class T>
std::int64_t require_room(const StoredImage& stored);

}  // namespace kastor::io::detail

#endif
