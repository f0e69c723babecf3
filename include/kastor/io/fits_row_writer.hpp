// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_FITS_ROW_WRITER_HPP
#define KASTOR_IO_FITS_ROW_WRITER_HPP

#include <cstdint>
#include <kastor/io/fits_writer.hpp>
#include <memory>
#include <string>
#include <vector>

namespace kastor::io {

/// Writes a FITS file with one primary image by rows, for images larger than memory. The file has
/// the bytes that `write_image()` writes: neither writes DATASUM or CHECKSUM.
///
/// The file has its whole length from the beginning. Rows may be written in any order; one that is
/// not written is zero. Several writers, also of several processes, may write other rows of one
/// file at the same time: one creates the file, and the others open it then.
/// \tparam T  float, double, std::int32_t or std::int64_t
template <class T>
class FitsRowWriter {
 public:
  /// Creates the file, or replaces what is there (pass the temporary name of an `OutputSet`), and
  /// writes the header. A file system that has no room for the whole file is refused here.
  /// \param ny  rows [>= 1] \param nx  columns [>= 1] \param cards, provenance,
  /// extra  as of `write_image()` \throws kastor::Error
  FitsRowWriter(const std::string& path, std::int64_t ny, std::int64_t nx,
                const std::vector<std::string>& cards, const Provenance& provenance,
                const std::vector<HeaderCard>& extra = {});
  /// Opens the file that another writer has created.
  /// \param data_begin  of that writer \throws kastor::Error if there is no such file
  FitsRowWriter(const std::string& path, std::int64_t ny, std::int64_t nx, std::int64_t data_begin);
  ~FitsRowWriter();
  FitsRowWriter(FitsRowWriter&&) noexcept;
  FitsRowWriter& operator=(FitsRowWriter&&) noexcept;

  /// Position of the first pixel in the file [byte].
  [[nodiscard]] std::int64_t data_begin() const;

  /// Writes rows from row `first` on; they are converted in pieces of 1 MiB.
  /// \throws kastor::Error if they are not rows of the image, or cannot be written
  void write(std::int64_t first, const PixelRows<T>& rows);
  /// Must be called before the file counts as written: some file systems report a full disk only
  /// now. \throws kastor::Error
  void close();

 private:
  struct File;
  std::unique_ptr<File> m_file;
};

extern template class FitsRowWriter<float>;
extern template class FitsRowWriter<double>;
extern template class FitsRowWriter<std::int32_t>;
extern template class FitsRowWriter<std::int64_t>;

}  // namespace kastor::io

#endif
