// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_FITS_ROWS_HPP
#define KASTOR_IO_FITS_ROWS_HPP

#include <concepts>
#include <cstdint>
#include <kastor/io/fits_image.hpp>
#include <kastor/row_source.hpp>
#include <memory>
#include <span>
#include <string>
#include <variant>

namespace kastor::io {

template <class T>
class FitsRows;

/// The rows of an image, of the type as which `read_image()` reads it.
using AnyFitsRows =
    std::variant<std::unique_ptr<FitsRows<float>>, std::unique_ptr<FitsRows<double>>>;

/// Opens one image of a FITS file for reading by rows. \throws kastor::Error as `FitsRows`
[[nodiscard]] AnyFitsRows open_rows(const std::string& path, const ReadOptions& options = {});

/// One image of a FITS file, read by rows: for images larger than memory. The image is chosen as by
/// `read_image()`, and the pixels have the same bits, blanks and scaling included. Only the header
/// is read when the object is made, and for a tile-compressed image the table of its tiles.
///
/// Uncompressed images: the bytes of the pixels that are asked for are read, and no others; large
/// bands by several threads (`ReadOptions::threads`). Tile-compressed images: the tiles of the rows
/// are decoded by several threads. A row of tiles of which only a part is asked for stays in memory
/// until another one is needed, so that bands which cut it decode it once. Besides, at most 512 KiB
/// a thread, or a tile, are held on the way.
///
/// A file that is compressed as a whole (gzip, bzip2) and what is no regular file (a pipe, standard
/// input) cannot be read so.
template <class T>
class FitsRows final : public RowSource<T> {
 public:
  /// \param options  `max_unpacked` is the limit for one row of tiles and the tiles at work
  /// \throws kastor::Error as `read_image()`, truncated files included; if the pixels are of the
  /// other type (see `open_rows()`); if the file cannot be read by rows, before it is unpacked
  explicit FitsRows(const std::string& path, const ReadOptions& options = {});
  ~FitsRows() override;

  /// As from `read_header()`: no pixels, `datasum` 0.
  [[nodiscard]] const FitsImage& about() const;
  [[nodiscard]] std::int64_t ny() const override;
  [[nodiscard]] std::int64_t nx() const override;
  /// Rows that are read at once in any case: those of a tile, or 1. Bands that begin at multiples
  /// of it are decoded without another copy.
  [[nodiscard]] std::int64_t rows_of_tile() const;

  void read(std::int64_t first, std::int64_t count, std::span<T> into) override;
  void read_pixels(std::int64_t first, std::span<T> into) override;
  void will_read(std::int64_t first, std::int64_t count) override;

  /// The DATASUM of the data unit (`FitsImage::datasum`), computed from its bytes. Bands of an
  /// uncompressed image that `read()` reads one after the other are summed on the way; what they
  /// have not covered is read here, and so are all bytes of a tile-compressed image. It is not
  /// compared with the card DATASUM; nor does `read_image()` do that.
  [[nodiscard]] std::uint32_t datasum();
  /// The part of it that belongs to these rows. The parts of all rows of the image, combined by
  /// `sum_of_datasums()`, are the DATASUM.
  [[nodiscard]] std::uint32_t datasum(std::int64_t first, std::int64_t count);

 private:
  friend AnyFitsRows open_rows(const std::string& path, const ReadOptions& options);
  struct File;
  explicit FitsRows(std::unique_ptr<File> file);
  std::unique_ptr<File> m_file;
};

/// The DATASUM of two parts of a data unit together.
[[nodiscard]] std::uint32_t sum_of_datasums(std::uint32_t a, std::uint32_t b);

extern template class FitsRows<float>;
extern template class FitsRows<double>;

}  // namespace kastor::io

#endif
