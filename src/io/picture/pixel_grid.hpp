// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_PIXEL_GRID_HPP
#define KASTOR_SRC_IO_PICTURE_PIXEL_GRID_HPP

#include <cstdint>
#include <variant>
#include <vector>

namespace kastor::io::picture {

/// Rows of pixels, x fastest; does not own them.
template <class T>
struct GridOf {
  const T* data = nullptr;
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  std::int64_t row_stride = 0;  ///< pixels between the starts of two rows

  [[nodiscard]] const T* row(std::int64_t y) const { return data + y * row_stride; }
};
using PixelGrid = std::variant<GridOf<float>, GridOf<double>>;

/// How the pixels of an image are converted to those of a picture.
struct Sampling {
  std::int64_t block_x = 1;  ///< image pixels that are averaged along x
  std::int64_t block_y = 1;  ///< along y; smaller if the image has fewer pixels
  int zoom_x = 1;            ///< picture pixels per block along x
  int zoom_y = 1;
  int width = 1;  ///< of the drawn image [picture pixel]
  int height = 1;
};

/// The sampling for a drawn image of at most `size` pixels along its longer side: see
/// `write_picture()`.
[[nodiscard]] Sampling sampling_of(std::int64_t nx, std::int64_t ny, int size);

/// Means of the finite pixels over the blocks of `sampling`, row by row; the last block of a row or
/// column may be cut. NaN if a block has no finite pixel.
[[nodiscard]] std::vector<double> block_means(const PixelGrid& pixels, const Sampling& sampling);

}  // namespace kastor::io::picture

#endif
